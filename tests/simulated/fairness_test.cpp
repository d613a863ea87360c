// SPDX-License-Identifier: BSD-3-Clause
// A small operation passes large ones: while it is awaited, not more is carried than one pass may, and
// nothing as long as it may come at once. By counting pieces, on one node without chaos.
//
// Mutations that this catches: a quota that is never spent, a waiter without patience.
#include "tests/simulated/collective_player.hpp"
#include "tests/simulated/simulated_run.hpp"

#include <gtest/gtest.h>

namespace weft::tests {
namespace {
using collectives::operation;
using collectives::request;
using graph::sync;
using transport::simulated_transport;
using transport::simulation;
using namespace std::chrono_literals;

constexpr std::uint32_t ranks = 4;
constexpr std::uint64_t large_block = 512 * 1024, small_block = 8;
constexpr std::uint64_t pieces = 4; // 128 KiB each
constexpr std::size_t large_calls = 4;

// Every rank posts large exchanges on one team and then makes a small one on another, the last rank later by
// `delay`. How many pieces the others carry from the moment when the last one has come until they are
// through.
std::vector<std::uint64_t> carried_beside_small(std::chrono::nanoseconds delay, bool from_begin) {
  collective_case c;
  c.ranks = ranks;
  c.nodes.assign(ranks, 0);
  transport::simulation_options options;
  options.ranks = ranks;
  options.chaos.spin = 1; // who waits goes on looking, as on a real machine
  options.endless_naps = true;
  const std::uint64_t heap = 1 << 20, area = ranks * large_block;
  options.segment_bytes = heap + (2 * large_calls + 1) * area;
  simulation s(options);
  std::vector<std::uint64_t> at_entry(ranks, 0), at_exit(ranks, 0);
  std::vector<simulated_engine*> engines(ranks);
  s.run([&](std::uint32_t rank, simulated_transport& t) {
    progress::engine_options settings;
    settings.tuning.whole_block = 16 * 1024;
    simulated_engine e(t, settings);
    engines[rank] = &e;
    progress::channel& all = e.add_channel(team_of_all(c, rank, 0, engine::first_mailbox_offset));
    progress::channel& apart = e.add_channel(team_of_all(c, rank, 1, engine::heap_offset(ranks)));
    e.meet_neighbours(neighbours_of(c, rank));
    e.run(all, {}, {});
    const auto carried = [&](std::uint32_t of) { return engines[of]->counts().chunks_claimed.value(); };
    const request large{.op = operation::exchange, .in = sync::my, .out = sync::my, .bytes = large_block};
    const request small{.op = operation::exchange, .in = sync::my, .out = sync::my, .bytes = small_block};
    std::vector<std::uint64_t> handles;
    for (std::size_t k = 0; k < large_calls; ++k)
      handles.push_back(e.post(all, large, {.dst = heap + 2 * k * area, .src = heap + (2 * k + 1) * area}));
    e.run(apart, {}, {});
    if (from_begin) at_entry[rank] = carried(rank);
    if (rank == ranks - 1) {
      t.compute(delay);
      for (std::uint32_t other = 0; other < ranks && !from_begin; ++other)
        at_entry[other] = carried(other);
    }
    e.run(apart, small, {.dst = heap + 2 * large_calls * area, .src = heap + 2 * large_calls * area + 64});
    at_exit[rank] = carried(rank);
    for (const auto handle : handles)
      e.wait(handle);
    e.run(all, {}, {});
  });
  std::vector<std::uint64_t> beside(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    beside[rank] = at_exit[rank] - at_entry[rank];
  return beside;
}

TEST(fairness, who_comes_waits_for_one_pass) {
  // Four of the 64 blocks that could be carried are as many as one pass may: see progress::quota.
  for (const auto delay : {50us, 60us, 70us, 80us})
    for (const std::uint64_t carried : carried_beside_small(delay, false))
      EXPECT_LE(carried, 4u);
}

TEST(fairness, nothing_large_is_carried_by_who_waits_for_something_that_comes_at_once) {
  for (const std::uint64_t carried : carried_beside_small(500ns, true))
    EXPECT_EQ(carried, 0u);
}

TEST(fairness, who_waits_for_something_small_for_long_carries_meanwhile) {
  const std::vector<std::uint64_t> carried = carried_beside_small(100ms, true);
  EXPECT_EQ(carried[0] + carried[1] + carried[2], large_calls * ranks * ranks * pieces);
}

} // namespace
} // namespace weft::tests
