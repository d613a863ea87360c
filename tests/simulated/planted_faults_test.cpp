// SPDX-License-Identifier: BSD-3-Clause
// The random programs must find faults: each of these plants one, and looks for a seed that fails because of
// it.
#include "tests/simulated/simulated_run.hpp"

#include <algorithm>
#include <gtest/gtest.h>

namespace weft::tests {
namespace {
using graph::fact;
using graph::node;
using graph::plan;

constexpr std::uint64_t most_seeds = 400;

// The first seed that fails with a text that contains `how`, but not without the fault; 0 if there is none.
std::uint64_t seed_that_finds(const simulated_run_options& fault, const std::string& how = {}) {
  for (std::uint64_t seed = 1; seed <= most_seeds; ++seed) {
    const std::string failure = failure_of_seed(seed, fault);
    if (failure.empty() || failure.find(how) == std::string::npos) continue;
    if (failure_of_seed(seed).empty()) return seed;
  }
  return 0;
}

// Changes the cached plans of all calls of a case before they are used. They stay pinned, so that they stay.
template <class Change> simulated_run_options with_plans(Change change) {
  simulated_run_options options;
  options.prepare = [change](const collective_case& c, simulated_engine& e, progress::channel& team) {
    std::vector<const plan*> changed;
    for (const auto& round : c.rounds) {
      for (const auto& call : round) {
        const plan* const p = e.plans().pin(call.request, team.info, e.counts());
        if (std::find(changed.begin(), changed.end(), p) != changed.end()) continue;
        change(const_cast<plan&>(*p));
        changed.push_back(p);
      }
    }
  };
  return options;
}

template <class Change> void for_each_loop(plan& p, Change change) {
  for (std::uint8_t k = 0; k < p.size; ++k)
    if (p.nodes[k].what == graph::kind::loop) change(p.nodes[k], &p.nodes[p.nodes[k].body]);
}

void drop_flush(plan& p) {
  for_each_loop(p, [](node& loop, node* body) {
    node* const end = body + loop.body_size;
    loop.body_size = static_cast<std::uint8_t>(
        std::remove_if(body, end, [](const node& n) { return n.what == graph::kind::flush; }) - body);
  });
}

// The counting signal changes places with what it follows.
void signal_before(plan& p, graph::kind before, fact what) {
  for_each_loop(p, [&](node& loop, node* body) {
    for (int k = 1; k < loop.body_size; ++k)
      if (body[k].what == graph::kind::signal && body[k].about == what && body[k - 1].what == before)
        std::swap(body[k], body[k - 1]);
  });
}

TEST(planted_faults, a_dropped_flush_is_found) {
  EXPECT_NE(0u, seed_that_finds(with_plans(drop_flush), "byte"));
}

TEST(planted_faults, a_landing_told_before_the_flush_is_found) {
  const auto early = [](plan& p) { signal_before(p, graph::kind::flush, fact::delivered); };
  EXPECT_NE(0u, seed_that_finds(with_plans(early), "byte"));
}

TEST(planted_faults, a_reading_told_before_the_get_is_found) {
  const auto early = [](plan& p) { signal_before(p, graph::kind::get, fact::consumed); };
  EXPECT_NE(0u, seed_that_finds(with_plans(early), "byte"));
}

TEST(planted_faults, a_gate_left_open_is_found) {
  const auto open = [](plan& p) {
    for (std::uint8_t k = 0; k < p.size; ++k)
      if (p.in == graph::sync::all) p.nodes[k].after = 0;
  };
  EXPECT_NE(0u, seed_that_finds(with_plans(open)));
}

TEST(planted_faults, entry_that_nobody_waits_for_is_found) {
  const auto rash = [](plan& p) {
    if (p.in != graph::sync::my) return;
    for_each_loop(p, [](node& loop, node* body) {
      if (loop.body_size < 2 || body->what != graph::kind::await || body->about != fact::entry) return;
      std::copy(body + 1, body + loop.body_size, body);
      --loop.body_size;
    });
  };
  EXPECT_NE(0u, seed_that_finds(with_plans(rash)));
}

TEST(planted_faults, a_slot_reused_without_credit_is_found) {
  simulated_run_options options;
  options.library.ignore_credit = true;
  EXPECT_NE(0u, seed_that_finds(options));
}

TEST(planted_faults, a_sleeper_that_is_not_rung_is_found) {
  simulated_run_options options;
  options.library.never_ring = true;
  EXPECT_NE(0u, seed_that_finds(options, "deadlock"));
}

TEST(planted_faults, a_lost_ring_is_found) {
  simulated_run_options options;
  options.machine.lost_ring = 0.9; // most facts ring more than once
  EXPECT_NE(0u, seed_that_finds(options, "deadlock"));
}

TEST(planted_faults, a_signal_that_overtakes_its_data_is_found) {
  simulated_run_options options;
  options.machine.reordered = true;
  EXPECT_NE(0u, seed_that_finds(options, "byte"));
}

TEST(planted_faults, a_flush_that_does_not_wait_is_found) {
  simulated_run_options options;
  options.machine.early_flush = true;
  EXPECT_NE(0u, seed_that_finds(options, "byte"));
}

} // namespace
} // namespace weft::tests
