// SPDX-License-Identifier: BSD-3-Clause
// Any, all or some of many operations under way, owners of operations, and coroutines. "Pending" is certain
// where the other threads have not yet entered: they wait for a word of thread 0, without a call that would
// be part of the order of collectives.
#include "tests/api/multirank/pattern.hpp"

#include <algorithm>
#include <coroutine>
#include <gmock/gmock.h>
#include <thread>
#include <vector>

namespace {

using handles = std::vector<upc_coll_handle_t>;
constexpr upc_coll_handle_t none = UPC_HANDLE_COMPLETE;

std::size_t threads() {
  return static_cast<std::size_t>(THREADS);
}
std::size_t mythread() {
  return static_cast<std::size_t>(MYTHREAD);
}

// Many small exchanges, each with its place in two areas.
class batch {
public:
  explicit batch(unsigned count, std::size_t nbytes = 8)
      : count_(count), nbytes_(nbytes), src_(count * nbytes * threads()), dst_(count * nbytes * threads()) {
    for (unsigned op = 0; op != count; ++op)
      for (std::size_t b = 0; b != threads(); ++b)
        pattern::fill(src_.local() + at(op) + b * nbytes_, nbytes_, op, mythread(), b);
    std::memset(dst_.local(), 0xee, dst_.bytes());
  }
  upc_coll_handle_t post(unsigned op) {
    return upc_all_exchange(moved(dst_.shared(), op), moved(src_.shared(), op), nbytes_,
                            UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC);
  }
  handles post_all() {
    handles h;
    for (unsigned op = 0; op != count_; ++op)
      h.push_back(post(op));
    return h;
  }
  void check(unsigned op) const {
    for (std::size_t k = 0; k != threads(); ++k)
      EXPECT_EQ(pattern::mismatch(dst_.local() + at(op) + k * nbytes_, nbytes_, op, k, mythread()), nbytes_)
          << "operation " << op << ", block " << k;
  }

private:
  std::size_t at(unsigned op) const { return op * nbytes_ * threads(); }
  upc_shared_ptr_t moved(upc_shared_ptr_t p, unsigned op) const {
    p.addr += at(op);
    return p;
  }

  unsigned count_;
  std::size_t nbytes_;
  pattern::area src_, dst_;
};

// Thread 0 goes first, the others when it says so.
class gate {
public:
  gate() {
    if (MYTHREAD == 0) open_[0] = 0;
    upc_barrier;
  }
  bool first() const { return MYTHREAD == 0; }
  void open() { open_[0] = 1; }
  void pass() {
    while (!first() && open_[0] == 0)
      std::this_thread::yield();
  }

private:
  weft::shared_array<int> open_{weft::per_thread(1)};
};

int size(const handles& h) {
  return static_cast<int>(h.size());
}

TEST(several, any_reports_each_once) {
  for (const unsigned count : {1u, 10u, 1000u}) {
    batch b(count);
    handles h = b.post_all();
    std::vector<int> reports(count);
    for (unsigned i = 0; i != count; ++i) {
      int index = i % 3 == 0 ? upc_testany(size(h), h.data()) : -1;
      if (index == -1) index = upc_waitany(size(h), h.data());
      ASSERT_GE(index, 0);
      EXPECT_EQ(h[static_cast<std::size_t>(index)], none);
      ++reports[static_cast<std::size_t>(index)];
      b.check(static_cast<unsigned>(index));
    }
    EXPECT_THAT(reports, testing::Each(1));
    EXPECT_EQ(upc_waitany(size(h), h.data()), -2);
    EXPECT_EQ(upc_testany(size(h), h.data()), -2);
  }
}

// Behind the time nothing has changed, and a wait that ends early says which.
TEST(several, any_for_a_time) {
  batch b(3);
  gate g;
  handles h;
  if (g.first()) {
    h = b.post_all();
    const handles before = h;
    if (THREADS > 1)
      for (const std::uint64_t limit : {0u, 20000u, 3000000u}) {
        EXPECT_EQ(weft_waitany_for(size(h), h.data(), limit), -1);
        EXPECT_EQ(h, before);
      }
    g.open();
  } else {
    g.pass();
    h = b.post_all();
  }
  for (int left = size(h); left != 0;) {
    const int index = weft_waitany_for(size(h), h.data(), left == 1 ? UINT64_MAX : 100000);
    if (index < 0) continue;
    b.check(static_cast<unsigned>(index));
    --left;
  }
  EXPECT_EQ(weft_waitany_for(size(h), h.data(), 0), -2);
}

TEST(several, some_reports_each_once) {
  batch b(500);
  handles h = b.post_all();
  std::vector<int> reports(h.size()), indices(h.size());
  for (int left = size(h); left != 0;) {
    const int count = left % 2 == 0 ? weft_testsome_indices(size(h), h.data(), indices.data())
                                    : weft_waitsome_indices(size(h), h.data(), indices.data());
    EXPECT_GE(count, left % 2);
    for (int k = 0; k != count; ++k) {
      const auto index = static_cast<std::size_t>(indices[static_cast<std::size_t>(k)]);
      EXPECT_EQ(h[index], none);
      ++reports[index];
      b.check(static_cast<unsigned>(index));
    }
    left -= count;
  }
  EXPECT_THAT(reports, testing::Each(1));
  EXPECT_EQ(upc_waitsome(size(h), h.data()), 0);
}

TEST(several, some_counts) {
  batch b(50);
  handles h = b.post_all();
  int left = size(h);
  while (left != 0) {
    left -= upc_waitsome(size(h), h.data());
    left -= upc_testsome(size(h), h.data());
    EXPECT_EQ(std::ranges::count_if(h, [](upc_coll_handle_t each) { return each != none; }), left);
  }
}

// Every fourth is already complete, every fourth a copy.
TEST(several, all_completes_all) {
  batch b(60);
  handles h = b.post_all();
  for (std::size_t i = 0; i < h.size(); i += 4)
    upc_wait(h[i]);
  h.insert(h.end(), {h[1], h[5], none});
  upc_waitall(size(h), h.data());
  EXPECT_THAT(h, testing::Each(none));
  for (unsigned op = 0; op != 60; ++op)
    b.check(op);
}

TEST(several, tests_of_what_is_pending) {
  if (THREADS == 1) return;
  batch b(20);
  gate g;
  g.pass();
  handles h = b.post_all();
  const handles before = h;
  if (g.first()) {
    EXPECT_EQ(upc_testany(size(h), h.data()), -1);
    EXPECT_LT(upc_testall(size(h), h.data()), 0);
    EXPECT_EQ(upc_testsome(size(h), h.data()), 0);
    EXPECT_LT(upc_get_status(h[3]), 0);
    EXPECT_EQ(h, before);
    g.open();
  }
  while (upc_testall(size(h), h.data()) < 0)
    EXPECT_EQ(h, before);
  EXPECT_THAT(h, testing::Each(none));
  for (unsigned op = 0; op != 20; ++op)
    b.check(op);
}

// Asking alone brings operations to their end. Mutation: tests that only look hang where no progress thread
// helps.
TEST(several, tests_move_operations_on) {
  batch b(4, 30000);
  handles h = b.post_all();
  while (upc_get_status(h[0]) < 0)
    std::this_thread::yield();
  const upc_coll_handle_t first = h[0];
  h[0] = none;
  while (upc_testany(size(h), h.data()) == -1)
    std::this_thread::yield();
  while (upc_testsome(size(h), h.data()) == 0 && std::ranges::count(h, none) != size(h))
    std::this_thread::yield();
  while (upc_testall(size(h), h.data()) < 0)
    std::this_thread::yield();
  upc_wait(first);
  for (unsigned op = 0; op != 4; ++op)
    b.check(op);
}

// Every application thread has its copies of all handles and waits for them in its own way.
TEST(several, threads_that_wait_for_the_same_handles_all_return) {
  batch b(64);
  gate g;
  g.pass();
  const handles all = b.post_all();
  const auto by_any = [all = handles(all)]() mutable {
    for (int i = 0; i != size(all); ++i)
      EXPECT_GE(upc_waitany(size(all), all.data()), 0);
  };
  const auto by_some = [all = handles(all)]() mutable {
    for (int left = size(all); left != 0;)
      left -= upc_waitsome(size(all), all.data());
  };
  const auto by_all = [all = handles(all)]() mutable { upc_waitall(size(all), all.data()); };
  std::vector<std::thread> waiting;
  waiting.emplace_back(by_any);
  waiting.emplace_back(by_any);
  waiting.emplace_back(by_some);
  waiting.emplace_back(by_all);
  if (g.first()) g.open();
  for (std::thread& t : waiting)
    t.join();
  for (unsigned op = 0; op != 64; ++op)
    b.check(op);
}

TEST(several, a_handle_that_was_never_issued_is_named) {
  batch b(3);
  handles h = b.post_all();
  h.push_back(0x7fffffffffffull);
  const handles before = h;
  try {
    upc_waitall(size(h), h.data());
    ADD_FAILURE() << "no error";
  } catch (const weft::error& e) {
    EXPECT_EQ(e.argument, "handles[3]");
  }
  EXPECT_EQ(h, before);
  h.pop_back();
  upc_waitall(size(h), h.data());
}

TEST(owner, completes_at_the_end_of_its_life) {
  batch b(10, 5000);
  {
    std::vector<weft::pending> owners;
    for (unsigned op = 0; op != 10; ++op)
      owners.emplace_back(b.post(op));
    std::rotate(owners.begin(), owners.begin() + 3, owners.end());
    owners[2].wait();
  }
  for (unsigned op = 0; op != 10; ++op)
    b.check(op);
}

// A coroutine that begins at once and frees itself.
struct detached {
  struct promise_type {
    detached get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() { throw; }
  };
};

detached stages(batch& b, unsigned count, unsigned& done) {
  for (unsigned op = 0; op != count; ++op) {
    weft::pending p(b.post(op));
    co_await p;
    b.check(op);
    ++done;
  }
}

detached await_one(batch& b, unsigned op, std::thread::id& where) {
  weft::pending p(b.post(op));
  co_await p;
  b.check(op);
  where = std::this_thread::get_id();
}

TEST(coroutine, goes_from_stage_to_stage) {
  for (const bool polling : {false, true}) {
    batch b(30, 2000);
    unsigned done = 0;
    stages(b, 30, done);
    if (!polling) weft::run_all();
    while (done != 30)
      if (weft::poll() == 0) std::this_thread::yield();
  }
}

TEST(coroutine, many_are_resumed_by_the_thread_that_waits) {
  constexpr unsigned count = 100;
  batch b(count);
  std::vector<std::thread::id> resumed(count);
  for (unsigned op = 0; op != count; ++op)
    await_one(b, op, resumed[op]);
  std::thread waiting(weft::run_all);
  const std::thread::id other = waiting.get_id();
  waiting.join();
  for (unsigned op = 0; op != count; ++op)
    EXPECT_TRUE(resumed[op] == other || resumed[op] == std::this_thread::get_id());
  EXPECT_EQ(weft::poll(), 0u);
}

} // namespace
