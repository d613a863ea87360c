// SPDX-License-Identifier: BSD-3-Clause
// Small broadcasts under IN_MY that engines hand on: ranks that relay are late, or very late, and no rank
// waits for them; and what it costs, predicted and on the virtual clock, from 2 to 4,096 hosts.
//
// Mutations that this catches: a payload that is only handed on once its rank has entered; one that is handed
// on without credit; a rank that tells as retired what it still has to hand on; a child without credit that
// is forgotten, or that others wait for.
#include "engine/collectives/algorithm.hpp"
#include "engine/topology/topology.hpp"
#include "tests/simulated/collective_player.hpp"
#include "tests/simulated/one_operation.hpp"
#include "tests/simulated/seeds.hpp"
#include "tests/simulated/simulated_run.hpp"

#include <array>
#include <cstdio>
#include <gtest/gtest.h>

namespace weft::tests {
namespace {
using collectives::algorithm;
using collectives::operation;
using collectives::request;
using graph::sync;
using graph::topology;
using transport::simulated_transport;
using transport::simulation;
using transport::sim::seeded_random;

const algorithm& named(std::string_view name) {
  return way(operation::broadcast, name);
}

// Sending costs so much that few hosts make a deep tree.
collectives::tuning forced(std::string_view name) {
  collectives::tuning t;
  t.costs.gap = 100 * t.costs.latency;
  t.forced = collectives::parse_choice("broadcast=" + std::string(name));
  return t;
}

std::vector<std::uint32_t> hosts(std::uint32_t ranks, std::uint32_t each = 1) {
  std::vector<std::uint32_t> map;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    map.push_back(rank / each);
  return map;
}

request small(sync in, std::uint32_t root = 0, std::uint64_t bytes = 8, sync out = sync::my) {
  return {operation::broadcast, in, out, graph::hint::none, root, bytes};
}

// Many more operations than a team has slots, of several roots, with other operations in between that use the
// same cells; some ranks late at every call.
collective_case relayed(std::uint64_t seed) {
  seeded_random random(seed * 2 + 1);
  collective_case c;
  c.seed = seed;
  c.nodes =
      hosts(static_cast<std::uint32_t>(4 + random.below(9)), static_cast<std::uint32_t>(1 + random.below(3)));
  c.ranks = static_cast<std::uint32_t>(c.nodes.size());
  c.late = random.coin(0.5) ? 0.2 : 0;
  c.sluggard = static_cast<std::uint32_t>(random.below(c.ranks));
  const std::uint64_t roots = 1 + random.below(3);
  const bool meet = random.coin(0.5); // else no rank waits for all, and ranks are far apart
  const auto call = [&] {
    constexpr std::array<std::uint64_t, 4> sizes{1, 57, 640, 2048};
    constexpr std::array outs{sync::no, sync::my, sync::all};
    const auto root = static_cast<std::uint32_t>(random.below(roots) * 7 % c.ranks);
    request r = small(sync::my, root, sizes[random.below(4)], outs[random.below(meet ? 3 : 2)]);
    if (meet && random.below(8) == 0) r = {operation::exchange, sync::my, sync::my, graph::hint::none, 0, 46};
    if (meet && random.below(16) == 0) r.in = sync::all;
    return lay_out(c.ranks, r, random.next(), r.bytes * c.ranks);
  };
  for (std::uint64_t rounds = 1 + random.below(3); rounds != 0; --rounds) {
    c.rounds.emplace_back();
    for (std::uint64_t calls = random.coin(0.5) ? 40 + random.below(100) : 3; calls != 0; --calls)
      c.rounds.back().push_back(call());
  }
  return c;
}

TEST(relays, give_what_the_serial_reference_gives_whoever_is_late) {
  simulated_run_options options;
  options.tuning = forced("relayed");
  const seed_range seeds(60);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last && !HasFailure(); ++seed)
    EXPECT_EQ("", failure_of(relayed(seed), options)) << "replay with WEFT_SEED=" << seed;
}

// The members that hand on of a root's broadcasts do not enter until all others have left all of them; of as
// many as fit into the slots. Their engines run.
struct stragglers {
  std::vector<std::uint32_t> nodes;
  std::uint32_t root, calls;
  std::uint64_t seed;
};

void play(const stragglers& s, std::uint32_t credit_of) {
  collective_case c;
  c.seed = s.seed;
  c.nodes = s.nodes;
  c.ranks = static_cast<std::uint32_t>(s.nodes.size());
  for (std::uint32_t k = 0; k < s.calls; ++k)
    c.rounds.push_back({lay_out(c.ranks, small(sync::my, s.root), k, 8)});
  const std::uint32_t locals = topology(0, c.nodes).largest_host();
  const std::uint64_t heap = engine::heap_offset(locals);
  transport::simulation_options options;
  options.seed = s.seed;
  options.ranks = c.ranks;
  options.host_of_rank = c.nodes;
  options.segment_bytes = (heap + s.calls * c.call_bytes() + 63) / 64 * 64;
  options.chaos = transport::simulated_chaos::rough();
  options.endless_naps = true;
  simulation machine(options);
  std::uint32_t left = 0, late = 0, ended = 0;
  const graph::plan any =
      collectives::compile(small(sync::my, s.root), topology(s.root, c.nodes), forced("relayed"));
  std::vector<bool> relays(c.ranks);
  for (std::uint32_t rank = 0; rank < c.ranks; ++rank) {
    const topology g(rank, c.nodes);
    relays[rank] = rank != s.root && graph::relay_tree(g, s.root, any.radix).below(rank) != 0;
    late += relays[rank];
  }
  if (late == 0) throw std::logic_error("no rank relays");
  machine.run([&](std::uint32_t rank, simulated_transport& t) {
    progress::engine_options settings = drowsy();
    settings.tuning = forced("relayed");
    simulated_engine e(t, settings);
    progress::channel& team = e.add_channel(team_of_all(c, rank, 0, engine::first_mailbox_offset));
    e.meet_neighbours(neighbours_of(c, rank));
    const auto serve_until = [&](auto&& done) {
      while (!done()) {
        e.works().sweep();
        t.relax();
      }
    };
    const auto at = [&](std::uint32_t k) { return heap + k * c.call_bytes(); };
    for (std::uint32_t k = 0; k < s.calls; ++k) {
      const std::vector<std::byte> memory = memory_before(c, c.rounds[k][0], k, rank, at(k));
      std::memcpy(t.segment() + at(k), memory.data(), memory.size());
    }
    e.run(team, {}, {});
    t.describe([&] { return std::string("serves"); });
    for (std::uint32_t k = 0; k < s.calls; ++k) {
      // Between two turns of the ring all meet, so that no rank is farther ahead than there is credit.
      if (relays[rank])
        serve_until([&] {
          return left >= (k / credit_of + 1) * credit_of * (c.ranks - late) ||
                 left == s.calls * (c.ranks - late);
        });
      const request& r = c.rounds[k][0].request;
      e.wait(e.post(team, r, c.rounds[k][0].binding(at(k))));
      const std::string wrong = check_memory(c, c.rounds[k][0], k, rank, t.segment(), at(k));
      if (!wrong.empty()) throw wrong_result(wrong);
      if (!relays[rank]) ++left;
    }
    ++ended;
    serve_until([&] { return ended == c.ranks; });
  });
}

TEST(relays, hold_up_nobody_who_has_come_however_late_they_are) {
  const seed_range seeds(12);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last && !HasFailure(); ++seed)
    for (const stragglers& s : {stragglers{hosts(8), 0, 31, seed}, stragglers{hosts(13), 5, 31, seed},
                                stragglers{hosts(12, 2), 3, 31, seed}, stragglers{hosts(9), 8, 93, seed}})
      EXPECT_NO_THROW(play(s, 31)) << "replay with WEFT_SEED=" << seed;
}

TEST(relays, are_predicted_to_be_logarithmic) {
  for (const std::uint32_t each : {1u, 4u}) {
    for (std::uint32_t ranks = 2; ranks <= 4096; ranks *= 2) {
      const topology g(0, hosts(ranks, each));
      if (g.one_host()) continue;
      const collectives::tuning t = tuning_for({});
      const request r = small(sync::my);
      const std::uint64_t flat = named("flat").cost(r, g, t), relayed = named("relayed").cost(r, g, t);
      const std::uint64_t tree = named("knomial").cost(small(sync::all), g, t);
      std::printf("P = %4u, %u on a host: flat %8.1f us, relayed %6.1f us, tree of IN_ALL %6.1f us\n", ranks,
                  each, static_cast<double>(flat) / 1e3, static_cast<double>(relayed) / 1e3,
                  static_cast<double>(tree) / 1e3);
      EXPECT_LE(relayed, 3 * tree) << ranks;
      EXPECT_EQ(choose(r, g, t)->name, relayed < flat ? "relayed" : "flat");
      if (ranks >= 64 * each) {
        EXPECT_LT(2 * relayed, flat);
      }
    }
  }
}

double elapsed(std::uint32_t ranks, sync in, std::string_view by) {
  return elapsed_by(named(by), small(in), hosts(ranks));
}

TEST(relays, between_a_thousand_hosts_take_no_more_than_three_times_the_tree_of_in_all) {
  for (const std::uint32_t ranks : {16u, 128u, 1024u}) {
    const double relayed = elapsed(ranks, sync::my, "relayed"), flat = elapsed(ranks, sync::my, "flat");
    const double tree = elapsed(ranks, sync::all, "knomial");
    std::printf("P = %4u on the virtual clock: flat %8.1f us, relayed %6.1f us, tree of IN_ALL %6.1f us\n",
                ranks, flat / 1e3, relayed / 1e3, tree / 1e3);
    EXPECT_LE(relayed, 3 * tree);
    if (ranks >= 128) {
      EXPECT_LT(relayed, flat);
    }
  }
}

} // namespace
} // namespace weft::tests
