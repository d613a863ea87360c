// SPDX-License-Identifier: BSD-3-Clause
#include "tests/api/fixture.hpp"

#include <stdexcept>

namespace {

using values = std::vector<std::optional<int>>;

TEST_F(api_test, barriers_with_and_without_parentheses_and_value) {
  fake_runtime& rt = start();
  upc_barrier;
  upc_barrier();
  upc_barrier(7);
  if (rt.size() == 4) upc_barrier;
  EXPECT_EQ(rt.barriers, (values{std::nullopt, std::nullopt, 7, std::nullopt}));
}

TEST_F(api_test, split_barriers_with_and_without_parentheses_and_value) {
  fake_runtime& rt = start();
  upc_notify;
  upc_wait;
  upc_notify();
  upc_wait();
  upc_notify(5);
  upc_wait(5);
  upc_notify(6);
  upc_wait();
  upc_notify;
  upc_barrier_wait(8);
  EXPECT_EQ(rt.barriers, (values{std::nullopt, std::nullopt, 5, 6, std::nullopt}));
  EXPECT_EQ(rt.waited.size(), 5u);
}

TEST_F(api_test, a_statement_whose_argument_throws_does_nothing) {
  fake_runtime& rt = start();
  const auto throwing = []() -> int { throw std::logic_error("argument"); };
  EXPECT_THROW(upc_barrier(throwing()), std::logic_error);
  EXPECT_THROW(upc_notify(throwing()), std::logic_error);
  EXPECT_TRUE(rt.barriers.empty());
  upc_notify;
  EXPECT_THROW(upc_wait(throwing()), std::logic_error);
  EXPECT_TRUE(rt.waited.empty());
  upc_wait;
}

TEST_F(api_test, notify_twice_and_wait_without_notify_are_errors) {
  fake_runtime& rt = start();
  EXPECT_THAT(error_of([] { upc_wait; }).rule, testing::HasSubstr("no upc_notify"));
  EXPECT_THAT(error_of([] { upc_wait(3); }).rule, testing::HasSubstr("no upc_notify"));
  upc_notify;
  EXPECT_EQ(error_of([] { upc_notify; }).call, "upc_notify");
  EXPECT_EQ(error_of([] { upc_barrier; }).call, "upc_barrier");
  EXPECT_EQ(error_of([] { upc_barrier(4); }).call, "upc_barrier");
  EXPECT_EQ(rt.barriers.size(), 1u);
  upc_wait;
}

TEST_F(api_test, a_wait_that_contradicts_its_notify_names_both_values) {
  start();
  upc_notify(5);
  const weft::error e = error_of([] { upc_wait(6); });
  EXPECT_EQ(e.value, "6");
  EXPECT_THAT(e.rule, testing::HasSubstr("5"));
  upc_wait(5); // the barrier is still there to be completed
}

TEST_F(api_test, a_barrier_that_fails_is_over) {
  fake_runtime& rt = start();
  upc_notify(5);
  rt.failures = {{1, "thread 0 gave 5, thread 2 gave 6"}};
  EXPECT_THAT(error_of([] { upc_wait; }).what(),
              testing::StartsWith("upc_wait: thread 0 gave 5, thread 2 gave 6"));
  upc_barrier;
}

TEST_F(api_test, collectives_are_errors_between_notify_and_wait_and_the_rest_is_not) {
  fake_runtime& rt = start();
  const upc_shared_ptr_t dst = upc_all_alloc(4, 64), src = upc_all_alloc(4, 64);
  upc_coll_handle_t h = upc_all_exchange(dst, src, 8, UPC_ASYNC);
  upc_notify;
  const std::function<void()> calls[] = {
      [&] { upc_all_broadcast(dst, src, 8, 0); },
      [&] { upc_all_scatter(dst, src, 8, 0); },
      [&] { upc_all_gather(dst, src, 8, 0); },
      [&] { upc_all_gather_all(dst, src, 8, 0); },
      [&] { upc_all_exchange(dst, src, 8, UPC_ASYNC); },
      [&] { cray_upc_team_alltoall(dst, src, 8, CRAY_UPC_TEAM_ALL); },
      [&] { upc_sync(cray_upc_team_alltoall_nb(dst, src, 8, CRAY_UPC_TEAM_ALL)); },
      [&] { cray_upc_team_alltoall_nbi(dst, src, 8, CRAY_UPC_TEAM_ALL); },
      [&] { cray_upc_team_barrier(CRAY_UPC_TEAM_ALL); },
      [&] { upc_all_alloc(4, 64); },
      [&] { upc_all_free(dst); },
      [&] { weft::shared_array<int> a(4); },
  };
  for (const auto& call : calls)
    EXPECT_THAT(error_of(call).rule, testing::HasSubstr("between upc_notify and upc_wait"));
  EXPECT_EQ(rt.collectives.size(), 1u);
  upc_wait(h);
  upc_memset(dst, 1, 8);
  upc_alloc(8);
  upc_global_alloc(4, 8);
  upc_synci();
  upc_wait;
  upc_all_exchange(dst, src, 8, 0);
}

TEST_F(api_test, wait_completes_a_handle_and_clears_it) {
  fake_runtime& rt = start();
  const upc_shared_ptr_t dst = upc_all_alloc(4, 64), src = upc_all_alloc(4, 64);
  const auto post = [&] { return upc_all_exchange(dst, src, 8, UPC_ASYNC); };
  upc_coll_handle_t h = post();
  upc_coll_handle_t copy = h;
  upc_wait(h);
  EXPECT_EQ(h, UPC_HANDLE_COMPLETE);
  upc_wait(h);
  EXPECT_EQ(rt.waited.size(), 1u);
  upc_wait(copy);
  EXPECT_EQ(copy, UPC_HANDLE_COMPLETE) << "every copy of a completed handle is complete";
  upc_wait(post());
  upc_wait_value(post());
  const upc_coll_handle_t constant = post();
  upc_wait(constant);
  EXPECT_EQ(rt.waited.back(), constant);
  upc_wait(UPC_HANDLE_COMPLETE);
  EXPECT_TRUE(rt.barriers.empty()) << "a handle is no barrier value";
}

TEST_F(api_test, test_and_get_status_are_never_zero) {
  fake_runtime& rt = start();
  const upc_shared_ptr_t dst = upc_all_alloc(4, 64), src = upc_all_alloc(4, 64);
  upc_coll_handle_t h = upc_all_exchange(dst, src, 8, UPC_ASYNC);
  const upc_coll_handle_t issued = h;
  EXPECT_LT(upc_test(h), 0);
  EXPECT_LT(upc_get_status(h), 0);
  EXPECT_EQ(rt.tested, 2u) << "asking moves the operation on, too";
  EXPECT_EQ(h, issued);
  rt.finish(h);
  EXPECT_GT(upc_get_status(h), 0);
  EXPECT_EQ(h, issued) << "get_status completes nothing";
  EXPECT_GT(upc_test(h), 0);
  EXPECT_EQ(h, UPC_HANDLE_COMPLETE);
  EXPECT_GT(upc_test(h), 0);
  EXPECT_GT(upc_get_status(h), 0);
  EXPECT_GT(upc_test(issued), 0);
  EXPECT_GT(upc_test_value(issued), 0);
}

TEST_F(api_test, a_handle_that_was_never_issued_is_an_error_and_stays) {
  start();
  upc_coll_handle_t h = 0xabc;
  const std::function<void()> calls[] = {[&] { upc_wait(h); },        [&] { upc_wait_value(h); },
                                         [&] { upc_test(h); },        [&] { upc_test_value(h); },
                                         [&] { upc_get_status(h); },  [&] { upc_sync(h); },
                                         [&] { upc_sync_attempt(h); }};
  for (const auto& call : calls) {
    const weft::error e = error_of(call);
    EXPECT_EQ(e.value, "0xabc");
    EXPECT_THAT(e.rule, testing::HasSubstr("never issued"));
  }
  EXPECT_EQ(h, 0xabcu);
}

TEST_F(api_test, an_operation_that_failed_is_reported_once_and_is_complete) {
  fake_runtime& rt = start();
  const upc_shared_ptr_t dst = upc_all_alloc(4, 64), src = upc_all_alloc(4, 64);
  for (const bool waiting : {true, false}) {
    upc_coll_handle_t h = upc_all_exchange(dst, src, 8, UPC_ASYNC);
    rt.failures = {{h, "thread 3 died"}};
    rt.finish(h);
    const weft::error e = error_of([&] {
      if (waiting)
        upc_wait(h);
      else
        upc_test(h);
    });
    EXPECT_EQ(e.rule, "thread 3 died");
    EXPECT_EQ(h, UPC_HANDLE_COMPLETE);
  }
}

} // namespace
