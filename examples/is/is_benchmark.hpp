// SPDX-License-Identifier: BSD-3-Clause
// The benchmark around a ranking, the same for every library: what is timed, and what is verified.
//
// Ranks is a class with
//   std::size_t rank(), ranks(); void barrier();
//   T sum(T), max(T), min(T)      over all ranks, on all of them,
//   key max_before(key)           over the ranks before this one, 0 on the first.
#pragma once

#include "examples/is/is_ranking.hpp"

#include <algorithm>
#include <chrono>

namespace is {

struct outcome {
  int passed = 0; // of 10 times 5 ranks, and one order
  double seconds = 0;
};
inline constexpr int checks = tests * iterations + 1;

// As many keys on each rank, and enough for those that change.
inline bool can_be_cut(const problem& p, std::size_t ranks) {
  return p.keys % ranks == 0 && p.keys / ranks >= 32;
}

template <class Ranks> class benchmark {
public:
  benchmark(const problem& p, ranking& r, Ranks& ranks)
      : problem_(p), ranking_(r), ranks_(ranks), keys_(p.keys / ranks.ranks()),
        first_(keys_.size() * ranks.rank()) {
    make_keys(p, first_, keys_);
  }

  // As the benchmark prescribes: an untimed pass touches all memory.
  outcome run() {
    iterate(1);
    outcome result;
    for (int iteration = 1; iteration <= iterations; ++iteration) {
      ranks_.barrier();
      const auto begin = std::chrono::steady_clock::now();
      const std::vector<key> wanted = iterate(iteration);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      result.seconds += ranks_.max(took.count());
      for (int test = 0; test != tests; ++test) {
        const std::size_t found = ranks_.sum(ranking_.part_of_rank(wanted[static_cast<std::size_t>(test)]));
        result.passed += found == problem_.expected_rank(test, iteration);
      }
    }
    result.passed += in_order();
    return result;
  }

private:
  // Two keys change in every iteration. Returns the test keys as they are now.
  std::vector<key> iterate(int iteration) {
    if (ranks_.rank() == 0) {
      keys_[static_cast<std::size_t>(iteration)] = static_cast<key>(iteration);
      keys_[static_cast<std::size_t>(iteration) + iterations] = problem_.end - static_cast<key>(iteration);
    }
    std::vector<key> wanted;
    for (const std::size_t index : problem_.index) {
      const bool here = index >= first_ && index - first_ < keys_.size();
      wanted.push_back(here ? keys_[index - first_] : 0);
    }
    ranking_.rank(keys_);
    for (key& k : wanted)
      k = ranks_.max(k);
    return wanted;
  }

  bool in_order() {
    const std::vector<key> mine = ranking_.sorted();
    const std::size_t all = ranks_.sum(mine.size());
    const key before = ranks_.max_before(mine.empty() ? 0 : mine.back());
    const bool here = std::ranges::is_sorted(mine) && (mine.empty() || before <= mine.front());
    return ranks_.min(here ? 1 : 0) == 1 && all == problem_.keys;
  }

  const problem& problem_;
  ranking& ranking_;
  Ranks& ranks_;
  std::vector<key> keys_;
  std::size_t first_;
};

} // namespace is
