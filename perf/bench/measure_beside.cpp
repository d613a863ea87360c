// SPDX-License-Identifier: BSD-3-Clause
// A small call of one team while a large one of another is under way between the same ranks.
#include "perf/bench/measurements.hpp"
#include "perf/bench/timing.hpp"

#include <bit>
#include <cstring>
#include <string>

namespace perf {
namespace {

constexpr int small_slot = 0, large_slot = 1;
constexpr int calls_each = 16; // small ones that are begun beside one large one

// An operation with buffers of its own, and what they hold.
class party {
public:
  party(session& shared, operation op, std::size_t bytes, bool apart)
      : shared_(shared), library_(shared.library()), data_(op, library_.rank(), library_.size(), bytes) {
    call_ = {op, library_.allocate(std::max(bytes, data_.destination_bytes())),
             library_.allocate(std::max(bytes, data_.source_bytes())), bytes, apart};
  }

  void write() {
    iteration_ = shared_.next_iteration();
    data_.write_source(call_.source.local, iteration_);
  }
  void read() const {
    if (!data_.check_destination(call_.destination.local, iteration_))
      throw wrong_data("rank " + std::to_string(library_.rank()) + ": the destination of the exchange of " +
                       std::to_string(call_.bytes) + " bytes does not hold what was sent");
  }
  void blocking() { library_.blocking(call_); }
  void post(int slot) { library_.post(call_, slot); }
  void wait(int slot) { library_.wait(slot); }
  const call& what() const { return call_; }

private:
  session& shared_;
  backend& library_;
  workload data_;
  call call_;
  std::uint64_t iteration_ = 0;
};

// As large as Weft's cuts of a block (chunk_size in engine/plan/plan.hpp).
std::size_t piece_of(std::size_t block) {
  constexpr std::size_t largest = 256 * 1024;
  return std::min({block, largest, std::size_t{1} << ((std::bit_width(block - 1) + 15) / 2)});
}

// To copy one piece of the large operation, while all other ranks do so too.
double time_of_piece(session& shared, const party& large) {
  const std::size_t piece = piece_of(large.what().bytes);
  const std::size_t all = large.what().bytes / piece;
  std::size_t next = 0;
  const auto iteration = [&] {
    const std::size_t at = next++ % all * piece;
    shared.ranks().align();
    return timed([&] {
      std::memcpy(large.what().destination.behind(at).local, large.what().source.behind(at).local, piece);
    });
  };
  return median(slowest_of_each(shared, iteration, [] {}));
}

template <class F> double alone(session& shared, party& small, F&& call) {
  const auto iteration = [&] {
    small.write();
    shared.ranks().align();
    const double elapsed = timed(call);
    small.read();
    return elapsed;
  };
  return median(slowest_of_each(shared, iteration, [] {}));
}

// The times of the small calls, of the slowest rank each, that were begun while the large one was under way
// on all ranks. Before each one every rank moves the large one on.
template <class F> samples beside(session& shared, party& small, party& large, F&& call) {
  samples counted;
  const auto round = [&](int) {
    large.write();
    shared.ranks().align();
    large.post(large_slot);
    samples times, over;
    for (int k = 0; k < calls_each; ++k) {
      shared.library().test(large_slot);
      small.write();
      shared.ranks().align();
      over.push_back(shared.library().is_complete(large_slot) ? 1 : 0);
      times.push_back(timed(call));
      small.read();
    }
    large.wait(large_slot);
    large.read();
    shared.ranks().maximum(times);
    shared.ranks().maximum(over);
    for (std::size_t k = 0; k < times.size(); ++k)
      if (over[k] == 0) counted.push_back(times[k]);
  };
  shared.spend_budget(1, round);
  return counted;
}

} // namespace

record measure_beside(session& shared, operation op, std::size_t bytes) {
  const auto ranks = static_cast<std::size_t>(shared.library().size());
  const std::size_t block = shared.settings().beside_bytes / ranks / 64 * 64;
  party small(shared, op, bytes, true), large(shared, op, block, false);
  large.write(); // page faults belong to no figure
  large.blocking();
  large.read();
  const auto blocking = [&] { small.blocking(); };
  const auto posted = [&] {
    small.post(small_slot);
    small.wait(small_slot);
  };
  const double piece = time_of_piece(shared, large);
  const double blocking_alone = alone(shared, small, blocking), posted_alone = alone(shared, small, posted);
  const samples blocking_beside = beside(shared, small, large, blocking);
  const samples posted_beside = beside(shared, small, large, posted);
  if (blocking_beside.empty() || posted_beside.empty())
    throw std::runtime_error("the large operation is over before a small one can begin");
  const auto ratio = [&](double us, double undisturbed) { return (us - piece) / undisturbed; };
  const double us = median(posted_beside), blocking_us = median(blocking_beside);
  return {us,
          {{"alone_us", posted_alone},
           {"piece_us", piece},
           {"ratio", ratio(us, posted_alone)},
           {"p90_us", quantile(posted_beside, 0.9)},
           {"blocking_us", blocking_us},
           {"blocking_alone_us", blocking_alone},
           {"blocking_ratio", ratio(blocking_us, blocking_alone)},
           {"blocking_p90_us", quantile(blocking_beside, 0.9)},
           {"samples", static_cast<double>(posted_beside.size())}}};
}

} // namespace perf
