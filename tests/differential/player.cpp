#include "tests/differential/player.hpp"

#include "tests/differential/library.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <sched.h>

namespace differential {

namespace {

bool is_member(const members& team) {
  return std::find(team.begin(), team.end(), static_cast<std::uint32_t>(MYTHREAD)) != team.end();
}

class player {
public:
  player(const scenario& s, std::vector<upc_team_t> handles, const paints& colours, dice own,
         const arena& memory, report& tell, const play_options& options)
      : s(s), handles(std::move(handles)), memory(memory), tell(tell), options(options), d(own),
        book(s, colours, memory, tell), in_flight(d, tell, [this](std::size_t call) { left(call); }) {
    if (options.corrupt_reference) book.corrupt_reference();
  }

  void run() {
    note("begins");
    book.begin();
    upc_barrier;
    for (std::size_t i = 0; i != s.steps.size(); ++i) {
      if (!is_member(s.teams[s.steps[i].team])) continue;
      dawdle();
      note(fmt::format("step {} of {}", i, s.steps.size()));
      act(s.steps[i]);
      for (std::size_t turns = d.below(4); turns != 0; --turns)
        in_flight.turn();
    }
    note("completes the rest, " + in_flight.open());
    in_flight.finish();
    note("the last barrier");
    upc_barrier;
    book.finish();
    tell.done();
  }

private:
  void note(const std::string& doing) { tell.note(options.patience_seconds, doing); }

  // Ranks come at different times.
  void dawdle() {
    if (!d.chance(30)) return;
    for (std::size_t turns = d.below(30); turns != 0; --turns)
      sched_yield();
  }

  void act(const step& now) {
    const upc_team_t team = handles[now.team];
    switch (now.what) {
    case step::act::call:
      return post_call(now.call, team);
    case step::act::barrier:
      upc_barrier;
      return;
    case step::act::split_barrier:
      upc_notify;
      in_flight.turn();
      upc_wait;
      return;
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
    const call& c = s.calls[i];
    note(fmt::format("call {}: {}; {}", i, describe(c, s.teams[c.team]), in_flight.open()));
    book.before_post(i);
    const unsigned long long handle = post(c, team, s.teams[c.team], memory);
    if (c.what == kind::alltoall_nbi)
      in_flight.add_nbi(i);
    else if (c.what == kind::alltoall_nb)
      in_flight.add_nb(handle, i);
    else if (c.async)
      in_flight.add(handle, i);
    else
      left_blocking(i, handle);
  }

  void left_blocking(std::size_t i, unsigned long long handle) {
    if (handle != UPC_HANDLE_COMPLETE) tell.wrong("a blocking call returned a handle");
    left(i);
  }

  void left(std::size_t i) {
    const call& c = s.calls[i];
    book.after_exit(i);
    const std::uint32_t other = d.pick(s.teams[c.team]);
    if (c.out == sync::all && d.chance(40)) book.check_other(i, other);
  }

  const scenario& s;
  std::vector<upc_team_t> handles;
  const arena& memory;
  report& tell;
  const play_options& options;
  dice d;
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

void play(const scenario& s, std::vector<upc_team_t> handles, const paints& colours, dice own,
          const arena& memory, report& tell, const play_options& options) {
  handles.resize(s.teams.size(), 0);
  player(s, std::move(handles), colours, own, memory, tell, options).run();
}

} // namespace differential
