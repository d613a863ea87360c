// SPDX-License-Identifier: BSD-3-Clause
// What the calls of locks check by themselves, and what they say of what came.
#include "tests/api/fixture.hpp"

namespace {

using testing::HasSubstr;
using weft::control::lock_status;

class locks : public api_test {
protected:
  fake_runtime& rt = start();
  const upc_lock_t lock = upc_global_lock_alloc();
};

TEST_F(locks, are_pointers_to_shared_with_a_serial) {
  EXPECT_EQ(upc_threadof(lock), 0u);
  EXPECT_FALSE(upc_isnull(lock));
  upc_lock(lock);
  ASSERT_EQ(rt.lone.calls.size(), 1u);
  EXPECT_EQ(rt.lone.calls[0].offset, lock.addr);
  EXPECT_EQ(rt.lone.calls[0].serial, lock.phase);
}

TEST_F(locks, attempts_say_whether_it_is_held_now) {
  EXPECT_EQ(upc_lock_attempt(lock), 1);
  rt.lone.next = {lock_status::busy, 2};
  EXPECT_EQ(upc_lock_attempt(lock), 0);
}

TEST_F(locks, null_ones_are_freed_without_a_word) {
  upc_lock_free(UPC_SHARED_NULL);
  upc_all_lock_free(UPC_SHARED_NULL);
  EXPECT_TRUE(rt.lone.calls.empty());
}

TEST_F(locks, wrong_pointers_reach_nobody) {
  const upc_lock_t wrong[] = {UPC_SHARED_NULL,      {lock.addr, 4, lock.phase},
                              {lock.addr, 0, 0},    {lock.addr + 8, 0, lock.phase},
                              upc_all_alloc(1, 64), {1, 0, 1}};
  for (const upc_lock_t& w : wrong) {
    EXPECT_EQ(error_of([&] { upc_lock(w); }).argument, "lock");
    EXPECT_EQ(error_of([&] { upc_lock_attempt(w); }).call, "upc_lock_attempt");
    EXPECT_EQ(error_of([&] { upc_unlock(w); }).call, "upc_unlock");
  }
  EXPECT_TRUE(rt.lone.calls.empty());
}

TEST_F(locks, errors_name_the_lock_and_who_has_it) {
  const auto what = [&](lock_status s, std::uint32_t holder) {
    rt.lone.next = {s, holder};
    const weft::error e = error_of([&] { upc_unlock(lock); });
    EXPECT_THAT(e.what(), HasSubstr("thread 0, offset 0x"));
    return e.rule;
  };
  EXPECT_THAT(what(lock_status::not_held, 3), HasSubstr("but by thread 3"));
  EXPECT_THAT(what(lock_status::not_held, ~0u), testing::Not(HasSubstr("but by")));
  EXPECT_THAT(what(lock_status::no_lock, ~0u), HasSubstr("was freed"));
  EXPECT_THAT(what(lock_status::own, 0), HasSubstr("already"));
  EXPECT_THAT(what(lock_status::holder_died, 2), HasSubstr("thread 2, which has died"));
}

TEST_F(locks, are_not_allocated_in_a_split_barrier) {
  upc_notify;
  EXPECT_THAT(error_of([] { upc_all_lock_alloc(); }).rule, HasSubstr("upc_notify"));
  upc_global_lock_alloc();
  upc_wait();
}

} // namespace
