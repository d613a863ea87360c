// SPDX-License-Identifier: BSD-3-Clause
#include "tests/api/fixture.hpp"

#include <upc_relaxed.h>
#include <upc_strict.h>
#include <upc_tick.h>

namespace {

TEST_F(api_test, a_fence_is_a_statement_and_needs_no_job) {
  upc_fence;
  upc_fence();
  fake_runtime& rt = start();
  if (rt.rank() == 0) upc_fence;
  for (int i = 0; i != 2; ++i)
    upc_fence;
  EXPECT_TRUE(rt.barriers.empty());
}

TEST(ticks, never_go_back_and_are_nanoseconds) {
  const upc_tick_t first = upc_ticks_now();
  upc_tick_t last = first;
  while (last == first) {
    const upc_tick_t now = upc_ticks_now();
    ASSERT_GE(now, last);
    last = now;
  }
  EXPECT_EQ(upc_ticks_to_ns(last) - upc_ticks_to_ns(first), upc_ticks_to_ns(last - first));
  EXPECT_EQ(upc_ticks_to_ns(UPC_TICK_MIN), 0u);
  EXPECT_LT(last, UPC_TICK_MAX);
}

TEST(ends, the_program_with_the_status_that_is_given) {
  EXPECT_EXIT(upc_global_exit(5), testing::ExitedWithCode(5), "");
  EXPECT_EXIT(upc_global_exit(256), testing::ExitedWithCode(0), "");
}

} // namespace
