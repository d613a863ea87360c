// SPDX-License-Identifier: BSD-3-Clause
#include "tests/calls/arguments.hpp"
#include "tests/calls/team_steps.hpp"

namespace calls {

namespace {

class generator {
public:
  generator(std::uint64_t seed, std::uint64_t index, std::vector<members> known, const settings& limits)
      : limits(limits), d{seed, index, limits.threads, 0x9e0}, born(known.size()) {
    made.teams = std::move(known);
    made.known = born;
  }

  scenario run() {
    // Now and then more calls than the ring of a team has slots.
    const bool burst = d.chance(3);
    const std::size_t calls = burst ? d.between(30, 70) : d.between(limits.fewest_calls, limits.most_calls);
    const std::size_t only_team = d.below(made.teams.size());
    while (made.calls.size() != calls) {
      if (limits.one_sided)
        add_call(d.chance(40) ? a_list() : any_team(), burst);
      else if (burst)
        add_call(only_team, true);
      else
        add_anything();
    }
    while (!alive.empty())
      free_one();
    made.used = space.end() + trap_bytes;
    return std::move(made);
  }

private:
  void add_anything() {
    const std::size_t roll = d.below(100);
    if (roll < 70)
      add_call(any_team(), d.chance(15));
    else if (roll < 74)
      add(step::act::barrier, 0);
    else if (roll < 77)
      add(step::act::split_barrier, 0);
    else if (roll < 81)
      add(step::act::team_barrier, any_team());
    else if (roll < 85)
      add(step::act::team_barrier_nb, any_team());
    else if (roll < 93)
      add_teams();
    else if (!alive.empty())
      free_one();
  }

  std::size_t any_team() {
    if (d.chance(35)) return 0;
    return known_or_alive();
  }
  std::size_t known_or_alive() {
    const std::size_t i = d.below(born + alive.size());
    return i < born ? i : alive[i - born];
  }

  // Threads that are no team.
  std::size_t a_list() {
    members chosen = made.teams[0];
    d.shuffle(chosen);
    chosen.resize(d.between(1, chosen.size()));
    made.teams.push_back(std::move(chosen));
    return made.teams.size() - 1;
  }

  void add(step::act what, std::size_t team) {
    step s;
    s.what = what;
    s.team = team;
    made.steps.push_back(std::move(s));
  }

  void add_call(std::size_t team, bool small) {
    const kind what = d.pick(limits.enabled);
    made.calls.push_back(draw_call(what, team, made, limits, space, d, small));
    add(step::act::call, team);
    made.steps.back().call = made.calls.size() - 1;
  }

  void add_teams() {
    const std::size_t before = made.teams.size();
    make_teams(made, known_or_alive(), d);
    for (std::size_t t = before; t != made.teams.size(); ++t)
      alive.push_back(t);
  }
  void free_one() {
    const std::size_t i = d.below(alive.size());
    add(step::act::free, alive[i]);
    alive.erase(alive.begin() + static_cast<std::ptrdiff_t>(i));
  }

  const settings& limits;
  dice d;
  const std::size_t born; // so many teams were there before
  std::vector<std::size_t> alive;
  symmetric_space space{trap_bytes};
  scenario made;
};

} // namespace

scenario generate(std::uint64_t seed, std::uint64_t index, std::vector<members> known, const settings& s) {
  return generator(seed, index, std::move(known), s).run();
}

} // namespace calls
