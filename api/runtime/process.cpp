// SPDX-License-Identifier: BSD-3-Clause
#include "api/runtime/process.hpp"

#include "engine/bundle_box.hpp"
#include "engine/collectives/tuning.hpp"
#include "engine/log.hpp"
#include "engine/memory/mailbox.hpp"
#include "engine/memory/ring_list.hpp"
#include "include/weft/error.hpp"
#include "weft/version.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>
#include <sstream>
#include <type_traits>

namespace weft::api {

namespace {

// Room for the mailboxes of teams: about 1,800 at once, or 1,200 between hosts of two members each, whose
// boxes lie there as well. Reserved, taken when touched.
constexpr std::uint64_t team_memory = std::uint64_t{256} << 20;

// Forcing the UCP lane is the same as giving every rank a node of its own.
std::vector<std::uint32_t> lanes(const boot::job& job, const engine::settings& s) {
  std::vector<std::uint32_t> nodes = job.nodes();
  if (s.lane == "ucp") std::iota(nodes.begin(), nodes.end(), 0u);
  return nodes;
}

control::heap_layout layout_of(const boot::job& job, const engine::settings& s) {
  return {job.size(), team_memory, s.heap_size,
          engine::bundle_box::bytes(graph::topology(job.rank(), lanes(job, s))), program_memory::room(s)};
}

std::unique_ptr<boot::job> join(const boot::exchange* brought, const boot::job::announcement& announce) {
  return brought != nullptr ? boot::job::join(*brought, announce) : boot::job::join(announce);
}

progress::mode asked_mode(const std::string& name) {
  if (name == "dedicated") return progress::mode::dedicated;
  if (name == "helping") return progress::mode::helping;
  if (name == "caller") return progress::mode::caller;
  return progress::mode::automatic;
}

// Name and value, one behind the other, of what must be the same on all ranks: the library and settings.
std::string values_to_be_alike(const engine::settings& s) {
  std::string text = "libweft " WEFT_VERSION " ";
  for (const engine::setting_entry& e : engine::settings_table())
    if (e.alike) text += std::string(e.name) + " " + e.show(s) + " ";
  return text;
}

void put_text(boot::job& job, const char* name, const std::string& text) {
  job.put(name, std::as_bytes(std::span(text.c_str(), text.size() + 1))); // no value of a launcher is empty
}
std::string text_of(const boot::job& job, std::uint32_t rank, const char* name) {
  const std::vector<std::byte> bytes = job.get(rank, name);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.empty() ? 0 : bytes.size() - 1};
}

// The first rank of each node.
std::vector<std::uint32_t> first_ranks(const std::vector<std::uint32_t>& nodes) {
  std::vector<std::uint32_t> first;
  for (std::uint32_t rank = 0; rank < nodes.size(); ++rank)
    if (nodes[rank] == first.size()) first.push_back(rank); // numbered by first appearance
  return first;
}

} // namespace

process_runtime::process_runtime(const engine::settings& s, const boot::exchange* brought)
    : settings_(s), deaths_([this](std::uint32_t rank, death_watch::news what) { lose(rank, what); }),
      joined_(join(brought,
                   [this](boot::job& j) {
                     room_.look(j, layout_of(j, settings_).end());
                     put_text(j, "weft.alike", values_to_be_alike(settings_));
                   })),
      trace_(job_, s), nodes_(lanes(job_, s)) {
  if (job_.singleton())
    engine::log(
        engine::severity::info,
        "no launcher: running as one thread; start more with weft run -n N, mpirun or srun --mpi=pmix");
  start_.ended("launcher");
  deaths_.expect(job_.size());
  const control::heap_layout layout = layout_of(job_, settings_);
  open_transport(layout);
  start_.ended("transport");
  publish();
  start_.ended("exchange");
  const collectives::tuning tuning = agree_on_tuning();
  if (!net_->reaches_memory()) between_->require_next_host();
  start_.ended("other hosts");
  open_engine(tuning, layout);
  open_services(layout);
  if (engine_->options().drive != progress::mode::caller)
    thread_ = std::make_unique<progress::progress_thread<net>>(*engine_);
  if (job_.size() > 1) reports_ = std::make_unique<wait_reporter>(*engine_, job_.rank(), settings_.timeout);
  job_.on_peer_death([this](std::uint32_t rank) { deaths_.report(rank, death_watch::news::death); });
  watch_neighbours();
  if (!net_->reaches_memory()) deaths_.meanwhile(silence_period, [this] { look_for_silence(); });
  deaths_.start();
  start_.ended("engine");
  if (job_.rank() == 0 && engine::logs(engine::severity::info))
    start_.print(nodes_, engine_->options().drive, settings_.progress, node_cores(), job_.local_size());
}

void process_runtime::open_transport(const control::heap_layout& l) {
  between_.emplace(job_, settings_.net_devices);
  transport::ucx::options o;
  o.rank = job_.rank();
  o.size = job_.size();
  o.job_key = job_.key();
  o.segment_bytes = l.end();
  o.memory = room_.agree(job_);
  o.one_host = job_.one_host();
  o.near.resize(job_.size());
  for (std::uint32_t r = 0; r < job_.size(); ++r)
    o.near[r] = nodes_[r] == nodes_[job_.rank()];
  o.card_of = [this](std::uint32_t rank) { return job_.get(rank, "weft.card"); };
  o.reaches = [this](std::uint32_t rank) { return between_->reaches(rank); };
  o.on_loss = [this](std::uint32_t rank) {
    if (!leaving_.load(std::memory_order_relaxed)) deaths_.report(rank, death_watch::news::connection);
  };
  net_ = std::make_unique<net>(std::move(o));
}

// One exchange: how to reach me, which cores I may use, and from rank 0 what all must do alike.
void process_runtime::publish() {
  std::vector<std::uint64_t> table =
      collectives::numbers_of(collectives::tuning_of(settings_, net_->reaches_memory()));
  const std::vector<std::uint32_t> cores = progress::affinity_list();
  job_.put("weft.card", net_->card());
  between_->publish();
  job_.put("weft.cores", std::as_bytes(std::span(cores)));
  const process_name self = process_name::of_this();
  job_.put("weft.process", std::as_bytes(std::span(&self, 1)));
  if (job_.local_rank() == 0) put_text(job_, "weft.differs", difference_on_node());
  if (job_.rank() == 0) job_.put("weft.tuning", std::as_bytes(std::span(table)));
  job_.commit();
  job_.fence();
}

// The ranks on this host, whichever way they are reached.
void process_runtime::watch_neighbours() {
  for (std::uint32_t r = 0; r < job_.size(); ++r) {
    if (r == job_.rank() || job_.nodes()[r] != job_.nodes()[job_.rank()]) continue;
    const std::vector<std::byte> theirs = job_.get(r, "weft.process");
    process_name process;
    if (theirs.size() != sizeof process) continue;
    std::memcpy(&process, theirs.data(), sizeof process);
    deaths_.watch(r, process);
  }
}

progress::fate process_runtime::fate_of(std::uint32_t rank, death_watch::news what) const {
  if (what == death_watch::news::death) return {};
  if (what == death_watch::news::departure) return {"has left by weft_finalize"};
  const std::optional<std::string> lives = between_->why_lost(rank);
  return lives ? progress::fate{"cannot be reached any more: " + *lives, true} : progress::fate{};
}

// In the thread of the death watch.
void process_runtime::lose(std::uint32_t rank, death_watch::news what) {
  if (ending_.load(std::memory_order_relaxed)) return died_at_the_end_.store(true, std::memory_order_relaxed);
  if (job_.launcher_is_gone()) return; // so this process ends, too, and has said why before anything fails
  const progress::fate fate = fate_of(rank, what);
  const bool known = what == death_watch::news::departure || leaving_.load(std::memory_order_relaxed);
  engine::log(known ? engine::severity::info : engine::severity::error,
              "rank {} {}; operations of teams that it is a member of fail", rank, fate.words);
  heap_->lose(rank, fate);
  locks_->lose(rank);
  teams_->lose(rank);
  engine_->lose(rank, fate);
}

// In the thread of the death watch. What is silent at two looks one after the other is given up: after this
// process was kept from running, or its machine, an answer may be just about to come.
void process_runtime::look_for_silence() {
  const bool silent = net_->has_silent_connections();
  if (silent && silent_before_) engine_->with_ownership([&] { end_silent_connections(); });
  silent_before_ = silent;
}

// UCX finds them closed, says whose they were, and lose() hears of it. What they carried fails before that:
// with the right words, if the engine knows them by then.
void process_runtime::end_silent_connections() {
  if (ending_.load(std::memory_order_relaxed)) return; // the end looks after itself, and holds no ownership
  for (const transport::ucx::silent_socket& s : net_->end_silent_connections())
    between_->note_silence(s.address, s.seconds);
  net_->poll();
  for (std::uint32_t rank = 0; rank < job_.size(); ++rank)
    if (net_->lost(rank) && !heap_->lost(rank))
      engine_->works().lose(rank, fate_of(rank, death_watch::news::connection));
}

// The cores that the ranks of this node share: their masks together, or this process's quota if that is less.
double process_runtime::node_cores() const {
  std::set<std::uint32_t> cores;
  for (std::uint32_t r = 0; r < job_.size(); ++r) {
    if (job_.nodes()[r] != job_.nodes()[job_.rank()]) continue;
    const std::vector<std::byte> theirs = job_.get(r, "weft.cores");
    for (std::size_t at = 0; at + sizeof(std::uint32_t) <= theirs.size(); at += sizeof(std::uint32_t)) {
      std::uint32_t core = 0;
      std::memcpy(&core, theirs.data() + at, sizeof core);
      cores.insert(core);
    }
  }
  return std::min(static_cast<double>(cores.size()), progress::quota_cores());
}

// Sizes that change plans must be the same everywhere: rank 0's count, whatever the others were told.
collectives::tuning process_runtime::agree_on_tuning() {
  const std::vector<std::byte> theirs = job_.get(0, "weft.tuning");
  std::vector<std::uint64_t> agreed(theirs.size() / sizeof(std::uint64_t));
  std::memcpy(agreed.data(), theirs.data(), agreed.size() * sizeof(std::uint64_t));
  const std::optional<collectives::tuning> tuning = collectives::tuning_from(agreed);
  if (!tuning)
    throw boot::boot_error("rank 0 runs another version of the library; start all ranks with the same one");
  require_alike();
  return *tuning;
}

// What a rank of this node has otherwise than rank 0, in words; nothing if there is none. The first rank of
// each node looks, so that no rank has to ask all.
std::string process_runtime::difference_on_node() const {
  const std::string first = text_of(job_, 0, "weft.alike");
  for (std::uint32_t rank = 0; rank < job_.size(); ++rank) {
    if (job_.nodes()[rank] != job_.nodes()[job_.rank()]) continue;
    const std::string values = text_of(job_, rank, "weft.alike");
    std::istringstream one(values), other(first);
    for (std::string name, value, value_of_first; values != first && one >> name >> value;)
      if (other >> name >> value_of_first && value != value_of_first)
        return name + " is " + value + " on rank " + std::to_string(rank) + " and " + value_of_first +
               " on rank 0; give all ranks the same";
  }
  return {};
}

// All ranks find it, so that none goes on to fail of what comes of it.
void process_runtime::require_alike() const {
  for (const std::uint32_t rank : first_ranks(job_.nodes()))
    if (const std::string differs = text_of(job_, rank, "weft.differs"); !differs.empty())
      throw boot::boot_error(differs);
}

void process_runtime::open_engine(const collectives::tuning& tuning, const control::heap_layout& l) {
  const double cores = node_cores();
  progress::engine_options o;
  o.drive = progress::resolve(asked_mode(settings_.progress), cores, job_.local_size(), job_.size());
  const auto spins = static_cast<unsigned>(settings_.spins), yields = static_cast<unsigned>(settings_.yields);
  o.idle = {.scarce = cores < job_.local_size(), .spins = spins, .yields = yields};
  o.park_limit = std::chrono::milliseconds(settings_.sleep);
  o.operations_cap = std::min<std::size_t>(settings_.max_operations, progress::completion_table::slots_max);
  o.cache_bytes = settings_.plan_cache;
  o.tuning = tuning;
  o.user = {l.heap, l.end()};
  engine_ = std::make_unique<engine_type>(*net_, o);
  if (progress::recorder* const r = trace_.record()) engine_->works().record_by(*r);

  engine::team_info all{.world = std::vector<std::uint32_t>(job_.size()),
                        .topology = graph::topology(job_.rank(), nodes_),
                        .mailbox_offset = engine::first_mailbox_offset};
  std::iota(all.world.begin(), all.world.end(), 0u);
  all_ = &engine_->add_channel(std::move(all));

  std::vector<std::uint32_t> near;
  for (std::uint32_t r = 0; r < job_.size(); ++r)
    if (nodes_[r] == nodes_[job_.rank()]) near.push_back(r);
  engine_->with_ownership([&] {
    for (const std::uint32_t r : near)
      if (r != job_.rank()) net_->meet(r);
    engine_->meet_neighbours(near);
  });
}

void process_runtime::open_services(const control::heap_layout& layout) {
  heap_ = std::make_unique<control::heap_service<net>>(*engine_, *all_, layout);
  castable_ = {{}, layout.heap, heap_->symmetric_bytes(), layout.end() - layout.heap, true};
  for (std::uint32_t r = 0; r < job_.size(); ++r) {
    const bool near = nodes_[r] == nodes_[job_.rank()];
    castable_.memory.push_back(near ? net_->direct(r) : nullptr);
    castable_.everywhere &= near;
  }
  teams_ =
      std::make_unique<control::team_registry<net>>(*engine_, *heap_, nodes_, *all_, layout.scratch_of_all());
  inquiries_ = std::make_unique<control::inquiries<net>>(*engine_, *heap_);
  locks_ =
      std::make_unique<control::lock_service<net>>(*engine_, *heap_, *inquiries_, castable_.memory, nodes_);
  atomics_ = std::make_unique<control::atomic_service<net>>(*engine_, *heap_, *inquiries_);
  blocks_ = std::make_unique<control::block_finder<net>>(*engine_, *heap_, *inquiries_, castable_.memory);
  if (checks_calls()) castable_.memory.clear(); // so that every access is looked at
  const auto server = [this](std::uint32_t from, const control::request& r) { serve(from, r); };
  inquiries_->serve_own_by(server);
  engine_->works().transfers().raise_by([this](const progress::one_sided_request& r) {
    return heap_->send(r.to_rank,
                       control::raise_signal{r.signal.offset, r.signal.value, r.signal.adds ? 1u : 0u});
  });
  teams_->serve_others_by(server);
  teams_->make_node_team(job_.nodes()[job_.rank()]); // no thread asks before all have come so far
  if (const std::uint64_t room = program_memory::room(settings_); room != 0)
    memory_.begin(own_memory(heap_->allocate_local(room)), settings_, !job_.one_host(),
                  job_.local_rank() == 0);
}

void process_runtime::serve(std::uint32_t from, const control::request& r) {
  std::visit(
      [&](const auto& asked) {
        if constexpr (requires { inquiries_->on_request(from, asked); })
          inquiries_->on_request(from, asked);
        else if constexpr (requires { locks_->on_request(from, asked); })
          locks_->on_request(from, asked);
        else if constexpr (requires { atomics_->on_request(from, asked); })
          atomics_->on_request(from, asked);
        else if constexpr (requires { blocks_->on_request(from, asked); })
          blocks_->on_request(from, asked);
        else if constexpr (std::is_same_v<decltype(asked), const control::departed&>)
          deaths_.report(from, death_watch::news::departure);
      },
      r);
}

progress::barrier_summary process_runtime::summary(std::optional<int> value) const {
  if (!value) return {};
  return {.known = 1, .rank = job_.rank(), .value = *value};
}

handle process_runtime::post_barrier(std::optional<int> value) {
  heard_ = {};
  return teams_->post(team_calls::all, {}, place_of_call(), summary(value), &heard_);
}

std::optional<given_value> process_runtime::heard() const {
  if (heard_.known == 0) return std::nullopt;
  return given_value{heard_.rank, heard_.value};
}

void process_runtime::run_barrier(std::optional<int> value) {
  engine_->run(*all_, {}, place_of_call(), summary(value));
}

// What lasts is listed for reports; most waits are over before that is worth its cost. What may come from
// another host is listed at once: for what is listed each turn asks the transport.
void process_runtime::await(const std::function<bool(progress::look)>& fact,
                            const std::function<std::string()>& text, std::chrono::nanoseconds nap) {
  struct awaited final : progress::awaited_answer {
    explicit awaited(const std::function<std::string()>& t) : words(t) {}
    std::string text() const override { return words(); }
    const std::function<std::string()>& words;
  };
  using clock = std::chrono::steady_clock;
  const std::chrono::nanoseconds unlisted = std::chrono::milliseconds(all_near() ? 100 : 0);
  bool holds = false;
  const auto end = clock::now() + unlisted;
  engine_->drive_until([&](progress::look how) { return (holds = fact(how)) || clock::now() >= end; },
                       std::min(nap, unlisted));
  if (holds) return;
  const awaited mine(text);
  engine_->with_ownership([&] { engine_->works().answers().add(mine); });
  engine_->drive_until(fact, nap);
  engine_->with_ownership([&] { engine_->works().answers().remove(mine); });
}

std::uint64_t process_runtime::private_offset(const void* memory) const {
  return reinterpret_cast<std::uintptr_t>(memory) - reinterpret_cast<std::uintptr_t>(net_->segment());
}

void* process_runtime::direct(std::uint32_t rank, std::uint64_t offset) {
  if (nodes_[rank] != nodes_[job_.rank()]) return nullptr;
  return net_->direct(rank) + offset; // all neighbours were met when the engine was opened
}

void process_runtime::put(std::uint32_t rank, std::uint64_t offset, const void* from, std::size_t bytes) {
  if (void* to = direct(rank, offset)) {
    std::memcpy(to, from, bytes);
  } else {
    engine_->transfer(rank,
                      [&](transport::completion& c) { return net_->put(rank, offset, from, bytes, c); });
    engine_->transfer(rank, [&](transport::completion& c) { return net_->flush(rank, c); });
  }
}

void process_runtime::get(void* to, std::uint32_t rank, std::uint64_t offset, std::size_t bytes) {
  if (const void* from = direct(rank, offset))
    std::memcpy(to, from, bytes);
  else
    engine_->transfer(rank, [&](transport::completion& c) { return net_->get(rank, to, offset, bytes, c); });
}

std::uint64_t process_runtime::statistic(const std::string& name) const {
  for (const auto& entry : progress::statistics_table)
    if (name == entry.name) return (engine_->counts().*entry.counted).value();
  return 0;
}

} // namespace weft::api
