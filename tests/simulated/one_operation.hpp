// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/algorithm.hpp"
#include "tests/simulated/simulated_run.hpp"

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace weft::tests {

// The model knows the machine: the same costs as the virtual clock's.
inline collectives::tuning tuning_for(const transport::simulated_costs& costs) {
  const auto whole = [](double value) { return static_cast<std::uint64_t>(value); };
  collectives::tuning t;
  t.costs = {.latency = whole(costs.latency),
             .overhead = whole(costs.o),
             .gap = whole(costs.g),
             .byte = whole(costs.byte * 1000),
             .copy = whole(costs.near_copy),
             .copied_byte = whole(costs.near_byte * 1000)};
  return t;
}

inline const collectives::algorithm& way(collectives::operation op, std::string_view name) {
  for (const collectives::algorithm& a : collectives::algorithms())
    if (a.op == op && a.name == name) return a;
  throw std::logic_error("no such algorithm");
}

inline collectives::tuning all_bundled() {
  collectives::tuning t;
  t.bundles = true;
  t.forced = collectives::parse_choice("exchange=bundled,gather_all=bundled,scatter=bundled,gather=bundled,"
                                       "broadcast=bundled,reduce=bundled");
  return t;
}

// What one operation of an algorithm takes on the virtual clock, without chaos, in ns.
inline double elapsed_by(const collectives::algorithm& a, const collectives::request& r,
                         const std::vector<std::uint32_t>& nodes) {
  collective_case c;
  c.seed = 1;
  c.ranks = static_cast<std::uint32_t>(nodes.size());
  c.nodes = nodes;
  c.rounds.assign(1, {lay_out(c.ranks, r, c.seed, r.bytes)});
  simulated_run_options options;
  options.chaos = {};
  options.awake = true;
  options.tuning = tuning_for(options.costs);
  options.tuning->bundles = true;
  options.tuning->forced = collectives::parse_choice(std::string(name(a.op)) + "=" + std::string(a.name));
  return static_cast<double>(run_simulated(c, options).elapsed.count());
}

} // namespace weft::tests
