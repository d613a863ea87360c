// SPDX-License-Identifier: BSD-3-Clause
#include "tests/calls/team_steps.hpp"

#include <algorithm>

namespace calls {

namespace {

std::size_t add_channel(scenario& s, members threads) {
  s.teams.push_back(std::move(threads));
  return s.teams.size() - 1;
}

// The rule of cray_upc_team_split: equal colors together, by key, and by the old rank where keys are equal.
members group_of(const members& parent, const step& split, int color) {
  std::vector<std::size_t> ranks;
  for (std::size_t r = 0; r != parent.size(); ++r)
    if (split.colors[r] == color) ranks.push_back(r);
  std::stable_sort(ranks.begin(), ranks.end(),
                   [&](std::size_t a, std::size_t b) { return split.keys[a] < split.keys[b]; });
  members group;
  for (const std::size_t r : ranks)
    group.push_back(parent[r]);
  return group;
}

void split(scenario& s, std::size_t parent, dice& d) {
  step now;
  now.what = step::act::split;
  now.team = parent;
  const members old = s.teams[parent];
  const std::size_t groups = d.between(1, 3);
  for (std::size_t r = 0; r != old.size(); ++r) {
    now.colors.push_back(static_cast<int>(d.below(groups)) * 1000 - 1000);
    now.keys.push_back(static_cast<int>(d.below(5)) - 2);
  }
  for (std::size_t g = 0; g != groups; ++g) {
    members group = group_of(old, now, static_cast<int>(g) * 1000 - 1000);
    if (!group.empty()) now.made.push_back(add_channel(s, std::move(group)));
  }
  s.steps.push_back(std::move(now));
}

void from_list(scenario& s, std::size_t parent, dice& d) {
  members chosen = s.teams[parent];
  d.shuffle(chosen);
  chosen.resize(d.between(1, chosen.size()));
  step now;
  now.what = step::act::from_list;
  now.team = parent;
  now.made.push_back(add_channel(s, std::move(chosen)));
  s.steps.push_back(std::move(now));
}

} // namespace

void make_teams(scenario& s, std::size_t parent, dice& d) {
  if (d.chance(60))
    split(s, parent, d);
  else
    from_list(s, parent, d);
}

scenario found_teams(std::uint64_t seed, std::uint64_t era, std::vector<members> known,
                     const settings& limits) {
  dice d{seed, era, limits.threads, 0x7ea7};
  scenario s;
  s.teams = std::move(known);
  make_teams(s, 0, d);
  make_teams(s, 0, d);
  make_teams(s, d.below(s.teams.size()), d);
  return s;
}

} // namespace calls
