// SPDX-License-Identifier: BSD-3-Clause
#include "progress/driving/ownership.hpp"
#include "tests/progress/crew.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

namespace {

using weft::progress::ownership;
using weft::progress::submission_queue;
using weft::testing::patience;
using weft::testing::run_together;
using weft::testing::wait_until;

struct item {
  unsigned producer = 0; // plain: the queue hands them over
  unsigned number = 0;
  item* next = nullptr;
  std::atomic<bool> in_use{false};
};
using queue = submission_queue<item, &item::next>;

std::vector<unsigned> numbers(const item* chain) {
  std::vector<unsigned> result;
  for (; chain != nullptr; chain = chain->next)
    result.push_back(chain->number);
  return result;
}

TEST(submission_queue, takes_everything_oldest_first) {
  queue q;
  std::array<item, 3> items;
  EXPECT_TRUE(q.empty());
  EXPECT_EQ(q.take_all(), nullptr);
  for (unsigned i = 0; i < items.size(); ++i) {
    items[i].number = i;
    q.push(&items[i]);
  }
  EXPECT_FALSE(q.empty());
  EXPECT_EQ(numbers(q.take_all()), (std::vector<unsigned>{0, 1, 2}));
  EXPECT_TRUE(q.empty());
  EXPECT_EQ(q.take_all(), nullptr);
}

// A producer with few items: it pushes the same addresses again and again while others are in the middle of
// a push, which is where an ABA error would show.
class producer {
public:
  explicit producer(unsigned me) : me_{me} {}

  // Null when the test has failed and no thread gives items back any more.
  item* fill(unsigned number, const std::atomic<bool>& stuck) {
    for (patience waiting; !stuck; waiting.wait()) {
      for (item& each : pool_) {
        if (each.in_use.load(std::memory_order_acquire)) continue;
        each.in_use.store(true, std::memory_order_relaxed);
        each.producer = me_;
        each.number = number;
        return &each;
      }
    }
    return nullptr;
  }

private:
  const unsigned me_;
  std::array<item, 4> pool_;
};

// What a consumer does with a chain: every producer's items come in its order, each once. Plain data, as the
// consumers pass each other progress ownership.
class ledger {
public:
  explicit ledger(unsigned producers) : expected_(producers, 0) {}

  unsigned take(item* chain) {
    unsigned count = 0;
    while (chain != nullptr) {
      item* next = chain->next;
      if (chain->number != expected_[chain->producer]) ++faults_;
      expected_[chain->producer] = chain->number + 1;
      chain->in_use.store(false, std::memory_order_release);
      chain = next;
      ++count;
    }
    return count;
  }

  unsigned faults() const { return faults_; }

private:
  std::vector<unsigned> expected_;
  unsigned faults_ = 0;
};

// Caught here: no reversal in take_all(), or (in most runs) a push that stores in place of the
// compare-and-swap (the order or the count is wrong); push or take_all() relaxed (ThreadSanitizer reports the
// race on the items).
TEST(submission_queue_stress, keeps_order_while_the_consumer_changes) {
  constexpr unsigned producers = 2;
  constexpr unsigned consumers = 2;
  constexpr unsigned items = 20'000;
  queue q;
  ownership b;
  ledger taken{producers};
  std::atomic<unsigned> count{0};
  std::atomic<bool> stuck{false};
  std::vector<std::unique_ptr<producer>> sources;
  for (unsigned i = 0; i < producers; ++i)
    sources.push_back(std::make_unique<producer>(i));

  run_together(producers + consumers, [&](unsigned me) {
    if (me < producers) {
      for (unsigned i = 0; i < items; ++i) {
        item* const next = sources[me]->fill(i, stuck);
        if (next == nullptr) return;
        q.push(next);
      }
      return;
    }
    const bool all = wait_until([&] {
      if (b.try_acquire()) {
        count += taken.take(q.take_all());
        b.release();
      }
      return count == producers * items;
    });
    EXPECT_TRUE(all) << "items are lost";
    if (!all) stuck = true;
  });
  EXPECT_EQ(count, producers * items);
  EXPECT_EQ(taken.faults(), 0u);
}

} // namespace
