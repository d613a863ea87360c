// SPDX-License-Identifier: BSD-3-Clause
// Many operations outstanding at once, completed by the calls that choose among them.
#include "perf/bench/measurements.hpp"
#include "perf/bench/timing.hpp"

#include <string>
#include <vector>

namespace perf {
namespace {

constexpr int few = 10, many = backend::slots;

// As many operations of one kind as there are slots, each with its own part of two buffers.
class crowd {
public:
  crowd(session& shared, operation op, std::size_t bytes)
      : shared_(shared), library_(shared.library()), data_(op, library_.rank(), library_.size(), bytes) {
    const std::size_t part = bytes * static_cast<std::size_t>(library_.size());
    const buffer destination = library_.allocate(part * many), source = library_.allocate(part * many);
    for (std::size_t at = 0; at < part * many; at += part)
      calls_.push_back({op, destination.behind(at), source.behind(at), bytes});
    reported_.resize(many);
  }

  void write(int count) {
    iteration_ = shared_.next_iteration();
    for (int slot = 0; slot < count; ++slot)
      data_.write_source(at(slot).source.local, iteration_);
  }
  void post(int count) {
    for (int slot = 0; slot < count; ++slot)
      library_.post(at(slot), slot);
  }
  void complete_by_any(int count) {
    reported_.assign(many, false);
    for (int done = 0; done < count; ++done) {
      const int slot = library_.wait_any(count);
      if (slot < 0 || slot >= count || reported_[static_cast<std::size_t>(slot)])
        fail("wait_any reported operation " + std::to_string(slot) + " twice, or one that was not posted");
      reported_[static_cast<std::size_t>(slot)] = true;
    }
  }
  void complete_by_some(int count) {
    for (int done = 0; done < count;) {
      const int completed = library_.wait_some(count);
      if (completed < 1 || done + completed > count)
        fail("wait_some completed " + std::to_string(completed) + " of " + std::to_string(count - done));
      done += completed;
    }
  }
  void read(int count) const {
    for (int slot = 0; slot < count; ++slot)
      if (!data_.check_destination(at(slot).destination.local, iteration_))
        fail("the destination of operation " + std::to_string(slot) + " does not hold what was sent");
  }

private:
  const call& at(int slot) const { return calls_[static_cast<std::size_t>(slot)]; }
  [[noreturn]] void fail(const std::string& what) const {
    throw wrong_data("rank " + std::to_string(library_.rank()) + ": " + what);
  }

  session& shared_;
  backend& library_;
  workload data_;
  std::vector<call> calls_;
  std::vector<bool> reported_;
  std::uint64_t iteration_ = 0;
};

// Posting and completing `count` operations, by the number of them.
double per_operation(session& shared, crowd& all, int count, void (crowd::*complete)(int)) {
  const auto iteration = [&] {
    all.write(count);
    shared.ranks().align();
    const double elapsed = timed([&] {
      all.post(count);
      (all.*complete)(count);
    });
    all.read(count);
    return elapsed;
  };
  return median(slowest_of_each(shared, iteration, [] {})) / count;
}

} // namespace

record measure_completion(session& shared, operation op, std::size_t bytes) {
  crowd all(shared, op, bytes);
  const double any_few = per_operation(shared, all, few, &crowd::complete_by_any);
  const double any_many = per_operation(shared, all, many, &crowd::complete_by_any);
  const double some_few = per_operation(shared, all, few, &crowd::complete_by_some);
  const double some_many = per_operation(shared, all, many, &crowd::complete_by_some);
  return {any_many,
          {{"any_of_10_us", any_few},
           {"any_ratio", any_many / any_few},
           {"some_us", some_many},
           {"some_of_10_us", some_few},
           {"some_ratio", some_many / some_few}}};
}

} // namespace perf
