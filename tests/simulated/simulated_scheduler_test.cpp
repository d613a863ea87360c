// SPDX-License-Identifier: BSD-3-Clause
// Clock, sleep, late and stopped ranks, deadlocks and replay of the simulated transport.
#include "tests/simulated/wait_for.hpp"

#include <gtest/gtest.h>

namespace weft::tests {
namespace {
using transport::simulated_deadlock;
using transport::simulated_transport;
using transport::simulation;
using transport::simulation_options;
using namespace std::chrono_literals;

// A little of everything.
void busy(std::uint32_t rank, simulated_transport& t) {
  std::byte text[100]{};
  for (std::uint32_t k = 0; k < 20; ++k) {
    t.copy(t.direct((rank + 1) % t.size()) + 4096, text, sizeof(text));
    t.add(word_at(t.direct(0), 0), 1);
  }
  wait_for(t, [&] { return t.load(word_at(t.direct(0), 0)) == 20 * t.size(); });
}

std::uint64_t trace(std::uint64_t seed) {
  simulation s(rough(seed, 4));
  s.run(busy);
  return s.trace_hash();
}

TEST(simulated_scheduler, a_seed_replays_to_the_last_operation) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    EXPECT_EQ(trace(seed), trace(seed));
}

TEST(simulated_scheduler, seeds_differ) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    EXPECT_NE(trace(seed), trace(seed + 1));
}

TEST(simulated_scheduler, operations_of_ranks_interleave) {
  const auto order = [](std::uint64_t seed) {
    simulation s(rough(seed, 3));
    std::string who;
    s.run([&](std::uint32_t rank, simulated_transport& t) {
      for (int k = 0; k < 4; ++k) {
        t.load(word_at(t.segment(), 0));
        who += static_cast<char>('0' + rank);
      }
    });
    return who;
  };
  std::set<std::string> seen;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed)
    seen.insert(order(seed));
  EXPECT_GT(seen.size(), seeds / 8);
}

TEST(simulated_scheduler, without_chaos_the_clock_is_the_cost_model) {
  simulation_options options;
  options.ranks = 2;
  options.host_of_rank = {0, 1};
  options.costs.poll = 0;
  options.costs.relax = 0;
  simulation s(options);
  const transport::simulated_costs& c = options.costs;
  constexpr std::uint64_t bytes = 1000;
  s.run([&](std::uint32_t rank, simulated_transport& t) {
    if (rank != 0) return;
    std::byte data[bytes]{};
    waited put, flush;
    EXPECT_TRUE(t.put(1, 0, data, bytes, put).done());
    EXPECT_EQ(std::chrono::nanoseconds(static_cast<std::int64_t>(c.o)), t.now());
    finish(t, t.flush(1, flush), flush);
    // o, gap and bytes, the way there and the news of it back
    EXPECT_EQ(std::chrono::nanoseconds(static_cast<std::int64_t>(c.o + c.g + c.byte * bytes + 2 * c.latency)),
              t.now());
  });
}

TEST(simulated_scheduler, a_rank_that_computes_holds_up_nobody_else) {
  simulation_options options;
  options.ranks = 2;
  simulation s(options);
  s.run([&](std::uint32_t rank, simulated_transport& t) {
    if (rank == 0) t.compute(1s);
    t.add(word_at(t.segment(), 0), 1);
  });
  EXPECT_GE(s.clock(0), 1s);
  EXPECT_LT(s.clock(1), 1us);
  EXPECT_EQ(s.clock(0), s.elapsed());
}

TEST(simulated_scheduler, a_rank_can_be_held_up_at_each_of_its_operations) {
  for (std::uint64_t n = 1; n <= 3; ++n) {
    simulation_options options;
    options.ranks = 1;
    simulation s(options);
    s.run([&](std::uint32_t, simulated_transport& t) {
      t.hold_up(n, 1ms);
      for (std::uint64_t k = 1; k <= 3; ++k) {
        t.load(word_at(t.segment(), 0));
        EXPECT_EQ(k >= n, t.now() >= 1ms);
      }
    });
  }
}

// Rank 1 sleeps, rank 0 stores a word and rings if told to.
void store_and_ring(simulation_options options, bool rings) {
  options.endless_naps = true;
  simulation s(options);
  s.run([&](std::uint32_t rank, simulated_transport& t) {
    auto& word = word_at(t.direct(0), 0);
    if (rank == 0) {
      t.compute(1ms);
      t.store(word, 1);
      if (rings) t.ring(1);
    } else {
      while (t.load(word) == 0)
        t.nap(1h);
    }
  });
}

TEST(simulated_scheduler, a_ring_ends_a_nap) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    EXPECT_NO_THROW(store_and_ring(rough(seed, 2), true));
}

TEST(simulated_scheduler, a_store_wakes_nobody) {
  EXPECT_THROW(store_and_ring(rough(1, 2), false), simulated_deadlock);
}

TEST(simulated_scheduler, a_lost_ring_is_a_deadlock) {
  simulation_options options = rough(1, 2);
  options.faults.lost_ring = 1;
  EXPECT_THROW(store_and_ring(options, true), simulated_deadlock);
}

TEST(simulated_scheduler, a_ring_before_the_nap_is_kept) {
  simulation_options options;
  options.ranks = 2;
  options.endless_naps = true;
  simulation s(options);
  s.run([&](std::uint32_t rank, simulated_transport& t) {
    if (rank == 0) {
      t.ring(1);
    } else {
      t.compute(1ms);
      EXPECT_FALSE(t.arm());
      t.nap(1h);
      EXPECT_LT(t.now(), 2ms);
      EXPECT_TRUE(t.arm());
    }
  });
}

TEST(simulated_scheduler, a_nap_ends_at_its_limit) {
  simulation s(rough(1, 1));
  s.run([](std::uint32_t, simulated_transport& t) {
    t.nap(3ms);
    EXPECT_GE(t.now(), 3ms);
    EXPECT_LT(t.now(), 4ms);
  });
}

TEST(simulated_scheduler, waiting_for_a_time_is_no_deadlock) {
  simulation s(rough(1, 2));
  s.run([](std::uint32_t, simulated_transport& t) {
    while (t.now() < 20us)
      t.relax();
  });
}

TEST(simulated_scheduler, a_deadlock_says_what_each_rank_does) {
  simulation s(rough(1, 3));
  try {
    s.run([](std::uint32_t rank, simulated_transport& t) {
      t.describe([rank] { return "waits for " + std::to_string(rank + 1); });
      if (rank == 2) return;
      wait_for(t, [&] { return t.load(word_at(t.segment(), 0)) == 1; });
    });
    FAIL() << "it was not noticed";
  } catch (const simulated_deadlock& e) {
    const std::string text = e.what();
    EXPECT_NE(std::string::npos, text.find("rank 0 goes on")) << text;
    EXPECT_NE(std::string::npos, text.find("waits for 1")) << text;
    EXPECT_NE(std::string::npos, text.find("waits for 2")) << text;
    EXPECT_NE(std::string::npos, text.find("rank 2 has ended")) << text;
  }
}

TEST(simulated_scheduler, endless_changes_without_progress_are_noticed) {
  simulation_options options = rough(1, 2);
  options.step_limit = 10000;
  simulation s(options);
  EXPECT_THROW(s.run([](std::uint32_t, simulated_transport& t) {
    for (;;)
      t.add(word_at(t.segment(), 0), 1);
  }),
               simulated_deadlock);
}

struct counted {
  explicit counted(int& n) : n_(n) { ++n_; }
  ~counted() { --n_; }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
  int& n_;
};

TEST(simulated_scheduler, the_others_go_on_without_a_stopped_rank) {
  simulation s(rough(1, 3));
  int alive = 0;
  int ended = 0;
  s.run([&](std::uint32_t rank, simulated_transport& t) {
    const counted object(alive);
    t.add(word_at(t.direct(0), 0), 1);
    if (rank == 1) t.stop();
    wait_for(t, [&] { return t.load(word_at(t.direct(0), 0)) == 3; });
    ++ended;
  });
  EXPECT_EQ(2, ended);
  EXPECT_EQ(0, alive) << "objects of the stopped rank were not destroyed";
}

TEST(simulated_scheduler, an_exception_of_one_rank_ends_the_run_and_destroys_the_others_objects) {
  simulation s(rough(1, 3));
  int alive = 0;
  EXPECT_THROW(s.run([&](std::uint32_t rank, simulated_transport& t) {
    const counted object(alive);
    if (rank == 1) {
      t.compute(1ms);
      throw std::runtime_error("rank 1 fails");
    }
    wait_for(t, [] { return false; });
  }),
               std::runtime_error);
  EXPECT_EQ(0, alive);
}

TEST(simulated_scheduler, exceptions_of_ranks_in_turns_do_not_mix) {
  simulation s(rough(3, 4));
  s.run([](std::uint32_t rank, simulated_transport& t) {
    for (int k = 0; k < 20; ++k) {
      try {
        throw static_cast<int>(rank);
      } catch (int caught) {
        t.add(word_at(t.direct(0), 0), 1); // others throw and catch meanwhile
        EXPECT_EQ(static_cast<int>(rank), caught);
        try {
          throw;
        } catch (int again) {
          EXPECT_EQ(static_cast<int>(rank), again);
        }
      }
    }
  });
}

TEST(simulated_scheduler, thousands_of_ranks_fit) {
  simulation_options options;
  options.ranks = 4096;
  options.segment_bytes = 4096;
  options.stack_bytes = 64 << 10;
  for (std::uint32_t rank = 0; rank < options.ranks; ++rank)
    options.host_of_rank.push_back(rank);
  simulation s(options);
  s.run([](std::uint32_t rank, simulated_transport& t) {
    waited put, flush;
    const std::uint64_t value = rank;
    finish(t, t.put((rank + 1) % t.size(), 0, &value, sizeof(value), put), put);
    finish(t, t.flush((rank + 1) % t.size(), flush), flush);
  });
  for (std::uint32_t rank = 0; rank < options.ranks; ++rank)
    ASSERT_EQ((rank + options.ranks - 1) % options.ranks, word_at(s.segment(rank), 0).load());
}

} // namespace
} // namespace weft::tests
