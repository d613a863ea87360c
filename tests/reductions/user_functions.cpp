// SPDX-License-Identifier: BSD-3-Clause
// What functions of users may do, and what becomes of what they throw.
#include <algorithm>
#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <vector>
#include <weft/weft.hpp>

namespace {

struct of_program : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using array = weft::shared_array<long, 2>;

void fill(const array& a, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    if ((a + static_cast<std::ptrdiff_t>(i)).threadof() == static_cast<std::size_t>(MYTHREAD))
      a[static_cast<std::ptrdiff_t>(i)] = static_cast<long>(i);
  upc_barrier;
}

long sum_to(std::size_t n) {
  return static_cast<long>(n * (n - 1) / 2);
}

TEST(user_functions, may_have_a_state_that_is_kept_until_the_operation_is_complete) {
  array a(weft::per_thread(20)), result(weft::per_thread(1));
  fill(a, a.size());
  upc_coll_handle_t h;
  {
    const std::vector<long> state(3, 1);
    h = upc_all_reduce_all(
        result, a, UPC_FUNC, a.size(), [state](long x, long y) { return x * state[0] + y * state[2]; },
        UPC_ASYNC);
  }
  upc_wait(h);
  upc_barrier;
  EXPECT_EQ(*static_cast<const long*>(upc_cast({result.begin().untyped().addr, unsigned(MYTHREAD), 0})),
            sum_to(a.size()));
}

// Calls that wait for other threads, or begin what they must do, too.
struct refused_call {
  const char* name;
  std::function<void()> make;
};

TEST(user_functions, may_read_shared_memory_and_ask_but_not_call_collectives) {
  array a(weft::per_thread(20)), result(weft::per_thread(1));
  fill(a, a.size());
  const upc_lock_t lock = upc_all_lock_alloc();
  const refused_call calls[] = {
      {"upc_barrier", [] { upc_barrier; }},           {"weft_finalize", [] { weft_finalize(); }},
      {"upc_all_alloc", [] { upc_all_alloc(1, 1); }}, {"upc_all_free", [&] { upc_all_free(a); }},
      {"upc_lock", [&] { upc_lock(lock); }},          {"upc_all_lock_alloc", [] { upc_all_lock_alloc(); }},
      {"upc_lock_free", [&] { upc_lock_free(lock); }}};
  std::string said;
  upc_all_reduce_all(
      result, a, UPC_NONCOMM_FUNC, a.size(),
      [&](long x, long y) {
        static_cast<void>(static_cast<long>(a[0]) + MYTHREAD + THREADS);
        said.clear();
        for (const refused_call& call : calls) {
          try {
            call.make();
          } catch (const weft::error& e) {
            said += e.what();
          }
        }
        return x + y;
      },
      UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  for (const refused_call& call : calls)
    EXPECT_NE(
        said.find(std::string(call.name) + ": must not be called by a function that a collective has called"),
        std::string::npos)
        << said;
  upc_barrier;
  upc_all_lock_free(lock);
}

// All members' operations fail: with what was thrown where it was, with an error that says so elsewhere.
void expect_failure(const std::function<void()>& completes, int thrower) {
  try {
    completes();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const of_program& e) {
    EXPECT_STREQ(e.what(), "no");
    EXPECT_EQ(MYTHREAD, thrower);
  } catch (const weft::error& e) {
    EXPECT_NE(MYTHREAD, thrower);
    EXPECT_NE(std::string(e.what()).find("a function of the user threw"), std::string::npos) << e.what();
  }
}

TEST(user_functions, what_they_throw_reaches_the_completing_call_and_others_go_on) {
  array a(weft::per_thread(20)), b(weft::per_thread(20)), result(weft::per_thread(1)),
      other(weft::per_thread(1));
  fill(a, a.size());
  fill(b, b.size());
  for (const int thrower : {0, int(THREADS) - 1}) {
    for (const int async : {0, UPC_ASYNC}) {
      upc_coll_handle_t good = UPC_HANDLE_COMPLETE;
      const auto throwing = [&](long x, long y) -> long {
        if (MYTHREAD == thrower) throw of_program("no");
        return x + y;
      };
      good = upc_all_reduce_all(other, b, UPC_ADD, b.size(), UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC);
      if (async == 0) {
        expect_failure(
            [&] {
              upc_all_reduce_all(result, a, UPC_FUNC, a.size(), throwing, UPC_IN_MYSYNC | UPC_OUT_MYSYNC);
            },
            thrower);
      } else {
        upc_coll_handle_t h = upc_all_reduce_all(result, a, UPC_FUNC, a.size(), throwing,
                                                 UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC);
        expect_failure([&] { upc_wait(h); }, thrower);
      }
      upc_wait(good);
      EXPECT_EQ(*static_cast<const long*>(upc_cast({other.begin().untyped().addr, unsigned(MYTHREAD), 0})),
                sum_to(b.size()));
      upc_barrier;
    }
  }
}

// Vectors of the ranks, of sizes that go as payloads, in one piece, and in several: whichever members combine
// them, they do it by a thread that holds nothing.
using posts = std::function<weft::pending(const weft::array<long>&, const weft::array<long>&)>;
template <class F> std::vector<posts> vectors_by(F f) {
  return {[f](const auto& to, const auto& from) { return weft::reduce_all(to, from, f); },
          [f](const auto& to, const auto& from) { return weft::reduce(to, from, f, THREADS - 1); },
          [f](const auto& to, const auto& from) { return weft::prefix_reduce(to, from, f); },
          [f](const auto& to, const auto& from) { return weft::reduce_all(to.local(), from.local(), f); }};
}

TEST(user_functions, what_they_throw_of_vectors_ends_the_operation_and_nothing_else) {
  const auto throwing = [](long, long) -> long { throw of_program("no"); };
  for (const std::size_t length : {1, 400, 3000, 50'000}) {
    const weft::array<long> from(length), to(length), other(length);
    for (const posts& post : vectors_by(throwing)) {
      std::ranges::fill(from, MYTHREAD);
      weft::pending fails = post(to, from), good = weft::reduce_all(other, from, UPC_ADD);
      const bool calls = THREADS > 1 && MYTHREAD == THREADS - 1; // by the last rank, whatever the operation
      try {
        fails.wait();
        EXPECT_FALSE(calls) << "nothing was thrown";
      } catch (const of_program& e) {
        EXPECT_STREQ(e.what(), "no");
      } catch (const weft::error& e) {
        EXPECT_NE(std::string(e.what()).find("a function of the user threw"), std::string::npos) << e.what();
      }
      good.wait();
      EXPECT_EQ(other[length - 1], THREADS * (THREADS - 1) / 2);
      upc_barrier;
    }
  }
}

TEST(user_functions, of_vectors_must_not_wait) {
  const weft::array<long> from(400), to(400);
  for (const posts& post : vectors_by([](long x, long y) {
         if (x == -1) {
           EXPECT_THROW(weft::weft_barrier(), weft::error);
         }
         return x + y;
       })) {
    std::ranges::fill(from, 1);
    from[7] = MYTHREAD == 0 ? -1 : 0;
    post(to, from).wait();
    EXPECT_TRUE(MYTHREAD != THREADS - 1 || (to[7] == -1 && to[399] == THREADS));
    upc_barrier;
  }
}

// Associative, and does not commute.
long digits_of_both(long x, long y) {
  long beyond = 10;
  while (beyond <= y)
    beyond *= 10;
  return x * beyond + y;
}

TEST(user_functions, values_are_reduced_without_arrays) {
  auto sum = weft::reduce_all(MYTHREAD + 1, UPC_ADD);
  auto before = weft::exclusive_prefix_reduce(MYTHREAD + 1, UPC_ADD, -1);
  auto digits = weft::prefix_reduce(long{MYTHREAD} + 1, [](long x, long y) { return digits_of_both(x, y); });
  EXPECT_EQ(sum.get(), THREADS * (THREADS + 1) / 2);
  EXPECT_EQ(before.get(), MYTHREAD == 0 ? -1 : MYTHREAD * (MYTHREAD + 1) / 2);
  long wanted = 0;
  for (int t = 0; t <= MYTHREAD; ++t)
    wanted = digits_of_both(wanted, t + 1);
  EXPECT_EQ(digits.get(), wanted);
}

// Whoever is assigned to may be under way: what it writes to must be there until it is complete.
TEST(user_functions, a_value_is_assigned_over_one_that_is_pending) {
  auto sum = weft::reduce_all(MYTHREAD, UPC_ADD);
  for (int round = 1; round < 200; ++round)
    sum = weft::reduce_all(MYTHREAD + round, UPC_ADD);
  EXPECT_EQ(sum.get(), THREADS * (THREADS - 1) / 2 + 199 * THREADS);
}

} // namespace
