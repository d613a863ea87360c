// SPDX-License-Identifier: BSD-3-Clause
#include "tests/simulated/control_player.hpp"

#include <array>
#include <cstring>

namespace weft::tests {
namespace {
using collectives::operation;
using control::team_calls;
using effect = control_case::effect;

// The most that a team takes.
std::uint64_t bytes_of_team(const control_case& c) {
  std::uint64_t most = 0;
  for (const auto& team : c.teams) {
    std::vector<std::uint32_t> nodes;
    for (const std::uint32_t rank : team)
      nodes.push_back(c.nodes[rank]);
    most = std::max(most, engine::mailbox_bytes(graph::topology(0, nodes)));
  }
  return control::heap_layout::whole_pages(most + control::team_scratch_bytes(c.ranks));
}

std::uint64_t places(const control_case& c) {
  return c.scarce() ? c.team_places : c.teams.size() + c.ranks;
}

// A byte of what a member of a team sends another one in a step.
std::byte value(const control_case::step& s, std::uint32_t from, std::uint32_t to, std::uint64_t at) {
  return static_cast<std::byte>(1 + (s.area * 31 + from * 13 + to * 7 + at) % 251);
}

} // namespace

control_world::control_world(const control_case& c, control_counts& met)
    : program(c), counts(met), team_bytes(bytes_of_team(c)),
      layout(c.ranks, team_bytes * places(c), c.heap_bytes,
             engine::bundle_box::bytes(graph::topology(0, c.nodes))),
      teams(c), kept(c.ranks), steps(c.steps.size()) {
  regions.emplace_back(layout.heap, layout.heap + layout.heap_bytes);
  for (std::uint32_t rank = 0; rank < c.ranks; ++rank)
    regions.emplace_back(layout.heap + layout.heap_bytes, layout.end());
}

std::uint64_t control_world::segment_bytes() const {
  const std::uint64_t areas = 2 * program.areas * program.ranks * control_case::most_bytes;
  return (layout.end() + areas + 63) / 64 * 64;
}

control_player::control_player(control_world& w, simulated_engine& e, progress::channel& all)
    : world_(w), c_(w.program), engine_(e), net_(e.net()), heap_(e, all, w.layout),
      teams_(e, heap_, c_.nodes, all, w.layout.scratch_of_all()), rank_(net_.rank()),
      random_(c_.seed * 1000003 + rank_), handles_(c_.teams.size()) {
  handles_[0] = team_calls::all;
}

std::string control_player::doing() const {
  return "step " + std::to_string(at_) + ", " + std::to_string(posted_.size()) + " posted";
}

void control_player::play() {
  teams_.make_node_team(c_.nodes[rank_]);
  block& mine = world_.kept[rank_];
  mine = {1 + rank_, heap_.allocate_local(100), 100};
  mine.life = world_.regions[mine.region].granted(mine.offset, mine.bytes, tick());
  teams_.run(team_calls::all, {}, {});
  const auto room = heap_.largest().mailboxes;
  for (const step& s : c_.steps) {
    for (std::uint64_t n = random_.below(3); n != 0; --n)
      act();
    take(s);
    ++at_;
  }
  end();
  if (rank_ == 0) engine_.drive_until([&] { return heap_.largest().mailboxes == room; });
  for (++world_.ended; world_.ended != c_.ranks;) { // who has ended still answers
    if (engine_.works().sweep() || !c_.scarce())
      net_.relax();
    else
      net_.nap(std::chrono::milliseconds(1));
  }
}

// No member has anything any more: the books say so.
void control_player::end() {
  while (!posted_.empty())
    finish_one();
  while (!world_.pool.empty())
    free_one();
  teams_.run(team_calls::all, {}, {});
  for (const step* s : left_early_)
    check(*s);
  const auto left = heap_.largest();
  if (left.local != world_.layout.heap_bytes || left.symmetric != world_.layout.heap_bytes)
    throw wrong_result("not all memory came back");
}

void control_player::act() {
  const std::uint64_t what = random_.below(12);
  if (rank_ == c_.sluggard && random_.coin(0.2)) be_late(2000);
  if (what < 4)
    allocate_alone();
  else if (what < 7)
    free_one();
  else if (what < 9)
    finish_one();
  else if (what < 10)
    be_late(100);
  else
    send_nonsense();
}

void control_player::be_late(std::uint64_t microseconds) {
  net_.compute(std::chrono::microseconds(random_.below(microseconds)));
}

void control_player::allocate_alone() {
  const std::size_t region = random_.coin(0.7) ? 0 : 1 + rank_;
  const std::uint64_t bytes = 1 + random_.below(c_.heap_bytes * (random_.coin(0.1) ? 3 : 1) / 2);
  const moment asked = tick();
  const std::uint64_t offset = region == 0 ? heap_.allocate_global(bytes) : heap_.allocate_local(bytes);
  region_books& books = world_.regions[region];
  if (offset == 0) {
    ++world_.counts.refusals;
    return books.refused(bytes, asked, tick());
  }
  world_.pool.push_back({region, offset, bytes, books.granted(offset, bytes, asked)});
}

void control_player::free_one() {
  if (world_.pool.empty()) return;
  std::swap(world_.pool[random_.below(world_.pool.size())], world_.pool.back());
  const block b = world_.pool.back();
  world_.pool.pop_back();
  free_alone(b);
}

void control_player::free_alone(const block& b) {
  const auto owner = static_cast<std::uint32_t>(b.region == 0 ? random_.below(c_.ranks) : b.region - 1);
  if (b.bytes > 1 && random_.coin(0.2)) {
    ++world_.counts.wrong_frees;
    if (heap_.free_block(owner, b.offset + 1 + random_.below(b.bytes - 1)) != b.offset)
      throw wrong_result("who frees the middle of a block does not hear where it begins");
  }
  world_.regions[b.region].freeing(b.life);
  if (heap_.free_block(owner, b.offset) != b.offset) throw wrong_result("a block could not be freed");
  world_.regions[b.region].freed(b.life, tick());
  if (owner != rank_) ++world_.counts.frees_of_others;
  if (b.region == 1 + rank_ && heap_.free_block(owner, b.offset) != 0) // no other member has it by now
    throw wrong_result("a block was freed twice");
}

// None of it is to be taken for a request, or for an answer to one.
void control_player::send_nonsense() {
  const control::heap_layout& l = world_.layout;
  auto to = static_cast<std::uint32_t>((rank_ + 1 + random_.below(c_.ranks - 1)) % c_.ranks);
  transport::message m{.kind = transport::message_kind::request, .source = rank_};
  const auto send = [&](std::span<const std::byte> payload) {
    engine_.with_ownership([&] {
      if (!engine_.works().members().unasked().send(to, m, payload)) throw std::bad_alloc();
    });
  };
  const auto allocation = control::encoded(control::allocate{1, 64});
  constexpr std::uint64_t unused = std::uint64_t{1} << 30;
  constexpr std::array<std::uint64_t, 3> unknown{unused, 1, 64};
  ++world_.counts.nonsense;
  switch (random_.below(7)) {
  case 0:
    return send({});
  case 1:
    return send(std::span(allocation).first(allocation.size() - 1));
  case 2:
    m.source = c_.ranks;
    return send(allocation);
  case 3:
    return send(std::as_bytes(std::span(unknown)));
  case 4:
    return send(control::encoded(control::free_block{1, l.end() + 64}));
  case 5: // no member waits for it
    return send(control::encoded(control::allocated{unused, l.heap}));
  default: // of a team that had the memory of one of mine before
    to = c_.teams[random_.below(c_.teams.size())].front();
    if (to == rank_) return;
    for (std::uint64_t mailbox = l.mailboxes; mailbox < l.mailboxes + 6 * world_.team_bytes;
         mailbox += world_.team_bytes)
      send(control::encoded(control::left{unused, mailbox}));
  }
}

void control_player::take(const step& s) {
  if (handles_[s.team] == 0) return;
  switch (s.what) {
  case effect::allocate:
    return allocate(s);
  case effect::free_together:
    return free_together(s);
  case effect::split:
    return split(s);
  case effect::make:
    return make(s);
  case effect::make_of_two_lists:
    return make_of_two_lists(s);
  case effect::free:
    return free_team(s);
  case effect::collective:
    return post(s);
  }
}

void control_player::allocate(const step& s) {
  control_world::together& all = world_.steps[at_];
  if (all.entered++ == 0) all.first = tick();
  const std::uint64_t offset = heap_.allocate_all(s.bytes);
  if (all.left++ != 0) {
    if (offset != all.got.offset) throw wrong_result("two threads got different blocks");
    return;
  }
  all.got = {0, offset, s.bytes};
  if (offset == 0) return world_.regions[0].refused(s.bytes, all.first, tick());
  all.got.life = world_.regions[0].granted(offset, s.bytes, all.first);
  if (!s.kept) world_.pool.push_back(all.got);
}

void control_player::free_together(const step& s) {
  const block& b = s.block == control_case::none ? world_.kept[s.rank] : world_.steps[s.block].got;
  if (b.offset == 0) return;
  if (s.twice && heap_.free_block_of_all(s.rank, b.offset + 1) != b.offset)
    throw wrong_result("who frees the middle of a block does not hear where it begins");
  if (++world_.steps[at_].entered == c_.ranks) world_.regions[b.region].freeing(b.life);
  if (heap_.free_block_of_all(s.rank, b.offset) != b.offset) throw wrong_result("a block could not be freed");
  if (rank_ == (b.region == 0 ? 0 : s.rank)) world_.regions[b.region].freed(b.life, tick());
}

void control_player::split(const step& s) {
  const std::uint32_t me = c_.member(s.team, rank_);
  const std::size_t team = s.made[me];
  const moment asked = tick();
  world_.teams.begins(team, asked);
  note(team, teams_.split(handles_[s.team], s.colors[me], s.keys[me]), asked);
}

void control_player::make(const step& s) {
  const std::size_t team = s.made.front();
  const moment asked = tick();
  world_.teams.begins(team, asked);
  const auto made = teams_.make(handles_[s.team], s.list);
  const bool member = c_.member(team, rank_) != c_.teams[team].size();
  if (!made || member) return note(team, made.value_or(0), asked);
  if (*made != 0) throw wrong_result("who is not in the list got a team");
  world_.teams.heard(team, true);
}

void control_player::make_of_two_lists(const step& s) {
  std::vector<std::uint32_t> list = s.list;
  if (c_.member(s.team, rank_) == 0) std::ranges::reverse(list);
  try {
    (void)teams_.make(handles_[s.team], list);
  } catch (const progress::operation_error& e) {
    if (std::string(e.what()).find("two threads gave different lists") != std::string::npos) return;
    throw;
  }
  throw wrong_result("a team was made of two lists");
}

// The team that this rank is to get; its handle is 0 if there was no room.
void control_player::note(std::size_t team, std::uint64_t handle, moment asked) {
  world_.teams.heard(team, handle != 0);
  if (handle == 0) return check_refusal(asked);
  world_.teams.got(team, handle, teams_.place(handle));
  handles_[team] = handle;
  const std::vector<std::uint32_t>& members = c_.teams[team];
  bool right = teams_.size(handle) == members.size() && teams_.thread(handle, teams_.rank(handle)) == rank_;
  for (std::uint32_t k = 0; right && k < members.size(); ++k)
    right = teams_.thread(handle, k) == members[k] && teams_.member(handle, members[k]) == k;
  if (!right) throw wrong_result("the members of a team are others than split's rule says");
}

void control_player::check_refusal(moment asked) {
  ++world_.counts.teams_refused;
  const std::uint32_t of_nodes = graph::topology(rank_, c_.nodes).hosts();
  if (!c_.scarce() || of_nodes + 1 + world_.teams.places_since(asked) <= c_.team_places)
    throw wrong_result("there was room for the team");
}

void control_player::free_team(const step& s) {
  const std::uint64_t handle = std::exchange(handles_[s.team], 0);
  teams_.free(handle);
  if (teams_.size(handle) != 0) throw wrong_result("a freed team is still known");
  world_.teams.freed(s.team, tick());
}

std::uint64_t control_player::destination(const step& s) const {
  return world_.layout.end() + 2 * s.area * c_.ranks * control_case::most_bytes;
}
std::uint64_t control_player::source(const step& s) const {
  return destination(s) + c_.ranks * control_case::most_bytes;
}

void control_player::post(const step& s) {
  const std::uint32_t me = c_.member(s.team, rank_);
  const std::uint64_t blocks = s.call.op == operation::exchange ? c_.teams[s.team].size() : 1;
  std::byte* const from = net_.segment() + source(s);
  for (std::uint32_t to = 0; to < blocks; ++to)
    for (std::uint64_t k = 0; k < s.call.bytes; ++k)
      from[to * s.call.bytes + k] = value(s, me, to, k);
  for (std::uint32_t n = 0; n < s.times; ++n)
    posted_.push_back({&s, teams_.post(handles_[s.team], s.call, {.dst = destination(s), .src = source(s)})});
  if (random_.coin(0.5)) finish_one();
}

void control_player::finish_one() {
  if (posted_.empty()) return;
  std::swap(posted_[random_.below(posted_.size())], posted_.back());
  const posted p = posted_.back();
  posted_.pop_back();
  engine_.wait(p.handle);
  if (p.what->call.out != graph::sync::no) return check(*p.what);
  left_early_.push_back(p.what);
}

void control_player::check(const step& s) const {
  if (s.call.op == operation::barrier) return;
  const std::uint32_t me = s.call.op == operation::exchange ? c_.member(s.team, rank_) : 0;
  const bool one = s.call.op == operation::broadcast;
  const std::byte* const got = net_.segment() + destination(s);
  const std::size_t blocks = one ? 1 : c_.teams[s.team].size();
  for (std::uint32_t b = 0; b < blocks; ++b)
    for (std::uint64_t k = 0; k < s.call.bytes; ++k)
      if (got[b * s.call.bytes + k] != value(s, one ? s.call.root : b, me, k))
        throw wrong_result("wrong data of " + text_of(s.call));
}

} // namespace weft::tests
