#include "api/runtime_process.hpp"

#include "api/weft/error.hpp"
#include "engine/collectives/tuning.hpp"
#include "engine/memory/segment_layout.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>

namespace weft::api {

namespace {

// Room for the boards of teams: about 1,800 at once. Reserved, taken when touched.
constexpr std::uint64_t team_memory = std::uint64_t{128} << 20;

// Forcing the UCP lane is the same as giving every rank a node of its own.
std::vector<std::uint32_t> lanes(const boot::job& job, const engine::settings& s) {
  std::vector<std::uint32_t> nodes = job.nodes();
  if (s.lane == "ucp") std::iota(nodes.begin(), nodes.end(), 0u);
  return nodes;
}

progress::mode asked_mode(const std::string& name) {
  if (name == "dedicated") return progress::mode::dedicated;
  if (name == "helping") return progress::mode::helping;
  if (name == "caller") return progress::mode::caller;
  return progress::mode::automatic;
}

} // namespace

process_runtime::process_runtime(const engine::settings& s) : settings_(s), nodes_(lanes(job_, s)) {
  if (job_.singleton())
    spdlog::info(
        "no launcher: running as one thread; start more with weft run -n N, mpirun or srun --mpi=pmix");
  const heap_service::layout layout = lay_out();
  open_transport(layout);
  publish();
  open_engine(agree_on_tuning(), layout);
  heap_ = std::make_unique<heap_service>(*engine_, *all_, layout);
  teams_ = std::make_unique<team_registry>(
      *engine_, *heap_, nodes_, team_registry::entry{all_, layout.scratch + 2 * sizeof(std::uint64_t), 0});
  engine_->serve([this](const transport::message& m, std::span<const std::byte>) {
    if (!heap_->on_request(m)) teams_->on_message(m);
  });
  teams_->make_node_team(job_.nodes()[job_.rank()]);
  if (engine_->options().drive != progress::mode::caller)
    thread_ = std::make_unique<progress::progress_thread<net>>(*engine_);
  job_.on_peer_death([](std::uint32_t rank) {
    spdlog::error("rank {} has died; operations that need it cannot finish", rank);
  });
}

heap_service::layout process_runtime::lay_out() const {
  const auto whole_pages = [](std::uint64_t bytes) { return (bytes + 4095) / 4096 * 4096; };
  heap_service::layout l;
  l.scratch = engine::heap_offset(job_.size());
  l.boards = l.scratch + whole_pages(2 * sizeof(std::uint64_t) + team_registry::scratch_bytes(job_.size()));
  l.board_bytes = team_memory;
  l.heap = l.boards + l.board_bytes;
  l.heap_bytes = whole_pages(settings_.heap_size);
  return l;
}

void process_runtime::open_transport(const heap_service::layout& l) {
  if (!settings_.net_devices.empty()) setenv("UCX_NET_DEVICES", settings_.net_devices.c_str(), 1);
  transport::ucx::options o;
  o.rank = job_.rank();
  o.size = job_.size();
  o.job_key = job_.key();
  o.segment_bytes = l.heap + 2 * l.heap_bytes;
  o.one_host = job_.local_size() == job_.size();
  o.near.resize(job_.size());
  for (std::uint32_t r = 0; r < job_.size(); ++r)
    o.near[r] = nodes_[r] == nodes_[job_.rank()];
  o.card_of = [this](std::uint32_t rank) { return job_.get(rank, "weft.card"); };
  net_ = std::make_unique<net>(std::move(o));
}

// One exchange: how to reach me, which cores I may use, and from rank 0 what all must do alike.
void process_runtime::publish() {
  std::vector<std::uint64_t> table = collectives::numbers_of(collectives::tuning_of(settings_));
  table.push_back(settings_.heap_size);
  const std::vector<std::uint32_t> cores = progress::affinity_list();
  job_.put("weft.card", net_->card());
  job_.put("weft.cores", std::as_bytes(std::span(cores)));
  if (job_.rank() == 0) job_.put("weft.tuning", std::as_bytes(std::span(table)));
  job_.commit();
  job_.fence();
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
  const std::uint64_t heap_size = agreed.empty() ? 0 : agreed.back();
  if (!agreed.empty()) agreed.pop_back();
  const std::optional<collectives::tuning> tuning = collectives::tuning_from(agreed);
  if (!tuning)
    throw boot::boot_error("rank 0 runs another version of the library; start all ranks with the same one");
  if (heap_size != settings_.heap_size)
    throw boot::boot_error("WEFT_HEAP_SIZE is " + engine::show_size(settings_.heap_size) + " here and " +
                           engine::show_size(heap_size) + " on rank 0; set it alike on all ranks");
  return *tuning;
}

void process_runtime::open_engine(const collectives::tuning& tuning, const heap_service::layout& l) {
  const double cores = node_cores();
  progress::engine_options o;
  o.drive = progress::resolve(asked_mode(settings_.progress), cores, job_.local_size(), job_.size());
  o.idle.scarce = cores < job_.local_size();
  o.idle.spins = static_cast<unsigned>(settings_.spins);
  o.idle.yields = static_cast<unsigned>(settings_.yields);
  o.operations_cap = std::min<std::size_t>(settings_.max_operations, progress::completion_table::slots_max);
  o.cache_bytes = settings_.plan_cache;
  o.tuning = tuning;
  o.user = {l.heap, l.heap + 2 * l.heap_bytes};
  engine_ = std::make_unique<engine_type>(*net_, o);

  engine::team_info all;
  all.world.resize(job_.size());
  std::iota(all.world.begin(), all.world.end(), 0u);
  all.geometry = graph::geometry(job_.rank(), nodes_);
  all.board_offset = engine::first_board_offset;
  all_ = &engine_->add_team(std::move(all));

  std::vector<std::uint32_t> near;
  for (std::uint32_t r = 0; r < job_.size(); ++r)
    if (nodes_[r] == nodes_[job_.rank()]) near.push_back(r);
  engine_->with_baton([&] { engine_->meet_neighbours(near); });
}

process_runtime::~process_runtime() {
  try {
    engine_->run(*all_, {}, {}); // nobody's memory goes while others may still use it
    thread_.reset();
    if (settings_.statistics) print_statistics();
    net_->disconnect();
    job_.fence([this] { net_->poll(); }); // whose connection was not complete needs this rank to answer
    teams_.reset();
    heap_.reset();
    engine_.reset();
    net_.reset();
    job_.finalize();
  } catch (const std::exception& e) {
    spdlog::error("weft_finalize: {}", e.what());
  }
}

progress::barrier_summary process_runtime::summary(std::optional<int> value) const {
  if (!value) return {};
  return {.known = 1, .rank = job_.rank(), .value = *value};
}

handle process_runtime::post_barrier(std::optional<int> value) {
  return teams_->post(team_calls::all, {}, {}, summary(value));
}

void process_runtime::run_barrier(std::optional<int> value) {
  engine_->run(*all_, {}, {}, summary(value));
}

void* process_runtime::direct(std::uint32_t rank, std::uint64_t offset) {
  if (nodes_[rank] != nodes_[job_.rank()]) return nullptr;
  return net_->direct(rank) + offset; // all neighbours were met when the engine was opened
}

void process_runtime::put(std::uint32_t rank, std::uint64_t offset, const void* from, std::size_t bytes) {
  if (void* to = direct(rank, offset)) {
    std::memcpy(to, from, bytes);
  } else {
    engine_->transfer([&](transport::completion& c) { return net_->put(rank, offset, from, bytes, c); });
    engine_->transfer([&](transport::completion& c) { return net_->flush(rank, c); });
  }
}

void process_runtime::get(void* to, std::uint32_t rank, std::uint64_t offset, std::size_t bytes) {
  if (const void* from = direct(rank, offset))
    std::memcpy(to, from, bytes);
  else
    engine_->transfer([&](transport::completion& c) { return net_->get(rank, to, offset, bytes, c); });
}

std::uint64_t process_runtime::statistic(const std::string& name) const {
  for (const auto& entry : progress::statistics_table)
    if (name == entry.name) return (engine_->counts().*entry.counted).value();
  return 0;
}

void process_runtime::print_statistics() const {
  for (const auto& entry : progress::statistics_table)
    fmt::print(stderr, "weft: rank {}: {:<18} {:>12}  {}\n", job_.rank(), entry.name,
               (engine_->counts().*entry.counted).value(), entry.help);
}

void process_runtime::abort_job(int status, const std::string& message) {
  job_.abort(status, message);
}

} // namespace weft::api
