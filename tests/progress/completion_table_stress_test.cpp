// SPDX-License-Identifier: BSD-3-Clause
#include "progress/execution/completion_table.hpp"
#include "tests/progress/crew.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <vector>

namespace {

using weft::progress::completion_table;
using weft::testing::meeting_point;
using weft::testing::patience;
using weft::testing::rounds_budget;
using weft::testing::run_together;
using weft::testing::wait_until;
using status = completion_table::status;

// Few slots, many threads, every slot's data plain. Caught here: a free list without its tag (one slot is
// given to two); a relaxed push or pop (ThreadSanitizer reports the race on the slot's data).
TEST(completion_table_stress, gives_a_slot_to_one_at_a_time) {
  constexpr unsigned threads = 4;
  constexpr unsigned operations = 150'000;
  constexpr std::size_t cap = 6;
  completion_table table{cap};
  std::array<std::atomic<bool>, cap> taken{};
  std::array<unsigned, cap> data{};
  std::atomic<unsigned> faults{0};

  run_together(threads, [&](unsigned me) {
    const auto take = [&] {
      std::uint64_t handle = 0;
      for (patience waiting; (handle = table.allocate()) == 0;)
        waiting.wait();
      if (taken[table.index(handle)].exchange(true, std::memory_order_relaxed)) ++faults;
      if (table.query(handle) != status::pending) ++faults;
      data[table.index(handle)] = me;
      return handle;
    };
    const auto give = [&](std::uint64_t handle) {
      if (data[table.index(handle)] != me) ++faults;
      taken[table.index(handle)].store(false, std::memory_order_relaxed);
      table.complete(handle);
      if (table.query(handle) != status::complete) ++faults;
    };
    for (unsigned i = 0; i < operations; ++i) {
      const std::uint64_t first = take();
      if (i % 2 == 0) {
        give(first);
        continue;
      }
      // Two at a time if there is a second, returned in the order of taking: this turns the stack over.
      const std::uint64_t second = table.allocate();
      if (second != 0) {
        if (taken[table.index(second)].exchange(true, std::memory_order_relaxed)) ++faults;
        data[table.index(second)] = me;
      }
      give(first);
      if (second != 0) give(second);
    }
  });
  EXPECT_EQ(faults, 0u);
  EXPECT_EQ(table.outstanding(), 0u);
}

// Threads that all need new chunks at the same time. Caught here: growth without the look into
// the list (the cap is reached with slots left over).
TEST(completion_table_stress, grows_under_contention) {
  constexpr unsigned threads = 4;
  constexpr std::size_t cap = 10'000;
  for (int round = 0; round < 20; ++round) {
    completion_table table{cap};
    std::array<std::vector<std::uint64_t>, threads> got;
    run_together(threads, [&](unsigned me) {
      while (const std::uint64_t handle = table.allocate()) {
        got[me].push_back(handle);
        EXPECT_EQ(table.query(handle), status::pending);
      }
    });
    std::vector<bool> seen(cap, false);
    std::size_t total = 0;
    for (const auto& handles : got) {
      total += handles.size();
      for (const std::uint64_t handle : handles) {
        ASSERT_LT(table.index(handle), cap);
        EXPECT_FALSE(seen[table.index(handle)]);
        seen[table.index(handle)] = true;
      }
    }
    EXPECT_EQ(total, cap);
  }
}

// At the cap, whoever has seen an operation complete may post the next one. Caught here: an allocate that
// believes the empty list while the completer is between its two stores.
TEST(completion_table_stress, has_room_for_one_that_was_seen_to_complete) {
  constexpr unsigned operations = 200'000;
  completion_table table{1};
  std::atomic<std::uint64_t> posted{0};
  const rounds_budget budget;
  run_together(2, [&](unsigned me) {
    if (me == 0) {
      for (unsigned i = 0; i < operations && !budget.spent(); ++i) {
        const std::uint64_t handle = table.allocate();
        EXPECT_NE(handle, 0u) << "operation " << i;
        if (handle == 0) break;
        posted.store(handle, std::memory_order_release);
        ASSERT_TRUE(wait_until([&] { return table.query(handle) == status::complete; }));
      }
      posted.store(0, std::memory_order_release);
    } else {
      std::uint64_t before = 0, handle = 0;
      const auto next = [&] { return (handle = posted.load(std::memory_order_acquire)) != before; };
      while (wait_until(next) && handle != 0) {
        table.complete(handle);
        before = handle;
      }
    }
  });
}

// One thread completes, two wait for the same handle and read the operation's plain result; by the time that
// the slower one looks, the slot may serve a later operation. Caught here: complete() that stores the word
// relaxed or query() that loads it relaxed (ThreadSanitizer reports the race on the result).
TEST(completion_table_stress, publishes_the_result_to_every_waiter) {
  constexpr unsigned waiters = 2;
  constexpr unsigned operations = 100'000;
  completion_table table{2};
  std::vector<std::uint64_t> results(operations, 0);
  std::vector<std::atomic<std::uint64_t>> posted(operations);
  run_together(waiters + 1, [&](unsigned me) {
    for (unsigned i = 0; i < operations; ++i) {
      if (me == waiters) {
        const std::uint64_t handle = table.allocate();
        posted[i].store(handle, std::memory_order_relaxed);
        results[i] = handle * 3;
        table.complete(handle);
        continue;
      }
      std::uint64_t handle = 0;
      for (patience waiting; (handle = posted[i].load(std::memory_order_relaxed)) == 0;)
        waiting.wait();
      ASSERT_TRUE(wait_until([&] { return table.query(handle) == status::complete; }));
      ASSERT_EQ(results[i], handle * 3);
    }
  });
}

// A waiter for any of several handles scans only when the count of completions has moved. Caught here, in
// most runs: a count that moves before the word (the waiter scans too early, and never again).
TEST(completion_table_stress, a_scan_after_the_count_has_moved_misses_nothing) {
  constexpr unsigned rounds = 200'000;
  completion_table table;
  meeting_point together{2};
  const rounds_budget budget;
  std::uint64_t handle = 0; // written by the completer between two meetings
  bool enough = false;
  run_together(2, [&](unsigned me) {
    for (unsigned round = 1; round <= rounds; ++round) {
      if (me == 0) {
        handle = table.allocate();
        enough = enough || (round % 64 == 0 && budget.spent());
      }
      together.arrive();
      if (enough) break;
      if (me == 0) {
        // Lets the waiter come to its loop, so that it looks at the very moment.
        for (unsigned i = round % 64; i != 0; --i)
          weft::progress::cpu_relax();
        table.complete(handle);
      } else {
        std::uint64_t scanned = ~std::uint64_t{0};
        const bool found = wait_until([&] {
          const std::uint64_t count = table.completions();
          if (count == scanned) return false;
          scanned = count;
          return table.query(handle) == status::complete;
        });
        EXPECT_TRUE(found) << "a completion was missed in round " << round;
        enough = !found;
      }
      together.arrive();
    }
  });
}

// Caught here: take_error() that leaves the error in place (two takers).
TEST(completion_table_stress, each_error_has_one_taker) {
  constexpr unsigned takers = 2;
  constexpr unsigned operations = 20'000;
  completion_table table;
  std::vector<std::atomic<std::uint64_t>> posted(operations);
  std::vector<std::atomic<unsigned>> taken(operations);
  run_together(takers + 1, [&](unsigned me) {
    for (unsigned i = 0; i < operations; ++i) {
      if (me == takers) {
        const std::uint64_t handle = table.allocate();
        posted[i].store(handle, std::memory_order_relaxed);
        if (i % 3 != 0) {
          table.fail(handle, std::make_exception_ptr(std::runtime_error{"planted"}));
        } else {
          table.complete(handle);
        }
        continue;
      }
      std::uint64_t handle = 0;
      for (patience waiting; (handle = posted[i].load(std::memory_order_relaxed)) == 0;)
        waiting.wait();
      ASSERT_TRUE(wait_until([&] { return table.query(handle) == status::complete; }));
      if (table.take_error(handle) != nullptr) ++taken[i];
    }
  });
  for (unsigned i = 0; i < operations; ++i)
    ASSERT_EQ(taken[i], i % 3 != 0 ? 1u : 0u) << i;
}

} // namespace
