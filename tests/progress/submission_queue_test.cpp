#include "progress/driving/baton.hpp"
#include "progress/driving/submission_queue.hpp"
#include "tests/progress/crew.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <semaphore>
#include <vector>

namespace {

using weft::progress::baton;
using weft::progress::held_baton;
using weft::progress::submission_queue;
using weft::testing::deadline;
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
    EXPECT_FALSE(q.push(&items[i])) << "a consumer is watching";
  }
  EXPECT_FALSE(q.empty());
  EXPECT_EQ(numbers(q.take_all()), (std::vector<unsigned>{0, 1, 2}));
  EXPECT_TRUE(q.empty());
  EXPECT_EQ(q.take_all(), nullptr);
}

TEST(submission_queue, tells_one_producer_to_ring) {
  queue q;
  item first;
  item second;
  second.number = 1;
  ASSERT_TRUE(q.try_mark_inactive());
  EXPECT_FALSE(q.active());
  EXPECT_TRUE(q.empty());
  EXPECT_TRUE(q.push(&first));
  EXPECT_TRUE(q.active());
  EXPECT_FALSE(q.push(&second));
  EXPECT_EQ(numbers(q.take_all()), (std::vector<unsigned>{0, 1}));
  EXPECT_TRUE(q.active());
}

TEST(submission_queue, cannot_be_left_with_something_queued) {
  queue q;
  item one;
  ASSERT_FALSE(q.push(&one));
  EXPECT_FALSE(q.try_mark_inactive());
  EXPECT_EQ(q.take_all(), &one);
  EXPECT_TRUE(q.try_mark_inactive());
  EXPECT_TRUE(q.try_mark_inactive()) << "leaving twice is leaving";
}

TEST(submission_queue, stays_inactive_when_nothing_is_taken) {
  queue q;
  item one;
  ASSERT_TRUE(q.try_mark_inactive());
  EXPECT_EQ(q.take_all(), nullptr);
  EXPECT_FALSE(q.active());
  EXPECT_TRUE(q.push(&one));
  EXPECT_EQ(q.take_all(), &one);
}

TEST(submission_queue, becomes_active_again) {
  queue q;
  item one;
  EXPECT_FALSE(q.mark_active()) << "was active";
  ASSERT_TRUE(q.try_mark_inactive());
  EXPECT_TRUE(q.mark_active());
  EXPECT_TRUE(q.active());
  EXPECT_FALSE(q.push(&one));
  EXPECT_FALSE(q.mark_active()) << "something is queued";
  EXPECT_EQ(q.take_all(), &one);
}

// A producer with few items: it pushes the same addresses again and again while others are in the middle of
// a push, which is where an ABA error would show.
class producer {
public:
  explicit producer(unsigned me) : me_{me} {}

  // Null when the test has failed and nobody gives items back any more.
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
// consumers pass each other the baton.
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
  baton b;
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
        EXPECT_FALSE(q.push(next));
      }
      return;
    }
    const bool all = wait_until([&] {
      if (const held_baton mine = held_baton::try_acquire(b)) count += taken.take(q.take_all());
      return count == producers * items;
    });
    EXPECT_TRUE(all) << "items are lost";
    if (!all) stuck = true;
  });
  EXPECT_EQ(count, producers * items);
  EXPECT_EQ(taken.faults(), 0u);
}

// The consumer leaves whenever it finds nothing, and sleeps until rung: a producer that did not ring, or two
// that did, would show. Caught here: try_mark_inactive() that stores the mark without looking (the item under
// it is lost and the consumer sleeps for ever); push() that returns true for an active empty queue (a ring
// without a sleeper); push() that does not acquire, or a mark that does not release (ThreadSanitizer reports
// the race on `leaves`).
TEST(submission_queue_stress, rings_exactly_once_for_each_leave) {
  constexpr unsigned producers = 3;
  constexpr unsigned items = 10'000;
  queue q;
  ledger taken{producers};
  std::counting_semaphore<> bell{0};
  std::atomic<unsigned> rings{0};
  std::atomic<bool> stuck{false};
  std::vector<std::unique_ptr<producer>> sources;
  for (unsigned i = 0; i < producers; ++i)
    sources.push_back(std::make_unique<producer>(i));
  unsigned leaves = 0; // plain: written by the consumer before it leaves, read by whoever finds the mark
  unsigned count = 0;

  run_together(producers + 1, [&](unsigned me) {
    if (me < producers) {
      for (unsigned i = 0; i < items; ++i) {
        item* const next = sources[me]->fill(i, stuck);
        if (next == nullptr) return;
        if (!q.push(next)) continue;
        ++rings;
        EXPECT_EQ(leaves, rings) << "does not see what the consumer did before it left";
        bell.release();
      }
      return;
    }
    while (count < producers * items) {
      count += taken.take(q.take_all());
      if (count == producers * items) break;
      ++leaves;
      if (!q.try_mark_inactive()) {
        --leaves;
        continue;
      }
      if (!bell.try_acquire_for(deadline::patience_limit)) {
        stuck = true;
        break;
      }
      EXPECT_FALSE(q.empty()) << "rung for nothing";
    }
  });
  EXPECT_FALSE(stuck) << "the consumer was not woken";
  EXPECT_EQ(count, producers * items);
  EXPECT_EQ(rings, leaves);
  EXPECT_EQ(taken.faults(), 0u);
}

} // namespace
