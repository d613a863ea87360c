// SPDX-License-Identifier: BSD-3-Clause
// Several operations under way, completed in any order, by any thread of the process.
#include "tests/api/multirank/pattern.hpp"

#include <memory>
#include <thread>
#include <vector>

namespace {

std::size_t threads() {
  return static_cast<std::size_t>(THREADS);
}
std::size_t mythread() {
  return static_cast<std::size_t>(MYTHREAD);
}

// An exchange with buffers of its own.
class exchange {
public:
  exchange(unsigned round, std::size_t nbytes)
      : round_(round), nbytes_(nbytes), src_(nbytes * threads()), dst_(nbytes * threads()) {
    for (std::size_t b = 0; b != threads(); ++b)
      pattern::fill(src_.local() + b * nbytes_, nbytes_, round_, mythread(), b);
    std::memset(dst_.local(), 0xee, dst_.bytes());
  }
  upc_shared_ptr_t dst() const { return dst_.shared(); }
  upc_shared_ptr_t src() const { return src_.shared(); }
  upc_coll_handle_t post() {
    return upc_all_exchange(dst(), src(), nbytes_, UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC);
  }
  void check() const {
    for (std::size_t k = 0; k != threads(); ++k)
      EXPECT_EQ(pattern::mismatch(dst_.local() + k * nbytes_, nbytes_, round_, k, mythread()), nbytes_)
          << "operation " << round_ << ", block " << k;
  }

private:
  unsigned round_;
  std::size_t nbytes_;
  pattern::area src_, dst_;
};

std::vector<std::unique_ptr<exchange>> make(unsigned count) {
  std::vector<std::unique_ptr<exchange>> made;
  for (unsigned i = 0; i != count; ++i)
    made.push_back(std::make_unique<exchange>(i, i % 3 == 0 ? 8 : i % 3 == 1 ? 3000 : 50000));
  return made;
}

TEST(completion, in_any_order) {
  const auto exchanges = make(24);
  std::vector<upc_coll_handle_t> handles;
  for (const auto& e : exchanges)
    handles.push_back(e->post());
  for (const auto h : handles)
    EXPECT_NE(h, UPC_HANDLE_COMPLETE);
  // Another order on every thread.
  for (std::size_t i = 0; i != handles.size(); ++i) {
    const std::size_t k = (i * 7 + mythread() * 5) % handles.size();
    upc_wait(handles[k]);
    EXPECT_EQ(handles[k], UPC_HANDLE_COMPLETE);
    exchanges[k]->check();
  }
}

TEST(completion, by_testing) {
  exchange e(3, 20000);
  upc_coll_handle_t h = e.post();
  const upc_coll_handle_t copy = h;
  int answer;
  do {
    answer = upc_test(h);
    EXPECT_NE(answer, 0);
    EXPECT_EQ(answer > 0, h == UPC_HANDLE_COMPLETE);
  } while (answer < 0);
  e.check();
  EXPECT_GT(upc_get_status(copy), 0);
  EXPECT_GT(upc_test_value(copy), 0) << "a copy of a completed handle is complete";
  upc_wait(copy);
}

TEST(completion, status_tells_and_does_not_complete) {
  exchange e(4, 100);
  upc_coll_handle_t h = e.post();
  while (upc_get_status(h) < 0)
    std::this_thread::yield();
  EXPECT_NE(h, UPC_HANDLE_COMPLETE);
  upc_wait(h);
  e.check();
}

TEST(completion, by_other_application_threads) {
  const auto exchanges = make(8);
  std::vector<upc_coll_handle_t> handles;
  for (const auto& e : exchanges)
    handles.push_back(e->post());
  std::vector<std::thread> waiters;
  for (int both = 0; both != 2; ++both) // two threads for every handle: both return
    for (const upc_coll_handle_t h : handles)
      waiters.emplace_back([h] { upc_wait_value(h); });
  for (std::thread& t : waiters)
    t.join();
  for (const auto& e : exchanges)
    e->check();
}

TEST(completion, a_handle_that_was_never_issued) {
  upc_coll_handle_t h = 0x7fffffffffffull;
  EXPECT_THROW(upc_wait(h), weft::error);
  EXPECT_THROW(upc_test(h), weft::error);
  EXPECT_THROW(upc_get_status(h), weft::error);
  EXPECT_THROW(upc_sync(h), weft::error);
}

TEST(cray, blocking_is_complete_everywhere) {
  for (const std::size_t nbytes : {std::size_t{0}, std::size_t{8}, std::size_t{5000}, std::size_t{100000}}) {
    exchange e(5, nbytes);
    cray_upc_team_alltoall(e.dst(), e.src(), nbytes, CRAY_UPC_TEAM_ALL);
    e.check();
    const std::size_t other = (mythread() + 1) % threads();
    std::vector<unsigned char> theirs(nbytes * threads());
    upc_memget(theirs.data(), {e.dst().addr, static_cast<std::uint32_t>(other), 0}, theirs.size());
    for (std::size_t k = 0; k != threads(); ++k)
      EXPECT_EQ(pattern::mismatch(theirs.data() + k * nbytes, nbytes, 5, k, other), nbytes);
    upc_barrier;
  }
}

TEST(cray, nonblocking_and_implicit) {
  exchange one(6, 20000), two(7, 8), three(8, 70000);
  const upc_handle_t h = cray_upc_team_alltoall_nb(one.dst(), one.src(), 20000, CRAY_UPC_TEAM_ALL);
  EXPECT_EQ(cray_upc_team_alltoall_nbi(two.dst(), two.src(), 8, CRAY_UPC_TEAM_ALL), UPC_COMPLETE_HANDLE);
  EXPECT_EQ(cray_upc_team_alltoall_nbi(three.dst(), three.src(), 70000, UPC_TEAM_ALL), UPC_COMPLETE_HANDLE);
  upc_synci();
  EXPECT_NE(upc_synci_attempt(), 0);
  two.check();
  three.check();
  while (upc_sync_attempt(h) == 0) {
  }
  upc_sync(h);
  one.check();
  cray_upc_team_barrier(CRAY_UPC_TEAM_ALL); // the sources are read until all are complete
}

// `_nb` returns when all have entered: what a thread published before its own entry is there.
TEST(cray, nonblocking_returns_after_all_have_entered) {
  weft::shared_array<int> entered(weft::per_thread(1));
  entered[MYTHREAD] = 0;
  upc_barrier;
  for (int round = 1; round != 30; ++round) {
    exchange e(static_cast<unsigned>(round), 8);
    entered[MYTHREAD] = round;
    const upc_handle_t h = cray_upc_team_alltoall_nb(e.dst(), e.src(), 8, CRAY_UPC_TEAM_ALL);
    for (int t = 0; t < THREADS; t++)
      EXPECT_GE(entered[t], round);
    upc_sync(h);
    e.check();
    upc_barrier;
  }
}

} // namespace
