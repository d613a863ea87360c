// SPDX-License-Identifier: BSD-3-Clause
// The kernels of every type and operator against a fold element by element, for every small number of
// elements; the layouts against their definition, block by block; and runs of ranks.
#include "engine/reductions/kernels.hpp"
#include "engine/reductions/layout.hpp"
#include "engine/reductions/runs.hpp"
#include "tests/calls/typed_case.hpp"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>

namespace reductions {
namespace {
using namespace weft::reductions;

operation operation_of(upc_op_t op) {
  if (op == UPC_FUNC) return operation::function;
  if (op == UPC_NONCOMM_FUNC) return operation::ordered_function;
  return static_cast<operation>(std::countr_zero(op));
}

// Elements that lie together, also of bool.
template <class T> class row {
public:
  explicit row(std::size_t count) : elements_(std::make_unique<T[]>(count)), count_(count) {}
  row(const row& other) : row(other.count_) { std::copy_n(other.data(), count_, data()); }
  T* data() { return elements_.get(); }
  const T* data() const { return elements_.get(); }
  T& operator[](std::size_t i) { return elements_[i]; }
  const T& operator[](std::size_t i) const { return elements_[i]; }
  std::size_t size() const { return count_; }

private:
  std::unique_ptr<T[]> elements_;
  std::size_t count_;
};

template <class T> struct kernel_case {
  weft::reductions::element type;
  upc_op_t op;

  kernels functions() const {
    return op >= UPC_FUNC ? *kernels_of_c_function(type) : *kernels_of(type, operation_of(op));
  }

  void check(std::size_t count) const {
    const kernels k = functions();
    T(*const f)
    (T, T) = [&] {
      if constexpr (!is_complex<T>) return function_of<T>(op);
      return static_cast<T (*)(T, T)>(nullptr);
    }();
    const void* const argument = op >= UPC_FUNC ? static_cast<const void*>(&f) : nullptr;
    row<T> source(count);
    for (std::size_t i = 0; i < count; ++i)
      source[i] = reductions::element<T>(7, i, op);
    T wanted = source[0], result{};
    for (std::size_t i = 1; i < count; ++i)
      wanted = apply<T>(op, wanted, source[i]);
    k.fold(&result, source.data(), count, false, argument);
    EXPECT_EQ(result, wanted) << count << " elements, op " << op;
    k.fold(&result, source.data(), count, true, argument);
    EXPECT_EQ(result, apply<T>(op, wanted, wanted)) << count << " more elements, op " << op;
    check_combine(k, source, argument);
    for (const bool exclusive : {false, true})
      for (const bool more : {false, true})
        check_scan(k, source, exclusive, more, argument);
  }

  void check_combine(const kernels& k, const row<T>& source, const void* argument) const {
    row<T> into(source);
    std::reverse(into.data(), into.data() + into.size());
    k.combine(into.data(), source.data(), source.size(), argument);
    for (std::size_t i = 0; i < source.size(); ++i)
      ASSERT_EQ(into[i], apply<T>(op, source[source.size() - 1 - i], source[i])) << "element " << i;
  }

  void check_scan(const kernels& k, const row<T>& source, bool exclusive, bool more,
                  const void* argument) const {
    row<T> in_place(source);
    const T kept = source[0];
    T carry = reductions::element<T>(9, 1, op), so_far = carry;
    k.scan(in_place.data(), in_place.data(), source.size(), &carry, more, exclusive, argument);
    for (std::size_t i = 0; i < source.size(); ++i) {
      const bool front = more || i != 0;
      const T behind = front ? apply<T>(op, so_far, source[i]) : source[i];
      ASSERT_EQ(in_place[i], !exclusive ? behind : front ? so_far : kept) << "element " << i << ", op " << op;
      so_far = behind;
    }
    EXPECT_EQ(carry, so_far);
  }
};

template <class T> void check_type(weft::reductions::element type) {
  EXPECT_EQ(size_of(type), sizeof(T));
  EXPECT_EQ(alignment_of(type), alignof(T));
  for (const upc_op_t op : operators<T>()) {
    if (is_complex<T> && op >= UPC_FUNC) continue; // a C function passes GNU's complex numbers
    for (const std::size_t count : {1u, 2u, 3u, 7u, 31u, 64u, 127u, 255u, 256u, 511u, 512u, 513u, 1000u})
      kernel_case<T>{type, op}.check(count);
  }
}

TEST(kernels, give_what_a_fold_element_by_element_gives) {
  using enum weft::reductions::element;
  check_type<signed char>(c);
  check_type<unsigned char>(uc);
  check_type<short>(s);
  check_type<unsigned short>(us);
  check_type<int>(i);
  check_type<unsigned>(ui);
  check_type<long>(l);
  check_type<unsigned long>(ul);
  check_type<float>(f);
  check_type<double>(d);
  check_type<long double>(ld);
  check_type<long long>(ll);
  check_type<unsigned long long>(ull);
  check_type<std::complex<float>>(cx);
  check_type<std::complex<double>>(dx);
  check_type<std::complex<long double>>(ldx);
  check_type<bool>(b);
}

TEST(kernels, are_there_for_what_the_texts_define_only) {
  using enum weft::reductions::element;
  EXPECT_EQ(kernels_of(d, operation::bit_and), nullptr);
  EXPECT_EQ(kernels_of(dx, operation::bit_xor), nullptr);
  EXPECT_EQ(kernels_of(dx, operation::min), nullptr);
  EXPECT_EQ(kernels_of(b, operation::add), nullptr);
  EXPECT_EQ(kernels_of(b, operation::max), nullptr);
  EXPECT_EQ(kernels_of(double_int, operation::add), nullptr);
  EXPECT_EQ(kernels_of(d, operation::min_location), nullptr);
  EXPECT_NE(kernels_of(double_int, operation::min_location), nullptr);
  EXPECT_EQ(kernels_of_c_function(double_int), nullptr);
}

TEST(kernels, the_second_is_taken_only_if_it_is_strictly_smaller_or_larger) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const operation op : {operation::min, operation::max}) {
    double a[2] = {nan, 1}, result = 0;
    kernels_of(weft::reductions::element::d, op)->fold(&result, a, 2, false, nullptr);
    EXPECT_TRUE(std::isnan(result));
    double zeros[2] = {-0.0, 0.0};
    kernels_of(weft::reductions::element::d, op)->fold(&result, zeros, 2, false, nullptr);
    EXPECT_TRUE(std::signbit(result));
  }
}

TEST(kernels, a_long_double_is_the_same_in_bytes_that_no_value_writes) {
  long double two[2] = {1.5L, 2.5L};
  unsigned char first[sizeof(long double)], second[sizeof(long double)];
  std::memset(first, 0x11, sizeof first);
  std::memset(second, 0xee, sizeof second);
  const kernels* const k = kernels_of(weft::reductions::element::ld, operation::add);
  k->fold(first, two, 2, false, nullptr);
  k->fold(second, two, 2, false, nullptr);
  EXPECT_EQ(std::memcmp(first, second, sizeof first), 0);
}

TEST(kernels, of_equal_values_the_lowest_index_is_meant) {
  struct pair {
    double value;
    int index;
  } all[] = {{3, 2}, {1, 7}, {1, 5}, {3, 1}}, result{};
  kernels_of(weft::reductions::element::double_int, operation::min_location)
      ->fold(&result, all, 4, false, nullptr);
  EXPECT_EQ(result.index, 5);
  kernels_of(weft::reductions::element::double_int, operation::max_location)
      ->fold(&result, all, 4, false, nullptr);
  EXPECT_EQ(result.index, 1);
}

// Walks through `shared [block] TYPE A[n]` as the language does.
TEST(layouts, are_those_of_the_language) {
  for (const std::uint32_t threads : {1u, 2u, 3u, 5u})
    for (const std::uint64_t block : {0u, 1u, 2u, 3u, 7u, 40u})
      for (std::uint32_t phase = 0; phase < std::max<std::uint64_t>(block, 1); phase += 1 + phase / 2)
        for (std::uint32_t first = 0; first < threads; ++first)
          for (const std::uint64_t n : {0u, 1u, 2u, 6u, 15u, 64u}) {
            const layout l = layout::of(1000, n, block, phase, first, threads, 8);
            std::vector<std::uint64_t> of_thread(threads);
            std::uint64_t at = 1000, in_block = phase;
            std::uint32_t thread = first;
            block_walk walk(l, 0);
            for (std::uint64_t i = 0; i < n; ++i) {
              ASSERT_EQ(l.thread_of(l.block_of(i)), thread);
              ASSERT_EQ(l.address_of(i), at);
              ASSERT_EQ(walk.thread(), thread);
              ASSERT_EQ(walk.address(), at);
              ASSERT_GE(walk.run(n), 1u);
              walk.pass(1);
              const auto span = l.of_thread(thread, i, i + 1);
              ASSERT_EQ(span.elements, 1u);
              ASSERT_EQ(span.at, at);
              ++of_thread[thread];
              at += 8;
              if (block == 0 || ++in_block < block) continue;
              in_block = 0;
              if (++thread == threads)
                thread = 0; // the next row
              else
                at -= block * 8;
            }
            for (std::uint32_t t = 0; t < threads; ++t)
              ASSERT_EQ(l.of_thread(t).elements, of_thread[t]) << "of thread " << t;
          }
}

// A leader tells its neighbours one run, though a message has room for more, and scratch holds anything.
TEST(combined_runs, a_result_for_all_is_one_run_whatever_lay_there_before) {
  const weft::graph::topology where(1, {0, 0, 1, 0});
  constexpr std::uint64_t value = 8, most = 2;
  std::vector<std::byte> scratch(combined_runs::scratch(where.locals(), value, most), std::byte{0x11});
  weft::graph::work w;
  w.me = 1, w.members = 4, w.where = &where, w.block = value;
  w.scratch = scratch.data(), w.message = most * bytes_of_run(value);
  const combined_runs all(w, false);
  const weft::graph::part told = all.part(told_runs, 0);
  ASSERT_EQ(told.bytes, bytes_of_run(value));
  const rank_run of_all{0, 4, 1};
  std::memcpy(told.mine, &of_all, sizeof of_all);
  std::vector<std::uint32_t> ends;
  all.each([&](const rank_run& one, const std::byte*) {
    ends.push_back(one.end);
    return true;
  });
  EXPECT_EQ(ends, std::vector{4u});
}

} // namespace
} // namespace reductions
