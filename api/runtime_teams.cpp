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
  const entry e = at(t);
  return e.state == nullptr ? 0 : e.state->info.size();
}

std::uint32_t team_registry::rank(team t) const { return at(t).state->info.me(); }

std::uint32_t team_registry::thread(team t, std::uint32_t member) const {
  return at(t).state->info.world[member];
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

void team_registry::await_all_entered(team t, handle h) { engine_.await_all_entered(state(t), h); }

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

} // namespace

heap_service::board_grant team_registry::board_for(const std::vector<std::uint32_t>& members) {
  const graph::geometry g = geometry_of(members);
  return heap_.allocate_board(board_bytes(g) + scratch_bytes(g.size()));
}

team_registry::team team_registry::split_as(team parent_team, int color, int key, bool of_node) {
  reap();
  const entry parent = at(parent_team);
  const engine::team_info& old = parent.state->info;
  const auto word = [](int value) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)); };
  const std::vector<pair> wishes = gather(parent, {word(color), word(key)});

  std::vector<std::uint32_t> order; // ranks of the parent, by key
  for (std::uint32_t r = 0; r < old.size(); ++r)
    if (wishes[r].first == word(color)) order.push_back(r);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return static_cast<std::int64_t>(wishes[a].second) < static_cast<std::int64_t>(wishes[b].second);
  });
  engine::team_info info;
  for (std::uint32_t r : order)
    info.world.push_back(old.world[r]);

  heap_service::board_grant grant;
  if (order.front() == old.me()) grant = board_for(info.world);
  const pair agreed = gather(parent, {grant.offset, grant.number})[order.front()];

  team made = 0;
  if (agreed.first != 0) {
    info.id = static_cast<std::uint32_t>(agreed.second);
    info.board_offset = agreed.first;
    info.geometry = geometry_of(info.world);
    const std::uint64_t scratch = agreed.first + board_bytes(info.geometry);
    std::memset(engine_.net().segment() + agreed.first, 0, board_bytes(info.geometry));
    entry fresh{nullptr, scratch, agreed.first};
    engine_.with_baton([&] { fresh.state = &engine_.add_team(std::move(info)); });
    made = of_node ? team_calls::node : agreed.second + 1;
    const std::unique_lock lock(lock_);
    teams_.emplace(made, fresh);
  }
  engine_.run(*parent.state, {}, {});
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
  const std::uint64_t barrier = engine_.post(*gone.state, {}, {});
  if (barrier == 0) engine_.run(*gone.state, {}, {});
  {
    const std::unique_lock lock(lock_);
    closing_.push_back({barrier, gone});
  }
  reap();
}

void team_registry::reap() {
  std::vector<closing> over;
  {
    const std::unique_lock lock(lock_);
    const auto first_over = std::partition(closing_.begin(), closing_.end(), [&](const closing& c) {
      return engine_.test(c.barrier) == engine_type::status::pending || !engine_.quiet(*c.team.state);
    });
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
