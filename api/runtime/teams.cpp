#include "api/runtime/teams.hpp"

#include "engine/memory/segment_layout.hpp"
#include "progress/execution/operation_error.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>

namespace weft::api {

team_registry::team_registry(engine_type& engine, heap_service& heap, std::vector<std::uint32_t> nodes,
                             entry all)
    : engine_(engine), heap_(heap), nodes_(std::move(nodes)), all_(all.state) {
  teams_.emplace(team_calls::all, all);
  engine_.works().when_quiet([this](const progress::team_state& team) { became_quiet(team); });
}

team_registry::entry team_registry::at(team t) const {
  const std::shared_lock lock(lock_);
  const auto found = teams_.find(t);
  return found == teams_.end() ? entry{} : found->second;
}

std::uint32_t team_registry::size(team t) const {
  if (t == all) return all_->info.size();
  const entry e = at(t);
  return e.state == nullptr ? 0 : e.state->info.size();
}

std::uint32_t team_registry::rank(team t) const {
  return state(t).info.me();
}

std::uint32_t team_registry::thread(team t, std::uint32_t member) const {
  return state(t).info.world[member];
}

std::uint32_t team_registry::member(team t, std::uint32_t rank) const {
  return state(t).info.member(rank);
}

team_registry::handle team_registry::post(team t, const collectives::request& r, const graph::binding& where,
                                          const progress::barrier_summary& value,
                                          progress::barrier_summary* heard) {
  const handle h = engine_.post(state(t), r, where, value, heard);
  if (h == 0) [[unlikely]]
    throw progress::operation_error("too many operations are outstanding, WEFT_MAX_OPERATIONS is " +
                                    std::to_string(engine_.options().operations_cap) +
                                    ": complete some first, or raise it");
  return h;
}

void team_registry::run(team t, const collectives::request& r, const graph::binding& where) {
  engine_.run(state(t), r, where);
}

void team_registry::await_all_entered(team t, handle h) {
  engine_.await_all_entered(state(t), h);
}

// A gather-all of 16 bytes through the parent's scratch: my word pair behind everybody's. Nobody's, if it
// fails.
std::vector<team_registry::pair> team_registry::gather(making& m, pair mine) {
  const std::uint32_t members = m.parent.state->info.size();
  std::byte* scratch = engine_.net().segment() + m.parent.scratch;
  const std::uint64_t own = sizeof(pair) * members;
  std::memcpy(scratch + own, &mine, sizeof mine);
  collectives::request r;
  r.op = collectives::operation::gather_all;
  r.in = r.out = graph::sync::my;
  r.bytes = sizeof(pair);
  r.by = m.by;
  std::vector<pair> all(members); // before anything has begun
  if (m.go(
          [&] { engine_.run(*m.parent.state, r, {.dst = m.parent.scratch, .src = m.parent.scratch + own}); }))
    std::memcpy(all.data(), scratch, own);
  return all;
}

graph::geometry team_registry::geometry_of(const std::vector<std::uint32_t>& members) const {
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t rank : members)
    nodes.push_back(nodes_[rank]);
  const auto me = std::find(members.begin(), members.end(), engine_.net().rank()) - members.begin();
  return {static_cast<std::uint32_t>(me), std::move(nodes)};
}

namespace {

// Has any member said so?
bool some_return(const auto& wishes) {
  return std::ranges::any_of(wishes, [](const auto& w) { return w.second >> 32 != 0; });
}

std::uint64_t board_bytes(const graph::geometry& g) {
  return engine::board::bytes(g.largest_node());
}

// What a team takes: whole pages, so that one of nearly the same size fits where it was.
std::uint64_t team_bytes(const graph::geometry& g) {
  constexpr std::uint64_t page = 4096;
  return (board_bytes(g) + team_registry::scratch_bytes(g.size()) + page - 1) / page * page;
}

// FNV-1a, a word at a time: lists that differ are told apart.
std::uint64_t digest(std::span<const std::uint32_t> ranks) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::uint32_t rank : ranks)
    hash = (hash ^ rank) * 0x100000001b3;
  return hash;
}

} // namespace

heap_service::board_grant team_registry::board_for(const std::vector<std::uint32_t>& members,
                                                   bool some_return) {
  using namespace std::chrono_literals;
  return heap_.allocate_board(team_bytes(geometry_of(members)), some_return ? 10s : 100ms);
}

// What a member says when a team is made of its parent; the second half has room for whether memory of teams
// that it has freed is on its way back.
team_registry::pair team_registry::wish(std::uint64_t first, std::uint32_t second) const {
  const std::uint64_t returning = returning_.load(std::memory_order_relaxed) != 0;
  return {first, returning << 32 | second};
}

team_registry::team team_registry::split_as(team parent, int color, int key, collectives::caller by) {
  making m{at(parent), by};
  const auto word = [](int value) { return static_cast<std::uint32_t>(value); };
  const std::vector<pair> wishes = gather(m, wish(word(color), word(key)));

  return engine::must_have_memory("a team", [&] { // the others go on
    std::vector<std::uint32_t> order;             // ranks of the parent, by key
    for (std::uint32_t r = 0; r < wishes.size(); ++r)
      if (wishes[r].first == word(color)) order.push_back(r);
    const auto key_of = [&](std::uint32_t r) { return static_cast<std::int32_t>(wishes[r].second); };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return key_of(a) < key_of(b); });
    return create(m, order, some_return(wishes)).value_or(0);
  });
}

std::optional<team_registry::team> team_registry::make(team parent_team,
                                                       std::span<const std::uint32_t> ranks) {
  making m{at(parent_team), collectives::caller::from_threads};
  const auto count = static_cast<std::uint32_t>(ranks.size());
  const pair mine = wish(digest(ranks), count);
  const std::vector<pair> wishes = gather(m, mine);

  return engine::must_have_memory("a team", [&] {
    const auto alike = [&](const pair& other) {
      return other.first == mine.first && static_cast<std::uint32_t>(other.second) == count;
    };
    m.go([&] {
      if (!std::ranges::all_of(wishes, alike))
        throw progress::operation_error("two threads gave different lists of threads: give the same on all");
    });
    std::vector<std::uint32_t> order;
    for (const std::uint32_t rank : ranks)
      order.push_back(m.parent.state->info.member(rank));
    return create(m, order, some_return(wishes));
  });
}

// Collective over the parent, each member with the ranks of the team that it hears of: its own, or one that
// it is not in, for which it gets 0.
std::optional<team_registry::team> team_registry::create(making& m, const std::vector<std::uint32_t>& order,
                                                         bool some_return) {
  const engine::team_info& old = m.parent.state->info;
  engine::team_info info;
  heap_service::board_grant grant;
  for (const std::uint32_t r : order)
    info.world.push_back(old.world[r]);
  if (!m.failed && order.front() == old.me()) m.go([&] { grant = board_for(info.world, some_return); });
  const std::vector<pair> grants = gather(m, {grant.offset, grant.number});
  const pair agreed = m.failed ? pair{} : grants[order.front()];

  std::optional<team> made;
  if (agreed.first != 0) {
    const bool member = std::find(order.begin(), order.end(), old.me()) != order.end();
    made = member ? enter(std::move(info), agreed, m.by == collectives::caller::init) : 0;
  }
  const bool all_know = m.failed != nullptr; // if the next step goes well for them
  const std::vector<pair> ends = gather(m, {0, all_know ? 0 : went_well});
  const auto missing = std::ranges::find_if(order, [&](std::uint32_t r) { return ends[r].second == 0; });
  if (m.failed && !all_know && made.value_or(0) != 0) free(*made); // others may have it
  if (m.failed && !all_know) std::rethrow_exception(m.failed);
  if (missing == order.end() && !m.failed) return made;

  if (made.value_or(0) != 0) forget(*made);
  if (grant.offset != 0) engine_.with_baton([&] { heap_.free_board(grant.offset); });
  if (m.failed) std::rethrow_exception(m.failed);
  throw progress::operation_error("thread " + std::to_string(old.world[*missing]) +
                                  " failed while the team was made; none of its threads has it");
}

// That nobody has used or will.
void team_registry::forget(team t) {
  const std::unique_lock lock(lock_);
  teams_.erase(t);
}

// The new team is known here from now on; the first member got `granted`, the board's offset and the number.
team_registry::team team_registry::enter(engine::team_info info, const pair& granted, bool of_node) {
  info.id = static_cast<std::uint32_t>(granted.second);
  info.board_offset = granted.first;
  info.geometry = geometry_of(info.world);
  const std::uint64_t scratch = granted.first + board_bytes(info.geometry);
  entry fresh{nullptr, scratch};
  const std::uint64_t end = granted.first + team_bytes(info.geometry);
  engine_.with_baton([&] {
    forget_tenants(granted.first, end);
    engine::board::clear(engine_.net().segment() + granted.first, info.geometry.locals());
    fresh.state = &engine_.add_team(std::move(info));
    tenants_.emplace(granted.first, tenant{fresh.state, end});
  });
  const team made = of_node ? team_calls::node : granted.second + 1;
  const std::unique_lock lock(lock_);
  teams_.emplace(made, fresh);
  return made;
}

// Who hands out memory knows that all its former users were quiet.
void team_registry::forget_tenants(std::uint64_t begin, std::uint64_t end) {
  auto at = tenants_.lower_bound(begin);
  if (at != tenants_.begin() && std::prev(at)->second.end > begin) --at;
  while (at != tenants_.end() && at->first < end) {
    engine_.remove_team(at->second.state->info.id);
    at = tenants_.erase(at);
  }
}

void team_registry::free(team t) {
  entry gone;
  {
    const std::unique_lock lock(lock_);
    const auto found = teams_.find(t);
    gone = found->second;
    teams_.erase(found);
  }
  engine_.with_baton([&] {
    if (gone.state->info.me() == 0) returning_.fetch_add(1, std::memory_order_relaxed);
    engine_.works().leave_team(*gone.state);
  });
}

void team_registry::became_quiet(const progress::team_state& team) {
  const std::uint32_t first = team.info.world.front();
  if (first == engine_.net().rank())
    count_quiet(team.info.board_offset);
  else
    static_cast<void>(heap_.send(first, quiet, team.info.board_offset)); // else the block is lost
}

void team_registry::count_quiet(std::uint64_t block) {
  const auto found = tenants_.find(block);
  if (found == tenants_.end() || ++found->second.quiet_members != found->second.state->info.size()) return;
  returning_.fetch_sub(1, std::memory_order_relaxed);
  heap_.free_board(block);
}

bool team_registry::on_message(const transport::message& m) {
  if (m.count != quiet) return false;
  if (!over_) count_quiet(m.seq);
  return true;
}

} // namespace weft::api
