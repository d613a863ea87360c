// SPDX-License-Identifier: BSD-3-Clause
// Small blocks between hosts in bundles: ranks are late, or very late, and hold up no block but their own.
//
// Mutations that this catches: a rank that is told that its source was read before it is; one that finds the
// turn taken and does not come back; a host that asks for blocks more often than once, or into a box that its
// members still need; a rank that leaves its blocks to the one with the turn and does not look
// whether they were sent; blocks of a rank that has not entered; one that has the turn and waits for its
// neighbours; blocks that are sent without credit; credit told of a host of which one member has not retired;
// a member that sleeps and is not woken when its blocks are in the box.
#include "engine/collectives/algorithm.hpp"
#include "tests/simulated/collective_player.hpp"
#include "tests/simulated/one_operation.hpp"
#include "tests/simulated/seeds.hpp"
#include "tests/simulated/serving_ranks.hpp"
#include "tests/simulated/simulated_run.hpp"
#include "verify/specified.hpp"

#include <array>
#include <gtest/gtest.h>

namespace weft::tests {
namespace {
using namespace std::chrono_literals;
using collectives::operation;
using collectives::request;
using graph::sync;
using transport::simulated_transport;
using transport::sim::seeded_random;

// Many more operations than a team has slots, with others in between; some ranks late at every call. Or all
// of them `asked` for, by a host for the blocks of another one.
collective_case program_with_bundles(std::uint64_t seed, bool asked) {
  seeded_random random(seed * 2 + 1);
  collective_case c;
  c.seed = seed;
  c.nodes = several_hosts(random.below(shapes_of_several));
  c.ranks = static_cast<std::uint32_t>(c.nodes.size());
  c.late = random.coin(0.5) || asked ? 0.2 : 0;
  c.sluggard = static_cast<std::uint32_t>(random.below(c.ranks));
  sync in = sync::my;
  const auto call = [&] {
    constexpr std::array<std::uint64_t, 6> sizes{1, 8, 57, 120, 250, 1200};
    constexpr std::array outs{sync::no, sync::my, sync::all};
    constexpr std::array kinds{operation::exchange, operation::gather_all, operation::scatter,
                               operation::gather,   operation::broadcast,  operation::reduce};
    request r{kinds[random.below(kinds.size())], in, outs[random.below(3)]};
    r.bytes = sizes[random.below(r.op == operation::reduce ? 3 : 6)];
    if (rooted(r.op)) r.root = static_cast<std::uint32_t>(random.below(c.ranks));
    if (asked)
      r = {operation::scatter, in, outs[random.below(2)], graph::hint::none, 0, sizes[random.below(3)]};
    else if (random.below(10) == 0)
      r = {operation::broadcast, sync::my, sync::my, graph::hint::none, 0, 46};
    return lay_out(c.ranks, r, random.next(), r.op == operation::reduce ? r.bytes : r.bytes * c.ranks);
  };
  for (std::uint64_t rounds = 1 + random.below(3); rounds != 0; --rounds) {
    c.rounds.emplace_back();
    in = asked ? sync::no : std::array{sync::my, sync::no, sync::all}[random.below(3)];
    for (std::uint64_t calls = random.coin(0.5) || asked ? 40 + random.below(100) : 3; calls != 0; --calls)
      c.rounds.back().push_back(call());
  }
  return c;
}

void play_bundles(const seed_range& seeds, bool asked) {
  simulated_run_options options;
  options.tuning = all_bundled();
  for (std::uint64_t seed = seeds.first; seed <= seeds.last && !testing::Test::HasFailure(); ++seed)
    EXPECT_EQ("", failure_of(program_with_bundles(seed, asked), options)) << "replay with WEFT_SEED=" << seed;
}
TEST(bundles, give_what_the_serial_reference_gives_whoever_is_late) {
  play_bundles(seed_range(30), false);
}
TEST(bundles, that_are_asked_for_give_it_too) {
  play_bundles(seed_range(12), true);
}

// One rank posts nothing until all blocks between the others are in place, of as many operations as fit into
// the slots. Its engine runs.
struct absence {
  std::vector<std::uint32_t> nodes;
  std::uint32_t absent = 0;
  operation op = operation::exchange;
  std::uint64_t bytes = 8, seed = 1;
  sync in = sync::my;
  std::uint32_t calls = engine::slots;

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(nodes.size()); }
  std::uint32_t root() const { return (absent + 1) % ranks(); } // is there
  graph::movement moved() const {
    return specified(request{.op = op, .root = collectives::rooted(op) ? root() : 0, .bytes = bytes});
  }
  // Bytes of a rank's source, and of its destination.
  std::uint64_t from_bytes() const { return moved().rule.source(ranks() - 1, ranks() - 1) + bytes; }
  std::uint64_t to_bytes() const { return moved().rule.destination(ranks() - 1, ranks() - 1) + bytes; }
  std::byte value(std::uint32_t call, std::uint32_t from, std::uint64_t at) const {
    return static_cast<std::byte>(1 + (call * 7 + from * 31 + at * 3) % 251);
  }
};

class waiting_for_others {
public:
  waiting_for_others(const absence& a, std::uint32_t me, std::byte* memory)
      : a_(a), me_(me), memory_(memory) {
    for (std::uint32_t k = 0; k < a.calls; ++k)
      for (std::uint64_t at = 0; at < a.from_bytes(); ++at)
        memory_[src(k) + at] = a.value(k, me, at);
  }
  std::uint64_t src(std::uint32_t call) const { return call * (a_.from_bytes() + a_.to_bytes()); }
  std::uint64_t dst(std::uint32_t call) const { return src(call) + a_.from_bytes(); }
  // All blocks, or all but those of the absent rank.
  bool has(std::uint32_t call, bool all) const {
    const graph::movement m = a_.moved();
    for (std::uint32_t from = 0; from < a_.ranks(); ++from)
      for (std::uint64_t at = 0; at < a_.bytes && (all || from != a_.absent) && m.sends(from, me_); ++at)
        if (memory_[dst(call) + m.rule.destination(from, me_) + at] !=
            a_.value(call, from, m.rule.source(from, me_) + at))
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
  options.segment_bytes = (heap + a.calls * (a.from_bytes() + a.to_bytes()) + 63) / 64 * 64;
  options.chaos = transport::simulated_chaos::rough();
  options.endless_naps = true;
  transport::simulation machine(options);
  collective_case c;
  c.nodes = a.nodes;
  c.ranks = a.ranks();
  std::uint32_t filled = 0, in_place = 0, ended = 0;
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
    ++filled; // before any enters
    serve_until([&] { return filled == a.ranks(); });
    if (rank == a.absent) serve_until([&] { return in_place == a.ranks() - 1; });
    std::vector<simulated_engine::handle> handles;
    for (std::uint32_t k = 0; k < a.calls; ++k)
      handles.push_back(e.post(team, {a.op, a.in, sync::my, graph::hint::none, a.moved().root, a.bytes},
                               {.dst = heap + data.dst(k), .src = heap + data.src(k)}));
    if (rank != a.absent) {
      serve_until([&] {
        for (std::uint32_t k = 0; k < a.calls; ++k)
          if (!data.has(k, a.in == sync::no)) return false;
        return true;
      });
      ++in_place;
    }
    for (std::uint32_t k = 0; k < a.calls; ++k) {
      e.wait(handles[k]);
      if (!data.has(k, true)) throw wrong_result("call " + std::to_string(k) + ": wrong bytes");
    }
    ++ended;
    serve_until([&] { return ended == a.ranks(); });
  });
}

// Under IN_NO not even its own.
TEST(bundles, hold_up_no_block_between_ranks_that_have_come) {
  for (const sync in : {sync::my, sync::no})
    for (const operation op : {operation::exchange, operation::gather_all, operation::scatter,
                               operation::gather, operation::broadcast})
      for (std::uint64_t shape = 0; shape < 6; ++shape)
        for (std::uint32_t absent = 0; absent < several_hosts(shape).size(); ++absent) {
          if (HasFailure()) return;
          const absence a{several_hosts(shape), absent, op, 8, absent + 1, in};
          EXPECT_NO_THROW(play_without(a))
              << name(op) << " IN_" << graph::name(in) << ", shape " << shape << ", without rank " << absent;
        }
}

// The longest blocks that go in bundles, of as many operations as have places in any case.
TEST(bundles, of_longer_blocks_hold_up_none_between_ranks_that_have_come) {
  using box = engine::bundle_box;
  for (const operation op : {operation::exchange, operation::gather_all})
    for (std::uint64_t shape = 0; shape < shapes_of_several; ++shape) {
      const std::vector<std::uint32_t> nodes = several_hosts(shape);
      const graph::topology g(0, nodes);
      request r{.op = op, .in = sync::my, .out = sync::my, .bytes = 8};
      if (!way(op, "bundled").fits(r, g, all_bundled())) continue;
      while (way(op, "bundled").fits(r, g, all_bundled()))
        r.bytes *= 2;
      for (std::uint32_t absent = shape % 2; absent < nodes.size(); absent += 2) {
        if (HasFailure()) return;
        const absence a{
            nodes, absent, op, r.bytes / 2, absent + 1, sync::my, box::large_places / box::most_places};
        EXPECT_NO_THROW(play_without(a))
            << name(op) << " of " << a.bytes << " bytes, shape " << shape << ", without rank " << absent;
      }
    }
}

// A rank that is late finds the blocks of the first calls, which have two large places each, when the others
// have gone as far as they may with those of one place. Mutation: an operation tells of one of its places.
TEST(bundles, of_longer_blocks_stay_in_both_of_their_places_until_they_are_read) {
  const std::vector<std::uint32_t> nodes{0, 0, 1, 1};
  constexpr std::uint32_t ranks = 4, late = 3, first = 4, calls = 12;
  constexpr std::uint64_t longer = 2048, shorter = 900;
  const auto bytes = [](std::uint32_t call) { return call < first ? longer : shorter; };
  const auto value = [](std::uint32_t call, std::uint32_t from, std::uint32_t to) {
    return static_cast<std::byte>(1 + call * 20 + from * 4 + to);
  };
  std::uint32_t in_place = 0;
  const auto part = [&](const serving_rank& it) {
    const auto source = [&](std::uint32_t call) { return it.heap + call * 2 * ranks * longer; };
    const auto destination = [&](std::uint32_t call) { return source(call) + ranks * longer; };
    std::byte* const segment = it.engine.net().segment();
    const auto has = [&](std::uint32_t call, std::uint32_t from) {
      const std::byte* const got = segment + destination(call) + from * bytes(call);
      return std::all_of(got, got + bytes(call), [&](std::byte b) { return b == value(call, from, it.me); });
    };
    for (std::uint32_t call = 0; call < calls; ++call)
      for (std::uint32_t to = 0; to < ranks; ++to)
        std::fill_n(segment + source(call) + to * bytes(call), bytes(call), value(call, it.me, to));
    if (it.me == late) {
      it.serve_until([&] { return in_place == ranks - 1; });
      it.serve_until([more = 3000]() mutable { return more-- == 0; });
    }
    std::vector<simulated_engine::handle> handles;
    for (std::uint32_t call = 0; call < calls; ++call)
      handles.push_back(it.engine.post(
          it.team, {operation::exchange, sync::my, sync::my, graph::hint::none, 0, bytes(call)},
          {.dst = destination(call), .src = source(call)}));
    if (it.me != late) {
      it.serve_until([&] {
        for (std::uint32_t call = 0; call < first; ++call)
          for (std::uint32_t from = 0; from < late; ++from)
            if (!has(call, from)) return false;
        return true;
      });
      ++in_place;
    }
    for (std::uint32_t call = 0; call < calls; ++call) {
      it.engine.wait(handles[call]);
      for (std::uint32_t from = 0; from < ranks; ++from)
        if (!has(call, from)) throw wrong_result("call " + std::to_string(call) + ": wrong bytes");
    }
  };
  const graph::topology g(0, nodes);
  ASSERT_EQ(engine::bundle_box::places(g, 2 * longer), 2u);
  ASSERT_EQ(engine::bundle_box::places(g, 2 * shorter), 1u);
  EXPECT_NO_THROW(play_serving(nodes, calls * 2 * ranks * longer, 1, all_bundled(), part));
}

// Two hosts and one operation after the other: all but the last rank call at about the same time.
struct series {
  std::vector<std::uint32_t> nodes;
  std::uint64_t bytes, seed;
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(nodes.size()); }
};
constexpr std::uint32_t calls_in_a_row = 40;

// `turn` plays a rank's part in a call.
template <class Turn> void play_in_a_row(const series& of, Turn&& turn) {
  play_serving(of.nodes, of.bytes * (of.ranks() + 1), of.seed, all_bundled(), [&](const serving_rank& it) {
    for (std::uint32_t call = 0; call < calls_in_a_row; ++call)
      turn(call, it);
  });
}
const request small_gather_all(std::uint64_t bytes) {
  return {operation::gather_all, sync::my, sync::my, graph::hint::none, 0, bytes};
}

// A rank that has left uses its source for other things. Mutation: `sent` is stored before the source is
// read.
TEST(bundles, have_read_a_source_before_its_rank_may_leave) {
  const seed_range seeds(60);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last && !HasFailure(); ++seed) {
    const series of{{0, 0, 0, 0, 1}, 500, seed};
    const auto value = [](std::uint32_t call, std::uint32_t from) {
      return static_cast<std::byte>(1 + (call * 5 + from) % 250);
    };
    const auto turn = [&](std::uint32_t call, const serving_rank& it) {
      std::byte* const source = it.memory();
      std::fill_n(source, of.bytes, value(call, it.me));
      it.engine.run(it.team, small_gather_all(of.bytes), {.dst = it.heap + of.bytes, .src = it.heap});
      std::fill_n(source, of.bytes, std::byte{0xff});
      for (std::uint64_t at = 0; at < of.bytes * of.ranks(); ++at)
        if (source[of.bytes + at] != value(call, static_cast<std::uint32_t>(at / of.bytes)))
          throw wrong_result("call " + std::to_string(call) + ": wrong bytes");
    };
    EXPECT_NO_THROW(play_in_a_row(of, turn)) << "replay with WEFT_SEED=" << seed;
  }
}

// The last rank calls when the one beside it has the blocks of the other host, whose ranks sleep until the
// last one has called. One of them is held up for a millisecond before any of its steps, and another one
// comes meanwhile: where that one finds the turn taken it must come back to it. Mutation: it does not.
TEST(bundles, are_sent_by_a_rank_that_found_the_turn_taken) {
  constexpr std::uint32_t members = 3, beside = 3, last = 4;
  const series of{{0, 0, 0, 1, 1}, 8, 1};
  for (std::uint64_t n = 1; n <= 60 && !HasFailure(); ++n)
    for (std::uint32_t held = 0; held < members; ++held) {
      bool seen = false; // the blocks of the first host are there
      const auto part = [&](const serving_rank& it) {
        const graph::binding at{.dst = it.heap + of.bytes, .src = it.heap};
        std::byte* const source = it.memory();
        std::fill_n(source, of.bytes, std::byte{1});
        if (it.me == held) it.engine.net().hold_up(n, 1ms);
        if (it.me == (held + 1) % members) it.engine.net().hold_up(1, 500us);
        if (it.me == last) it.serve_until([&] { return seen; });
        if (it.me != beside) return it.engine.run(it.team, small_gather_all(of.bytes), at), void();
        const auto handle = it.engine.post(it.team, small_gather_all(of.bytes), at);
        it.serve_until([&] {
          for (std::uint32_t from = 0; from < members; ++from)
            if (source[of.bytes * (from + 1)] != std::byte{1}) return false;
          return true;
        });
        seen = true;
        it.engine.wait(handle);
      };
      EXPECT_NO_THROW(play_serving(of.nodes, of.bytes * (of.ranks() + 1), of.seed, all_bundled(), part))
          << "rank " << held << " held up before step " << n;
    }
}

// The blocks of a rank that has not come may be here already, under IN_NO: that says nothing of its entry,
// for which the call before waits. Mutation: what is pulled claims its sender's entry.
TEST(bundles, that_were_asked_for_do_not_say_that_their_owner_has_come) {
  constexpr std::uint64_t block = 5000, small = 8;
  const std::vector<std::uint32_t> nodes{0, 0, 1, 1};
  const seed_range seeds(60);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last && !HasFailure(); ++seed) {
    std::uint32_t filled = 0, seen = 0;
    const auto part = [&](const serving_rank& it) {
      const std::uint64_t got = it.heap + block, early = it.heap + 5 * block, brought = early + small;
      std::byte* const source = it.memory();
      std::fill_n(source + 5 * block, small, static_cast<std::byte>(20 + it.me));
      std::fill_n(source, block, std::byte{0xff});
      ++filled;
      it.serve_until([&] { return filled == nodes.size(); });
      if (it.me == 2) it.serve_until([&] { return seen == nodes.size() - 1; }); // it leads to the others
      std::fill_n(source, block, static_cast<std::byte>(1 + it.me));
      const auto before =
          it.engine.post(it.team, {operation::gather_all, sync::my, sync::my, graph::hint::none, 0, block},
                         {.dst = got, .src = it.heap});
      const auto after =
          it.engine.post(it.team, {operation::gather_all, sync::no, sync::my, graph::hint::none, 0, small},
                         {.dst = brought, .src = early});
      if (it.me != 2) {
        it.serve_until([&] { return source[5 * block + 3 * small] == std::byte{22}; });
        ++seen;
      }
      it.engine.wait(before);
      it.engine.wait(after);
      for (std::uint64_t at = 0; at < 4 * block; ++at)
        if (source[block + at] != static_cast<std::byte>(1 + at / block))
          throw wrong_result("byte " + std::to_string(at) + " was read before its owner had come");
    };
    EXPECT_NO_THROW(play_serving(nodes, 5 * block + 5 * small, seed, all_bundled(), part))
        << "replay with WEFT_SEED=" << seed;
  }
}

} // namespace
} // namespace weft::tests
