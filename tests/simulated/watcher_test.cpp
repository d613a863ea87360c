// SPDX-License-Identifier: BSD-3-Clause
// When an engine rings the thread that watches its transport.
#include "progress/driving/engine.hpp"
#include "testing/threads/threads_transport.hpp"

#include <gtest/gtest.h>
#include <thread>

namespace weft::tests {
namespace {
using transport::threads_fabric;
using transport::threads_transport;
using engine_type = progress::engine<threads_transport>;

engine::team_info team_of_two(std::uint32_t rank, const std::vector<std::uint32_t>& hosts) {
  return {0, {0, 1}, graph::topology(rank, hosts), engine::first_mailbox_offset};
}

struct listener final : progress::watcher {
  void mute() override { ++muted; }
  void unmute() override { --muted; }
  void unmute_later() override { --muted, ++later; }
  void mute_for_a_while() override { ++later; }
  void not_later() override { ++awake; }
  bool wakes_later() const override { return false; }
  int muted = 0, awake = 0, later = 0;
  bool listens() const override { return listening; }
  bool wants_ring(bool) const override { return false; }
  void ring() override { ++rings; }
  bool listening = true;
  int rings = 0;
};

struct watched_rank : testing::Test {
  watched_rank() { mine.watched_by(&watcher); }
  ~watched_rank() override { mine.watched_by(nullptr); }
  // Takes the events of a message that has come, as a waiting thread does before it would block.
  void arm_in_vain() {
    mine.with_ownership([this] {
      other.ring(0);
      EXPECT_FALSE(mine.sleeps().arm());
    });
  }
  threads_fabric fabric{2, {0, 0}, 4096};
  threads_transport net{fabric, 0}, other{fabric, 1};
  engine_type mine{net, {}};
  listener watcher;
};

TEST_F(watched_rank, who_takes_the_events_of_a_listener_rings_it) {
  arm_in_vain();
  EXPECT_EQ(watcher.rings, 1);
}

TEST_F(watched_rank, a_listener_that_keeps_its_events_sleeps_on) {
  mine.with_ownership([this] { EXPECT_TRUE(mine.sleeps().arm()); });
  EXPECT_EQ(watcher.rings, 0);
}

TEST_F(watched_rank, who_has_armed_since_need_not_ring) {
  mine.with_ownership([this] {
    other.ring(0);
    EXPECT_FALSE(mine.sleeps().arm());
    net.poll();
    EXPECT_TRUE(mine.sleeps().arm());
  });
  EXPECT_EQ(watcher.rings, 0);
}

TEST_F(watched_rank, nobody_is_rung_who_does_not_listen) {
  watcher.listening = false;
  arm_in_vain();
  EXPECT_EQ(watcher.rings, 0);
}

// A thread posts while the watcher is on its way to sleep, and finds the right to drive taken.
TEST(falling_asleep, wakes_for_what_is_taken_from_the_queue_and_not_for_what_is_left) {
  threads_fabric fabric{2, {0, 1}, engine::heap_offset(2)};
  threads_transport net{fabric, 0};
  engine_type mine{net, {}};
  listener watcher;
  mine.watched_by(&watcher);
  progress::channel& team = mine.add_channel(team_of_two(0, {0, 1}));
  {
    engine_type::turn asleep(mine);
    ASSERT_TRUE(asleep.take());
    std::thread([&] { mine.post(team, {}, {}); }).join();
    asleep.let_go<true>();
  }
  EXPECT_EQ(watcher.rings, 1);
  EXPECT_EQ(mine.outstanding(), 1u);
  engine_type::turn again(mine);
  ASSERT_TRUE(again.take());
  again.let_go<true>();
  EXPECT_EQ(watcher.rings, 1);
  mine.watched_by(nullptr);
}

// A rank that computes after calls that followed each other. Mutation that this catches: its thread stays
// muted, and the others wait for what the post could not do.
TEST(post_over_sockets, has_the_watcher_listen_for_what_waits_for_more_than_words) {
  threads_fabric fabric{2, {0, 1}, engine::heap_offset(2) + (1 << 20)};
  threads_transport net{fabric, 0};
  net.poll_by_calls();
  progress::engine_options options;
  options.drive = progress::mode::helping;
  engine_type mine{net, options};
  listener watcher;
  mine.watched_by(&watcher);
  progress::channel& team = mine.add_channel(team_of_two(0, {0, 1}));
  const std::uint64_t heap = engine::heap_offset(2);
  collectives::request r{
      .op = collectives::operation::exchange, .in = graph::sync::my, .out = graph::sync::my};
  for (const auto& [bytes, waits] : {std::pair{std::uint64_t{8}, false}, {std::uint64_t{200'000}, true}}) {
    r.bytes = bytes;
    watcher.awake = 0;
    mine.post(team, r, {.dst = heap, .src = heap + 500'000});
    EXPECT_EQ(watcher.awake != 0, waits) << bytes;
    EXPECT_EQ(watcher.muted, 0);
  }
  mine.works().abandon();
  mine.watched_by(nullptr);
}

// A gather from another host: the sender is done with its post, the root finds the block in a test. Mutations
// that this catches: the post, or the test, lets messages wake the progress thread at once, and the next call
// has to mute it again, by system calls.
TEST(calls_over_sockets, that_leave_nothing_behind_keep_the_watcher_muted_for_a_while) {
  threads_fabric fabric{2, {0, 1}, engine::heap_offset(2) + (1 << 20)};
  threads_transport nets[] = {{fabric, 0}, {fabric, 1}};
  progress::engine_options options;
  options.drive = progress::mode::helping;
  options.tuning.eager_bytes = 64; // so the post makes more than a straight way
  for (threads_transport& net : nets)
    net.poll_by_calls();
  engine_type a{nets[0], options}, b{nets[1], options};
  listener of_a, of_b;
  a.watched_by(&of_a);
  b.watched_by(&of_b);
  progress::channel &to_b = a.add_channel(team_of_two(0, {0, 1})),
                    &to_a = b.add_channel(team_of_two(1, {0, 1}));
  const std::uint64_t heap = engine::heap_offset(2);
  const collectives::request r{
      .op = collectives::operation::gather, .in = graph::sync::my, .out = graph::sync::my, .bytes = 400};
  const auto post_first = [&] { return a.post(to_b, r, {.dst = heap, .src = heap + 65'536}); };
  const auto post_second = [&] { return b.post(to_a, r, {.dst = heap, .src = heap + 65'536}); };
  const auto connected = post_first(), answered = post_second();
  while (a.query(connected) == engine_type::status::pending ||
         b.query(answered) == engine_type::status::pending) {
    a.progress();
    b.progress();
  }
  of_a.later = of_b.later = 0;
  const auto first = post_first();
  a.progress();
  EXPECT_EQ(of_a.later, 0) << "its operation is outstanding";
  post_second();
  EXPECT_EQ(b.outstanding(), 0u);
  EXPECT_EQ(of_b.later, 1);
  while (a.query(first) == engine_type::status::pending)
    a.progress();
  EXPECT_EQ(of_a.later, 1);
  a.progress();
  EXPECT_EQ(of_a.later, 1) << "nothing has ended since";
  a.watched_by(nullptr);
  b.watched_by(nullptr);
}

// The barrier's round is left by the post, and left once more by a team that is given up. Mutation that this
// catches: is_rung_for counts it again, and the rank lists what it waits for behind each call from then on.
TEST(rung_operation, is_counted_once) {
  threads_fabric fabric{2, {0, 1}, engine::heap_offset(2)};
  threads_transport nets[] = {{fabric, 0}, {fabric, 1}};
  engine_type a{nets[0], {}}, b{nets[1], {}};
  progress::channel &of_a = a.add_channel(team_of_two(0, {0, 1})),
                    &of_b = b.add_channel(team_of_two(1, {0, 1}));
  bool quiet = false;
  a.works().when_quiet([&](progress::channel&) { quiet = true; });
  const auto begun = a.post(of_a, {}, {});
  a.with_ownership([&] { a.works().leave(of_a); });
  EXPECT_TRUE(a.works().has_waits());
  const auto answer = b.post(of_b, {}, {});
  while (a.query(begun) == engine_type::status::pending || b.query(answer) == engine_type::status::pending) {
    a.progress();
    b.progress();
  }
  EXPECT_TRUE(quiet);
  EXPECT_FALSE(a.works().has_waits());
}

// More operations than a team has slots are given up at the end of a job; the barrier behind them has one.
// Mutation that this catches: what is given up is not retired, and the barrier waits for ever.
TEST(abandoned_operations, hold_up_no_later_one) {
  for (const std::vector<std::uint32_t>& hosts : {std::vector<std::uint32_t>{0, 0}, {0, 1}}) {
    threads_fabric fabric{2, hosts, engine::heap_offset(2) + (1 << 20)};
    threads_transport nets[] = {{fabric, 0}, {fabric, 1}};
    engine_type a{nets[0], {}}, b{nets[1], {}};
    progress::channel &of_a = a.add_channel(team_of_two(0, hosts)),
                      &of_b = b.add_channel(team_of_two(1, hosts));
    const std::uint64_t heap = engine::heap_offset(2);
    const collectives::request r{.op = collectives::operation::exchange,
                                 .in = graph::sync::my,
                                 .out = graph::sync::my,
                                 .bytes = 200'000};
    for (int k = 0; k != 40; ++k)
      a.post(of_a, r, {.dst = heap, .src = heap + 500'000});
    EXPECT_EQ(a.outstanding(), 40u) << "b has posted nothing";
    for (int k = 0; k != 40; ++k)
      b.post(of_b, r, {.dst = heap, .src = heap + 500'000});
    for (engine_type* const e : {&a, &b})
      e->with_ownership([&] { e->works().abandon(); });
    const auto first = a.post(of_a, {}, {}), second = b.post(of_b, {}, {});
    const auto over = [&] {
      return a.query(first) == engine_type::status::complete &&
             b.query(second) == engine_type::status::complete;
    };
    for (int k = 0; k != 10'000 && !over(); ++k) {
      a.progress();
      b.progress();
    }
    EXPECT_TRUE(over()) << hosts[1];
  }
}

} // namespace
} // namespace weft::tests
