// SPDX-License-Identifier: BSD-3-Clause
// Exchanges, gathers and scatters of blocks of unequal sizes: ranks are late, or very late, and hold up no
// block but their own; blocks of any size, in bundles or not, between any hosts.
//
// Mutations that this catches: a large place that is filled before its readers have left; a member that does
// not know which of its blocks were left to be brought, or counts one that came along; a part that is packed
// from a table that its owner has not published; a block that is taken for another member's.
#include "engine/unequal/exchange.hpp"
#include "tests/simulated/one_operation.hpp"
#include "tests/simulated/seeds.hpp"
#include "tests/simulated/serving_ranks.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <gtest/gtest.h>
#include <span>

namespace weft::tests {
namespace {
using collectives::caller;
using collectives::operation;
using graph::sync;
using transport::sim::seeded_random;
using unequal::block;

constexpr std::uint64_t most_bytes = 3000;

// `sockets`: longer blocks go along with their notes.
collectives::tuning in_bundles(bool bundled, bool sockets) {
  collectives::tuning t;
  if (sockets) t.far_payload = engine::mailbox::large_bytes;
  t.bundles = true;
  const std::string way = bundled ? "bundled" : "flat";
  t.forced = collectives::parse_choice("team_alltoallv=" + way + ",team_gatherv=" + way +
                                       ",team_scatterv=" + way + ",exchange=bundled");
  return t;
}

struct unequal_call {
  operation op = operation::team_alltoallv;
  bool same = false;     // allgatherv
  bool from_one = false; // each gives to the one `root` places behind it, and takes of whichever gives
  std::uint32_t root = 0, ranks = 0;
  std::uint64_t seed = 0, most = 40;

  // Of what a member gives to another one: nothing, a few bytes, or many.
  std::uint64_t bytes(std::uint32_t from, std::uint32_t to) const {
    if (from_one) return (from + root) % ranks == to ? seed % (most + 1) : 0;
    const bool one = same || op == operation::team_gatherv;
    seeded_random draw(seed * 7919 + from * 131 + (one ? 0 : to) + 1);
    if (draw.below(6) == 0) return 0;
    return draw.below(8) == 0 ? draw.below(most_bytes + 1) : draw.below(most + 1);
  }
  bool sends(std::uint32_t from, std::uint32_t to) const {
    return op == operation::team_alltoallv || (op == operation::team_scatterv ? from : to) == root;
  }
  std::byte value(std::uint32_t from, std::uint32_t to, std::uint64_t at) const {
    const bool one = same || op == operation::team_gatherv;
    return static_cast<std::byte>(1 + (seed * 17 + from * 31 + (one ? 0 : to) * 5 + at * 3) % 251);
  }
};

unequal_call draw_call(seeded_random& random, std::uint32_t ranks) {
  constexpr std::array kinds{operation::team_alltoallv, operation::team_gatherv, operation::team_scatterv};
  constexpr std::array<std::uint64_t, 4> most{3, 40, 300, most_bytes};
  unequal_call c;
  c.ranks = ranks;
  c.op = kinds[random.below(3)];
  c.same = c.op == operation::team_alltoallv && random.coin(0.4);
  c.from_one = c.op == operation::team_alltoallv && !c.same && random.coin(0.4);
  if (c.op != operation::team_alltoallv || c.from_one)
    c.root = static_cast<std::uint32_t>(random.below(ranks));
  c.seed = random.next();
  c.most = most[random.below(4)];
  return c;
}

// A rank's part in one call: blocks that it gives side by side, behind the table of them; and those it gets.
class unequal_part {
public:
  static std::uint64_t room(std::uint32_t ranks) { return ranks * (sizeof(block) + 2 * most_bytes); }

  unequal_part(const unequal_call& c, const serving_rank& it, std::uint32_t ranks, std::uint64_t at)
      : c_(c), it_(it), ranks_(ranks), src_(at + ranks * sizeof(block)), dst_(src_ + ranks * most_bytes) {
    std::memset(own(at), 0xee, room(ranks));
    task_.given = reinterpret_cast<const block*>(own(at));
    task_.same = c.same || c.op == operation::team_gatherv; // as calls have it
    task_.from_root = c.op == operation::team_scatterv;
    task_.to_root = c.op == operation::team_gatherv;
    task_.from_one = c.from_one;
    task_.root = c.root;
    for (std::uint32_t from = 0; from < ranks; ++from)
      taken_.push_back({dst_ + from * most_bytes, c.bytes(from, it.me)});
    const std::uint32_t giver = (it.me + ranks - c.root) % ranks;
    task_.taken = taken_.data() + (task_.from_root ? c.root : c.from_one ? giver : 0);
    prepare(task_);
  }
  unequal_part(const unequal_part&) = delete;

  void post() {
    for (std::uint64_t at = 0; at < ranks_ * most_bytes; ++at)
      if (*own(dst_ + at) != std::byte{0xee}) throw wrong_result("written before the rank has come");
    for (std::uint32_t to = 0; to < ranks_; ++to) {
      const block b{src_ + to * most_bytes, c_.bytes(it_.me, to)};
      std::memcpy(own(src_) - (ranks_ - to) * sizeof b, &b, sizeof b);
      for (std::uint64_t at = 0; at < b.bytes; ++at)
        *own(b.at + at) = c_.value(it_.me, to, at);
    }
    handle_ = it_.engine.post(it_.team,
                              {.op = c_.op,
                               .in = sync::my,
                               .out = sync::my,
                               .root = c_.root,
                               .bytes = 1,
                               .by = c_.same ? caller::allgatherv : caller::collective,
                               .apart = true},
                              {.dst = dst_, .src = src_, .task = &task_});
  }
  // All that are to come, or all but those of a rank.
  bool has(std::uint32_t without) const {
    for (std::uint32_t from = 0; from < ranks_; ++from) {
      if (from == without) continue;
      const std::span taken(own(dst_ + from * most_bytes), most_bytes);
      const std::uint64_t there = c_.sends(from, it_.me) ? c_.bytes(from, it_.me) : 0;
      for (std::uint64_t at = 0; at < there; ++at)
        if (taken[at] != c_.value(from, it_.me, at)) return false;
      if (std::ranges::any_of(taken.subspan(there), [](std::byte b) { return b != std::byte{0xee}; }))
        return false;
    }
    return true;
  }
  // What was its own is used for other things at once: another table may lie there.
  void wait() {
    it_.engine.wait(handle_);
    std::memset(own(src_), 0xff, ranks_ * most_bytes);
    for (std::uint32_t to = 0; to < ranks_; ++to) {
      const block other{src_, 1};
      std::memcpy(own(src_) - (ranks_ - to) * sizeof other, &other, sizeof other);
    }
    if (!has(ranks_)) throw wrong_result("wrong bytes");
  }

private:
  std::byte* own(std::uint64_t offset) const { return it_.engine.net().segment() + offset; }

  const unequal_call& c_;
  const serving_rank& it_;
  std::uint32_t ranks_;
  std::uint64_t src_, dst_;
  std::vector<block> taken_;
  unequal::exchange task_;
  simulated_engine::handle handle_ = 0;
};

// Rounds of calls, with a small exchange behind each.
void play_rounds(const std::vector<std::uint32_t>& nodes,
                 const std::vector<std::vector<unequal_call>>& rounds, bool bundled, std::uint64_t seed) {
  const auto ranks = static_cast<std::uint32_t>(nodes.size());
  const std::uint64_t room = unequal_part::room(ranks), equal = 16 * ranks;
  const auto part = [&](const serving_rank& it) {
    seeded_random late(seed * 64 + it.me);
    for (const auto& round : rounds) {
      std::deque<unequal_part> parts;
      for (const unequal_call& c : round)
        parts.emplace_back(c, it, ranks, it.heap + equal + parts.size() * room);
      for (unequal_part& p : parts) {
        if (late.below(4) == 0) it.engine.net().compute(std::chrono::nanoseconds(late.below(50'000)));
        p.post();
      }
      for (unequal_part& p : parts)
        p.wait();
      it.engine.run(it.team, {operation::exchange, sync::my, sync::my, graph::hint::none, 0, 8},
                    {.dst = it.heap + 8 * ranks, .src = it.heap});
    }
  };
  const std::size_t together = std::ranges::max(rounds, {}, &std::vector<unequal_call>::size).size();
  EXPECT_NO_THROW(
      play_serving(nodes, equal + together * room, seed, in_bundles(bundled, seed % 2 == 0), part))
      << "replay with WEFT_SEED=" << seed;
}

// More calls than there are large places, some of them together, with others in between.
TEST(unequal, exchanges_bring_every_block_whoever_is_late) {
  const seed_range seeds(60);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last && !HasFailure(); ++seed) {
    seeded_random random(seed * 2 + 1);
    const std::vector<std::uint32_t> nodes = several_hosts(random.below(shapes_of_several));
    const bool bundled = random.below(4) != 0;
    std::vector<std::vector<unequal_call>> rounds(8);
    for (auto& round : rounds)
      for (std::uint64_t calls = random.coin(0.5) ? 1 : 12; calls != 0; --calls)
        round.push_back(draw_call(random, static_cast<std::uint32_t>(nodes.size())));
    play_rounds(nodes, rounds, bundled, seed);
  }
}

// Where a payload has no room for a note to each member of a host, they look into each other's tables.
TEST(unequal, exchanges_of_a_large_host_bring_the_one_block) {
  constexpr std::uint32_t ranks = 103;
  static_assert(!unequal::comes_along(0, ranks));
  for (std::uint64_t seed = 1; seed <= 2 && !HasFailure(); ++seed)
    play_rounds(
        std::vector<std::uint32_t>(ranks, 0),
        {{{.from_one = true, .root = 1 + static_cast<std::uint32_t>(seed), .ranks = ranks, .seed = 20}}},
        false, seed);
}

// One rank posts its calls when all blocks between the others are in place, of as many as there are places.
// More are under way.
TEST(unequal, exchanges_hold_up_no_block_between_ranks_that_have_come) {
  for (std::uint64_t shape = 0; shape < shapes_of_several; ++shape)
    for (std::uint32_t absent = 0; absent < several_hosts(shape).size(); ++absent) {
      if (HasFailure()) return;
      const std::vector<std::uint32_t> nodes = several_hosts(shape);
      const auto ranks = static_cast<std::uint32_t>(nodes.size());
      seeded_random random(shape * 100 + absent);
      std::vector<unequal_call> calls;
      while (calls.size() != 2 * engine::bundle_box::large_places) {
        calls.push_back(draw_call(random, ranks));
        if (!calls.back().from_one && calls.back().root == absent) calls.back().root = (absent + 1) % ranks;
      }
      const std::uint64_t room = unequal_part::room(ranks);
      std::uint32_t ready = 0, in_place = 0;
      const auto part = [&](const serving_rank& it) {
        std::deque<unequal_part> parts;
        for (const unequal_call& c : calls)
          parts.emplace_back(c, it, ranks, it.heap + parts.size() * room);
        ++ready;
        it.serve_until([&] { return ready == ranks; });
        if (it.me == absent) it.serve_until([&] { return in_place == ranks - 1; });
        for (unequal_part& p : parts)
          p.post();
        if (it.me != absent) {
          it.serve_until([&] {
            return std::all_of(parts.begin(), parts.begin() + engine::bundle_box::large_places,
                               [&](auto& p) { return p.has(absent); });
          });
          ++in_place;
        }
        for (unequal_part& p : parts)
          p.wait();
      };
      EXPECT_NO_THROW(play_serving(nodes, calls.size() * room, absent + 1, in_bundles(true, false), part))
          << "shape " << shape << ", without rank " << absent;
    }
}

// Blocks of one size, of which a member has no idea: those that have room go along, longer ones are brought.
TEST(unequal, exchanges_take_the_predicted_time_whatever_their_blocks) {
  constexpr std::uint32_t ranks = 64, each = 16;
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    nodes.push_back(rank / each);
  collectives::tuning t = tuning_for({});
  t.bundles = true;
  for (const std::uint64_t bytes : {128u, 1000u}) {
    std::chrono::nanoseconds begun = std::chrono::hours(1), ended{0};
    const auto part = [&](const serving_rank& it) {
      const std::uint64_t src = it.heap + ranks * sizeof(block), dst = src + ranks * bytes;
      auto* const given = reinterpret_cast<block*>(it.memory());
      std::vector<block> taken;
      for (std::uint32_t k = 0; k < ranks; ++k) {
        given[k] = {src + k * bytes, bytes};
        taken.push_back({dst + k * bytes, bytes});
        std::fill_n(it.engine.net().segment() + given[k].at, bytes, static_cast<std::byte>(it.me + k));
      }
      unequal::exchange e;
      e.given = given;
      e.taken = taken.data();
      prepare(e);
      begun = std::min(begun, it.engine.net().now());
      it.engine.run(
          it.team,
          {.op = operation::team_alltoallv, .in = sync::my, .out = sync::my, .bytes = 1, .apart = true},
          {.dst = dst, .src = src, .task = &e});
      ended = std::max(ended, it.engine.net().now());
      for (std::uint32_t k = 0; k < ranks; ++k)
        if (it.engine.net().segment()[taken[k].at + bytes - 1] != static_cast<std::byte>(it.me + k))
          throw wrong_result("wrong bytes of rank " + std::to_string(k));
    };
    ASSERT_NO_THROW(play_serving(nodes, ranks * (sizeof(block) + 2 * bytes), 1, t, part, true));
    const collectives::request r{
        .op = operation::team_alltoallv, .in = sync::my, .out = sync::my, .bytes = bytes, .apart = true};
    for (const collectives::algorithm& a : collectives::algorithms()) {
      if (a.op != r.op || a.name != "bundled") continue;
      const auto predicted = static_cast<double>(a.cost(r, graph::topology(0, nodes), t)),
                 elapsed = static_cast<double>((ended - begun).count());
      std::printf("alltoallv of %4lu bytes, 4 hosts of 16: predicted %8.1f us, on the clock %8.1f us\n",
                  bytes, predicted / 1e3, elapsed / 1e3);
      EXPECT_LT(elapsed, 1.5 * predicted) << bytes;
      EXPECT_GT(elapsed, predicted / 2) << bytes; // it counts a rank that is woken: these are awake
    }
  }
}

// Whatever the sizes: a part has the room that it needs at least, what came along is as it was, and of the
// rest its receiver learns where it is; as many as the owner counts.
TEST(unequal, parts_hold_the_blocks_that_have_room_and_notes_of_the_others) {
  const std::vector<std::uint32_t> nodes{0, 0, 1, 1, 1};
  const graph::topology g(0, nodes);
  seeded_random random(7);
  for (unsigned round = 0; round < 2000; ++round) {
    std::vector<std::byte> segment(nodes.size() * (sizeof(block) + most_bytes));
    for (std::byte& b : segment)
      b = static_cast<std::byte>(random.below(256));
    std::vector<block> given;
    const std::uint64_t most = std::array<std::uint64_t, 3>{8, 60, most_bytes}[random.below(3)];
    for (std::uint64_t k = 0; k < nodes.size(); ++k)
      given.push_back({nodes.size() * sizeof(block) + k * most_bytes, random.below(most + 1)});
    std::memcpy(segment.data(), given.data(), nodes.size() * sizeof(block));
    unequal::exchange e;
    e.given = reinterpret_cast<const block*>(segment.data());
    prepare(e);
    const std::uint32_t thread = 0;
    graph::work w;
    w.members = static_cast<std::uint32_t>(nodes.size());
    w.threads = &thread;
    w.where = &g;
    w.segment = segment.data();
    w.segment_bytes = segment.size();
    w.message = unequal::least_packed(3) + random.below(200);
    const unequal::packed_blocks mine(e, w, 0, {});
    std::vector<std::byte> part(w.message);
    const std::uint64_t bytes = mine.write(1, part.data());
    ASSERT_LE(bytes, w.message);
    std::uint64_t left = 0, along = 0, shortest = ~std::uint64_t{0};
    for (std::uint32_t k = 0; k < 3; ++k) {
      const block& b = given[2 + k];
      const unequal::packed_entry got = unequal::read_packed({part.data(), bytes}, k);
      ASSERT_EQ(got.what.bytes, b.bytes);
      if (got.what.at == unequal::note::along) {
        ASSERT_TRUE(std::ranges::equal(got.bytes, std::span(segment).subspan(b.at, b.bytes)));
        along += b.bytes;
      } else {
        ASSERT_EQ(got.what.at, b.at);
        shortest = std::min(shortest, b.bytes);
        ++left;
      }
    }
    ASSERT_EQ(left, mine.left_to_readers(1));
    if (left != 0) {
      ASSERT_GT(shortest - sizeof(unequal::note), w.message - bytes) << "it had room";
    }
    const std::uint64_t all = given[2].bytes + given[3].bytes + given[4].bytes;
    ASSERT_EQ(left == 0, all <= w.message - unequal::least_packed(3) + 3 * sizeof(unequal::note)) << along;
  }
}

TEST(unequal, parts_that_say_nonsense_are_not_read_outside) {
  seeded_random random(11);
  for (unsigned round = 0; round < 20'000; ++round) {
    std::vector<std::byte> part(random.below(40));
    for (std::byte& b : part)
      b = static_cast<std::byte>(random.coin(0.3) ? 255 : random.below(40));
    const unequal::packed_entry got =
        unequal::read_packed(part, static_cast<std::uint32_t>(random.below(12)));
    if (got.bytes.empty()) continue;
    ASSERT_GE(got.bytes.data(), part.data());
    ASSERT_LE(got.bytes.data() + got.bytes.size(), part.data() + part.size());
  }
  graph::work w;
  std::array<std::byte, 64> segment{};
  w.segment = segment.data();
  w.segment_bytes = segment.size();
  for (const std::uint64_t table : {std::uint64_t{49}, std::uint64_t{64}, ~std::uint64_t{0}})
    EXPECT_EQ(unequal::entry_of(w, 0, table, 0).bytes, 0u);
  const block wild{60, 5};
  std::memcpy(segment.data(), &wild, sizeof wild);
  EXPECT_EQ(unequal::entry_of(w, 0, 0, 0).bytes, 0u);
}

} // namespace
} // namespace weft::tests
