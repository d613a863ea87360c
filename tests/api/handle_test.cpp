// SPDX-License-Identifier: BSD-3-Clause
// The owner of an operation, and coroutines that wait for one.
#include "tests/api/fixture.hpp"

#include <coroutine>
#include <stdexcept>
#include <type_traits>

namespace {

using weft::pending;

static_assert(!std::is_copy_constructible_v<pending> && !std::is_copy_assignable_v<pending>);
static_assert(std::is_nothrow_move_constructible_v<pending> && std::is_nothrow_move_assignable_v<pending>);
static_assert(!std::is_convertible_v<upc_coll_handle_t, pending>);

// A coroutine that begins at once and whose owner destroys it.
class job {
public:
  struct promise_type {
    job get_return_object() { return job(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { throw; }
  };
  explicit job(std::coroutine_handle<promise_type> frame) : frame_(frame) {}
  job(job&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  ~job() { destroy(); }
  bool done() const { return frame_.done(); }
  void destroy() {
    if (frame_) std::exchange(frame_, nullptr).destroy();
  }

private:
  std::coroutine_handle<promise_type> frame_;
};

class owner : public api_test {
protected:
  void SetUp() override {
    rt = &start();
    dst = upc_all_alloc(4, 64);
    src = upc_all_alloc(4, 64);
  }
  upc_coll_handle_t post() { return upc_all_exchange(dst, src, 8, UPC_ASYNC); }
  job await_one(upc_coll_handle_t h) {
    pending p(h);
    co_await p;
    resumed.push_back(h);
  }
  // Posts and waits so many times.
  job loop(int rounds) {
    for (int i = 0; i != rounds; ++i) {
      const upc_coll_handle_t h = post();
      co_await pending(h);
      resumed.push_back(h);
    }
  }

  fake_runtime* rt = nullptr;
  upc_shared_ptr_t dst{}, src{};
  std::vector<weft::api::handle> resumed;
};

// Mutation: a destructor that does nothing.
TEST_F(owner, completes_in_its_destructor) {
  const upc_coll_handle_t h = post();
  {
    const pending p(h);
    EXPECT_TRUE(p.active());
    EXPECT_EQ(p.handle(), h);
    EXPECT_TRUE(rt->waited.empty());
  }
  EXPECT_THAT(rt->waited, testing::ElementsAre(h));
}

TEST_F(owner, waits_and_tests) {
  const upc_coll_handle_t h = post();
  {
    pending p(h);
    EXPECT_FALSE(p.test());
    EXPECT_TRUE(p.active());
    rt->finish(h);
    EXPECT_TRUE(p.test());
    EXPECT_FALSE(p.active());
    EXPECT_TRUE(p.test());
    p.wait();
    p = pending(post());
    p.wait();
    EXPECT_FALSE(p.active());
  }
  EXPECT_EQ(rt->waited.size(), 2u) << "nothing is completed twice";
}

TEST_F(owner, moves) {
  const upc_coll_handle_t a = post(), b = post();
  {
    pending p(a);
    pending q(std::move(p));
    EXPECT_FALSE(p.active());
    EXPECT_EQ(q.handle(), a);
    p = pending(b);
    EXPECT_TRUE(rt->waited.empty());
    q = std::move(p);
    EXPECT_THAT(rt->waited, testing::ElementsAre(a)) << "what it owned before is complete";
    pending& itself = q;
    q = std::move(itself);
    EXPECT_EQ(q.handle(), b);
    EXPECT_EQ(q.release(), b);
    EXPECT_FALSE(q.active());
  }
  EXPECT_EQ(rt->waited.size(), 1u) << "what was released belongs to another operation";
}

TEST_F(owner, throws_when_asked_and_prints_when_not) {
  const upc_coll_handle_t a = post(), b = post();
  rt->failures = {{a, "thread 2 died"}, {b, "thread 3 died"}};
  pending p(a);
  EXPECT_EQ(error_of([&] { p.wait(); }).rule, "thread 2 died");
  EXPECT_FALSE(p.active());
  testing::internal::CaptureStderr();
  { const pending q(b); }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("upc_wait: thread 3 died"));
}

TEST_F(owner, a_coroutine_goes_on_in_poll_and_nowhere_else) {
  const upc_coll_handle_t a = post(), b = post();
  const job one = await_one(a), two = await_one(b);
  EXPECT_FALSE(one.done() || two.done());
  EXPECT_EQ(weft::poll(), 0u);
  EXPECT_EQ(rt->tested, 1u) << "polling moves operations on";
  rt->finish(b);
  upc_wait(post());
  EXPECT_FALSE(two.done());
  EXPECT_EQ(weft::poll(), 1u);
  EXPECT_TRUE(two.done());
  EXPECT_FALSE(one.done());
  rt->meanwhile = [&] { rt->finish(a); };
  EXPECT_EQ(weft::poll(), 1u);
  EXPECT_TRUE(one.done());
  EXPECT_THAT(resumed, testing::ElementsAre(b, a));
  EXPECT_EQ(weft::poll(), 0u);
}

TEST_F(owner, what_is_complete_does_not_suspend) {
  const upc_coll_handle_t h = post();
  rt->finish(h);
  EXPECT_TRUE(await_one(h).done());
  EXPECT_TRUE(await_one(UPC_HANDLE_COMPLETE).done());
}

TEST_F(owner, run_all_waits_until_no_coroutine_is_suspended) {
  const job a = loop(5), b = loop(7), c = loop(1);
  rt->meanwhile = [&, next = weft::api::handle{0}]() mutable { rt->finish(++next); };
  weft::run_all();
  EXPECT_TRUE(a.done() && b.done() && c.done());
  EXPECT_EQ(resumed.size(), 13u);
  weft::run_all();
}

// One poll gives every coroutine one turn, although each finds its next operation complete at once.
TEST_F(owner, poll_comes_to_an_end) {
  const upc_coll_handle_t first = post();
  bool stop = false;
  const auto restless = [&]() -> job {
    upc_coll_handle_t h = first;
    while (!stop) {
      co_await pending(h);
      h = post();
      rt->meanwhile = [this, h] { rt->finish(h); };
    }
  };
  const job j = restless();
  rt->finish(first);
  EXPECT_EQ(weft::poll(), 1u);
  EXPECT_EQ(weft::poll(), 1u);
  stop = true;
  weft::run_all();
  EXPECT_TRUE(j.done());
}

// Mutation: an awaiter that stays in the list.
TEST_F(owner, a_coroutine_that_is_destroyed_while_suspended_is_forgotten) {
  const upc_coll_handle_t a = post(), b = post(), c = post();
  job one = await_one(a), two = await_one(b), three = await_one(c);
  two.destroy();
  EXPECT_THAT(rt->waited, testing::ElementsAre(b)) << "its operation is complete";
  rt->finish(a);
  rt->finish(c);
  EXPECT_EQ(weft::poll(), 2u);
  EXPECT_THAT(resumed, testing::ElementsAre(a, c));
}

TEST_F(owner, a_coroutine_may_destroy_another_that_is_ready) {
  const upc_coll_handle_t a = post(), b = post();
  std::optional<job> victim;
  const auto killer = [&]() -> job {
    co_await pending(a);
    victim.reset();
  };
  const job k = killer();
  victim.emplace(await_one(b));
  rt->finish(a);
  rt->finish(b);
  EXPECT_EQ(weft::poll(), 1u);
  EXPECT_TRUE(resumed.empty());
}

TEST_F(owner, a_coroutine_gets_the_error_of_its_operation) {
  const upc_coll_handle_t a = post(), b = post();
  std::string caught;
  const auto catching = [&]() -> job {
    pending p(a);
    try {
      co_await p;
    } catch (const weft::error& e) {
      caught = e.rule;
    }
  };
  const job one = catching();
  const job two = await_one(b);
  rt->failures = {{a, "thread 2 died"}, {b, "thread 3 died"}};
  rt->finish(a);
  rt->finish(b);
  EXPECT_EQ(error_of([] { weft::poll(); }).rule, "thread 3 died") << "what the coroutine does not catch";
  EXPECT_EQ(caught, "thread 2 died");
  weft::run_all();
}

TEST_F(owner, a_handle_that_was_never_issued_is_an_error_of_the_await) {
  std::string caught;
  const auto awaiting = [&]() -> job {
    pending p(0xabcdef);
    try {
      co_await p;
    } catch (const weft::error& e) {
      caught = e.rule;
    }
    EXPECT_EQ(p.release(), 0xabcdefu) << "it stays as it is";
  };
  EXPECT_TRUE(awaiting().done());
  EXPECT_THAT(caught, testing::HasSubstr("never issued"));
}

} // namespace
