// SPDX-License-Identifier: BSD-3-Clause
// The benchmark around a transposition, the same for every library: what is timed, and what is verified.
//
// Ranks is a class with std::size_t rank(), ranks(), void barrier(), and std::vector<T> gather(T), the values
// of all ranks on all of them.
#pragma once

#include "examples/ft/ft_transposition.hpp"

#include <numeric>

namespace ft {

struct seconds {
  double total;
  transposition_times transposition;
};

struct outcome {
  std::vector<complex> checksums;
  bool verified = true;
  seconds slowest; // each the maximum over the ranks
};

inline complex sum_of(const std::vector<complex>& parts) {
  return std::accumulate(parts.begin(), parts.end(), complex(0));
}

inline seconds slowest_of(const std::vector<seconds>& all) {
  seconds slowest{};
  for (const seconds& s : all) {
    slowest.total = std::max(slowest.total, s.total);
    slowest.transposition.moving = std::max(slowest.transposition.moving, s.transposition.moving);
    slowest.transposition.waiting = std::max(slowest.transposition.waiting, s.transposition.waiting);
  }
  return slowest;
}

// As the benchmark prescribes: an untimed pass touches all memory, then everything from the initial
// conditions to the last checksum counts. `report(iteration, checksum)` is called for each one.
template <class Ranks, class Report>
outcome solve(const problem& p, timed_transposition& transposition, planning effort, Ranks& ranks,
              const Report& report) {
  solver solver(p, ranks.rank(), ranks.ranks(), transposition, effort);
  solver.start();
  transposition.reset_times();
  outcome result;
  double total = 0;
  ranks.barrier();
  {
    const stopwatch running(total);
    solver.start();
    for (std::size_t i = 0; i != iterations; ++i) {
      result.checksums.push_back(sum_of(ranks.gather(solver.step())));
      result.verified = result.verified && verified(result.checksums.back(), p.checksums[i]);
      report(i, result.checksums.back());
    }
  }
  result.slowest = slowest_of(ranks.gather(seconds{total, transposition.times()}));
  return result;
}

} // namespace ft
