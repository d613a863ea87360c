// SPDX-License-Identifier: BSD-3-Clause
#include "tests/api/fixture.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

// Own indices and memory against what pointer arithmetic says of every single element.
namespace {

using weft::dynamic_block;
using weft::dynamic_ptr;
using weft::per_thread;
using weft::ptr;
using weft::shared_array;

static_assert(std::forward_iterator<weft::own_indices::iterator>);
static_assert(std::sentinel_for<std::default_sentinel_t, weft::own_indices::iterator>);

template <class Pointer> void expect_own(const Pointer& first, std::size_t count, std::size_t threads) {
  for (std::size_t t = 0; t != threads; ++t) {
    std::vector<std::size_t> expected, found;
    for (std::size_t i = 0; i != count; ++i)
      if ((first + static_cast<std::ptrdiff_t>(i)).threadof() == t) expected.push_back(i);
    const weft::own_indices its = weft::indices_of(t, first, count);
    for (const std::size_t i : its)
      found.push_back(i);
    ASSERT_EQ(found, expected) << count << " elements, block " << first.block() << ", phase "
                               << first.phaseof() << ", thread " << t;
    ASSERT_EQ(its.size(), expected.size());
    const auto span = weft::local_of(t, first, count);
    ASSERT_EQ(span.size(), expected.size());
    for (std::size_t k = 0; k != expected.size(); ++k)
      ASSERT_EQ(&span[k], (first + static_cast<std::ptrdiff_t>(expected[k])).local());
  }
}

TEST_F(api_test, own_indices_are_those_with_affinity) {
  for (const std::uint32_t threads : {1u, 2u, 3u, 5u}) {
    start(threads, threads - 1);
    const upc_shared_ptr_t p = upc_all_alloc(threads, 4096);
    for (const std::size_t block : {0, 1, 2, 3, 7, 64, 1000})
      for (const std::size_t count : {0, 1, 2, 5, 6, 7, 20, 64, 65, 200})
        for (const std::ptrdiff_t from : {0, 1, 2, 6, 13, 70})
          expect_own(dynamic_ptr<int>(p, block) + from, count, threads);
    expect_own(ptr<long, 4>(p) + 9, 30, threads);
    expect_own(ptr<char, 0>(p), 30, threads);
    weft_finalize();
  }
}

TEST_F(api_test, own_of_arrays_is_the_calling_threads) {
  start(3, 1);
  const shared_array<int, 4> a(30);
  std::vector<std::size_t> found;
  for (const std::size_t i : weft::own(a))
    found.push_back(i);
  EXPECT_THAT(found, testing::ElementsAre(4, 5, 6, 7, 16, 17, 18, 19, 28, 29));
  int next = 100;
  for (int& x : weft::local(a))
    x = next++;
  EXPECT_EQ(a[4], 100);
  EXPECT_EQ(a[16], 104);
  EXPECT_EQ(a[29], 109);
  const shared_array<double, dynamic_block> by_rows(per_thread(2), per_thread(per_thread(2)));
  EXPECT_EQ(weft::local(by_rows).size(), 6u);
  EXPECT_EQ(*weft::own(by_rows).begin(), 6u);
  const shared_array<int, 0> on_one(30);
  EXPECT_TRUE(weft::own(on_one).empty());
  EXPECT_TRUE(weft::local(on_one).empty());
}

TEST_F(api_test, memory_out_of_reach_is_no_span) {
  fake_runtime& rt = start(3);
  rt.out_of_reach = {2};
  const shared_array<int> a(8);
  const auto spans = weft::local_spans(a);
  ASSERT_EQ(spans.size(), 3u);
  EXPECT_EQ(spans[0].size(), 3u);
  EXPECT_EQ(spans[1].size(), 3u);
  EXPECT_TRUE(spans[2].empty());
  EXPECT_EQ(weft::indices_of(2, a).size(), 2u);
}

// A block near the largest number that a phase counts, and an end near that of all indices.
TEST_F(api_test, own_indices_do_not_wrap) {
  start(4, 3);
  constexpr std::size_t most = 4294967295u;
  const weft::own_indices mine(std::size_t{3} * most + 2, most, 0, 0, 3, 4);
  EXPECT_EQ(mine.size(), 2u);
  EXPECT_EQ(*mine.begin(), 3 * most);
  EXPECT_EQ(std::ranges::distance(mine.begin(), mine.end()), 2);
}

} // namespace
