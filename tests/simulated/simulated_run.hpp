// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "progress/driving/engine.hpp"
#include "testing/simulated/simulation.hpp"
#include "tests/simulated/collective_case.hpp"
#include "tests/simulated/tuning_of_seed.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

namespace weft::tests {

using simulated_engine = progress::engine<transport::simulated_transport>;

struct simulated_run_options {
  transport::simulated_chaos chaos = transport::simulated_chaos::rough();
  transport::simulated_faults machine;       // faults of the transport
  progress::faults library;                  // mechanisms switched off
  std::optional<collectives::tuning> tuning; // if not the seed's
  transport::simulated_costs costs;
  bool awake = false; // ranks wait without ever sleeping
  // Called by every rank before it begins, e.g. to change a cached plan.
  std::function<void(const collective_case&, simulated_engine&, progress::channel&)> prepare;
};

struct simulated_run_result {
  std::uint64_t trace = 0;
  std::uint64_t messages = 0;
  std::chrono::nanoseconds elapsed{0};
};

// Plays a case on the simulated transport. Throws what goes wrong: wrong_result, or simulated_deadlock.
simulated_run_result run_simulated(const collective_case& c, const simulated_run_options& options = {});

// How a rank of a test waits: it goes to sleep early and often.
progress::engine_options drowsy(const progress::faults& broken = {});

// What goes wrong with a case, or a seed, or an empty text.
std::string failure_of(const collective_case& c, const simulated_run_options& options = {});
std::string failure_of_seed(std::uint64_t seed, const simulated_run_options& options = {},
                            const case_limits& limits = {});

} // namespace weft::tests
