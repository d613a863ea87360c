#include "api/runtime_teams.hpp"

#include "engine/memory/segment_layout.hpp"
#include "progress/operation_error.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>

namespace weft::api {

team_registry::team_registry(engine_type& engine, heap_service& heap, std::vector<std::uint32_t> nodes,
                             entry all)
    : engine_(engine), heap_(heap), nodes_(std::move(nodes)), all_(all.state) {
  teams_.emplace(team_calls::all, all);
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
                                          const progress::barrier_summary& value) {
  const handle h = engine_.post(state(t), r, where, value);
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

// A gather-all of 16 bytes through the team's scratch: my word pair behind everybody's.
std::vector<team_registry::pair> team_registry::gather(const entry& parent, pair mine) {
  const std::uint32_t members = parent.state->info.size();
  std::byte* scratch = engine_.net().segment() + parent.scratch;
  const std::uint64_t own = sizeof(pair) * members;
  std::memcpy(scratch + own, &mine, sizeof mine);
  collectives::request r;
  r.op = collectives::operation::gather_all;
  r.in = r.out = graph::sync::my;
  r.bytes = sizeof(pair);
  engine_.run(*parent.state, r, {.dst = parent.scratch, .src = parent.scratch + own});
  std::vector<pair> all(members);
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

std::uint64_t board_bytes(const graph::geometry& g) {
  return engine::board::bytes(g.largest_node());
}

// FNV-1a, a word at a time: lists that differ are told apart.
std::uint64_t digest(std::span<const std::uint32_t> ranks) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::uint32_t rank : ranks)
    hash = (hash ^ rank) * 0x100000001b3;
  return hash;
}

} // namespace

heap_service::board_grant team_registry::board_for(const std::vector<std::uint32_t>& members) {
  const graph::geometry g = geometry_of(members);
  return heap_.allocate_board(board_bytes(g) + scratch_bytes(g.size()));
}

team_registry::team team_registry::split_as(team parent_team, int color, int key, bool of_node) {
  reap();
  const entry parent = at(parent_team);
  const auto word = [](int value) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)); };
  const std::vector<pair> wishes = gather(parent, {word(color), word(key)});

  std::vector<std::uint32_t> order; // ranks of the parent, by key
  for (std::uint32_t r = 0; r < parent.state->info.size(); ++r)
    if (wishes[r].first == word(color)) order.push_back(r);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return static_cast<std::int64_t>(wishes[a].second) < static_cast<std::int64_t>(wishes[b].second);
  });
  return create(parent, order, of_node).value_or(0);
}

std::optional<team_registry::team> team_registry::make(team parent_team,
                                                       std::span<const std::uint32_t> ranks) {
  reap();
  const entry parent = at(parent_team);
  const pair mine{digest(ranks), ranks.size()};
  for (const pair& other : gather(parent, mine))
    if (other.first != mine.first || other.second != mine.second)
      throw progress::operation_error("two threads gave different lists of threads: give the same on all");

  std::vector<std::uint32_t> order;
  for (const std::uint32_t rank : ranks)
    order.push_back(parent.state->info.member(rank));
  return create(parent, order, false);
}

// Collective over the parent, each member with the ranks of the team that it hears of: its own, or one that
// it is not in, for which it gets 0.
std::optional<team_registry::team>
team_registry::create(const entry& parent, const std::vector<std::uint32_t>& order, bool of_node) {
  const engine::team_info& old = parent.state->info;
  engine::team_info info;
  for (const std::uint32_t r : order)
    info.world.push_back(old.world[r]);
  heap_service::board_grant grant;
  if (order.front() == old.me()) grant = board_for(info.world);
  const pair agreed = gather(parent, {grant.offset, grant.number})[order.front()];

  std::optional<team> made;
  if (agreed.first != 0) {
    const bool member = std::find(order.begin(), order.end(), old.me()) != order.end();
    made = member ? enter(std::move(info), agreed, of_node) : 0;
  }
  engine_.run(*parent.state, {}, {});
  return made;
}

// The new team is known here from now on; the first member got `granted`, the board's offset and the number.
team_registry::team team_registry::enter(engine::team_info info, const pair& granted, bool of_node) {
  info.id = static_cast<std::uint32_t>(granted.second);
  info.board_offset = granted.first;
  info.geometry = geometry_of(info.world);
  const std::uint64_t scratch = granted.first + board_bytes(info.geometry);
  std::memset(engine_.net().segment() + granted.first, 0, board_bytes(info.geometry));
  entry fresh{nullptr, scratch, granted.first};
  engine_.with_baton([&] { fresh.state = &engine_.add_team(std::move(info)); });
  const team made = of_node ? team_calls::node : granted.second + 1;
  const std::unique_lock lock(lock_);
  teams_.emplace(made, fresh);
  return made;
}

void team_registry::free(team t) {
  entry gone;
  {
    const std::unique_lock lock(lock_);
    const auto found = teams_.find(t);
    gone = found->second;
    teams_.erase(found);
  }
  {
    const std::unique_lock lock(lock_);
    closing_.push_back({0, gone});
  }
  reap();
}

// A member comes to the last barrier when all that it posted is retired. So behind the barrier nobody needs to
// hear anything of an operation of the team any more.
bool team_registry::closed(closing& c) {
  bool quiet = false;
  engine_.with_baton([&] { quiet = engine_.quiet(*c.team.state); });
  if (!quiet) return false;
  if (c.barrier != 0) return engine_.test(c.barrier) != engine_type::status::pending;
  c.barrier = engine_.post(*c.team.state, {}, {});
  return false;
}

void team_registry::reap() {
  std::vector<closing> over;
  {
    const std::unique_lock lock(lock_);
    const auto first_over =
        std::partition(closing_.begin(), closing_.end(), [&](closing& c) { return !closed(c); });
    over.assign(first_over, closing_.end());
    closing_.erase(first_over, closing_.end());
  }
  for (const closing& c : over) {
    const engine::team_info info = c.team.state->info;
    engine_.with_baton([&] {
      engine_.remove_team(info.id);
      leave_block(c.team.block, info.world.front(), info.size());
    });
  }
}

// Under the baton: I shall not look at this team's boards again.
void team_registry::leave_block(std::uint64_t block, std::uint32_t first, std::uint32_t members) {
  if (first == engine_.net().rank())
    count_leaver(block, members);
  else
    heap_.send(first, left, block, members);
}

void team_registry::count_leaver(std::uint64_t block, std::uint32_t members) {
  const std::lock_guard lock(leavers_lock_);
  if (++leavers_[block] < members) return;
  leavers_.erase(block);
  heap_.free_board(block);
}

bool team_registry::on_message(const transport::message& m) {
  if (m.count != left) return false;
  count_leaver(m.seq, static_cast<std::uint32_t>(m.retired));
  return true;
}

} // namespace weft::api
