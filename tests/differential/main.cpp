// SPDX-License-Identifier: BSD-3-Clause
// Random programs of collective calls against a serial reference. All ranks derive the same program from the
// seed, and every byte of shared memory is compared.
//
// With --busy each seed is a job of its own kind: many operations under way, ranks that are late, threads
// that complete them for others, few kinds of call. soak/soak.py runs one such job after the other.
//
// Mutations that this catches: a gate that does not wait for all; a member that gets elements of a rank that
// has not entered; a sort that leaves before the results of others are in its part.
#include "tests/calls/character.hpp"
#include "tests/jobs/suite.h"
#include "tools/options/command_line.hpp"

#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <weft/weft.hpp>

namespace {

using namespace calls;

struct options {
  std::uint64_t seed = 1, first = 0, cases = 100;
  std::optional<std::uint64_t> corrupt;
  std::vector<std::string> only;
  std::uint64_t largest = default_largest;
  double seconds = 1e9;
  bool one_sided = false, no_in_place = false, show = false, busy = false, away = false;
  patience how_long;
};

// What one thread may call alone.
constexpr kind by_one_thread[] = {kind::broadcast,     kind::scatter,         kind::gather,
                                  kind::exchange,      kind::gather_all,      kind::reduce,
                                  kind::prefix_reduce, kind::exclusive_prefix};

std::vector<kind> chosen_kinds(const options& chosen) {
  std::vector<kind> found;
  for (std::size_t i = 0; i != kinds; ++i) {
    const auto what = static_cast<kind>(i);
    if (chosen.one_sided &&
        std::find(std::begin(by_one_thread), std::end(by_one_thread), what) == std::end(by_one_thread))
      continue;
    const auto& only = chosen.only;
    if (only.empty() || std::find(only.begin(), only.end(), name_of(what)) != only.end())
      found.push_back(what);
  }
  return found;
}

void describe(weft::command_line& app, options& chosen) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i != kinds; ++i)
    names.emplace_back(name_of(static_cast<kind>(i)));
  app.add("--seed", &chosen.seed, "all of the program follows from it");
  app.add("--first", &chosen.first, "the first case");
  app.add("--cases", &chosen.cases, "how many");
  app.add("--only", &chosen.only, "these functions only").separated_by(',').one_of(names);
  app.add_flag("--one-sided", chosen.one_sided, "calls of one thread, while the others compute");
  app.add("--largest", &chosen.largest, "bytes of a block at most");
  app.add_flag("--show", chosen.show, "print what each case does");
  app.add_flag("--no-in-place", chosen.no_in_place, "leave out what is in place");
  app.add_flag("--busy", chosen.busy, "a job of a character that follows from the seed");
  app.add_flag("--away", chosen.away,
               "one thread is away behind its posts until the others have completed theirs");
  app.add("--seconds", &chosen.seconds, "begin no case after this time");
  app.add("--patience", &chosen.how_long.seconds, "seconds of silence that are a hang");
  app.add("--pulses", &chosen.how_long.pulses, "a file through which the processes see each other's steps");
  app.add_flag("--hold", chosen.how_long.hold, "keep a silent process for a debugger");
  app.add("--corrupt-reference", &chosen.corrupt, "expect one wrong byte in this case: it must fail");
}

// The nodes' teams, from the ranks in the node's team: nodes are runs of threads.
std::vector<members> nodes() {
  const upc_shared_ptr_t ranks = upc_all_alloc(static_cast<std::size_t>(THREADS), sizeof(int));
  const auto on = [&](std::uint32_t thread) { return upc_shared_ptr_t{ranks.addr, thread, 0}; };
  const int mine = cray_upc_team_rank(CRAY_UPC_TEAM_NODE);
  upc_memput(on(static_cast<std::uint32_t>(MYTHREAD)), &mine, sizeof mine);
  upc_barrier;
  std::vector<members> all;
  for (std::uint32_t t = 0; t != static_cast<std::uint32_t>(THREADS); ++t) {
    int rank = 0;
    upc_memget(&rank, on(t), sizeof rank);
    if (rank == 0) all.emplace_back();
    all.back().push_back(t);
  }
  upc_all_free(ranks);
  return all;
}

// What a replay needs besides.
std::string more_options(const options& chosen) {
  std::string more;
  if (chosen.busy) more += " --busy";
  if (chosen.away) more += " --away";
  if (chosen.one_sided) more += " --one-sided";
  if (chosen.no_in_place) more += " --no-in-place";
  if (chosen.largest != default_largest) more += " --largest " + std::to_string(chosen.largest);
  for (std::size_t i = 0; i != chosen.only.size(); ++i)
    more += (i == 0 ? " --only " : ",") + chosen.only[i];
  return more;
}

class runner {
public:
  explicit runner(const options& chosen)
      : chosen(chosen), me(static_cast<std::uint32_t>(MYTHREAD)), limits(limits_of(chosen)),
        memory(arena_bytes), tell(chosen.seed, me, limits.threads, more_options(chosen), chosen.how_long) {
    if (chosen.busy) {
      const character job(chosen.seed, limits);
      how = job.how;
      others.emplace(job.helpers);
    } else {
      others.emplace(0);
    }
    if (chosen.away) board.emplace();
    members all(limits.threads);
    for (std::uint32_t t = 0; t != limits.threads; ++t)
      all[t] = t;
    lasting.threads = {all};
    lasting.handles = {UPC_TEAM_ALL};
    for (const members& node : nodes()) {
      const bool mine = std::find(node.begin(), node.end(), me) != node.end();
      lasting.threads.push_back(node);
      lasting.handles.push_back(mine ? CRAY_UPC_TEAM_NODE : 0);
    }
  }

  std::uint64_t run() {
    const auto begin = std::chrono::steady_clock::now();
    std::uint64_t calls = 0, index = chosen.first;
    for (bool over = false; index != chosen.first + chosen.cases && !over; ++index) {
      calls += play_case(index);
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
      if (chosen.seconds < 1e9)
        over = weft::reduce_all(me == 0 && spent.count() > chosen.seconds ? 1 : 0, UPC_MAX).get() != 0;
    }
    leave_era();
    if (me == 0)
      std::printf("differential: seed %llu, %llu cases from %llu, %llu calls, %u ranks: %s\n",
                  number(chosen.seed), number(index - chosen.first), number(chosen.first), number(calls),
                  limits.threads, tell.failures() == 0 ? "no difference here" : "FAILED");
    return tell.failures();
  }

private:
  static constexpr std::uint64_t arena_bytes = std::uint64_t{40} << 20;
  static unsigned long long number(std::uint64_t n) { return n; }
  static settings limits_of(const options& chosen) {
    settings s;
    s.threads = static_cast<std::uint32_t>(THREADS);
    s.room = arena_bytes;
    s.enabled = chosen_kinds(chosen);
    s.own_place_percent = chosen.no_in_place ? 0 : 25;
    s.one_sided = chosen.one_sided;
    s.largest = chosen.largest;
    return s;
  }

  std::uint64_t play_case(std::uint64_t index) {
    tell.begin(index);
    enter_era(index / limits.era);
    const scenario s = generate(chosen.seed, index, era_teams.threads, limits);
    if (chosen.show && me == 0) {
      std::printf("case %llu\n%s", number(index), calls::describe(s).c_str());
      std::fflush(stdout);
    }
    play_options now{how, chosen.corrupt == index};
    if (!chosen.busy) { // one is late
      now.how.late_thread = static_cast<std::uint32_t>(mix({chosen.seed, index, 7}) % limits.threads);
      now.how.late_percent = 30;
      now.how.late_us = 600;
    }
    if (chosen.away) {
      now.how.away_thread = static_cast<std::uint32_t>(mix({chosen.seed, index, 8}) % limits.threads);
      now.board = &*board;
    }
    const paints colours(chosen.seed, index);
    play(s, index, era_teams.handles, colours, dice{chosen.seed, index, 0x0d1ce, me}, memory, tell, *others,
         now);
    return s.calls.size();
  }

  // Some teams live for several cases, so that their rings go round.
  void enter_era(std::uint64_t next) {
    if (era == next) return;
    leave_era();
    era = next;
    tell.note("the teams of the next cases");
    const scenario founding = found_teams(chosen.seed, next, lasting.threads, limits);
    era_teams = {founding.teams, lasting.handles};
    for (const step& now : founding.steps)
      if (const members& m = founding.teams[now.team]; std::find(m.begin(), m.end(), me) != m.end())
        make_teams(now, founding, era_teams.handles);
    era_teams.handles.resize(founding.teams.size(), 0);
  }
  void leave_era() {
    for (std::size_t t = lasting.handles.size(); t < era_teams.handles.size(); ++t)
      if (era_teams.handles[t] != 0) cray_upc_team_free(era_teams.handles[t]);
    era_teams = {};
  }

  const options& chosen;
  const std::uint32_t me;
  settings limits;
  manners how;
  const arena memory;
  report tell;
  std::optional<helpers> others;
  std::optional<blackboard> board;
  known_teams lasting, era_teams;
  std::optional<std::uint64_t> era;
};

int run(int argc, char** argv) {
  options chosen;
  weft::command_line app("Random programs of collective calls against a serial reference.");
  describe(app, chosen);
  if (const auto status = app.parse(argc, argv)) return *status;
  try {
    return runner(chosen).run() == 0 ? 0 : 1;
  } catch (const weft::error& e) {
    std::fprintf(stderr, "differential: seed %llu, rank %d: %s\n",
                 static_cast<unsigned long long>(chosen.seed), int(MYTHREAD), e.what());
    std::_Exit(2);
  }
}

} // namespace

WEFT_SUITE(differential) {
  return run(argc, argv);
}
