// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <weft/weft.hpp>

#include <chrono>
#include <thread>

namespace {

weft::shared_array<int> step(weft::per_thread(1));

void publish(int value) {
  step[MYTHREAD] = value;
}
void expect_all(int value) {
  for (int t = 0; t < THREADS; t++)
    EXPECT_EQ(step[t], value) << "thread " << t;
}

TEST(barrier, nobody_leaves_before_all_have_come) {
  for (int i = 1; i != 200; ++i) {
    publish(i);
    upc_barrier;
    expect_all(i);
    upc_barrier(i);
  }
}

TEST(barrier, split) {
  for (int i = 1; i != 200; ++i) {
    publish(-i);
    upc_notify;
    upc_memput(weft::ptr<int>(&step[MYTHREAD]), &i, 0); // copies by one thread are legal here
    upc_wait;
    expect_all(-i);
    upc_notify(i);
    if (i % 2 == 0)
      upc_wait(i);
    else
      upc_wait;
  }
}

TEST(barrier, values_may_be_given_by_some_threads_only) {
  if (MYTHREAD % 2 == 0)
    upc_barrier(4);
  else
    upc_barrier;
  upc_notify(-1);
  upc_wait(-1);
}

// A rank that waits for a late one sleeps, and so does the library's thread: neither turns in place, also
// where a core is spare.
TEST(barrier, all_sleep_until_the_last_has_come) {
  if (THREADS == 1) GTEST_SKIP() << "there is no other thread to wait for";
  upc_barrier;
  const unsigned long long before = weft::weft_statistic("sweeps");
  if (MYTHREAD == THREADS - 1) std::this_thread::sleep_for(std::chrono::milliseconds(300));
  upc_barrier;
  EXPECT_LT(weft::weft_statistic("sweeps") - before, 120'000u);
}

// Every thread that learns of it says which values contradict, and the library goes on.
TEST(barrier, different_values_are_an_error_on_all_threads) {
  if (THREADS == 1) return;
  const auto check = [](const auto& barrier) {
    try {
      barrier();
      ADD_FAILURE() << "no error";
    } catch (const weft::error& e) {
      EXPECT_THAT(e.what(), testing::HasSubstr("70"));
      EXPECT_THAT(e.what(), testing::HasSubstr("71"));
    }
  };
  const int value = MYTHREAD == THREADS - 1 ? 71 : 70;
  check([&] { upc_barrier(value); });
  upc_barrier;
  check([&] {
    upc_notify(value);
    upc_wait;
  });
  upc_barrier(70);
}

// A value that a thread gives only to the second half is compared with those that the first halves brought.
TEST(barrier, a_value_given_only_to_the_second_half_is_compared) {
  if (THREADS == 1) GTEST_SKIP() << "there is no thread to differ from";
  const bool late = MYTHREAD == 0;
  for (int round = 0; round != 20; ++round) {
    const int value = late ? 5 : 7;
    if (late)
      upc_notify;
    else
      upc_notify(value);
    try {
      upc_wait(value);
      EXPECT_FALSE(late) << "no error";
    } catch (const weft::error& e) {
      EXPECT_TRUE(late);
      EXPECT_EQ(e.call, "upc_wait");
      EXPECT_EQ(e.value, "5");
      EXPECT_THAT(e.rule, testing::HasSubstr("the value 7 that thread "));
    }
    upc_barrier;
  }
  if (late)
    upc_notify;
  else
    upc_notify(7);
  upc_wait(7);
  upc_notify;
  upc_wait(MYTHREAD); // no thread gave one to upc_notify
  upc_notify(3);
  upc_wait;
}

TEST(barrier, wrong_order_is_an_error_and_harmless) {
  EXPECT_THROW(upc_wait, weft::error);
  upc_notify;
  EXPECT_THROW(upc_notify, weft::error);
  EXPECT_THROW(upc_barrier, weft::error);
  EXPECT_THROW(upc_all_exchange(step, step, 1, 0), weft::error);
  upc_wait;
  cray_upc_team_barrier(CRAY_UPC_TEAM_ALL);
}

} // namespace
