// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "perf/bench/backend.hpp"
#include "perf/bench/computation.hpp"
#include "perf/bench/meeting.hpp"
#include "perf/bench/statistics.hpp"
#include "perf/bench/workload.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <stdexcept>

namespace perf {

// How long a measurement may take. The number of iterations follows from a calibration that all ranks agree
// on, so that a library that needs milliseconds per operation does not need minutes per figure.
struct limits {
  double budget_us = 100'000;
  int minimum_iterations = 10;
  int maximum_iterations = 50'000;
  int independence_iterations = 20;
  double absence_us = 5'000;
  double idle_us = 2'000'000;
  bool processor_time = false;                      // of the ranks during what is measured
  std::size_t beside_bytes = std::size_t{64} << 20; // of a rank, in the large exchange of `beside`
  double skew = 1;                                  // of the sizes of `skewed`
};

struct wrong_data : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What all measurements of one run share: the library, the ranks' meeting point, the computation and the
// buffers.
class session {
public:
  // Pairs of buffers, each for one operation at a time; the operation in a pair has the slot of that number.
  static constexpr int pairs = 2;

  session(backend& library, meeting& ranks, limits settings, std::size_t bytes_per_buffer);

  backend& library() { return library_; }
  meeting& ranks() { return ranks_; }
  computation& work() { return work_; }
  const limits& settings() const { return settings_; }
  const buffer& source(int slot) const { return sources_[static_cast<std::size_t>(slot)]; }
  const buffer& destination(int slot) const { return destinations_[static_cast<std::size_t>(slot)]; }
  std::uint64_t next_iteration() { return ++iteration_; }

  // Every rank runs `iteration` in growing batches, which also warms everything up. Returns, the same on all
  // ranks, the size of a batch of which about twenty fill the budget. The quickest batch counts: one during
  // which a rank lost its core would make the measurement too short.
  template <class F> int calibrate(F&& iteration);
  // Calls `run(batch)` until the budget is spent, or the most iterations are made; the ranks agree after each
  // batch.
  template <class F> void spend_budget(int batch, F&& run);

private:
  backend& library_;
  meeting& ranks_;
  limits settings_;
  computation work_;
  std::array<buffer, pairs> sources_;
  std::array<buffer, pairs> destinations_;
  // Equal on all ranks at all times: it numbers the contents of the buffers.
  std::uint64_t iteration_ = 0;
};

// One operation of one size: writes its source, calls it, reads its destination.
class trial {
public:
  trial(session& shared, operation op, std::size_t bytes);

  // Writes the source of a new iteration into the slot's buffers.
  void write(int slot = 0);
  // Reads the slot's destination and throws wrong_data unless it holds what this iteration sent.
  void read(int slot = 0) const;
  // The same word by word.
  void verify(int slot = 0) const;

  void blocking() { library_.blocking(calls_[0]); }
  void post(int slot = 0) { library_.post(calls_[static_cast<std::size_t>(slot)], slot); }
  void wait(int slot = 0) { library_.wait(slot); }

  // The cost of touching the data of one iteration, without any communication.
  void touch();

private:
  [[noreturn]] void fail(int slot) const;

  session& shared_;
  backend& library_;
  workload data_;
  std::array<call, session::pairs> calls_;
  std::array<std::uint64_t, session::pairs> iterations_{};
  // Keeps the reading of touch() alive.
  bool touched_ = false;
};

template <class F> int session::calibrate(F&& iteration) {
  constexpr double batches = 20;
  const int most = std::max(1, settings_.maximum_iterations / static_cast<int>(batches));
  double quickest = std::numeric_limits<double>::max();
  double spent = 0;
  for (int batch = 1; batch <= most && spent < settings_.budget_us / 5; batch *= 2) {
    ranks_.align();
    const double start = now_us();
    for (int i = 0; i < batch; ++i)
      iteration();
    const double elapsed = ranks_.maximum(now_us() - start);
    quickest = std::min(quickest, elapsed / batch);
    spent += elapsed;
  }
  const double fitting = std::min(settings_.budget_us / batches / quickest, static_cast<double>(most));
  return std::max(1, static_cast<int>(fitting));
}

template <class F> void session::spend_budget(int batch, F&& run) {
  const double start = now_us();
  double spent = 0;
  int made = 0;
  do {
    run(batch);
    made += batch;
    spent = ranks_.maximum(now_us() - start);
  } while (made < settings_.minimum_iterations ||
           (spent < settings_.budget_us && made + batch <= settings_.maximum_iterations));
}

} // namespace perf
