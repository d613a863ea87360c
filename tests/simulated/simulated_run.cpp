// SPDX-License-Identifier: BSD-3-Clause
#include "tests/simulated/simulated_run.hpp"

#include "progress/driving/wait_survey.hpp"
#include "tests/simulated/collective_player.hpp"

#include <algorithm>

namespace weft::tests {
namespace {
using transport::simulated_transport;
using transport::simulation;
using transport::simulation_options;

// Where the buffers of the case begin.
std::uint64_t heap_offset(const collective_case& c) {
  return engine::first_mailbox_offset + (engine::mailbox_bytes(graph::topology(0, c.nodes)) + 63) / 64 * 64;
}

simulation_options options_for(const collective_case& c, const simulated_run_options& options) {
  simulation_options o;
  o.seed = c.seed;
  o.ranks = c.ranks;
  o.host_of_rank = c.nodes;
  o.segment_bytes = (heap_offset(c) + c.heap_bytes() + 63) / 64 * 64;
  o.chaos = options.chaos;
  o.costs = options.costs;
  o.faults = options.machine;
  o.keeps_order = c.seed % 4 < 2; // in half of the programs of either path of tuning_of_seed
  o.endless_naps = true;
  return o;
}

// Of the oldest operation: what it stands at.
std::string stands_at(simulated_engine& e) {
  std::string text;
  for (const progress::blocked_operation& b : progress::wait_survey(e.works()).oldest()) {
    text += " (operation " + std::to_string(b.seq) + " stands at";
    for (const std::string& node : b.nodes)
      text += " {" + node + "}";
    text += ")";
  }
  return text;
}

// Whoever has ended still carries out what the others ask of its process.
void serve_until_all_ended(simulated_engine& e, simulated_transport& t, onlookers& look) {
  ++look.ended;
  while (look.ended != look.ranks) {
    e.works().sweep();
    t.relax();
  }
}

void play(const collective_case& c, const simulated_run_options& options, simulation& s, onlookers& look,
          std::uint32_t rank, simulated_transport& t) {
  progress::engine_options settings = drowsy(options.library);
  if (options.awake) settings.idle.spins = ~0u;
  settings.tuning = options.tuning.value_or(tuning_of_seed(c.seed));
  simulated_engine e(t, settings);
  progress::channel& team = e.add_channel(team_of_all(c, rank, 0, engine::first_mailbox_offset));
  e.meet_neighbours(neighbours_of(c, rank));
  if (options.prepare) options.prepare(c, e, team);
  collective_player<simulated_transport> player(
      c, e, team, heap_offset(c), look, [&t](std::chrono::nanoseconds time) { t.compute(time); },
      [&s](std::uint32_t other) { return s.segment(other); });
  t.describe([&] { return player.doing() + stands_at(e); });
  player.play();
  t.describe({});
  serve_until_all_ended(e, t, look);
}

} // namespace

progress::engine_options drowsy(const progress::faults& broken) {
  progress::engine_options settings;
  settings.idle = {.scarce = false, .spins = 2, .yields = 1};
  settings.broken = broken;
  return settings;
}

simulated_run_result run_simulated(const collective_case& c, const simulated_run_options& options) {
  simulation s(options_for(c, options));
  onlookers look(c);
  s.run([&](std::uint32_t rank, simulated_transport& t) { play(c, options, s, look, rank, t); });
  return {s.trace_hash(), s.messages(), s.elapsed()};
}

std::string failure_of(const collective_case& c, const simulated_run_options& options) {
  try {
    run_simulated(c, options);
  } catch (const std::exception& e) {
    return c.text() + ": " + e.what();
  }
  return {};
}

std::string failure_of_seed(std::uint64_t seed, const simulated_run_options& options,
                            const case_limits& limits) {
  return failure_of(make_case(seed, limits), options);
}

} // namespace weft::tests
