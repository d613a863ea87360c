// SPDX-License-Identifier: BSD-3-Clause
#include "tests/calls/player.hpp"

#include "tests/calls/issue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sched.h>
#include <unistd.h>

namespace calls {

namespace {

bool is_member(const members& team) {
  return std::find(team.begin(), team.end(), static_cast<std::uint32_t>(MYTHREAD)) != team.end();
}

class player {
public:
  player(const scenario& s, std::uint64_t index, std::vector<upc_team_t> handles, const paints& colours,
         dice own, const arena& memory, report& tell, helpers& others, const play_options& options)
      : s(s), handles(std::move(handles)), memory(memory), tell(tell), how(options.how), d(own),
        board(options.board), book(s, index + 1, colours, memory, tell),
        in_flight(d, tell, others, [this](std::size_t call) { left(call); }) {
    if (options.corrupt_reference) book.corrupt_reference();
  }

  void run() {
    note("begins");
    book.begin();
    if (how.away_thread != no_thread && MYTHREAD == 0)
      for (std::size_t i = 0; i != blackboard::words; ++i)
        board->at(i).store(0);
    upc_barrier;
    for (std::size_t i = 0; i != s.steps.size(); ++i)
      if (takes_part(s.steps[i]))
        take(i);
      else if (is_one_sided(s.steps[i]))
        how.away_thread != no_thread ? be_away(i) : compute(300);
    note("completes the rest, " + in_flight.open());
    in_flight.finish();
    note("the last barrier");
    upc_barrier;
    book.finish();
    book.count_elements();
    tell.note("between cases");
  }

private:
  void note(const std::string& doing) { tell.note(doing); }

  bool is_one_sided(const step& now) const {
    return now.what == step::act::call && s.calls[now.call].one_sided();
  }
  bool takes_part(const step& now) const {
    if (is_one_sided(now)) return s.calls[now.call].caller == static_cast<std::uint32_t>(MYTHREAD);
    return is_member(s.teams[now.team]);
  }

  void take(std::size_t i) {
    dawdle();
    note(fmt::format("step {} of {}", i, s.steps.size()));
    while (in_flight.size() >= how.depth)
      in_flight.finish_one();
    act(i);
    if (how.away_thread != no_thread) be_away_or_finish(i);
    look_at_gates();
    for (std::size_t turns = how.eager ? d.below(4) : d.below(4) / 3; turns != 0; --turns)
      in_flight.turn();
  }

  // Ranks come at different times.
  void dawdle() {
    const bool late = how.late_thread == no_thread || how.late_thread == static_cast<std::uint32_t>(MYTHREAD);
    if (late && d.chance(how.late_percent)) {
      const auto us = static_cast<unsigned>(1 + d.below(how.late_us));
      d.chance(50) ? static_cast<void>(usleep(us)) : compute(us);
    }
    if (!d.chance(30)) return;
    for (std::size_t turns = d.below(30); turns != 0; --turns)
      sched_yield();
  }
  static void compute(unsigned us) {
    volatile double work = 0;
    for (unsigned turns = us * 100; turns != 0; --turns)
      work = work + 1.0 / turns;
  }
  // Of a call that is posted, or of the first half of a barrier.
  void be_away_or_finish(std::size_t i) {
    const step& now = s.steps[i];
    const bool split = now.what == step::act::split_barrier;
    const bool posts = split || now.what == step::act::call || now.what == step::act::team_barrier_nb;
    if (!posts || (!is_one_sided(now) && !is_away_in(s.teams[now.team]))) return;
    if (is_one_sided(now) || !is_away()) {
      in_flight.finish();
      board->at(i).fetch_add(1);
    } else if (!split) {
      be_away(i);
    }
  }
  bool is_away() const { return how.away_thread == static_cast<std::uint32_t>(MYTHREAD); }
  bool is_away_in(const members& team) const {
    return std::find(team.begin(), team.end(), how.away_thread) != team.end();
  }
  // Computes, or sleeps, and does not call the library, before all others have left.
  void be_away(std::size_t i) {
    const bool one = is_one_sided(s.steps[i]);
    const std::uint64_t others = one ? 1 : s.teams[s.steps[i].team].size() - 1;
    const std::string doing = fmt::format("away behind step {}, {} others", i, others);
    note(doing);
    const bool sleeps = d.chance(50);
    for (std::uint64_t looks = 0; board->at(i).load() < others; ++looks)
      if (sleeps)
        usleep(50);
      else if (looks % 100'000 == 0)
        note(doing);
  }

  // While others are late: of what may not be written yet.
  void look_at_gates() {
    for (std::size_t looks = d.below(3); looks != 0; --looks) {
      const std::size_t call = in_flight.any_open();
      if (call != no_call) book.look_at_gate(call);
    }
  }

  void act(std::size_t i) {
    const step& now = s.steps[i];
    const upc_team_t team = handles[now.team];
    switch (now.what) {
    case step::act::call:
      return post_call(now.call, team);
    case step::act::barrier:
      return upc_barrier(static_cast<int>(i));
    case step::act::split_barrier:
      upc_notify(static_cast<int>(i));
      if (is_away()) be_away(i);
      dawdle();
      in_flight.turn();
      return upc_wait(static_cast<int>(i));
    case step::act::team_barrier:
      return cray_upc_team_barrier(team);
    case step::act::team_barrier_nb:
      return in_flight.add_nb(cray_upc_team_barrier_nb(team), no_call);
    case step::act::split:
    case step::act::from_list:
      return make_teams(now, s, handles);
    case step::act::free:
      cray_upc_team_free(team);
      handles[now.team] = 0;
      return;
    }
  }

  void post_call(std::size_t i, upc_team_t team) {
    call c = s.calls[i];
    if (is_away() && !c.one_sided() && !is_cray(c.what)) c.async = true;
    note(fmt::format("call {}: {}; {}", i, describe(c, s.teams[c.team]), in_flight.open()));
    book.before_post(i);
    const unsigned long long handle = post(c, team, s.teams[c.team], memory);
    if (c.what == kind::alltoall_nbi) return in_flight.add_nbi(i);
    if (c.what == kind::alltoall_nb || (c.what >= kind::team_reduce && c.async))
      return in_flight.add_nb(handle, i);
    const bool complete = handle == UPC_HANDLE_COMPLETE;
    if (!c.async && !complete) tell.wrong("a blocking call returned a handle");
    if (c.async && complete && !c.one_sided())
      tell.wrong("an asynchronous call returned UPC_HANDLE_COMPLETE");
    complete ? left(i) : in_flight.add(handle, i);
  }

  void left(std::size_t i) {
    const call& c = s.calls[i];
    book.after_exit(i);
    const std::uint32_t other = d.pick(s.teams[c.team]);
    if (c.out == sync::all && (c.of == nullptr || c.of->defined) && d.chance(40)) book.check_other(i, other);
  }

  const scenario& s;
  std::vector<upc_team_t> handles;
  const arena& memory;
  report& tell;
  const manners& how;
  dice d;
  const blackboard* const board;
  ledger book;
  completions in_flight;
};

} // namespace

void make_teams(const step& now, const scenario& s, std::vector<upc_team_t>& handles) {
  handles.resize(s.teams.size(), 0);
  const members& parent = s.teams[now.team];
  upc_team_t made = 0;
  if (now.what == step::act::split) {
    const auto rank = static_cast<std::size_t>(
        std::find(parent.begin(), parent.end(), static_cast<std::uint32_t>(MYTHREAD)) - parent.begin());
    cray_upc_team_split(handles[now.team], now.colors[rank], now.keys[rank], &made);
  } else {
    const members& wanted = s.teams[now.made[0]];
    const std::vector<int> threads(wanted.begin(), wanted.end());
    weft_team_from_threads(handles[now.team], static_cast<int>(threads.size()), threads.data(), &made);
  }
  for (const std::size_t team : now.made)
    if (is_member(s.teams[team])) handles[team] = made;
}

void play(const scenario& s, std::uint64_t index, std::vector<upc_team_t> handles, const paints& colours,
          dice own, const arena& memory, report& tell, helpers& others, const play_options& options) {
  handles.resize(s.teams.size(), 0);
  player(s, index, std::move(handles), colours, own, memory, tell, others, options).run();
}

} // namespace calls
