// SPDX-License-Identifier: BSD-3-Clause
#include "tests/independence/schedule.hpp"

#include <algorithm>
#include <numeric>

namespace schedules {

namespace {

constexpr const char* names[] = {
    "broadcast",   "scatter",        "gather",     "gather_all",  "exchange",
    "permute",     "reduce",         "reduce_all", "prefix",      "sort",
    "team_reduce", "team_allreduce", "team_scan",  "team_exscan", "team_reduce_scatter",
    "alltoallv",   "allgatherv",     "gatherv",    "scatterv",    "barrier_nb",
    "alltoall_nb", "split_barrier"};

std::size_t rank_of(const std::vector<std::size_t>& team, std::size_t thread) {
  return static_cast<std::size_t>(std::ranges::find(team, thread) - team.begin());
}

bool rooted(kind what) {
  using enum kind;
  return what == broadcast || what == scatter || what == gather || what == gatherv || what == scatterv;
}

// Between them a block moves; ranks of the team.
bool partners(const operation& o, std::size_t a, std::size_t b) {
  if (rooted(o.what)) return a == o.root || b == o.root;
  if (o.what == kind::permute) return o.next[a] == b || o.next[b] == a;
  return true;
}

constexpr std::uint64_t ahead = 2048; // bytes

// What a rank that only sends to the late one has sent ahead.
bool only_sends_ahead(const operation& o, std::size_t late, std::size_t rank) {
  const std::uint64_t readers = o.what == kind::scatter ? o.next.size() : 1; // all blocks for a host together
  if (o.words * sizeof(std::uint64_t) * readers > ahead) return false;
  if (o.what == kind::gather) return late == o.root;
  return (o.what == kind::broadcast || o.what == kind::scatter) && rank == o.root;
}

// So much that all combine it together, and all wait for a late one.
bool is_much(const operation& o, std::size_t members) {
  return o.words * sizeof(std::uint64_t) * members > std::uint64_t{64} << 20;
}

bool moves_may_wait(const operation& o, std::size_t late, std::size_t rank, bool near) {
  if (!partners(o, late, rank)) return false;
  if (o.in == sync::no) return o.out == sync::my && !near;
  return !only_sends_ahead(o, late, rank);
}

// Its steps, one after the other, of one rank.
class drawing {
public:
  drawing(calls::dice d, schedule& s, std::size_t rank) : dice_(d), s_(s), rank_(rank) {}

  void draw(bool waits_at_end) {
    std::vector<std::vector<std::size_t>> queues(s_.teams.size());
    for (std::size_t op = s_.operations.size(); op-- != 0;)
      if (s_.is_member(rank_, op)) queues[s_.operations[op].team].push_back(op);
    for (;;) {
      std::erase_if(queues, [](const auto& q) { return q.empty(); });
      if (queues.empty()) break;
      auto& queue = queues[waits_at_end ? 0 : dice_.below(queues.size())];
      post(queue.back());
      queue.pop_back();
      if (dice_.chance(25)) steps().push_back({act::alone, dice_.below(1000), 0});
      while (!waits_at_end && dice_.chance(40))
        complete();
    }
    while (!under_way_.empty())
      complete();
  }

private:
  std::vector<step>& steps() { return s_.steps[rank_]; }
  void post(std::size_t op) {
    steps().push_back({act::post, op, 0});
    if (s_.operations[op].what != kind::split_barrier)
      under_way_.push_back(op);
    else
      steps().push_back({act::wait, op, 0}); // no collective in between
  }
  std::size_t take() {
    const std::size_t k = dice_.below(under_way_.size()), op = under_way_[k];
    under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(k));
    return op;
  }
  void complete() {
    if (under_way_.empty()) return;
    const std::size_t first = take();
    if (!under_way_.empty() && dice_.chance(20))
      steps().push_back({act::wait_two, first, take()});
    else
      steps().push_back({dice_.chance(25) ? act::test : act::wait, first, 0});
  }

  calls::dice dice_;
  schedule& s_;
  std::size_t rank_;
  std::vector<std::size_t> under_way_;
};

// Which ranks can come how far.
class run {
public:
  run(const schedule& s, const limits& l)
      : s_(s), l_(l), at_(s.steps.size()), posted_(s.steps.size(), std::vector<char>(s.operations.size())) {}

  // As far as all come, if no rank comes back.
  void advance() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t rank = 0; rank != at_.size(); ++rank)
        for (; !at_end(rank); ++at_[rank], moved = true) {
          if (now(rank).what == act::post) posted_[rank][now(rank).op] = 1;
          if (!passes(rank)) break;
        }
    }
  }
  // The rank whose absence is to end, all others are as far as they come; or none.
  bool next_absence(schedule::absence& out, calls::dice& d) {
    std::vector<std::size_t> away;
    for (std::size_t rank = 0; rank != at_.size(); ++rank)
      if (!at_end(rank) && now(rank).what == act::away) away.push_back(rank);
    if (away.empty()) return false;
    out = {d.pick(away), at_};
    ++at_[out.rank];
    return true;
  }
  bool ended() const {
    for (std::size_t rank = 0; rank != at_.size(); ++rank)
      if (!at_end(rank)) return false;
    return true;
  }

private:
  bool at_end(std::size_t rank) const { return at_[rank] == s_.steps[rank].size(); }
  const step& now(std::size_t rank) const { return s_.steps[rank][at_[rank]]; }
  bool passes(std::size_t rank) const {
    const step& s = now(rank);
    switch (s.what) {
    case act::away:
      return false;
    case act::alone:
      return true;
    case act::post:
      return s_.operations[s.op].what != kind::alltoall_nb || is_complete(rank, s.op);
    case act::wait_two:
      return is_complete(rank, s.op) && is_complete(rank, s.other);
    default:
      return is_complete(rank, s.op);
    }
  }
  bool is_complete(std::size_t rank, std::size_t op) const {
    return std::ranges::all_of(s_.teams[s_.operations[op].team], [&](std::size_t late) {
      return late == rank || posted_[late][op] != 0 || !may_hold_up(s_, op, late, rank, l_);
    });
  }

  const schedule& s_;
  const limits& l_;
  std::vector<std::size_t> at_;
  std::vector<std::vector<char>> posted_;
};

operation draw_operation(calls::dice& d, const schedule& s, const limits& l) {
  operation o;
  o.what = static_cast<kind>(d.below(kinds));
  if (l.only_reduces) o.what = d.chance(50) ? kind::reduce : kind::team_reduce;
  const bool of_all = is_array(o.what) || o.what == kind::split_barrier;
  o.team = of_all ? 0 : d.below(s.teams.size());
  const std::size_t members = s.teams[o.team].size();
  o.in = static_cast<sync>(d.below(3));
  o.out = static_cast<sync>(d.below(3));
  if (d.chance(30)) o.in = o.out = sync::my;
  const std::uint64_t sizes[] = {8,      8,       600,     2048,      5000,     16384,
                                 40'000, 200'000, 300'000, l.largest, l.largest};
  const std::uint64_t most =
      is_vector(o.what) || o.what == kind::broadcast ? l.largest : l.largest / l.threads;
  o.words = std::max<std::uint64_t>(1, std::min(d.pick(sizes), most) / sizeof(std::uint64_t));
  o.root = d.below(members);
  const std::uint64_t blocks[] = {o.words, o.words, 1, 7};
  o.blk = d.pick(blocks);
  o.how = static_cast<combined>(d.below(is_array(o.what) ? 4 : 2));
  if (o.what == kind::team_reduce_scatter) o.words = std::max<std::uint64_t>(1, o.words / members);
  o.next.resize(members);
  std::iota(o.next.begin(), o.next.end(), std::size_t{0});
  d.shuffle(o.next);
  return o;
}

} // namespace

const char* name_of(kind what) {
  return names[static_cast<std::size_t>(what)];
}

bool schedule::is_member(std::size_t rank, std::size_t op) const {
  return std::ranges::count(teams[operations[op].team], rank) != 0;
}

std::string schedule::describe(const step& s) const {
  if (s.what == act::wait_two)
    return describe({act::wait, s.op, 0}) + "; and " + describe({act::wait, s.other, 0});
  static constexpr const char* acts[] = {"post", "wait for", "test", "wait for two", "be away", "call alone"};
  static constexpr const char* combinations[] = {"", ", a function", ", reproducible", ", in order"};
  std::string text = acts[static_cast<int>(s.what)];
  if (s.what == act::away || s.what == act::alone) return text;
  const operation& o = operations[s.op];
  text += " operation " + std::to_string(s.op) + ": " + name_of(o.what) + " of team " +
          std::to_string(o.team) + ", root " + std::to_string(teams[o.team][o.root]) + ", " +
          std::to_string(o.words) + " words";
  if (has_modes(o.what)) text += std::string(", ") + calls::name_of(o.in) + "/" + calls::name_of(o.out);
  if (is_array(o.what)) text += ", blocks of " + std::to_string(o.blk);
  if (is_array(o.what) || is_vector(o.what)) text += combinations[static_cast<int>(o.how)];
  return text;
}

bool may_hold_up(const schedule& s, std::size_t op, std::size_t late, std::size_t rank, const limits& l) {
  const operation& o = s.operations[op];
  const std::vector<std::size_t>& team = s.teams[o.team];
  const std::size_t of_late = rank_of(team, late), of_rank = rank_of(team, rank);
  if (has_modes(o.what) && (o.in == sync::all || o.out == sync::all)) return true;
  switch (o.what) {
  case kind::reduce: // what travels are partial results, or the root brings the elements
    if (o.how < combined::reproducible) return of_rank == o.root;
    return of_rank == o.root || of_late == o.root || is_much(o, l.threads);
  case kind::team_reduce:
    if (of_rank == o.root || is_much(o, team.size())) return true;
    return of_late == o.root && o.words * sizeof(std::uint64_t) > ahead;
  case kind::gatherv:
  case kind::scatterv:
    return partners(o, of_late, of_rank);
  default:
    if (o.what > kind::permute) return true;
    return moves_may_wait(o, of_late, of_rank, (l.reaches[rank] >> late & 1) != 0);
  }
}

schedule draw(calls::dice d, std::vector<std::vector<std::size_t>> teams, const limits& l) {
  schedule s;
  s.teams = std::move(teams);
  for (std::size_t k = 0; k != l.operations; ++k)
    s.operations.push_back(draw_operation(d, s, l));
  for (int attempt = 0;; ++attempt) {
    s.steps.assign(l.threads, {});
    for (std::size_t rank = 0; rank != l.threads; ++rank)
      drawing(calls::dice{d.next()}, s, rank).draw(attempt == 20);
    run r(s, l);
    r.advance();
    if (r.ended()) break;
  }
  for (std::size_t absences = d.between(1, 3); absences != 0; --absences) {
    std::vector<step>& steps = s.steps[d.below(l.threads)];
    // Not within a barrier's two halves more than elsewhere: behind any step.
    steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(d.below(steps.size() + 1)), {act::away, 0, 0});
  }
  run r(s, l);
  r.advance();
  for (schedule::absence a; r.next_absence(a, d); r.advance())
    s.absences.push_back(a);
  return s;
}

} // namespace schedules
