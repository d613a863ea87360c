// SPDX-License-Identifier: BSD-3-Clause
// What a waiting thread asks for may say yes once only, wherever it is asked: between two sweeps, before it
// parks, before it dozes for want of progress ownership.
//
// And a call that waits for a copy asks the transport at each turn: nothing else moves the copy on.
//
// Mutations that this catches: a park or a doze that throws the answer away; a copy that a call waits for and
// that is not counted.
#include "progress/driving/engine.hpp"
#include "testing/threads/threads_transport.hpp"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace weft::tests {
namespace {
using progress::look;
using transport::threads_fabric;
using transport::threads_transport;
using engine_type = progress::engine<threads_transport>;

progress::engine_options without_patience() {
  progress::engine_options o;
  o.idle = {.scarce = true, .spins = 0, .yields = 0};
  o.park_limit = std::chrono::milliseconds(1);
  return o;
}

// Says yes when it is asked for the n-th time, and never again; a waiter who asks on has lost it, and would
// wait for ever.
class said_once {
public:
  explicit said_once(int n) : n_(n) {}
  bool operator()(look how) {
    looks_.push_back(how);
    lost_ = asked() > n_;
    return asked() == n_ || asked() == n_ + 21;
  }
  int asked() const { return static_cast<int>(looks_.size()); }
  bool lost() const { return lost_; }
  look last() const { return looks_.back(); }

private:
  const int n_;
  std::vector<look> looks_;
  bool lost_ = false;
};

struct waiting : testing::TestWithParam<int> {
  threads_fabric fabric{1, {0}, 4096};
  threads_transport net{fabric, 0};
  engine_type mine{net, without_patience()};
  said_once fact{GetParam()};
};

TEST_P(waiting, an_answer_is_not_lost_by_who_drives) {
  mine.drive_until(fact);
  EXPECT_FALSE(fact.lost());
}

TEST_P(waiting, an_answer_is_not_lost_for_want_of_the_baton) {
  ASSERT_TRUE(mine.right_to_drive().try_acquire());
  mine.drive_until(fact);
  mine.right_to_drive().release();
  EXPECT_FALSE(fact.lost());
}

TEST_P(waiting, a_sleeper_has_looked_at_all) {
  mine.drive_until(fact);
  EXPECT_EQ(fact.last(), fact.asked() % 2 == 0 ? look::all : look::part) << "each sleep is between two looks";
}

// Sweeps, parks and dozes ask in turn.
INSTANTIATE_TEST_SUITE_P(asked, waiting, testing::Values(1, 2, 3, 4, 5, 6, 7, 8));

// Its one request is over at the third poll.
class third_poll_transport : public threads_transport {
public:
  using threads_transport::threads_transport;
  unsigned poll() {
    if (++polls == 3 && done != nullptr) done->done(done, 0);
    return 0;
  }
  unsigned polls = 0;
  transport::completion* done = nullptr;
};

struct polling : testing::Test {
  threads_fabric fabric{1, {0}, 4096};
  third_poll_transport net{fabric, 0};
  progress::engine<third_poll_transport> mine{net, {}};
  std::uint64_t sweeps_before = 0;

  void begin() {
    net.polls = 0;
    sweeps_before = mine.counts().sweeps.value();
  }
  std::uint64_t sweeps() { return mine.counts().sweeps.value() - sweeps_before; }
};

TEST_F(polling, goes_on_at_each_turn_for_a_copy_that_a_call_waits_for) {
  mine.transfer(0, [&](transport::completion& done) {
    begin();
    net.done = &done;
    return transport::started::on_its_way();
  });
  EXPECT_EQ(net.polls, 3u);
  EXPECT_EQ(sweeps(), 3u);
}

TEST_F(polling, goes_on_at_each_turn_for_an_answer_that_is_listed) {
  struct awaited final : progress::awaited_answer {
    std::string text() const override { return "nothing"; }
  } answer;
  mine.with_ownership([&] { mine.works().answers().add(answer); });
  begin();
  mine.drive_until([&] { return net.polls == 3; });
  EXPECT_EQ(sweeps(), 3u);
  mine.with_ownership([&] { mine.works().answers().remove(answer); });
}

} // namespace
} // namespace weft::tests
