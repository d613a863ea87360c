// SPDX-License-Identifier: BSD-3-Clause
// What comparators may do, what becomes of what they throw, and what the forms of C++ take.
#include <algorithm>
#include <atomic>
#include <compare>
#include <functional>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <weft/weft.hpp>

namespace {

struct of_program : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct point {
  double x;
  int id, group;
  auto operator<=>(const point& other) const { return x <=> other.x; }
};

template <class T, std::size_t B, class Value> void fill(const weft::shared_array<T, B>& a, Value value) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if ((a + static_cast<std::ptrdiff_t>(i)).threadof() == static_cast<std::size_t>(MYTHREAD))
      a[static_cast<std::ptrdiff_t>(i)] = value(i);
  upc_barrier;
}
std::size_t scrambled(std::size_t i, std::size_t n) {
  return i * 7919 % n;
}

using array = weft::shared_array<long, 3>;

TEST(user_sorts, keep_the_state_of_a_comparator_until_they_are_complete) {
  array a(weft::per_thread(40));
  fill(a, [&](std::size_t i) { return static_cast<long>(scrambled(i, a.size())); });
  upc_coll_handle_t h;
  {
    const std::vector<long> sign{-1};
    h = upc_all_sort(
        a, a.size(), [sign](long x, long y) { return sign[0] * x < sign[0] * y; }, UPC_ASYNC);
  }
  upc_wait(h);
  upc_barrier;
  for (std::size_t i = 0; i + 1 < a.size(); ++i)
    EXPECT_GE(static_cast<long>(a[static_cast<std::ptrdiff_t>(i)]),
              static_cast<long>(a[static_cast<std::ptrdiff_t>(i) + 1]));
  upc_barrier;
}

TEST(user_sorts, take_orderings_keys_and_operators) {
  weft::shared_array<point, 5> a(weft::per_thread(30));
  const auto wrong = [&](auto less) {
    int all = 0;
    for (std::size_t i = 0; i + 1 < a.size(); ++i) {
      const auto k = static_cast<std::ptrdiff_t>(i);
      const point x = a[k], y = a[k + 1];
      all += less(y, x) || (!less(x, y) && x.id > y.id);
    }
    upc_barrier;
    return all;
  };
  const auto original = [&](std::size_t i) {
    return point{static_cast<double>(scrambled(i, 13)) / 4, static_cast<int>(i), static_cast<int>(i % 5)};
  };
  fill(a, original);
  upc_all_sort(a, a.size(), 0);
  EXPECT_EQ(wrong([](const point& x, const point& y) { return x.x < y.x; }), 0);
  fill(a, original);
  upc_all_sort(
      a, a.size(), [](const point& x, const point& y) { return y <=> x; }, 0);
  EXPECT_EQ(wrong([](const point& x, const point& y) { return y.x < x.x; }), 0);
  fill(a, original);
  upc_all_sort(a, a.size(), weft::by_key([](const point& p) { return -p.group; }), 0);
  EXPECT_EQ(wrong([](const point& x, const point& y) { return y.group < x.group; }), 0);
  fill(a, original);
  upc_all_sort(a.begin(), a.size(), weft::by_key(&point::group), 0);
  EXPECT_EQ(wrong([](const point& x, const point& y) { return x.group < y.group; }), 0);
}

std::atomic<int> complaints{0};
int reading_and_waiting(upc_shared_ptr_t a, upc_shared_ptr_t b) {
  try {
    upc_barrier;
  } catch (const weft::error& e) {
    const std::string said = e.what();
    complaints += said.find("must not be called by a function that a collective has called") != said.npos;
  }
  const weft::ptr<long, 3> x(a), y(b); // as elements, too
  return *x < *y ? -1 : *x > *y;
}

TEST(user_sorts, let_comparators_read_through_their_pointers_but_not_wait) {
  array a(weft::per_thread(20));
  fill(a, [&](std::size_t i) { return static_cast<long>(scrambled(i, a.size())); });
  complaints = 0;
  upc_all_sort(a, sizeof(long), a.size(), 3, reading_and_waiting, 0);
  EXPECT_GT(complaints, 0);
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_EQ(static_cast<long>(a[static_cast<std::ptrdiff_t>(i)]), static_cast<long>(i));
  upc_barrier;
}

upc_shared_ptr_t beginning{}, escaped{}; // of the array; what a comparator was given elsewhere
int remembering(upc_shared_ptr_t a, upc_shared_ptr_t b) {
  const upc_shared_ptr_t nowhere{~std::uint64_t{0} / 2, static_cast<std::uint32_t>(MYTHREAD), 0};
  EXPECT_THROW(static_cast<void>(upc_cast(nowhere)), weft::error);
  for (const upc_shared_ptr_t p : {a, b})
    if (p.addr - beginning.addr > (1u << 20)) escaped = p;
  return 0;
}

TEST(user_sorts, lend_their_memory_no_longer_than_the_comparator_runs) {
  array a(weft::per_thread(20));
  fill(a, [](std::size_t i) { return static_cast<long>(i); });
  beginning = a.begin();
  escaped = {};
  upc_all_sort(a, sizeof(long), a.size(), 3, remembering, 0);
  const bool has_escaped = !upc_isnull(escaped);
  if (has_escaped) {
    EXPECT_THROW(static_cast<void>(upc_cast(escaped)), weft::error);
  }
  const int all = weft::reduce_all(has_escaped ? 1 : 0, UPC_ADD).get();
  if (THREADS > 1) {
    EXPECT_GT(all, 0);
  }
}

TEST(user_sorts, throw_what_the_comparator_throws_and_fail_elsewhere) {
  array a(weft::per_thread(50));
  fill(a, [&](std::size_t i) { return static_cast<long>(scrambled(i, a.size())); });
  const upc_coll_handle_t h = upc_all_sort(
      a, a.size(),
      [](long x, long y) {
        if (MYTHREAD == THREADS - 1) throw of_program("no order here");
        return x < y;
      },
      UPC_ASYNC);
  if (MYTHREAD == THREADS - 1) {
    EXPECT_THROW(upc_wait(h), of_program);
  } else {
    EXPECT_THROW(upc_wait(h), weft::error);
  }
  upc_barrier;
  fill(a, [&](std::size_t i) { return static_cast<long>(scrambled(i, a.size())); });
  upc_all_sort(a, a.size(), 0); // the next one works
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_EQ(static_cast<long>(a[static_cast<std::ptrdiff_t>(i)]), static_cast<long>(i));
  upc_barrier;
}

} // namespace
