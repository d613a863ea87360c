// SPDX-License-Identifier: BSD-3-Clause
#include "tests/api/collective_forms.hpp"

namespace {

using weft::collectives::operation;
using weft::graph::hint;
using weft::graph::sync;

TEST_F(collective_test, flags_say_the_mode) {
  fake_runtime& rt = begin();
  const std::pair<int, sync> in[] = {
      {0, sync::all}, {UPC_IN_NOSYNC, sync::no}, {UPC_IN_MYSYNC, sync::my}, {UPC_IN_ALLSYNC, sync::all}};
  const std::pair<int, sync> out[] = {
      {0, sync::all}, {UPC_OUT_NOSYNC, sync::no}, {UPC_OUT_MYSYNC, sync::my}, {UPC_OUT_ALLSYNC, sync::all}};
  const std::pair<int, hint> hints[] = {
      {0, hint::none}, {UPC_PUSH, hint::push}, {UPC_PULL, hint::pull}, {UPC_PUSH | UPC_PULL, hint::none}};
  for (const form& c : forms_on(UPC_TEAM_ALL))
    for (const auto& [in_flag, in_mode] : in)
      for (const auto& [out_flag, out_mode] : out)
        for (const auto& [hint_flag, direction] : hints)
          for (const int async : {0, UPC_ASYNC}) {
            const upc_coll_handle_t h = c.call(dst, src, 24, in_flag | out_flag | hint_flag | async);
            EXPECT_EQ(h == UPC_HANDLE_COMPLETE, async == 0);
            const fake_runtime::recorded& last = rt.collectives.back();
            EXPECT_EQ(last.r.op, c.of->op);
            EXPECT_EQ(last.r.in, in_mode);
            EXPECT_EQ(last.r.out, out_mode);
            EXPECT_EQ(last.r.direction, direction);
            EXPECT_EQ(last.r.bytes, 24u);
            EXPECT_EQ(last.blocking, async == 0);
            EXPECT_EQ(last.at.dst, dst.addr);
            EXPECT_EQ(last.at.src, src.addr);
          }
}

TEST_F(collective_test, modes_are_distinct_positive_and_below_64) {
  const int modes[] = {UPC_IN_NOSYNC,  UPC_IN_MYSYNC,  UPC_IN_ALLSYNC,
                       UPC_OUT_NOSYNC, UPC_OUT_MYSYNC, UPC_OUT_ALLSYNC};
  std::set<int> seen;
  for (int subset = 0; subset != 64; ++subset) {
    int joined = 0;
    for (int i = 0; i != 6; ++i)
      if ((subset >> i & 1) != 0) joined |= modes[i];
    EXPECT_TRUE(seen.insert(joined).second);
    EXPECT_TRUE(joined < 64 && (joined > 0 || subset == 0));
  }
  for (const int extension : {UPC_PUSH, UPC_PULL, UPC_ASYNC})
    EXPECT_GE(extension, 64);
}

TEST_F(collective_test, two_modes_of_one_kind_and_unknown_flags_are_errors) {
  fake_runtime& rt = begin();
  for (const form& c : forms_on(UPC_TEAM_ALL)) {
    for (const int in : {UPC_IN_NOSYNC | UPC_IN_MYSYNC, UPC_IN_MYSYNC | UPC_IN_ALLSYNC, 7}) {
      const weft::error e = error_of([&] { c.call(dst, src, 8, in); });
      EXPECT_EQ(e.call, c.name);
      EXPECT_EQ(e.argument, "sync_mode");
      EXPECT_THAT(e.rule, testing::HasSubstr("two UPC_IN_ modes"));
    }
    EXPECT_THAT(error_of([&] { c.call(dst, src, 8, UPC_OUT_NOSYNC | UPC_OUT_ALLSYNC); }).rule,
                testing::HasSubstr("two UPC_OUT_ modes"));
    const weft::error unknown = error_of([&] { c.call(dst, src, 8, UPC_IN_MYSYNC | 0x4000); });
    EXPECT_EQ(unknown.value, "0x4002");
    EXPECT_THAT(unknown.rule, testing::HasSubstr("0x4000"));
    error_of([&] { c.call(dst, src, 8, -1); });
    for (int flag = 2 * UPC_IN_PLACE; flag != 1 << 30; flag *= 2)
      EXPECT_EQ(error_of([&] { c.call(dst, src, 8, flag); }).argument, "sync_mode");
  }
  EXPECT_TRUE(rt.collectives.empty()) << "nothing was started";
}

// The second of two equal calls is not checked again; one in which an argument differs is.
TEST_F(collective_test, a_repeated_call_starts_the_same_and_a_changed_one_what_it_says) {
  fake_runtime& rt = begin();
  constexpr upc_flag_t mode = UPC_IN_MYSYNC | UPC_OUT_MYSYNC;
  const auto last = [&] { return rt.collectives.back(); };
  for (const form& c : forms_on(UPC_TEAM_ALL)) {
    SCOPED_TRACE(c.name);
    const std::size_t before = rt.collectives.size();
    const auto repeat = [&] {
      c.call(dst, src, 24, mode);
      c.call(dst, src, 24, mode);
    };
    repeat();
    ASSERT_EQ(rt.collectives.size(), before + 2);
    EXPECT_EQ(last().r, rt.collectives[before].r);
    EXPECT_EQ(last().at, rt.collectives[before].at);
    c.call(behind(dst, 8), src, 24, mode);
    EXPECT_EQ(last().at.dst, dst.addr + 8);
    repeat();
    c.call(dst, behind(src, 8), 24, mode);
    EXPECT_EQ(last().at.src, src.addr + 8);
    repeat();
    c.call(dst, src, 16, mode);
    EXPECT_EQ(last().r.bytes, 16u);
    repeat();
    EXPECT_NE(c.call(dst, src, 24, mode | UPC_ASYNC), UPC_HANDLE_COMPLETE);
    repeat();
    c.call(dst, src, 24, UPC_IN_NOSYNC | UPC_OUT_MYSYNC);
    EXPECT_EQ(last().r.in, sync::no);
    repeat();
    if (c.of->rooted()) {
      c.of->any_src ? c.call(dst, on(src, 3), 24, mode) : c.call(on(dst, 3), src, 24, mode);
      EXPECT_EQ(last().r.root, 3u);
    } else {
      EXPECT_EQ(error_of([&] { c.call(dst, on(src, 3), 24, mode); }).argument, "src");
    }
    repeat();
    if (c.of->op == operation::permute) {
      the_permutation.addr += 4 * 64;
      c.call(dst, src, 24, mode);
      EXPECT_EQ(last().at.perm, the_permutation.addr);
    }
    const std::size_t started = rt.collectives.size();
    error_of([&] { c.call(dst, src, std::size_t{1} << 40, mode); });
    error_of([&] { c.call(dst, src, std::size_t{1} << 40, mode); });
    EXPECT_EQ(rt.collectives.size(), started) << "what was refused is refused again";
  }
}

// Of fewer buffers in turn than calls are known, of as many, and of more.
TEST_F(collective_test, calls_on_buffers_in_turn_start_what_they_say) {
  fake_runtime& rt = begin();
  constexpr upc_flag_t mode = UPC_IN_MYSYNC | UPC_OUT_MYSYNC;
  for (const form& c : forms_on(UPC_TEAM_ALL))
    for (unsigned buffers = 2; buffers != 8; ++buffers)
      for (unsigned k = 0; k != 3 * buffers; ++k) {
        SCOPED_TRACE(std::string(c.name) + ", call " + std::to_string(k) + " on " + std::to_string(buffers));
        const auto own_error = error_of([&] { c.call(dst, src, std::size_t{1} << 40, mode); });
        EXPECT_EQ(own_error.call, c.name);
        const std::uint64_t place = k % buffers * 8;
        c.call(behind(dst, place), src, 24, mode);
        ASSERT_EQ(rt.collectives.back().at.dst, dst.addr + place);
        c.call(dst, behind(src, place), 24, mode);
        ASSERT_EQ(rt.collectives.back().at.src, src.addr + place);
      }
}

TEST_F(collective_test, a_repeated_call_is_checked_again_in_another_job) {
  begin(4);
  for (int i = 0; i != 2; ++i)
    upc_all_broadcast(dst, on(src, 3), 8, 0);
  weft_finalize();
  begin(2);
  EXPECT_EQ(error_of([&] { upc_all_broadcast(dst, on(src, 3), 8, 0); }).argument, "src");
}

TEST_F(collective_test, null_pointers_are_errors) {
  begin();
  for (const form& c : forms_on(UPC_TEAM_ALL)) {
    EXPECT_EQ(error_of([&] { c.call(UPC_SHARED_NULL, src, 8, 0); }).argument, "dst");
    EXPECT_EQ(error_of([&] { c.call(dst, UPC_SHARED_NULL, 8, 0); }).argument, "src");
    EXPECT_THAT(error_of([&] { c.call(dst, UPC_SHARED_NULL, 0, 0); }).value, testing::HasSubstr("null"));
  }
}

TEST_F(collective_test, affinity_to_thread_zero_is_asked_for_where_the_text_does) {
  fake_runtime& rt = begin();
  for (const form& c : forms_on(UPC_TEAM_ALL))
    for (const bool is_dst : {true, false}) {
      if (is_dst ? c.of->any_dst : c.of->any_src) continue;
      const weft::error e =
          error_of([&] { c.call(is_dst ? on(dst, 3) : dst, is_dst ? src : on(src, 3), 8, 0); });
      EXPECT_EQ(e.call, c.name);
      EXPECT_EQ(e.argument, is_dst ? "dst" : "src");
      EXPECT_THAT(e.value, testing::HasSubstr("thread 3"));
      EXPECT_THAT(e.rule, testing::HasSubstr("affinity to thread 0"));
    }
  EXPECT_TRUE(rt.collectives.empty());
}

TEST_F(collective_test, the_thread_of_the_other_pointer_is_the_root) {
  fake_runtime& rt = begin();
  for (const form& c : forms_on(UPC_TEAM_ALL)) {
    if (!c.of->any_dst && !c.of->any_src) continue;
    const auto call = [&](std::uint32_t thread) {
      upc_shared_ptr_t d = dst, s = src;
      (c.of->any_dst ? d : s).thread = thread;
      c.call(d, s, 8, 0);
    };
    for (const std::uint32_t root : {0u, 2u, 3u}) {
      call(root);
      EXPECT_EQ(rt.collectives.back().r.op, c.of->op);
      EXPECT_EQ(rt.collectives.back().r.root, root);
    }
    const weft::error e = error_of([&] { call(4); });
    EXPECT_EQ(e.argument, c.of->any_dst ? "dst" : "src");
    EXPECT_EQ(e.value, "thread 4");
  }
  EXPECT_EQ(rt.collectives.size(), 27u);
}

TEST_F(collective_test, the_phase_is_treated_as_zero) {
  fake_runtime& rt = begin();
  upc_shared_ptr_t d = dst, s = src;
  d.phase = 7;
  s.phase = 9;
  for (const form& c : forms_on(UPC_TEAM_ALL)) {
    c.call(d, s, 8, 0);
    EXPECT_EQ(rt.collectives.back().at.dst, dst.addr);
    EXPECT_EQ(rt.collectives.back().at.src, src.addr);
  }
}

TEST_F(collective_test, sizes_that_overflow_or_leave_the_heap_are_errors) {
  fake_runtime& rt = begin();
  for (const form& c : forms_on(UPC_TEAM_ALL)) {
    const weft::error e = error_of([&] { c.call(dst, src, SIZE_MAX / 2, 0); });
    EXPECT_EQ(e.argument, "nbytes * THREADS");
    EXPECT_EQ(e.value, std::to_string(SIZE_MAX / 2) + " * 4");
    EXPECT_THAT(error_of([&] { c.call(dst, src, fake_runtime::heap_size + 1, 0); }).rule,
                testing::HasSubstr("shared heap"));
    EXPECT_EQ(error_of([&] { c.call({8, 0, 0}, src, 8, 0); }).argument, "dst");
  }
  EXPECT_TRUE(rt.collectives.empty());
}

TEST_F(collective_test, what_a_thread_receives_counts_for_the_range) {
  fake_runtime& rt = start();
  const std::uint64_t end = fake_runtime::heap_begin + fake_runtime::heap_size;
  const upc_shared_ptr_t last{end - 64, 0, 0}, first{fake_runtime::heap_begin, 0, 0};
  upc_all_broadcast(last, first, 64, 0);
  upc_all_scatter(last, first, 64, 0);
  upc_all_scatter(first, last, 16, 0);
  upc_all_gather(last, first, 16, 0);
  upc_all_gather(first, last, 64, 0);
  upc_all_gather_all(last, first, 16, 0);
  upc_all_gather_all(first, last, 64, 0); // a block of src only
  upc_all_exchange(last, first, 16, 0);
  upc_all_exchange(first, last, 16, 0);
  upc_all_permute(last, first, {end - 68, 0, 0}, 64, 0);
  upc_all_permute(first, last, {end - 68, 0, 0}, 64, 0);
  EXPECT_EQ(rt.collectives.size(), 11u);
  EXPECT_EQ(error_of([&] { upc_all_broadcast(last, first, 65, 0); }).argument, "dst");
  EXPECT_EQ(error_of([&] { upc_all_scatter(last, first, 65, 0); }).argument, "dst");
  EXPECT_EQ(error_of([&] { upc_all_scatter(first, last, 17, 0); }).argument, "src");
  EXPECT_EQ(error_of([&] { upc_all_gather(last, first, 17, 0); }).argument, "dst");
  EXPECT_EQ(error_of([&] { upc_all_gather(first, last, 65, 0); }).argument, "src");
  EXPECT_EQ(error_of([&] { upc_all_gather_all(last, first, 17, 0); }).argument, "dst");
  EXPECT_EQ(error_of([&] { upc_all_gather_all(first, last, 65, 0); }).argument, "src");
  EXPECT_EQ(error_of([&] { upc_all_exchange(last, first, 17, 0); }).argument, "dst");
  EXPECT_EQ(error_of([&] { upc_all_exchange(first, last, 17, 0); }).argument, "src");
  EXPECT_EQ(error_of([&] { upc_all_permute(last, first, {end - 68, 0, 0}, 65, 0); }).argument, "dst");
  EXPECT_EQ(error_of([&] { upc_all_permute(first, last, {end - 68, 0, 0}, 65, 0); }).argument, "src");
  EXPECT_EQ(error_of([&] { upc_all_permute(first, last, {end, 0, 0}, 0, 0); }).argument, "perm");
}

TEST_F(collective_test, overlapping_areas_are_errors) {
  fake_runtime& rt = begin();
  for (const form& c : forms_on(UPC_TEAM_ALL)) {
    EXPECT_THAT(error_of([&] { c.call(dst, dst, 8, 0); }).rule, testing::HasSubstr("overlap"));
    EXPECT_THAT(error_of([&] { c.call(behind(src, 7), src, 8, 0); }).rule, testing::HasSubstr("overlap"));
    c.call(behind(src, 4 * 8), src, 8, 0);
    c.call(src, behind(src, 4 * 8), 8, 0);
  }
  // What one thread holds counts: all blocks of the root, one block of the others.
  upc_all_scatter(behind(src, 32), src, 8, 0);
  EXPECT_EQ(error_of([&] { upc_all_scatter(behind(src, 31), src, 8, 0); }).argument, "dst");
  upc_all_scatter(src, behind(src, 8), 8, 0);
  EXPECT_EQ(error_of([&] { upc_all_scatter(src, behind(src, 7), 8, 0); }).argument, "dst");
  upc_all_gather(behind(src, 8), src, 8, 0);
  EXPECT_EQ(error_of([&] { upc_all_gather(behind(src, 7), src, 8, 0); }).argument, "src");
  upc_all_gather(src, behind(src, 32), 8, 0);
  EXPECT_EQ(error_of([&] { upc_all_gather(src, behind(src, 31), 8, 0); }).argument, "src");
  EXPECT_EQ(rt.collectives.size(), 2 * forms_on(UPC_TEAM_ALL).size() + 4);
}

TEST_F(collective_test, the_permutation_is_an_aligned_int_of_each_thread_that_is_not_written) {
  fake_runtime& rt = begin();
  const upc_shared_ptr_t perm = the_permutation;
  const auto permute = [&](upc_shared_ptr_t p, size_t nbytes = 8) {
    upc_all_permute(dst, src, p, nbytes, 0);
  };
  permute(perm);
  EXPECT_EQ(rt.collectives.back().at.perm, perm.addr);
  EXPECT_FALSE(rt.collectives.back().r.wide_perm);
  permute(behind(perm, 4)); // the next row of an array with several
  permute(behind(src, 4));  // no thread writes there
  permute(behind(dst, 8));
  permute(behind(dst, 4), 0);
  upc_all_permute(behind(perm, 2), src, perm, 0, 0);
  const std::size_t good = rt.collectives.size();
  const auto refused = [&](upc_shared_ptr_t p, const char* rule) {
    const weft::error e = error_of([&] { permute(p); });
    EXPECT_EQ(e.argument, "perm");
    EXPECT_THAT(e.rule, testing::HasSubstr(rule));
  };
  refused(UPC_SHARED_NULL, "null");
  refused(on(perm, 2), "affinity to thread 0");
  refused(behind(perm, 2), "aligned to 4 bytes");
  refused({fake_runtime::heap_begin + fake_runtime::heap_size, 0, 0}, "shared heap");
  refused(behind(dst, 4), "overlaps dst");
  EXPECT_EQ(rt.collectives.size(), good);
}

TEST_F(collective_test, nothing_to_copy_is_still_an_operation) {
  fake_runtime& rt = begin();
  const upc_shared_ptr_t nowhere{4 * fake_runtime::heap_size, 0, 0};
  for (const form& c : forms_on(UPC_TEAM_ALL)) {
    c.call(dst, src, 0, 0);
    c.call(nowhere, nowhere, 0, 0); // nothing there is touched
    EXPECT_EQ(rt.collectives.back().r.bytes, 0u);
  }
  EXPECT_EQ(rt.collectives.size(), 2 * forms_on(UPC_TEAM_ALL).size());
}

TEST_F(collective_test, before_init_they_are_errors) {
  for (const form& c : forms_on(UPC_TEAM_ALL))
    EXPECT_THAT(error_of([&] {
                  c.call({64, 0, 0}, {128, 0, 0}, 8, 0);
                }).rule,
                testing::HasSubstr("weft_init"));
}

} // namespace
