// SPDX-License-Identifier: BSD-3-Clause
#include "tests/api/fixture.hpp"

#include <weft/direct.h>

#include <tuple>

namespace {

// The language's layout, written down without any arithmetic on pointers. Indices may be negative.
struct model {
  std::int64_t block, elem, threads;
  static constexpr std::int64_t base = 1 << 16;

  static std::int64_t floor_div(std::int64_t a, std::int64_t b) {
    std::int64_t q = 0;
    while (q * b > a)
      --q;
    while ((q + 1) * b <= a)
      ++q;
    return q;
  }
  upc_shared_ptr_t at(std::int64_t i) const {
    if (block == 0) return {static_cast<std::uint64_t>(base + i * elem), 2, 0};
    const std::int64_t b = floor_div(i, block);
    const std::int64_t row = floor_div(b, threads);
    const std::int64_t phase = i - b * block;
    return {static_cast<std::uint64_t>(base + (row * block + phase) * elem),
            static_cast<std::uint32_t>(b - row * threads), static_cast<std::uint32_t>(phase)};
  }
};

bool identical(upc_shared_ptr_t a, upc_shared_ptr_t b) {
  return a.addr == b.addr && a.thread == b.thread && a.phase == b.phase;
}

class arithmetic : public api_test, public testing::WithParamInterface<std::tuple<int, int, int>> {};

TEST_P(arithmetic, agrees_with_the_layout_in_both_directions) {
  const auto [threads, block, elem] = GetParam();
  start(static_cast<std::uint32_t>(threads));
  const model m{block, elem, threads};
  for (std::int64_t i = -40; i != 40; ++i)
    for (std::int64_t j = -40; j != 40; ++j) {
      const upc_shared_ptr_t from = m.at(i), to = m.at(j);
      ASSERT_TRUE(identical(upc_ptradd(from, block, elem, j - i), to)) << i << " " << j;
      ASSERT_EQ(upc_ptrdiff(to, from, block, elem), j - i) << i << " " << j;
      ASSERT_EQ(upc_ptrcmp(to, from, block, elem), (j > i) - (j < i)) << i << " " << j;
      ASSERT_EQ(upc_ptreq(from, to) != 0, i == j);
    }
}

INSTANTIATE_TEST_SUITE_P(all, arithmetic,
                         testing::Combine(testing::Values(1, 2, 3, 7), testing::Values(0, 1, 2, 5, 13),
                                          testing::Values(1, 4, 24)));

TEST_F(api_test, parts_of_a_pointer) {
  const upc_shared_ptr_t p{0x80, 3, 2};
  EXPECT_EQ(upc_threadof(p), 3u);
  EXPECT_EQ(upc_phaseof(p), 2u);
  EXPECT_EQ(upc_addrfield(p), 0x80u);
  EXPECT_TRUE(identical(upc_resetphase(p), {0x80, 3, 0}));
  EXPECT_TRUE(upc_ptreq(p, upc_resetphase(p)));
  EXPECT_FALSE(upc_isnull(p));
  EXPECT_TRUE(upc_isnull(UPC_SHARED_NULL));
  EXPECT_EQ(sizeof p, 16u);
}

TEST_F(api_test, indefinite_arithmetic_needs_no_job) {
  EXPECT_TRUE(identical(upc_ptradd({0x80, 1, 0}, 0, 8, -2), {0x70, 1, 0}));
  EXPECT_EQ(error_of([] { upc_ptradd({0x80, 1, 0}, 1, 8, 1); }).call, "upc_ptradd");
}

TEST_F(api_test, an_element_has_a_size) {
  start();
  EXPECT_EQ(error_of([] { upc_ptradd({0x80, 1, 0}, 1, 0, 1); }).argument, "elem_size");
  EXPECT_EQ(error_of([] { upc_ptrdiff({0x80, 1, 0}, {0x80, 1, 0}, 0, 0); }).argument, "elem_size");
}

TEST_F(api_test, affinitysize_counts_the_bytes_of_every_thread) {
  start(3);
  for (std::size_t block : {1u, 2u, 5u})
    for (std::size_t total = 0; total != 40; ++total) {
      std::size_t counted[3] = {};
      for (std::size_t byte = 0; byte != total; ++byte)
        ++counted[byte / block % 3];
      for (std::size_t t = 0; t != 3; ++t)
        EXPECT_EQ(upc_affinitysize(total, block, t), counted[t]) << total << " " << block << " " << t;
    }
  EXPECT_EQ(upc_affinitysize(100, 0, 0), 100u);
  EXPECT_EQ(upc_affinitysize(100, 0, 1), 0u);
  EXPECT_EQ(error_of([] { upc_affinitysize(100, 10, 3); }).argument, "threadid");
}

TEST_F(api_test, casts_and_thread_info_tell_what_is_in_reach) {
  fake_runtime& rt = start(4, 1);
  const upc_shared_ptr_t p = upc_all_alloc(4, 16);
  rt.out_of_reach = {3};
  EXPECT_EQ(upc_cast(upc_ptradd(p, 1, 16, 2)), rt.memory(2, p.addr));
  EXPECT_EQ(upc_cast(upc_ptradd(p, 1, 16, 3)), nullptr);
  EXPECT_EQ(upc_cast(UPC_SHARED_NULL), nullptr);
  EXPECT_EQ(upc_thread_info(2).guaranteedCastable, UPC_CASTABLE_ALL);
  EXPECT_EQ(upc_thread_info(3).probablyCastable, 0);
  EXPECT_EQ(error_of([] { upc_thread_info(4); }).value, "thread 4");
  EXPECT_EQ(error_of([] { upc_cast({0x80, 9, 0}); }).value, "thread 9");
}

TEST_F(api_test, one_base_is_behind_all_casts_of_a_thread) {
  fake_runtime& rt = start(4, 1);
  rt.out_of_reach = {3};
  for (const upc_shared_ptr_t& p : {upc_all_alloc(4, 16), upc_global_alloc(4, 16), upc_alloc(16)})
    for (std::uint32_t t = 0; t != 3; ++t) {
      const weft_direct_t d = weft_direct(t);
      EXPECT_EQ(d.base + p.addr, upc_cast({p.addr, t, 0}));
      EXPECT_LT(p.addr - d.begin, d.bytes);
    }
  EXPECT_EQ(weft_direct(3).base, nullptr);
  EXPECT_EQ(weft_direct(3).bytes, 0u);
  rt.check = true;
  EXPECT_EQ(weft_direct(1).bytes, 0u); // so that every access is looked at
  EXPECT_NE(weft_direct(1).base, nullptr);
  EXPECT_EQ(error_of([] { weft_direct(4); }).value, "thread 4");
}

TEST_F(api_test, nothing_is_in_reach_while_calls_alone_carry_on) {
  fake_runtime& rt = start(4, 1);
  rt.out_of_reach = {3};
  const upc_shared_ptr_t p = upc_all_alloc(4, 16);
  const uint64_t* const reach = weft_reach();
  const auto expect_reach = [&](bool open) {
    for (std::uint32_t t = 0; t != 4; ++t)
      EXPECT_EQ(reach[t], open && t != 3 ? weft_direct(t).bytes - 16 : 0) << t;
    EXPECT_EQ(weft_reach(), reach);
  };
  expect_reach(true);
  rt.by_calls = true;
  unsigned char bytes[8];
  const upc_handle_t copy = upc_memget_nb(bytes, {p.addr, 3, 0}, sizeof bytes); // goes on by itself
  expect_reach(true);
  upc_sync(copy);
  const auto post = [&] { return upc_all_broadcast(p, p, 16, UPC_IN_PLACE | UPC_ASYNC); };
  for (const bool by_calls : {false, true}) {
    rt.by_calls = by_calls;
    upc_coll_handle_t h = post();
    expect_reach(!by_calls);
    rt.left = 1;
    weft_poll();
    expect_reach(!by_calls);
    rt.left = 0;
    weft_poll();
    expect_reach(true);
    upc_wait(h);
  }
}

} // namespace
