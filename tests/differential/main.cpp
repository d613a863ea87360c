// Random programs of collective calls against a serial reference. All ranks derive the same program from the
// seed, and every byte of shared memory is compared.
#include "tests/jobs/suite.h"
#include "tests/differential/player.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <weft/weft.hpp>

namespace {

using namespace differential;

struct options {
  std::uint64_t seed = 1, first = 0, cases = 100;
  std::optional<std::uint64_t> corrupt;
  std::vector<std::string> only;
  bool no_in_place = false, show = false;
  play_options play;
};

std::vector<kind> chosen_kinds(const std::vector<std::string>& only) {
  std::vector<kind> chosen;
  for (std::size_t i = 0; i != kinds; ++i) {
    const auto what = static_cast<kind>(i);
    if (only.empty() || std::find(only.begin(), only.end(), name_of(what)) != only.end())
      chosen.push_back(what);
  }
  return chosen;
}

void describe(CLI::App& app, options& chosen) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i != kinds; ++i)
    names.emplace_back(name_of(static_cast<kind>(i)));
  app.add_option("--seed", chosen.seed, "all of the program follows from it");
  app.add_option("--first", chosen.first, "the first case");
  app.add_option("--cases", chosen.cases, "how many");
  app.add_option("--only", chosen.only, "these functions only")->delimiter(',')->check(CLI::IsMember(names));
  app.add_flag("--show", chosen.show, "print what each case does");
  app.add_flag("--no-in-place", chosen.no_in_place, "leave out what is in place");
  app.add_option("--patience", chosen.play.patience_seconds, "seconds of a step before it counts as a hang");
  app.add_option("--corrupt-reference", chosen.corrupt, "expect one wrong byte in this case: it must fail");
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

class runner {
public:
  explicit runner(const options& chosen)
      : chosen(chosen),
        me(static_cast<std::uint32_t>(MYTHREAD)), limits{static_cast<std::uint32_t>(THREADS),
                                                         std::uint64_t{40} << 20, chosen_kinds(chosen.only),
                                                         chosen.no_in_place ? 0u : 25u},
        memory(limits.room), tell(chosen.seed, me, limits.threads) {
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
    std::uint64_t calls = 0;
    for (std::uint64_t index = chosen.first; index != chosen.first + chosen.cases; ++index)
      calls += play_case(index);
    leave_era();
    if (me == 0)
      std::printf("differential: seed %llu, %llu cases from %llu, %llu calls, %u ranks: %s\n",
                  number(chosen.seed), number(chosen.cases), number(chosen.first), number(calls),
                  limits.threads, tell.failures() == 0 ? "no difference here" : "FAILED");
    return tell.failures();
  }

private:
  static unsigned long long number(std::uint64_t n) { return n; }

  std::uint64_t play_case(std::uint64_t index) {
    tell.begin(index);
    enter_era(index / cases_of_an_era);
    const scenario s = generate(chosen.seed, index, era_teams.threads, limits);
    if (chosen.show && me == 0) {
      std::printf("case %llu\n%s", number(index), differential::describe(s).c_str());
      std::fflush(stdout);
    }
    play_options how = chosen.play;
    how.corrupt_reference = chosen.corrupt == index;
    const paints colours(chosen.seed, index);
    play(s, era_teams.handles, colours, dice{chosen.seed, index, 0x0d1ce, me}, memory, tell, how);
    return s.calls.size();
  }

  // Some teams live for several cases, so that their rings go round.
  void enter_era(std::uint64_t next) {
    if (era == next) return;
    leave_era();
    era = next;
    tell.note(chosen.play.patience_seconds, "the teams of the next cases");
    const scenario founding = found_teams(chosen.seed, next, lasting.threads, limits);
    era_teams = {founding.teams, lasting.handles};
    for (const step& now : founding.steps)
      if (const members& m = founding.teams[now.team]; std::find(m.begin(), m.end(), me) != m.end())
        make_teams(now, founding, era_teams.handles);
    era_teams.handles.resize(founding.teams.size(), 0);
    tell.done();
  }
  void leave_era() {
    for (std::size_t t = lasting.handles.size(); t < era_teams.handles.size(); ++t)
      if (era_teams.handles[t] != 0) cray_upc_team_free(era_teams.handles[t]);
    era_teams = {};
  }

  const options& chosen;
  const std::uint32_t me;
  const settings limits;
  const arena memory;
  report tell;
  known_teams lasting, era_teams;
  std::optional<std::uint64_t> era;
};

} // namespace

WEFT_SUITE(differential) {
  options chosen;
  CLI::App app("Random programs of collective calls against a serial reference.");
  describe(app, chosen);
  CLI11_PARSE(app, argc, argv);
  std::uint64_t failures = 0;
  try {
    failures = runner(chosen).run();
  } catch (const weft::error& e) {
    std::fprintf(stderr, "differential: seed %llu, rank %d: %s\n",
                 static_cast<unsigned long long>(chosen.seed), int(MYTHREAD), e.what());
    std::_Exit(2);
  }
  return failures == 0 ? 0 : 1;
}
