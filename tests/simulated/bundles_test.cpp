// SPDX-License-Identifier: BSD-3-Clause
// Small blocks between hosts in bundles: ranks are late, or very late, and hold up no block but their own;
// and what it costs when all come together.
//
// Mutations that this catches: a rank that leaves its blocks to who has the turn and does not look whether
// they were sent; blocks of a rank that has not entered; one that has the turn and waits for its neighbours;
// blocks that are sent without credit; credit told of a host of which one member has not retired; a member
// that sleeps and is not woken when its blocks are in the box.
#include "engine/collectives/families.hpp"
#include "tests/simulated/collective_player.hpp"
#include "tests/simulated/one_operation.hpp"
#include "tests/simulated/seeds.hpp"
#include "tests/simulated/simulated_run.hpp"

#include <array>
#include <cstdio>
#include <gtest/gtest.h>

namespace weft::tests {
namespace {
using collectives::operation;
using collectives::request;
using graph::sync;
using transport::simulated_transport;
using transport::sim::seeded_random;

const collectives::algorithm& way(operation op, std::string_view name) {
  for (const collectives::algorithm& a : collectives::algorithms())
    if (a.op == op && a.name == name) return a;
  throw std::logic_error("no such algorithm");
}

collectives::tuning all_bundled() {
  collectives::tuning t;
  t.bundles = true;
  t.forced = collectives::parse_choice("exchange=bundled,gather_all=bundled");
  return t;
}

std::vector<std::uint32_t> several_hosts(std::uint64_t shape) {
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

// Many more operations than a team has slots, with others in between; some ranks late at every call.
collective_case program_with_bundles(std::uint64_t seed) {
  seeded_random random(seed * 2 + 1);
  collective_case c;
  c.seed = seed;
  c.nodes = several_hosts(random.below(6));
  c.ranks = static_cast<std::uint32_t>(c.nodes.size());
  c.late = random.coin(0.5) ? 0.2 : 0;
  c.sluggard = static_cast<std::uint32_t>(random.below(c.ranks));
  const auto call = [&] {
    constexpr std::array<std::uint64_t, 4> sizes{1, 8, 57, 120};
    constexpr std::array outs{sync::no, sync::my, sync::all};
    request r{random.coin(0.5) ? operation::exchange : operation::gather_all, sync::my,
              outs[random.below(3)]};
    r.bytes = sizes[random.below(4)];
    if (random.below(10) == 0) r = {operation::broadcast, sync::my, sync::my, graph::hint::none, 0, 46};
    return lay_out(c.ranks, r, random.next(), r.bytes * c.ranks);
  };
  for (std::uint64_t rounds = 1 + random.below(3); rounds != 0; --rounds) {
    c.rounds.emplace_back();
    for (std::uint64_t calls = random.coin(0.5) ? 40 + random.below(100) : 3; calls != 0; --calls)
      c.rounds.back().push_back(call());
  }
  return c;
}

TEST(bundles, give_what_the_serial_reference_gives_whoever_is_late) {
  simulated_run_options options;
  options.tuning = all_bundled();
  const seed_range seeds(60);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last && !HasFailure(); ++seed)
    EXPECT_EQ("", failure_of(program_with_bundles(seed), options)) << "replay with WEFT_SEED=" << seed;
}

// One rank posts nothing until all blocks between the others are in place, of as many operations as fit into
// the slots. Its engine runs.
struct absence {
  std::vector<std::uint32_t> nodes;
  std::uint32_t absent = 0;
  operation op = operation::exchange;
  std::uint64_t bytes = 8, seed = 1;

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(nodes.size()); }
  // Bytes of a rank's source, and of its destination.
  std::uint64_t from_bytes() const { return op == operation::exchange ? ranks() * bytes : bytes; }
  std::uint64_t to_bytes() const { return ranks() * bytes; }
  std::uint64_t source_of(std::uint32_t to) const { return op == operation::exchange ? to * bytes : 0; }
  std::byte value(std::uint32_t call, std::uint32_t from, std::uint64_t at) const {
    return static_cast<std::byte>(1 + (call * 7 + from * 31 + at * 3) % 251);
  }
};
constexpr std::uint32_t calls_at_once = engine::slots;

class waiting_for_others {
public:
  waiting_for_others(const absence& a, std::uint32_t me, std::byte* memory)
      : a_(a), me_(me), memory_(memory) {
    for (std::uint32_t k = 0; k < calls_at_once; ++k)
      for (std::uint64_t at = 0; at < a.from_bytes(); ++at)
        memory_[src(k) + at] = a.value(k, me, at);
  }
  std::uint64_t src(std::uint32_t call) const { return call * (a_.from_bytes() + a_.to_bytes()); }
  std::uint64_t dst(std::uint32_t call) const { return src(call) + a_.from_bytes(); }
  // All blocks, or all but those of the absent rank.
  bool has(std::uint32_t call, bool all) const {
    for (std::uint32_t from = 0; from < a_.ranks(); ++from)
      for (std::uint64_t at = 0; at < a_.bytes && (all || from != a_.absent); ++at)
        if (memory_[dst(call) + from * a_.bytes + at] != a_.value(call, from, a_.source_of(me_) + at))
          return false;
    return true;
  }

private:
  const absence& a_;
  std::uint32_t me_;
  std::byte* memory_;
};

void play_without(const absence& a) {
  const graph::topology g(0, a.nodes);
  const std::uint64_t heap = engine::first_mailbox_offset + (engine::mailbox_bytes(g) + 63) / 64 * 64;
  transport::simulation_options options;
  options.seed = a.seed;
  options.ranks = a.ranks();
  options.host_of_rank = a.nodes;
  options.segment_bytes = (heap + calls_at_once * (a.from_bytes() + a.to_bytes()) + 63) / 64 * 64;
  options.chaos = transport::simulated_chaos::rough();
  options.endless_naps = true;
  transport::simulation machine(options);
  collective_case c;
  c.nodes = a.nodes;
  c.ranks = a.ranks();
  std::uint32_t in_place = 0, ended = 0;
  machine.run([&](std::uint32_t rank, simulated_transport& t) {
    progress::engine_options settings = drowsy();
    settings.tuning = all_bundled();
    simulated_engine e(t, settings);
    progress::channel& team = e.add_channel(team_of_all(c, rank, 0, engine::first_mailbox_offset));
    e.meet_neighbours(neighbours_of(c, rank));
    const waiting_for_others data(a, rank, t.segment() + heap);
    e.run(team, {}, {});
    t.describe([] { return std::string("serves"); });
    const auto serve_until = [&](auto&& done) {
      while (!done()) {
        e.works().sweep();
        t.relax();
      }
    };
    if (rank == a.absent) serve_until([&] { return in_place == a.ranks() - 1; });
    std::vector<simulated_engine::handle> handles;
    for (std::uint32_t k = 0; k < calls_at_once; ++k)
      handles.push_back(e.post(team, {a.op, sync::my, sync::my, graph::hint::none, 0, a.bytes},
                               {.dst = heap + data.dst(k), .src = heap + data.src(k)}));
    if (rank != a.absent) {
      serve_until([&] {
        for (std::uint32_t k = 0; k < calls_at_once; ++k)
          if (!data.has(k, false)) return false;
        return true;
      });
      ++in_place;
    }
    for (std::uint32_t k = 0; k < calls_at_once; ++k) {
      e.wait(handles[k]);
      if (!data.has(k, true)) throw wrong_result("call " + std::to_string(k) + ": wrong bytes");
    }
    ++ended;
    serve_until([&] { return ended == a.ranks(); });
  });
}

TEST(bundles, hold_up_no_block_between_ranks_that_have_come) {
  for (const operation op : {operation::exchange, operation::gather_all})
    for (std::uint64_t shape = 0; shape < 6; ++shape)
      for (std::uint32_t absent = 0; absent < several_hosts(shape).size(); ++absent) {
        if (HasFailure()) return;
        const absence a{several_hosts(shape), absent, op, 8, absent + 1};
        EXPECT_NO_THROW(play_without(a)) << name(op) << ", shape " << shape << ", without rank " << absent;
      }
}

TEST(bundles, of_ranks_that_come_together_take_about_as_long_as_behind_in_all) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "a matter of figures";
#endif
  for (const std::uint32_t hosts : {4u, 16u}) {
    std::vector<std::uint32_t> nodes;
    for (std::uint32_t rank = 0; rank < hosts * 16; ++rank)
      nodes.push_back(rank / 16);
    const graph::topology g(0, nodes);
    for (const operation op : {operation::exchange, operation::gather_all}) {
      collectives::tuning t = tuning_for({});
      t.bundles = true;
      const request all{op, sync::all, sync::my, graph::hint::none, 0, 8},
          my{op, sync::my, sync::my, graph::hint::none, 0, 8};
      const collectives::algorithm& best = *choose(all, g, t);
      EXPECT_EQ(choose(my, g, t)->name, "bundled");
      const double bundled = elapsed_by(way(op, "bundled"), my, nodes),
                   behind_all = elapsed_by(best, all, nodes);
      std::printf("%s, %u hosts of 16: bundled %8.1f us (predicted %8.1f), %s under IN_ALL %8.1f us\n",
                  std::string(name(op)).c_str(), hosts, bundled / 1e3,
                  static_cast<double>(way(op, "bundled").cost(my, g, t)) / 1e3,
                  std::string(best.name).c_str(), behind_all / 1e3);
      EXPECT_LE(bundled, 1.5 * behind_all);
    }
  }
}

} // namespace
} // namespace weft::tests
