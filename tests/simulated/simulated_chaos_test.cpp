// SPDX-License-Identifier: BSD-3-Clause
// Each liberty of the simulated transport alone, switched on and off.
#include "tests/simulated/wait_for.hpp"

#include <array>
#include <gtest/gtest.h>

namespace weft::tests {
namespace {
using transport::simulated_chaos;
using transport::simulated_transport;
using transport::simulation;
using transport::simulation_options;
using namespace std::chrono_literals;

simulation_options with(const simulated_chaos& chaos, std::uint32_t ranks,
                        std::vector<std::uint32_t> nodes = {}) {
  simulation_options o = rough(1, ranks, std::move(nodes));
  o.chaos = chaos;
  return o;
}

std::chrono::nanoseconds time_of_ten_loads(const simulated_chaos& chaos) {
  simulation s(with(chaos, 1));
  s.run([](std::uint32_t, simulated_transport& t) {
    for (int k = 0; k < 10; ++k)
      t.load(word_at(t.segment(), 0));
  });
  return s.elapsed();
}

TEST(simulated_chaos, stalls_and_interrupts_take_time) {
  EXPECT_EQ(20ns, time_of_ten_loads({}));
  EXPECT_GT(time_of_ten_loads({.stall = 1, .stall_ns = 1'000'000}), 1ms);
  EXPECT_GT(time_of_ten_loads({.interrupt = 1, .delay_ns = 1000}), 1us);
}

// How often another rank goes on while two of them load ten times each.
int switches(const simulated_chaos& chaos) {
  simulation s(with(chaos, 2));
  int changes = 0;
  std::uint32_t last = 0;
  s.run([&](std::uint32_t rank, simulated_transport& t) {
    for (int k = 0; k < 10; ++k) {
      t.load(word_at(t.segment(), 0));
      changes += last != rank;
      last = rank;
    }
  });
  return changes;
}

TEST(simulated_chaos, in_a_burst_a_rank_gets_ahead) {
  EXPECT_GT(switches({}), 8);
  EXPECT_LT(switches({.burst_ns = 1'000'000}), 8);
}

// What rank 1 receives of a source that rank 0 changed 1 ms after it had asked for the put, without polling.
std::uint64_t received(const simulated_chaos& chaos) {
  simulation s(with(chaos, 2, {0, 1}));
  s.run([&](std::uint32_t rank, simulated_transport& t) {
    if (rank != 0) return;
    std::uint64_t source = 1;
    waited put, flush;
    const transport::started came = t.put(1, 0, &source, sizeof(source), put);
    t.compute(1ms);
    source = 2;
    finish(t, came, put);
    finish(t, t.flush(1, flush), flush);
  });
  return word_at(s.segment(1), 0).load();
}

TEST(simulated_chaos, a_source_may_be_read_by_the_call_or_later_or_by_the_own_poll) {
  EXPECT_EQ(1u, received({.at_once = 1}));
  EXPECT_EQ(1u, received({.at_once = 0}));
  EXPECT_EQ(2u, received({.needs_own_poll = 1, .at_once = 0}));
}

struct counter_sink final : transport::message_sink {
  void on_message(const transport::message&, std::span<const std::byte>) override { ++got; }
  int got = 0;
};

// Messages that the first poll hands over when four have come.
int first_harvest(double few) {
  simulation s(with({.few = few}, 2, {0, 1}));
  int harvest = 0;
  s.run([&](std::uint32_t rank, simulated_transport& t) {
    counter_sink sink;
    t.set_sink(&sink);
    std::array<waited, 4> sent;
    if (rank == 0) {
      for (waited& w : sent)
        finish(t, t.send(1, {}, nullptr, 0, w), w);
    } else {
      t.compute(1ms);
      t.poll();
      harvest = sink.got;
      EXPECT_EQ(harvest == 4, t.arm()) << "what is left over must keep it awake";
      wait_for(t, [&] { return sink.got == 4; });
    }
    t.set_sink(nullptr);
  });
  return harvest;
}

TEST(simulated_chaos, a_poll_may_leave_something_for_the_next) {
  EXPECT_EQ(4, first_harvest(0));
  EXPECT_LT(first_harvest(1), 4);
}

std::uint64_t steps_of_a_long_wait(double spin) {
  simulation s(with({.spin = spin}, 2));
  s.run([](std::uint32_t rank, simulated_transport& t) {
    auto& word = word_at(t.direct(0), 0);
    if (rank == 0) {
      t.compute(1ms);
      t.store(word, 1);
    } else {
      wait_for(t, [&] { return t.load(word) == 1; });
    }
  });
  return s.steps();
}

TEST(simulated_chaos, waiting_costs_no_steps_unless_it_is_to_be_gone_through) {
  EXPECT_LT(steps_of_a_long_wait(0), 50u);
  EXPECT_GT(steps_of_a_long_wait(1), 1000u);
}

} // namespace
} // namespace weft::tests
