// SPDX-License-Identifier: BSD-3-Clause
#include "tests/api/fixture.hpp"

#include <cstring>
#include <type_traits>

namespace {

using weft::dynamic_ptr;
using weft::per_thread;
using weft::ptr;
using weft::shared_array;

struct particle {
  double x, y;
  int id;
};

static_assert(std::is_convertible_v<ptr<int, 3>, upc_shared_ptr_t>);
static_assert(std::is_convertible_v<upc_shared_ptr_t, ptr<int, 3>>);
static_assert(std::is_convertible_v<ptr<int, 3>, ptr<const int, 3>>);
static_assert(!std::is_convertible_v<ptr<const int, 3>, ptr<int, 3>>);
static_assert(std::is_trivially_copyable_v<ptr<int, 3>> && std::is_trivially_copyable_v<dynamic_ptr<int>>);
static_assert(!std::is_convertible_v<ptr<int, 3>, ptr<int, 0>>, "a cast must be written");
static_assert(std::is_constructible_v<ptr<int, 0>, ptr<int, 3>>);
static_assert(!std::is_convertible_v<ptr<int, 3>, ptr<double, 3>>);
static_assert(!std::is_assignable_v<decltype(*ptr<const int>()), int>, "const elements are not written");
static_assert(sizeof(ptr<int, 3>) == sizeof(upc_shared_ptr_t));

// Declared before weft_init, as at namespace scope.
shared_array<int, 3> early(20);
shared_array<double> early_per_thread(per_thread(2));

template <class P> void walk(const P& first, std::size_t block, std::size_t elem) {
  P p = first;
  for (int i = 0; i != 30; ++i, ++p) {
    const upc_shared_ptr_t expected = upc_ptradd(first, block, elem, i);
    EXPECT_EQ(p.addrfield(), expected.addr);
    EXPECT_EQ(p.threadof(), expected.thread);
    EXPECT_EQ(p.phaseof(), expected.phase);
    EXPECT_EQ(p - first, i);
    EXPECT_EQ(first + i, p);
    EXPECT_EQ(p - i, first);
    EXPECT_EQ(p > first, i > 0);
    EXPECT_TRUE(p <= p);
  }
  while (p != first)
    p--;
  EXPECT_EQ(p, first);
}

TEST_F(api_test, typed_pointers_do_the_arithmetic_of_the_language) {
  start(3);
  const upc_shared_ptr_t base = upc_all_alloc(30, sizeof(particle));
  walk(ptr<int, 4>(base), 4, sizeof(int));
  walk(ptr<particle>(base), 1, sizeof(particle));
  walk(ptr<char, 0>(base), 0, 1);
  walk(dynamic_ptr<int>(base, 5), 5, sizeof(int));
}

TEST_F(api_test, casts_to_another_block_size_reset_the_phase) {
  start(3);
  const ptr<int, 4> p = ptr<int, 4>(upc_all_alloc(30, sizeof(int))) + 6;
  EXPECT_EQ(p.phaseof(), 2u);
  const ptr<int, 0> q(p);
  EXPECT_EQ(q.phaseof(), 0u);
  EXPECT_EQ(q.threadof(), p.threadof());
  EXPECT_EQ(q.addrfield(), p.addrfield());
  EXPECT_EQ((ptr<unsigned, 4>(p)).phaseof(), 0u);
  EXPECT_EQ((ptr<const int, 4>(p)).phaseof(), 2u);
  EXPECT_EQ(dynamic_ptr<int>(p, 4).phaseof(), 0u);
}

TEST_F(api_test, the_untyped_pointer_keeps_the_phase_where_it_can_be_one) {
  const upc_shared_ptr_t raw{0x80, 1, 3};
  EXPECT_EQ((ptr<int, 4>(raw).phaseof()), 3u);
  EXPECT_EQ((ptr<int, 3>(raw).phaseof()), 0u);
  EXPECT_EQ((ptr<int, 0>(raw).phaseof()), 0u);
  EXPECT_FALSE(ptr<int>());
  EXPECT_TRUE(ptr<int>() == nullptr);
}

TEST_F(api_test, elements_are_read_and_written_by_loads_and_stores) {
  fake_runtime& rt = start(2);
  const ptr<int> p = upc_all_alloc(8, sizeof(int));
  for (int i = 0; i != 8; ++i)
    p[i] = 10 * i;
  int stored;
  std::memcpy(&stored, rt.memory(1, p.addrfield() + 2 * sizeof(int)), sizeof stored);
  EXPECT_EQ(stored, 50);
  EXPECT_EQ(p[5], 50);
  p[5] += 7;
  p[5]++;
  --p[5];
  EXPECT_EQ(p[5] + 0, 57);
  p[0] = p[5]; // the element, not the reference
  EXPECT_EQ(*p, 57);
  EXPECT_EQ(&p[5], p + 5);
  EXPECT_EQ(rt.puts + rt.gets, 0u);
}

TEST_F(api_test, elements_out_of_reach_are_put_and_got) {
  fake_runtime& rt = start(2);
  rt.out_of_reach = {1};
  const ptr<int> p = upc_all_alloc(8, sizeof(int));
  p[0] = 1;
  p[1] = 2;
  EXPECT_EQ(rt.puts, 1u);
  EXPECT_EQ(p[1] * 3, 6);
  EXPECT_EQ(rt.gets, 1u);
}

TEST_F(api_test, members_are_reached_through_the_arrow) {
  fake_runtime& rt = start(2);
  const ptr<particle> p = upc_all_alloc(2, sizeof(particle));
  for (int t = 0; t != 2; ++t) {
    p[t] = particle{1, 2, t};
    rt.out_of_reach = {1};
  }
  (p + 0)->x = 5;
  rt.bytes_put = 0;
  (p + 1)->x = 6;
  EXPECT_LE(rt.bytes_put, sizeof(double)) << "only what was changed is written back";
  EXPECT_EQ(p[0].get().x, 5);
  EXPECT_EQ(p[1].get().x, 6);
  EXPECT_EQ((p + 1)->id, 1);
  const std::size_t puts = rt.puts;
  EXPECT_EQ((ptr<const particle>(p + 1))->y, 2);
  EXPECT_EQ((p + 1)->y, 2);
  EXPECT_EQ(rt.puts, puts) << "nothing was changed";
}

TEST_F(api_test, a_null_or_wild_pointer_is_not_dereferenced) {
  start(2);
  EXPECT_THAT(error_of([] { static_cast<void>(ptr<int>()[0].get()); }).rule, testing::HasSubstr("null"));
  EXPECT_EQ(error_of([] { *ptr<int>({0x80, 7, 0}) = 1; }).value, "thread 7");
  EXPECT_THAT(error_of([] { *ptr<int>({1u << 30, 1, 0}) = 1; }).rule, testing::HasSubstr("shared heap"));
}

TEST_F(api_test, arrays_declared_before_init_are_allocated_by_it_in_order_and_zeroed) {
  EXPECT_EQ(early.begin(), nullptr);
  start(3, 1);
  EXPECT_EQ(early.size(), 20u);
  EXPECT_EQ(early_per_thread.size(), 6u);
  const upc_shared_ptr_t first = early, second = early_per_thread;
  // 20 elements in blocks of 3 on 3 threads: 7 blocks, 3 rounds of 12 bytes.
  EXPECT_EQ(first.addr, fake_runtime::heap_begin);
  EXPECT_EQ(second.addr, fake_runtime::heap_begin + 64);
  EXPECT_EQ(first.thread + first.phase + second.thread + second.phase, 0u);
  EXPECT_EQ(early[3], 0) << "my own part is zeroed";
  EXPECT_NE(early[0], 0) << "the others zero theirs themselves";
  EXPECT_EQ(barriers_of_init(), 1u) << "no thread writes before all have zeroed";
  weft_finalize();
  EXPECT_EQ(early.begin(), nullptr);
}

TEST_F(api_test, arrays_declared_after_init_live_as_long_as_their_scope) {
  fake_runtime& rt = start(3);
  {
    shared_array<int, weft::dynamic_block> rows(per_thread(2), per_thread(per_thread(2)));
    EXPECT_EQ(rows.block(), 6u);
    EXPECT_EQ(rows.size(), 18u);
    const auto p = &rows[7];
    EXPECT_EQ(p.threadof(), 1u);
    EXPECT_EQ(p.phaseof(), 1u);
    EXPECT_EQ(p.block(), 6u);
    EXPECT_EQ(rows + 7, p);
    EXPECT_TRUE(rt.freed.empty());
  }
  ASSERT_EQ(rt.freed.size(), 1u);
}

TEST_F(api_test, an_array_frees_nothing_while_an_exception_unwinds) {
  fake_runtime& rt = start(3);
  try {
    const shared_array<int> lost(5);
    throw 1;
  } catch (int) {
  }
  EXPECT_TRUE(rt.freed.empty());
}

TEST_F(api_test, an_array_that_is_gone_before_init_is_not_allocated) {
  { shared_array<int> gone(1000); }
  start(2);
  EXPECT_EQ(upc_global_alloc(1, 8).addr, fake_runtime::heap_begin + 128)
      << "two arrays of 64 bytes, and no third";
}

TEST_F(api_test, an_indefinite_array_is_all_on_thread_zero) {
  start(3);
  shared_array<int, 0> a(per_thread(10));
  EXPECT_EQ(a.size(), 30u);
  EXPECT_EQ((&a[29]).threadof(), 0u);
  EXPECT_EQ((&a[29]).addrfield(), upc_shared_ptr_t(a).addr + 29 * sizeof(int));
}

TEST_F(api_test, an_array_too_large_for_the_heap_names_the_setting) {
  start(2);
  const weft::error e = error_of([] { shared_array<double> big(per_thread(1 << 20)); });
  EXPECT_THAT(e.rule, testing::HasSubstr("WEFT_HEAP_SIZE is 1048576 bytes"));
  EXPECT_THAT(e.value, testing::HasSubstr("8388608 bytes"));
  EXPECT_EQ(error_of([] { shared_array<int> none(0); }).argument, "elements");
}

} // namespace
