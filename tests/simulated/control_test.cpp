// SPDX-License-Identifier: BSD-3-Clause
// Teams and the shared heap, as random programs on the simulated machine: members are late, requests cross,
// frees and creations are under way together, messages come that are no requests.
//
// Mutations that this catches are in tests/mutations.
#include "tests/simulated/control_player.hpp"
#include "tests/simulated/seeds.hpp"

#include <gtest/gtest.h>
#include <numeric>

namespace weft::tests {
namespace {
using transport::simulated_transport;

transport::simulation_options machine(const control_case& c, std::uint64_t segment_bytes) {
  transport::simulation_options o;
  o.seed = c.seed;
  o.ranks = c.ranks;
  o.host_of_rank = c.nodes;
  o.segment_bytes = segment_bytes;
  o.chaos = transport::simulated_chaos::rough();
  if (c.scarce()) // who finds no memory for a team asks again after a time
    o.chaos.spin = 1;
  else
    o.endless_naps = true;
  return o;
}

progress::channel& join(simulated_engine& e, const control_case& c, std::uint32_t rank) {
  std::vector<std::uint32_t> near;
  for (std::uint32_t r = 0; r < c.ranks; ++r)
    if (c.nodes[r] == c.nodes[rank]) near.push_back(r);
  e.meet_neighbours(near);
  engine::team_info all;
  all.world = c.teams.front();
  all.topology = graph::topology(rank, c.nodes);
  all.mailbox_offset = engine::first_mailbox_offset;
  return e.add_channel(std::move(all));
}

void run(const control_case& c, control_counts& counts) {
  control_world world(c, counts);
  transport::simulation s(machine(c, world.segment_bytes()));
  s.run([&](std::uint32_t rank, simulated_transport& t) {
    progress::engine_options settings = drowsy();
    settings.tuning = tuning_of_seed(c.seed);
    simulated_engine e(t, settings);
    control_player player(world, e, join(e, c, rank));
    t.describe([&player] { return player.doing(); });
    player.play();
    t.describe({});
  });
  for (const region_books& books : world.regions)
    books.check_refusals();
}

TEST(simulated_control, random_programs_of_teams_and_memory) {
  const seed_range seeds(1000);
  control_counts met;
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    try {
      run(make_control_case(seed), met);
    } catch (const std::exception& e) {
      FAIL() << "seed " << seed << ": " << e.what();
    }
  }
  if (seeds.last - seeds.first < 100) return;
  EXPECT_NE(met.refusals, 0u);
  EXPECT_NE(met.teams_refused, 0u);
  EXPECT_NE(met.frees_of_others, 0u);
  EXPECT_NE(met.wrong_frees, 0u);
  EXPECT_NE(met.nonsense, 0u);
}

TEST(simulated_control, who_asks_a_dead_keeper_hears_that_it_is_dead) {
  control_case c;
  c.ranks = 2;
  c.nodes = {0, 1};
  c.heap_bytes = 4096;
  c.teams = {{0, 1}};
  control_counts counts;
  control_world world(c, counts);
  transport::simulation s(machine(c, world.segment_bytes()));
  std::string said;
  s.run([&](std::uint32_t rank, simulated_transport& t) {
    simulated_engine e(t, drowsy());
    progress::channel& all = join(e, c, rank);
    control::heap_service<simulated_transport> heap(e, all, world.layout);
    if (rank == 0) t.stop();
    heap.lose(0);
    try {
      heap.allocate_global(64);
    } catch (const progress::operation_error& error) {
      said = error.what();
    }
  });
  EXPECT_EQ(said, "thread 0, which keeps the books of this memory, has died");
}

TEST(control_requests, come_out_as_they_went_in) {
  const auto out = control::decoded(control::encoded(control::allocated_mailbox{7, 64, 5}), 4096);
  ASSERT_TRUE(out);
  const auto* const r = std::get_if<control::allocated_mailbox>(&*out);
  ASSERT_NE(r, nullptr);
  EXPECT_EQ(r->id, 7u);
  EXPECT_EQ(r->offset, 64u);
  EXPECT_EQ(r->team, 5u);
}

TEST(control_requests, what_does_not_fit_is_none) {
  const auto good = control::encoded(control::free_block{1, 4095});
  const std::span<const std::byte> bytes(good);
  EXPECT_TRUE(control::decoded(bytes, 4096));
  EXPECT_FALSE(control::decoded(bytes, 4095)) << "behind the end";
  EXPECT_FALSE(control::decoded(bytes.first(bytes.size() - 1), 4096)) << "too short";
  EXPECT_FALSE(control::decoded(bytes.first(7), 4096)) << "not even a kind";
  EXPECT_FALSE(control::decoded({}, 4096));
  std::vector<std::byte> longer(bytes.begin(), bytes.end());
  longer.emplace_back();
  EXPECT_FALSE(control::decoded(longer, 4096)) << "too long";
  longer.assign(bytes.begin(), bytes.end());
  longer.front() = std::byte{200};
  EXPECT_FALSE(control::decoded(longer, 4096)) << "of no kind";
  EXPECT_FALSE(control::decoded(control::encoded(control::allocate{0, 64}), 4096)) << "without an id";
  EXPECT_FALSE(control::decoded(control::encoded(control::allocated_mailbox{1, 64, 1ull << 32}), 4096));
}

} // namespace
} // namespace weft::tests
