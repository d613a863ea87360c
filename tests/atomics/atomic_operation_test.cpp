// SPDX-License-Identifier: BSD-3-Clause
// What is done to a value, by several threads at once.
#include "progress/control/atomic_operation.hpp"
#include "progress/control/requests.hpp"
#include "tests/progress/crew.hpp"

#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

namespace {

using namespace weft::control;

template <class T> atomic_value packed(T x) {
  atomic_value v{};
  std::memcpy(&v, &x, sizeof x);
  return v;
}
template <class T> T plain(const atomic_value& v) {
  T x;
  std::memcpy(&x, &v, sizeof x);
  return x;
}
template <class T> T apply_to(T& at, atomic_type t, atomic_kind k, T a = {}, T b = {}) {
  return plain<T>(weft::control::apply(reinterpret_cast<std::byte*>(&at), {t, k, packed(a), packed(b)}));
}

TEST(atomic_operation, integers_wrap) {
  std::int32_t x = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(apply_to(x, atomic_type::i32, atomic_kind::inc), std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(x, std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(apply_to(x, atomic_type::i32, atomic_kind::sub, 1), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(x, std::numeric_limits<std::int32_t>::max());
  std::int64_t y = std::numeric_limits<std::int64_t>::max();
  apply_to(y, atomic_type::i64, atomic_kind::mult, std::int64_t{2});
  EXPECT_EQ(y, -2);
}

TEST(atomic_operation, signs_count) {
  std::int32_t x = -1;
  apply_to(x, atomic_type::i32, atomic_kind::max, 1);
  EXPECT_EQ(x, 1);
  std::uint32_t u = ~0u;
  apply_to(u, atomic_type::u32, atomic_kind::max, 1u);
  EXPECT_EQ(u, ~0u);
}

TEST(atomic_operation, zeros_are_equal_and_numbers_that_are_none_are_not) {
  double x = -0.0;
  apply_to(x, atomic_type::f64, atomic_kind::cswap, 0.0, 2.0);
  EXPECT_EQ(x, 2.0);
  x = std::numeric_limits<double>::quiet_NaN();
  apply_to(x, atomic_type::f64, atomic_kind::cswap, x, 2.0);
  EXPECT_NE(x, 2.0);
}

TEST(atomic_operation, pointers_are_equal_whatever_their_phases) {
  struct pointer {
    std::uint64_t address;
    std::uint32_t thread, phase;
  } x{64, 1, 5};
  apply_to(x, atomic_type::pointer, atomic_kind::cswap, pointer{64, 2, 5}, pointer{128, 1, 1});
  EXPECT_EQ(x.address, 64u);
  const pointer before =
      apply_to(x, atomic_type::pointer, atomic_kind::cswap, pointer{64, 1, 0}, pointer{128, 1, 1});
  EXPECT_EQ(before.phase, 5u);
  EXPECT_EQ(x.address, 128u);
}

TEST(atomic_operation, of_several_threads_none_is_lost) {
  constexpr unsigned threads = 4, turns = 5000;
  std::int64_t sum = 0, product = 1, largest = 0;
  double real = 0;
  weft::testing::run_together(threads, [&](unsigned me) {
    for (unsigned k = 0; k < turns; ++k) {
      apply_to(sum, atomic_type::i64, atomic_kind::inc);
      apply_to(real, atomic_type::f64, atomic_kind::add, 1.0);
      apply_to(product, atomic_type::i64, atomic_kind::mult, std::int64_t{-1});
      apply_to(largest, atomic_type::i64, atomic_kind::max, std::int64_t{k * threads + me});
    }
  });
  EXPECT_EQ(sum, threads * turns);
  EXPECT_EQ(real, threads * turns);
  EXPECT_EQ(product, 1);
  EXPECT_EQ(largest, threads * turns - 1);
}

TEST(atomic_operation, what_cannot_be_right_is_dropped) {
  do_atomic r(64, {atomic_type::f64, atomic_kind::add, {}, {}});
  r.id = 1;
  EXPECT_TRUE(r.fits(4096));
  EXPECT_FALSE(r.fits(64));
  r.kind = static_cast<std::uint8_t>(atomic_kind::xor_);
  EXPECT_FALSE(r.fits(4096));
  r.kind = 99;
  EXPECT_FALSE(r.fits(4096));
  r.kind = 0;
  r.offset = 68;
  EXPECT_FALSE(r.fits(4096));
}

} // namespace
