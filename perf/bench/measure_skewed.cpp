// SPDX-License-Identifier: BSD-3-Clause
// An exchange of blocks whose sizes follow a power law: the library's one call, and beside it the loops that
// a program would write without it, in turns.
#include "perf/bench/measurements.hpp"
#include "perf/bench/timing.hpp"
#include "perf/bench/unequal.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <string>

namespace perf {

unequal_blocks::unequal_blocks(const weft::skewed_sizes& sizes, int rank, buffer to, buffer from)
    : destination(to), source(from) {
  const auto me = static_cast<std::uint32_t>(rank);
  std::size_t gives = 0, takes = 0;
  for (std::uint32_t k = 0; k != sizes.ranks(); ++k) {
    std::size_t before_mine = 0;
    for (std::uint32_t other = 0; other != me; ++other)
      before_mine += sizes.of(other, k);
    there.push_back(static_cast<std::ptrdiff_t>(before_mine));
    given_at.push_back(static_cast<std::ptrdiff_t>(gives));
    taken_at.push_back(static_cast<std::ptrdiff_t>(takes));
    given.push_back(sizes.of(me, k));
    taken.push_back(sizes.of(k, me));
    gives += given.back();
    takes += taken.back();
  }
}

namespace {

// The words of a block, one behind the other, the last one in part.
template <class F>
bool each_word(std::byte* at, std::size_t bytes, std::uint64_t from, std::uint64_t to,
               std::uint64_t iteration, F&& what) {
  std::uint64_t word = iteration * 0x9e3779b97f4a7c15ULL ^ from << 40 ^ to << 20;
  for (std::size_t done = 0; done < bytes; done += sizeof word, word += 0x0101010101010101ULL)
    if (!what(at + done, &word, std::min(bytes - done, sizeof word))) return false;
  return true;
}

} // namespace

void unequal_workload::write_source(std::uint64_t iteration) const {
  for (std::size_t k = 0; k != blocks_.given.size(); ++k)
    each_word(static_cast<std::byte*>(blocks_.source.local) + blocks_.given_at[k], blocks_.given[k],
              static_cast<std::uint64_t>(rank_), k, iteration,
              [](std::byte* to, const std::uint64_t* word, std::size_t bytes) {
                std::memcpy(to, word, bytes);
                return true;
              });
}

bool unequal_workload::check_destination(std::uint64_t iteration) const {
  bool right = true;
  for (std::size_t k = 0; k != blocks_.taken.size(); ++k)
    right &= each_word(static_cast<std::byte*>(blocks_.destination.local) + blocks_.taken_at[k],
                       blocks_.taken[k], k, static_cast<std::uint64_t>(rank_), iteration,
                       [](const std::byte* at, const std::uint64_t* word, std::size_t bytes) {
                         return std::memcmp(at, word, bytes) == 0;
                       });
  return right;
}

record measure_skewed(session& shared, operation, std::size_t bytes) {
  const weft::skewed_sizes sizes(static_cast<std::uint32_t>(shared.library().size()), bytes,
                                 shared.settings().skew);
  const int rank = shared.library().rank();
  const unequal_blocks blocks(sizes, rank, shared.destination(0), shared.source(0));
  const unequal_workload data(blocks, rank);
  std::array<samples, 3> times;
  processor_meter processor(shared); // of the library's call alone
  const auto turn = [&] {
    for (const way by : {way::collective, way::pairwise, way::linear}) {
      const std::uint64_t iteration = shared.next_iteration();
      data.write_source(iteration);
      shared.ranks().align();
      const auto call = [&] { return timed([&] { shared.library().exchange_unequal(blocks, by); }); };
      times[static_cast<std::size_t>(by)].push_back(by == way::collective ? processor.during(call) : call());
      if (!data.check_destination(iteration))
        throw wrong_data("unequal exchange, way " + std::to_string(static_cast<int>(by)) +
                         ": the destination of rank " + std::to_string(rank) +
                         " does not hold what was sent");
    }
  };
  const int batch = shared.calibrate(turn);
  for (samples& of : times)
    of.clear();
  processor.restart();
  shared.spend_budget(batch, [&](int count) {
    for (int k = 0; k != count; ++k)
      turn();
  });
  for (samples& of : times)
    shared.ranks().maximum(of);
  const double us = median(times[0]), pairwise = median(times[1]), linear = median(times[2]);
  const auto given = std::accumulate(blocks.given.begin(), blocks.given.end(), std::size_t{0});
  record result{us,
                {{"pairwise_us", pairwise},
                 {"pairwise_ratio", us / pairwise},
                 {"linear_us", linear},
                 {"linear_ratio", us / linear},
                 {"most_given", shared.ranks().maximum(static_cast<double>(given))},
                 {"samples", static_cast<double>(times[0].size())}}};
  processor.add_to(result, static_cast<double>(times[0].size()));
  return result;
}

} // namespace perf
