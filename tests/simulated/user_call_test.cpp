// SPDX-License-Identifier: BSD-3-Clause
// User code that a plan calls: it runs with nothing held, so that operations of the same rank go on
// meanwhile; it completes like a request, and what it throws fails its operation alone.
//
// Mutations that this catches: the call is made with the right to drive (a hang); an exception leaves the
// call; what was under way when the rank was last listed is never listed again.
#include "engine/plan/builder.hpp"
#include "progress/driving/driver.hpp"
#include "testing/threads/threads_transport.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <stdexcept>
#include <thread>

namespace weft::tests {
namespace {
using transport::threads_transport;

// An engine for plans that no call of the library has.
class plan_engine : public progress::driver<threads_transport, plan_engine> {
  using base = progress::driver<threads_transport, plan_engine>;

public:
  explicit plan_engine(threads_transport& net, progress::mode drive = progress::mode::caller)
      : base(net, driven_by(drive)) {}

  void post(progress::posted& op, progress::channel& team, const graph::plan& p, const graph::task& code) {
    op.channel = &team;
    op.program = &p;
    op.at.task = &code;
    op.seq = net().add(team.own.entered(), 1) + 1;
    with_ownership([&] { works().start(op), works().leaves(op); });
  }
  void wait(const progress::posted& op) {
    drive_until([&] { return op.finished.load(std::memory_order_acquire); });
  }
  progress::channel& add_channel(std::uint32_t id, std::uint64_t mailbox) {
    engine::team_info info;
    info.id = id;
    info.world = {0};
    info.topology = graph::topology(0, {0});
    info.mailbox_offset = mailbox;
    return works().add_channel(std::move(info));
  }

private:
  friend base;
  static progress::engine_options driven_by(progress::mode drive) {
    progress::engine_options o;
    o.drive = drive;
    return o;
  }
  void begin_queued(progress::posted& op) { works().start(op); }
  static void finish(progress::posted& op) { op.finished.store(true, std::memory_order_release); }
};

// What a task of users says.
struct calling_task : graph::task {
  using function = bool (*)(const graph::task&, graph::work&);
  calling_task(function f, void* argument) : argument(argument) {
    run = f;
    user = true;
  }
  void* argument;
};
template <class Argument> Argument& argument_of(const graph::task& t) {
  return *static_cast<Argument*>(static_cast<const calling_task&>(t).argument);
}
bool count_call(const graph::task& t, graph::work&) {
  ++argument_of<std::atomic<int>>(t);
  return true;
}

graph::plan calling() {
  graph::builder b(0, 1, 0);
  b.add(graph::copy_own(),
        b.add(graph::writing(graph::compute(0), graph::buffer::scratch, graph::in_destination)));
  return b.finish();
}

struct user_calls : testing::Test {
  static constexpr std::uint64_t mailbox = engine::first_mailbox_offset;
  transport::threads_fabric memory{1, {0}, mailbox + 2 * engine::mailbox::bytes(1) + 4096};
  threads_transport net{memory, 0};
  plan_engine e{net};
  const graph::plan plan = calling();
  progress::channel& team = e.add_channel(0, mailbox);
  progress::channel& other = e.add_channel(1, mailbox + (engine::mailbox::bytes(1) + 63) / 64 * 64);
};

TEST_F(user_calls, hold_up_nobody_else) {
  struct meeting {
    std::atomic<bool> inside{false}, over{false};
  } m;
  const calling_task until_the_other_is_over(
      [](const graph::task& t, graph::work&) {
        auto& m = argument_of<meeting>(t);
        m.inside = true;
        while (!m.over)
          std::this_thread::yield();
        return true;
      },
      &m);
  progress::posted slow, quick;
  e.post(slow, team, plan, until_the_other_is_over);
  std::thread waiter([&] { e.wait(slow); });
  while (!m.inside)
    std::this_thread::yield();
  std::atomic<int> calls = 0;
  const calling_task count(count_call, &calls);
  e.post(quick, other, plan, count);
  e.wait(quick);
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(slow.finished);
  m.over = true;
  waiter.join();
  EXPECT_TRUE(slow.finished);
  EXPECT_EQ(slow.status, 0);
}

TEST_F(user_calls, that_throw_fail_their_operation_alone) {
  progress::posted wrong, right;
  std::atomic<int> calls = 0;
  const calling_task throwing(
      [](const graph::task&, graph::work&) -> bool { throw std::runtime_error("no"); }, nullptr);
  const calling_task count(count_call, &calls);
  e.post(wrong, team, plan, throwing);
  e.post(right, team, plan, count);
  e.wait(wrong);
  e.wait(right);
  EXPECT_EQ(wrong.status, progress::status_user_code);
  EXPECT_EQ(right.status, 0);
  EXPECT_EQ(calls, 1);
}

// In pieces: between two of them others are driven, also by the one thread that there is.
TEST_F(user_calls, give_way_between_pieces) {
  struct counts {
    std::atomic<int> pieces{0}, when_other_ended{0};
  } all;
  const calling_task slow_task(
      [](const graph::task& t, graph::work& w) {
        ++argument_of<counts>(t).pieces;
        return ++w.done == 100;
      },
      &all);
  std::atomic<int> calls = 0;
  const calling_task count(count_call, &calls);
  progress::posted slow, quick;
  e.post(slow, team, plan, slow_task);
  e.post(quick, other, plan, count);
  e.wait(quick);
  EXPECT_LT(all.pieces, 100);
  EXPECT_FALSE(slow.finished);
  e.wait(slow);
  EXPECT_EQ(all.pieces, 100);
}

// A rank that leaves when it has run the code of an operation is rung for what comes behind it.
struct sleeping_thread final : progress::watcher {
  bool listens() const override { return true; }
  bool wants_ring(bool) const override { return false; }
  void ring() override {}
  void mute() override {}
  void unmute() override {}
  void unmute_later() override {}
  void mute_for_a_while() override {}
  bool wakes_later() const override { return false; }
  void not_later() override {}
};

TEST_F(user_calls, are_followed_by_what_others_wait_for) {
  sleeping_thread asleep;
  plan_engine away(net, progress::mode::helping);
  away.works().members().node().meet({0});
  away.watched_by(&asleep);
  graph::plan awaited = plan;
  awaited.alone = awaited.top;
  std::atomic<int> calls = 0;
  const calling_task count(count_call, &calls);
  progress::posted op;
  engine::team_info info = team.info;
  away.post(op, away.works().add_channel(std::move(info)), awaited, count);
  while (calls == 0)
    away.progress(); // and no other call
  EXPECT_FALSE(op.finished);
  EXPECT_TRUE(away.works().members().node().waits().any());
}

} // namespace
} // namespace weft::tests
