#include "tests/api/fixture.hpp"

#include <array>
#include <functional>

namespace {

using weft::collectives::operation;
using weft::graph::hint;
using weft::graph::sync;

using collective = upc_coll_handle_t (*)(upc_shared_ptr_t, upc_shared_ptr_t, size_t, upc_flag_t);

struct named {
  const char* name;
  collective call;
  operation op;
  bool any_dst = false, any_src = false; // which pointer may be on any thread, the root
};
const std::array<named, 5> all{{{"upc_all_broadcast", upc_all_broadcast, operation::broadcast, false, true},
                                {"upc_all_scatter", upc_all_scatter, operation::scatter, false, true},
                                {"upc_all_gather", upc_all_gather, operation::gather, true, false},
                                {"upc_all_gather_all", upc_all_gather_all, operation::gather_all},
                                {"upc_all_exchange", upc_all_exchange, operation::exchange}}};

class collectives : public api_test {
protected:
  fake_runtime& begin(std::uint32_t threads = 4) {
    fake_runtime& rt = start(threads);
    dst = upc_all_alloc(threads, 1000 * threads);
    src = upc_all_alloc(threads, 1000 * threads);
    return rt;
  }
  upc_shared_ptr_t dst{}, src{};
};

TEST_F(collectives, flags_say_the_mode) {
  fake_runtime& rt = begin();
  const std::pair<int, sync> in[] = {
      {0, sync::all}, {UPC_IN_NOSYNC, sync::no}, {UPC_IN_MYSYNC, sync::my}, {UPC_IN_ALLSYNC, sync::all}};
  const std::pair<int, sync> out[] = {
      {0, sync::all}, {UPC_OUT_NOSYNC, sync::no}, {UPC_OUT_MYSYNC, sync::my}, {UPC_OUT_ALLSYNC, sync::all}};
  const std::pair<int, hint> hints[] = {
      {0, hint::none}, {UPC_PUSH, hint::push}, {UPC_PULL, hint::pull}, {UPC_PUSH | UPC_PULL, hint::none}};
  for (const named& c : all)
    for (const auto& [in_flag, in_mode] : in)
      for (const auto& [out_flag, out_mode] : out)
        for (const auto& [hint_flag, direction] : hints)
          for (const int async : {0, UPC_ASYNC}) {
            const upc_coll_handle_t h = c.call(dst, src, 24, in_flag | out_flag | hint_flag | async);
            EXPECT_EQ(h == UPC_HANDLE_COMPLETE, async == 0);
            const fake_runtime::recorded& last = rt.collectives.back();
            EXPECT_EQ(last.r.op, c.op);
            EXPECT_EQ(last.r.in, in_mode);
            EXPECT_EQ(last.r.out, out_mode);
            EXPECT_EQ(last.r.direction, direction);
            EXPECT_EQ(last.r.bytes, 24u);
            EXPECT_EQ(last.blocking, async == 0);
            EXPECT_EQ(last.at.dst, dst.addr);
            EXPECT_EQ(last.at.src, src.addr);
          }
}

TEST_F(collectives, modes_are_distinct_positive_and_below_64) {
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

TEST_F(collectives, two_modes_of_one_kind_and_unknown_flags_are_errors) {
  fake_runtime& rt = begin();
  for (const named& c : all) {
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
  }
  EXPECT_TRUE(rt.collectives.empty()) << "nothing was started";
}

TEST_F(collectives, null_pointers_are_errors) {
  begin();
  for (const named& c : all) {
    EXPECT_EQ(error_of([&] { c.call(UPC_SHARED_NULL, src, 8, 0); }).argument, "dst");
    EXPECT_EQ(error_of([&] { c.call(dst, UPC_SHARED_NULL, 8, 0); }).argument, "src");
    EXPECT_THAT(error_of([&] { c.call(dst, UPC_SHARED_NULL, 0, 0); }).value, testing::HasSubstr("null"));
  }
}

TEST_F(collectives, affinity_to_thread_zero_is_asked_for_where_the_text_does) {
  fake_runtime& rt = begin();
  const auto on = [](upc_shared_ptr_t p, std::uint32_t thread) {
    p.thread = thread;
    return p;
  };
  for (const named& c : all)
    for (const bool is_dst : {true, false}) {
      if (is_dst ? c.any_dst : c.any_src) continue;
      const weft::error e =
          error_of([&] { c.call(is_dst ? on(dst, 3) : dst, is_dst ? src : on(src, 3), 8, 0); });
      EXPECT_EQ(e.call, c.name);
      EXPECT_EQ(e.argument, is_dst ? "dst" : "src");
      EXPECT_THAT(e.value, testing::HasSubstr("thread 3"));
      EXPECT_THAT(e.rule, testing::HasSubstr("affinity to thread 0"));
    }
  EXPECT_TRUE(rt.collectives.empty());
}

TEST_F(collectives, the_thread_of_the_other_pointer_is_the_root) {
  fake_runtime& rt = begin();
  for (const named& c : all) {
    if (!c.any_dst && !c.any_src) continue;
    const auto call = [&](std::uint32_t thread) {
      upc_shared_ptr_t d = dst, s = src;
      (c.any_dst ? d : s).thread = thread;
      c.call(d, s, 8, 0);
    };
    for (const std::uint32_t root : {0u, 2u, 3u}) {
      call(root);
      EXPECT_EQ(rt.collectives.back().r.op, c.op);
      EXPECT_EQ(rt.collectives.back().r.root, root);
    }
    const weft::error e = error_of([&] { call(4); });
    EXPECT_EQ(e.argument, c.any_dst ? "dst" : "src");
    EXPECT_EQ(e.value, "thread 4");
  }
  EXPECT_EQ(rt.collectives.size(), 9u);
}

TEST_F(collectives, the_phase_is_treated_as_zero) {
  fake_runtime& rt = begin();
  upc_shared_ptr_t d = dst, s = src;
  d.phase = 7;
  s.phase = 9;
  for (const named& c : all) {
    c.call(d, s, 8, 0);
    EXPECT_EQ(rt.collectives.back().at.dst, dst.addr);
    EXPECT_EQ(rt.collectives.back().at.src, src.addr);
  }
}

TEST_F(collectives, sizes_that_overflow_or_leave_the_heap_are_errors) {
  fake_runtime& rt = begin();
  for (const named& c : all) {
    const weft::error e = error_of([&] { c.call(dst, src, SIZE_MAX / 2, 0); });
    EXPECT_EQ(e.argument, "nbytes * THREADS");
    EXPECT_EQ(e.value, std::to_string(SIZE_MAX / 2) + " * 4");
    EXPECT_THAT(error_of([&] { c.call(dst, src, fake_runtime::heap_size + 1, 0); }).rule,
                testing::HasSubstr("shared heap"));
    EXPECT_EQ(error_of([&] { c.call({8, 0, 0}, src, 8, 0); }).argument, "dst");
  }
  EXPECT_TRUE(rt.collectives.empty());
}

TEST_F(collectives, what_a_thread_receives_counts_for_the_range) {
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
  EXPECT_EQ(rt.collectives.size(), 9u);
  EXPECT_EQ(error_of([&] { upc_all_broadcast(last, first, 65, 0); }).argument, "dst");
  EXPECT_EQ(error_of([&] { upc_all_scatter(last, first, 65, 0); }).argument, "dst");
  EXPECT_EQ(error_of([&] { upc_all_scatter(first, last, 17, 0); }).argument, "src");
  EXPECT_EQ(error_of([&] { upc_all_gather(last, first, 17, 0); }).argument, "dst");
  EXPECT_EQ(error_of([&] { upc_all_gather(first, last, 65, 0); }).argument, "src");
  EXPECT_EQ(error_of([&] { upc_all_gather_all(last, first, 17, 0); }).argument, "dst");
  EXPECT_EQ(error_of([&] { upc_all_gather_all(first, last, 65, 0); }).argument, "src");
  EXPECT_EQ(error_of([&] { upc_all_exchange(last, first, 17, 0); }).argument, "dst");
  EXPECT_EQ(error_of([&] { upc_all_exchange(first, last, 17, 0); }).argument, "src");
}

TEST_F(collectives, overlapping_areas_are_errors) {
  fake_runtime& rt = begin();
  const auto behind = [](upc_shared_ptr_t p, std::uint64_t bytes) {
    p.addr += bytes;
    return p;
  };
  for (const named& c : all) {
    EXPECT_THAT(error_of([&] { c.call(dst, dst, 8, 0); }).rule, testing::HasSubstr("overlaps"));
    EXPECT_THAT(error_of([&] { c.call(behind(src, 7), src, 8, 0); }).rule, testing::HasSubstr("overlaps"));
    c.call(behind(src, 4 * 8), src, 8, 0);
    c.call(src, behind(src, 4 * 8), 8, 0);
  }
  // What one thread holds counts: all blocks of the root, one block of the others.
  upc_all_scatter(behind(src, 32), src, 8, 0);
  EXPECT_EQ(error_of([&] { upc_all_scatter(behind(src, 31), src, 8, 0); }).argument, "dst");
  upc_all_scatter(src, behind(src, 8), 8, 0);
  EXPECT_EQ(error_of([&] { upc_all_scatter(src, behind(src, 7), 8, 0); }).argument, "dst");
  upc_all_gather(behind(src, 8), src, 8, 0);
  EXPECT_EQ(error_of([&] { upc_all_gather(behind(src, 7), src, 8, 0); }).argument, "dst");
  upc_all_gather(src, behind(src, 32), 8, 0);
  EXPECT_EQ(error_of([&] { upc_all_gather(src, behind(src, 31), 8, 0); }).argument, "dst");
  EXPECT_EQ(rt.collectives.size(), 2 * all.size() + 4);
}

TEST_F(collectives, nothing_to_copy_is_still_an_operation) {
  fake_runtime& rt = begin();
  for (const named& c : all)
    c.call(dst, src, 0, 0);
  EXPECT_EQ(rt.collectives.size(), all.size());
}

TEST_F(collectives, before_init_they_are_errors) {
  for (const named& c : all)
    EXPECT_THAT(error_of([&] {
                  c.call({64, 0, 0}, {128, 0, 0}, 8, 0);
                }).rule,
                testing::HasSubstr("weft_init"));
}

TEST_F(collectives, cray_blocking_returns_when_all_is_complete) {
  fake_runtime& rt = begin();
  cray_upc_team_alltoall(dst, src, 8, CRAY_UPC_TEAM_ALL);
  const fake_runtime::recorded& last = rt.collectives.back();
  EXPECT_TRUE(last.blocking);
  EXPECT_EQ(last.r.op, operation::exchange);
  EXPECT_EQ(last.r.in, sync::my);
  EXPECT_EQ(last.r.out, sync::all);
}

TEST_F(collectives, cray_nonblocking_returns_when_all_have_entered) {
  fake_runtime& rt = begin();
  const upc_handle_t h = cray_upc_team_alltoall_nb(dst, src, 8, CRAY_UPC_TEAM_ALL);
  EXPECT_THAT(rt.entered, testing::ElementsAre(h));
  EXPECT_EQ(rt.collectives.back().r.in, sync::my);
  EXPECT_EQ(rt.collectives.back().r.out, sync::no);
  EXPECT_EQ(rt.collectives.back().r.direction, hint::pull);
  EXPECT_EQ(upc_sync_attempt(h), 0);
  rt.finish(h);
  EXPECT_NE(upc_sync_attempt(h), 0);
  upc_sync(h);
}

TEST_F(collectives, cray_implicit_handles_are_completed_by_synci) {
  fake_runtime& rt = begin();
  EXPECT_NE(upc_synci_attempt(), 0);
  EXPECT_EQ(cray_upc_team_alltoall_nbi(dst, src, 8, CRAY_UPC_TEAM_ALL), UPC_COMPLETE_HANDLE);
  EXPECT_EQ(cray_upc_team_alltoall_nbi(dst, src, 8, CRAY_UPC_TEAM_ALL), UPC_COMPLETE_HANDLE);
  EXPECT_EQ(rt.entered.size(), 2u);
  EXPECT_EQ(upc_synci_attempt(), 0);
  rt.finish(rt.entered[1]);
  EXPECT_EQ(upc_synci_attempt(), 0);
  rt.finish(rt.entered[0]);
  EXPECT_NE(upc_synci_attempt(), 0);
  cray_upc_team_alltoall_nbi(dst, src, 8, CRAY_UPC_TEAM_ALL);
  upc_synci();
  EXPECT_EQ(rt.waited.back(), rt.entered.back());
  EXPECT_NE(upc_synci_attempt(), 0);
}

TEST_F(collectives, synci_ends_all_operations_and_reports_the_first_failure) {
  fake_runtime& rt = begin();
  for (int i = 0; i != 3; ++i)
    cray_upc_team_alltoall_nbi(dst, src, 8, CRAY_UPC_TEAM_ALL);
  rt.failures = {{rt.entered[0], "thread 3 died"}, {rt.entered[1], "later"}};
  EXPECT_THAT(error_of([] { upc_synci(); }).what(), testing::StrEq("upc_synci: thread 3 died"));
  EXPECT_EQ(rt.waited.size(), 3u);
  EXPECT_NE(upc_synci_attempt(), 0);
}

TEST_F(collectives, cray_teams_and_pointers_are_checked) {
  begin();
  const cray_upc_team_t unknown = 77;
  upc_shared_ptr_t elsewhere = src;
  elsewhere.thread = 1;
  const std::function<void(upc_shared_ptr_t, size_t, cray_upc_team_t)> calls[] = {
      [&](auto s, auto n, auto t) { cray_upc_team_alltoall(dst, s, n, t); },
      [&](auto s, auto n, auto t) { cray_upc_team_alltoall_nb(dst, s, n, t); },
      [&](auto s, auto n, auto t) { cray_upc_team_alltoall_nbi(dst, s, n, t); }};
  for (const auto& call : calls) {
    EXPECT_THAT(error_of([&] { call(src, 8, unknown); }).rule, testing::HasSubstr("unknown or freed team"));
    EXPECT_EQ(error_of([&] { call(elsewhere, 8, CRAY_UPC_TEAM_ALL); }).argument, "src");
    EXPECT_EQ(error_of([&] { call(UPC_SHARED_NULL, 8, CRAY_UPC_TEAM_ALL); }).argument, "src");
    EXPECT_EQ(error_of([&] { call(src, SIZE_MAX, CRAY_UPC_TEAM_ALL); }).argument,
              "nbytes * threads of the team");
  }
  EXPECT_EQ(error_of([&] { cray_upc_team_barrier(unknown); }).value, "77");
  EXPECT_EQ(error_of([&] { cray_upc_team_barrier(0); }).value, "0");
}

} // namespace
