// SPDX-License-Identifier: BSD-3-Clause
#include "tests/calls/scenario.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

namespace calls {

namespace {

std::string text(const step& now, const scenario& s) {
  const std::string team = fmt::format("team {} [{}]", now.team, fmt::join(s.teams[now.team], " "));
  switch (now.what) {
  case step::act::call:
    return fmt::format("call {}: {}", now.call, describe(s.calls[now.call], s.teams[now.team]));
  case step::act::barrier:
    return "upc_barrier";
  case step::act::split_barrier:
    return "upc_notify, upc_wait";
  case step::act::team_barrier:
    return "barrier of " + team;
  case step::act::team_barrier_nb:
    return "barrier_nb of " + team;
  case step::act::split:
    return fmt::format("split of {} by colors [{}] and keys [{}]: teams {}", team, fmt::join(now.colors, " "),
                       fmt::join(now.keys, " "), fmt::join(now.made, " "));
  case step::act::from_list:
    return fmt::format("team {} of {} from [{}]", now.made[0], team, fmt::join(s.teams[now.made[0]], " "));
  case step::act::free:
    return "free of " + team;
  }
  return {};
}

} // namespace

std::string describe(const scenario& s) {
  std::string all;
  for (std::size_t i = 0; i != s.steps.size(); ++i)
    fmt::format_to(std::back_inserter(all), "step {}: {}\n", i, text(s.steps[i], s));
  return all;
}

} // namespace calls
