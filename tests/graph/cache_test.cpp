// SPDX-License-Identifier: BSD-3-Clause
#include "progress/execution/plan_store.hpp"
#include "tests/graph/allocations.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace weft::graph {
namespace {

using cache = plan_cache<std::uint64_t>;

plan numbered(std::uint32_t n) {
  plan p;
  p.root = n;
  return p;
}

const plan* pin(cache& c, std::uint32_t n) {
  return c.pin(n, [n] { return numbered(n); });
}

void use(cache& c, std::uint32_t n) {
  c.unpin(pin(c, n));
}

bool holds(cache& c, std::uint32_t n) {
  const plan* p = c.find(n);
  if (p) c.unpin(p);
  return p != nullptr;
}

TEST(cache, compiles_once_and_returns_the_same_plan) {
  cache c(1 << 20);
  int compiled = 0;
  auto compile = [&] { return ++compiled, numbered(7); };
  const plan* first = c.pin(7, compile);
  const plan* again = c.pin(7, compile);
  EXPECT_EQ(first, again);
  EXPECT_EQ(first->root, 7u);
  EXPECT_EQ(compiled, 1);
  EXPECT_EQ(c.counts().hits, 1u);
  EXPECT_EQ(c.counts().misses, 1u);
}

TEST(cache, a_hit_allocates_nothing) {
  cache c(1 << 20);
  use(c, 1);
  const std::size_t before = allocations();
  for (int k = 0; k < 100; ++k)
    c.unpin(c.find(1));
  for (int k = 0; k < 100; ++k)
    use(c, 1);
  EXPECT_EQ(allocations(), before);
}

TEST(cache, evicts_the_least_recently_used_under_the_cap) {
  cache c(3 * cache::entry_bytes);
  for (std::uint32_t n : {1, 2, 3})
    use(c, n);
  use(c, 1); // 2 is now the oldest
  use(c, 4);
  EXPECT_EQ(c.size(), 3u);
  EXPECT_LE(c.bytes(), c.cap());
  EXPECT_EQ(c.counts().evictions, 1u);
  EXPECT_TRUE(holds(c, 1));
  EXPECT_FALSE(holds(c, 2));
  EXPECT_TRUE(holds(c, 3));
  EXPECT_TRUE(holds(c, 4));
}

TEST(cache, a_pinned_plan_survives_and_the_cap_is_kept_again_after_the_unpin) {
  cache c(2 * cache::entry_bytes);
  const plan* one = pin(c, 1);
  const plan* two = pin(c, 2);
  const plan* three = pin(c, 3); // nothing may go: over the cap while all three run
  EXPECT_EQ(c.size(), 3u);
  for (std::uint32_t n = 10; n < 50; ++n)
    use(c, n);
  EXPECT_EQ(one->root, 1u);
  EXPECT_EQ(two->root, 2u);
  EXPECT_EQ(three->root, 3u);
  EXPECT_EQ(c.size(), 3u);
  c.unpin(two);
  EXPECT_EQ(c.size(), 2u);
  EXPECT_FALSE(holds(c, 2));
  c.unpin(one);
  c.unpin(three);
  EXPECT_EQ(c.size(), 2u);
  EXPECT_LE(c.bytes(), c.cap());
}

TEST(cache, a_plan_pinned_twice_needs_two_unpins) {
  cache c(0);
  const plan* p = pin(c, 1);
  EXPECT_EQ(pin(c, 1), p);
  c.unpin(p);
  EXPECT_EQ(c.size(), 1u);
  EXPECT_EQ(p->root, 1u);
  c.unpin(p);
  EXPECT_EQ(c.size(), 0u);
}

TEST(cache, plans_do_not_move_when_the_index_grows) {
  cache c(1 << 24);
  const plan* first = pin(c, 0);
  for (std::uint32_t n = 1; n < 2000; ++n)
    use(c, n);
  EXPECT_EQ(c.find(0), first);
  c.unpin(first);
  c.unpin(first);
}

TEST(cache, a_failed_compile_leaves_no_plan) {
  cache c(1 << 20);
  EXPECT_THROW(c.pin(1, []() -> plan { throw std::logic_error("no plan"); }), std::logic_error);
  EXPECT_EQ(c.size(), 0u);
  EXPECT_EQ(pin(c, 1)->root, 1u);
}

} // namespace
} // namespace weft::graph
