// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/simulated/collective_player.hpp"
#include "tests/simulated/simulated_run.hpp"

namespace weft::tests {

// The host of each rank: equal hosts and unequal ones, side by side and in turns, several members and one.
inline std::vector<std::uint32_t> several_hosts(std::uint64_t shape) {
  switch (shape) {
  case 0:
    return {0, 0, 1, 1};
  case 1:
    return {0, 0, 0, 1, 1, 1, 2, 2, 2};
  case 2:
    return {0, 1, 2, 0, 1, 2, 0, 1};
  case 3:
    return {3, 1, 1, 0, 2, 3, 1, 0, 2, 2};
  case 4:
    return {0, 1, 2, 3, 4, 4};
  default:
    return {0, 0, 0, 0, 0, 1};
  }
}
constexpr std::uint64_t shapes_of_several = 6;

// A rank of a simulated job that plays a part of its own, and serves the others while it waits.
struct serving_rank {
  std::uint32_t me;
  simulated_engine& engine;
  progress::channel& team; // of all
  std::uint64_t heap;      // where its memory begins, the same on all

  std::byte* memory() const { return engine.net().segment() + heap; }
  template <class Done> void serve_until(Done&& done) const {
    while (!done()) {
      engine.works().sweep();
      engine.net().relax();
    }
  }
};

// All ranks have met when their parts begin, and serve until all have ended. Those that are awake do as the
// model of costs has it: without chaos, and they never sleep.
template <class Part>
void play_serving(const std::vector<std::uint32_t>& nodes, std::uint64_t bytes, std::uint64_t seed,
                  const collectives::tuning& how, Part&& part, bool awake = false) {
  const graph::topology g(0, nodes);
  const std::uint64_t heap = engine::first_mailbox_offset + (engine::mailbox_bytes(g) + 63) / 64 * 64;
  transport::simulation_options options;
  options.seed = seed;
  options.ranks = static_cast<std::uint32_t>(nodes.size());
  options.host_of_rank = nodes;
  options.segment_bytes = (heap + bytes + 63) / 64 * 64;
  options.chaos = awake ? transport::simulated_chaos{} : transport::simulated_chaos::rough();
  options.endless_naps = true;
  transport::simulation machine(options);
  collective_case c;
  c.nodes = nodes;
  c.ranks = options.ranks;
  std::uint32_t ended = 0;
  machine.run([&](std::uint32_t rank, transport::simulated_transport& t) {
    progress::engine_options settings = drowsy();
    if (awake) settings.idle.spins = ~0u;
    settings.tuning = how;
    simulated_engine e(t, settings);
    progress::channel& team = e.add_channel(team_of_all(c, rank, 0, engine::first_mailbox_offset));
    e.meet_neighbours(neighbours_of(c, rank));
    e.run(team, {}, {});
    t.describe([] { return std::string("serves"); });
    const serving_rank it{rank, e, team, heap};
    part(it);
    ++ended;
    it.serve_until([&] { return ended == c.ranks; });
  });
}

} // namespace weft::tests
