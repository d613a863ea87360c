// SPDX-License-Identifier: BSD-3-Clause
#include "tests/api/fixture.hpp"

#include <cstring>
#include <numeric>

namespace {

TEST_F(api_test, allocation_has_the_layout_of_the_language) {
  fake_runtime& rt = start(4, 2);
  // Seven blocks on four threads: two on each.
  const upc_shared_ptr_t a = upc_all_alloc(7, 32), b = upc_global_alloc(1, 8), c = upc_alloc(8);
  EXPECT_EQ(b.addr - a.addr, 64u);
  EXPECT_EQ(a.thread, 0u);
  EXPECT_EQ(b.thread, 0u);
  EXPECT_EQ(c.thread, 2u);
  EXPECT_EQ(a.phase + b.phase + c.phase, 0u);
  EXPECT_TRUE(upc_isnull(upc_all_alloc(0, 8)));
  EXPECT_TRUE(upc_isnull(upc_global_alloc(8, 0)));
  EXPECT_TRUE(upc_isnull(upc_alloc(0)));
  upc_free(c);
  upc_free(UPC_SHARED_NULL);
  upc_all_free(UPC_SHARED_NULL);
  ASSERT_EQ(rt.freed.size(), 1u);
  EXPECT_EQ(rt.freed[0], (std::pair<std::uint32_t, std::uint64_t>{2, c.addr}));
}

TEST_F(api_test, all_free_waits_for_all_and_frees_once) {
  for (const std::uint32_t mythread : {0u, 1u}) {
    fake_runtime& rt = start(2, mythread);
    upc_all_free(upc_all_alloc(2, 8));
    EXPECT_EQ(rt.barriers.size(), 1u);
    EXPECT_EQ(rt.freed.size(), mythread == 0 ? 1u : 0u);
    weft_finalize();
  }
}

TEST_F(api_test, too_small_a_heap_names_the_setting_its_value_and_what_was_asked) {
  start(4);
  const std::size_t large = 1 << 21;
  for (const weft::error& e :
       {error_of([&] { upc_all_alloc(4, large); }), error_of([&] { upc_global_alloc(1, large); }),
        error_of([&] { upc_alloc(large); })}) {
    EXPECT_THAT(e.rule, testing::HasSubstr("WEFT_HEAP_SIZE is 1048576 bytes"));
    EXPECT_THAT(e.rule, testing::HasSubstr("2097152 bytes per thread"));
    EXPECT_THAT(e.value, testing::HasSubstr("2097152"));
  }
}

TEST_F(api_test, sizes_that_overflow_are_errors) {
  start(4);
  EXPECT_EQ(error_of([] { upc_all_alloc(SIZE_MAX / 2, 3); }).argument, "nblocks * nbytes");
  EXPECT_EQ(error_of([] { upc_global_alloc(3, SIZE_MAX / 2); }).argument, "nblocks * nbytes");
}

TEST_F(api_test, only_shared_memory_is_freed) {
  fake_runtime& rt = start(4);
  EXPECT_EQ(error_of([] { upc_free({64, 4, 0}); }).argument, "ptr");
  EXPECT_THAT(error_of([] { upc_free({1ull << 40, 0, 0}); }).rule, testing::HasSubstr("shared heap"));
  EXPECT_THAT(error_of([] { upc_all_free({1ull << 40, 0, 0}); }).rule, testing::HasSubstr("shared heap"));
  EXPECT_TRUE(rt.freed.empty());
}

// Both ends near or far, and sizes around the piece that goes through this process.
TEST_F(api_test, copies_move_bytes_between_any_threads) {
  constexpr std::size_t bounce = 256 * 1024;
  for (const std::set<std::uint32_t>& far : {std::set<std::uint32_t>{}, {1}, {2}, {1, 2}})
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{100}, bounce - 1, bounce, bounce + 1000}) {
      fake_runtime& rt = start(3);
      rt.out_of_reach = far;
      const upc_shared_ptr_t base = upc_all_alloc(3, bytes);
      upc_shared_ptr_t one = base, two = base;
      one.thread = 1;
      two.thread = 2;
      std::vector<unsigned char> data(bytes), back(bytes);
      for (std::size_t i = 0; i != bytes; ++i)
        data[i] = static_cast<unsigned char>(i % 251); // no two pieces alike
      upc_memput(one, data.data(), bytes);
      upc_memcpy(two, one, bytes);
      upc_memget(back.data(), two, bytes);
      EXPECT_EQ(back, data);
      EXPECT_EQ(rt.memory(2, base.addr)[bytes], std::byte{0xee}) << "nothing behind the end";
      upc_memset(two, 0x1a5, bytes);
      upc_memget(back.data(), two, bytes);
      EXPECT_EQ(back, std::vector<unsigned char>(bytes, 0xa5));
      EXPECT_EQ(rt.memory(2, base.addr)[bytes], std::byte{0xee});
      EXPECT_EQ(rt.puts != 0, !far.empty());
      weft_finalize();
    }
}

TEST_F(api_test, nonblocking_copies_do_the_same) {
  start(2);
  const upc_shared_ptr_t p = upc_all_alloc(2, 64);
  upc_shared_ptr_t q = p;
  q.thread = 1;
  int in = 42, out = 0;
  EXPECT_EQ(upc_memput_nb(p, &in, sizeof in), UPC_COMPLETE_HANDLE);
  EXPECT_EQ(upc_memcpy_nb(q, p, sizeof in), UPC_COMPLETE_HANDLE);
  EXPECT_EQ(upc_memget_nb(&out, q, sizeof in), UPC_COMPLETE_HANDLE);
  EXPECT_EQ(out, 42);
  EXPECT_EQ(upc_memset_nb(q, 0, sizeof in), UPC_COMPLETE_HANDLE);
  upc_memget_nbi(&out, q, sizeof out);
  EXPECT_EQ(out, 0);
  upc_memput_nbi(p, &in, sizeof in);
  upc_memcpy_nbi(q, p, sizeof in);
  upc_memset_nbi(p, 0, sizeof in);
  upc_memget_nbi(&out, q, sizeof out);
  upc_synci();
  EXPECT_EQ(out, 42);
  upc_sync(UPC_COMPLETE_HANDLE);
  EXPECT_NE(upc_sync_attempt(UPC_COMPLETE_HANDLE), 0);
}

TEST_F(api_test, a_copy_of_an_area_to_itself_does_nothing) {
  start(2);
  const upc_shared_ptr_t p = upc_all_alloc(2, 64), q{p.addr, 1, 0};
  upc_memset(q, 7, 8);
  upc_memcpy(q, {q.addr, 1, 3}, 8); // the phase does not count
  EXPECT_EQ(upc_memcpy_nb(q, q, 8), UPC_COMPLETE_HANDLE);
  upc_memcpy_nbi(q, q, 8);
  upc_memput(q, upc_cast(q), 8);
  upc_memget(upc_cast(q), q, 8);
  unsigned char back = 0;
  upc_memget(&back, {q.addr + 7, 1, 0}, 1);
  EXPECT_EQ(back, 7);
  EXPECT_EQ(error_of([&] { upc_memcpy(q, {q.addr + 1, 1, 0}, 8); }).argument, "dst");
}

TEST_F(api_test, copies_out_of_reach_are_begun_and_not_awaited) {
  fake_runtime& rt = start(3);
  rt.out_of_reach = {1, 2};
  const upc_shared_ptr_t p = upc_all_alloc(3, 64);
  const upc_shared_ptr_t one{p.addr, 1, 0}, two{p.addr, 2, 0};
  using kind = weft::progress::one_sided_request::kind;
  int data = 0;
  const upc_handle_t h[] = {upc_memput_nb(one, &data, 4), upc_memget_nb(&data, one, 4),
                            upc_memset_nb(two, 7, 4),     upc_memcpy_nb(one, two, 4),
                            upc_memcpy_nb(p, two, 4),     upc_memcpy_nb(two, p, 4)};
  ASSERT_EQ(rt.transfers.size(), std::size(h));
  const kind expected[] = {kind::put, kind::get, kind::set, kind::copy, kind::get, kind::put};
  for (std::size_t i = 0; i != std::size(h); ++i) {
    EXPECT_EQ(rt.transfers[i].what, expected[i]);
    EXPECT_EQ(upc_sync_attempt(h[i]), 0);
    rt.finish(h[i]);
    EXPECT_NE(upc_sync_attempt(h[i]), 0);
  }
  EXPECT_EQ(rt.puts + rt.gets, 0u) << "nothing was copied at once";
}

TEST_F(api_test, implicit_copies_are_complete_with_synci) {
  fake_runtime& rt = start(2);
  rt.out_of_reach = {1};
  const upc_shared_ptr_t there{upc_all_alloc(2, 64).addr, 1, 0};
  int data = 0;
  upc_memget_nbi(&data, there, 4);
  upc_memput_nbi(there, &data, 4);
  EXPECT_EQ(upc_synci_attempt(), 0);
  EXPECT_EQ(rt.transfers.size(), 2u);
  upc_synci();
  EXPECT_EQ(rt.waited.size(), 2u);
  EXPECT_NE(upc_synci_attempt(), 0);
}

TEST_F(api_test, a_copy_that_no_handle_is_left_for_is_complete_on_return) {
  fake_runtime& rt = start(2);
  rt.out_of_reach = {1};
  rt.room_for_transfers = false;
  const upc_shared_ptr_t there{upc_all_alloc(2, 64).addr, 1, 0};
  int in = 42, out = 0;
  EXPECT_EQ(upc_memput_nb(there, &in, 4), UPC_COMPLETE_HANDLE);
  EXPECT_EQ(upc_memget_nb(&out, there, 4), UPC_COMPLETE_HANDLE);
  EXPECT_EQ(out, 42);
}

TEST_F(api_test, what_a_copy_failed_with_comes_with_its_completion) {
  fake_runtime& rt = start(2);
  rt.out_of_reach = {1};
  const upc_shared_ptr_t there{upc_all_alloc(2, 64).addr, 1, 0};
  int data = 0;
  const upc_handle_t h = upc_memget_nb(&data, there, 4);
  rt.failures[h] = "thread 1 could not be reached (gone)";
  const weft::error e = error_of([&] { upc_sync(h); });
  EXPECT_EQ(e.call, "upc_sync");
  EXPECT_EQ(e.rule, "thread 1 could not be reached (gone)");
  upc_sync(h);
}

TEST_F(api_test, copies_check_both_ends) {
  start(2);
  const upc_shared_ptr_t p = upc_all_alloc(2, 64);
  const upc_shared_ptr_t nowhere{1ull << 40, 0, 0}, of_no_thread{p.addr, 2, 0};
  char bytes[8];
  EXPECT_EQ(error_of([&] { upc_memput(UPC_SHARED_NULL, bytes, 8); }).argument, "dst");
  EXPECT_EQ(error_of([&] { upc_memput(p, nullptr, 8); }).argument, "src");
  EXPECT_EQ(error_of([&] { upc_memget(nullptr, p, 8); }).argument, "dst");
  EXPECT_EQ(error_of([&] { upc_memget(bytes, nowhere, 8); }).argument, "src");
  EXPECT_EQ(error_of([&] { upc_memcpy(p, of_no_thread, 8); }).value, "thread 2");
  EXPECT_EQ(error_of([&] { upc_memcpy(nowhere, p, 8); }).argument, "dst");
  EXPECT_EQ(error_of([&] { upc_memset(p, 0, fake_runtime::heap_size + 1); }).argument, "dst");
  EXPECT_EQ(error_of([&] { upc_sync(upc_memput_nb(p, nullptr, 8)); }).call, "upc_memput_nb");
  EXPECT_EQ(error_of([&] { upc_memget_nbi(bytes, nowhere, 8); }).call, "upc_memget_nbi");
  upc_memput(UPC_SHARED_NULL, nullptr, 0);
  upc_memget(nullptr, UPC_SHARED_NULL, 0);
  upc_memcpy(nowhere, nowhere, 0);
}

TEST_F(api_test, calls_outside_of_the_job_are_errors) {
  EXPECT_EQ(error_of([] { weft_finalize(); }).call, "weft_finalize");
  EXPECT_EQ(error_of([] { static_cast<void>(MYTHREAD); }).call, "MYTHREAD");
  EXPECT_EQ(error_of([] { static_cast<void>(THREADS); }).call, "THREADS");
  start(4, 3);
  EXPECT_EQ(MYTHREAD, 3);
  EXPECT_EQ(THREADS, 4);
  EXPECT_EQ(error_of([] { weft_init(nullptr, nullptr); }).call, "weft_init");
  EXPECT_EQ(weft_statistic("no such counter"), 0u);
  EXPECT_EQ(error_of([] { weft_statistic(nullptr); }).argument, "name");
}

} // namespace
