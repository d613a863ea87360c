// SPDX-License-Identifier: BSD-3-Clause
// Sorts run on simulated machines: any layout and hosts, by seeds; several in a row, members late. What is
// equal is told apart by its index, so whoever takes elements too early, puts them back too early, or breaks
// their order is seen.
//
// Mutations that this catches: no rank waits before the array is overwritten by what is in order, or by
// results of others; a member tells that it has its bucket before it has.
#include "engine/collectives/algorithm.hpp"
#include "engine/sorting/sorting.hpp"
#include "tests/simulated/plan_player.hpp"
#include "tests/simulated/seeds.hpp"

#include <algorithm>
#include <cstring>

namespace weft::tests {
namespace {

struct entry {
  std::uint32_t key, index;
};
struct key_bits {
  static key_bits of(const void*) { return {}; }
  std::uint32_t operator()(const entry& e) const { return e.key; }
};
constexpr detail::element_order by_digits = detail::order_by_key<entry, key_bits>();
constexpr detail::element_order by_comparing =
    detail::order_by_comparing<entry, detail::less_by_bits<key_bits>>();

struct sort_case {
  played_plan play;
  sorting::sorting_task task;

  entry at(std::uint32_t call, std::uint64_t k) const {
    const std::uint64_t x = (call * 97u + k) * 0x9e3779b97f4a7c15u;
    return {static_cast<std::uint32_t>(x >> 40) % keys, static_cast<std::uint32_t>(k)};
  }
  std::uint32_t keys = 1;
  // Whether an element lies on the rank, and where from the source on.
  template <class Visit> void each_of(std::uint32_t rank, Visit&& visit) const {
    const reductions::layout& l = task.of;
    for (std::uint64_t k = 0; k < l.elements; ++k)
      if (l.thread_of(l.block_of(k)) == rank) visit(k, l.address_of(k));
  }
};

void make_case(sort_case& c, std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  const auto ranks = static_cast<std::uint32_t>(1 + draw() % 7);
  const std::uint64_t hosts = 1 + draw() % 4;
  for (std::uint32_t r = 0; r < ranks; ++r)
    c.play.nodes.push_back(static_cast<std::uint32_t>(draw() % hosts));
  const std::uint64_t elements = draw() % (draw() % 2 == 0 ? 50 : 3000);
  const std::uint64_t block = draw() % 2 == 0 ? elements / ranks + 1 : 1 + draw() % 20;
  c.keys = draw() % 2 == 0 ? 5 : 100000;
  c.task.how = draw() % 2 == 0 ? by_digits : by_comparing;
  // The pointer is to the beginning of a block: the array lies behind it on every rank.
  c.task.of = reductions::layout::of(0, elements, block, 0, static_cast<std::uint32_t>(draw() % ranks), ranks,
                                     sizeof(entry));
  prepare(c.task, ranks);
  c.play.task = &c.task;
  c.play.in_place = true;
  c.play.source = (elements / ranks + 3 * block) * sizeof(entry);
  collectives::request r{.op = collectives::operation::sort,
                         .in = draw() % 2 == 0 ? graph::sync::my : graph::sync::all, // filled by then
                         .out = static_cast<graph::sync>(draw() % 3),
                         .bytes = row_bytes(c.task, ranks)};
  if (r.out == graph::sync::no) r.out = graph::sync::my; // so that a rank may look
  r.whole = c.task.whole;
  r.by_ranges = c.task.dealt && !r.whole;
  r.large = draw() % 2 == 0;
  c.play.make = [=](std::uint32_t, const graph::topology& g) { return collectives::compile(r, g, {}); };
  c.play.fill = [&c](std::uint32_t rank, std::uint32_t call, std::byte* to) {
    c.each_of(rank, [&](std::uint64_t k, std::uint64_t at) {
      const entry e = c.at(call, k);
      std::memcpy(to + at, &e, sizeof e);
    });
  };
  c.play.check = [&c](std::uint32_t rank, std::uint32_t call, const std::byte* from) {
    std::vector<entry> all;
    for (std::uint64_t k = 0; k < c.task.of.elements; ++k)
      all.push_back(c.at(call, k));
    std::stable_sort(all.begin(), all.end(), [](const entry& a, const entry& b) { return a.key < b.key; });
    c.each_of(rank, [&](std::uint64_t k, std::uint64_t at) {
      entry got;
      std::memcpy(&got, from + at, sizeof got);
      ASSERT_EQ(got.index, all[k].index) << "rank " << rank << " call " << call << " element " << k;
    });
  };
}

TEST(sorts, are_stable_whoever_comes_late) {
  const seed_range seeds(400);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    sort_case c;
    make_case(c, seed);
    play(c.play, seed);
  }
}

} // namespace
} // namespace weft::tests
