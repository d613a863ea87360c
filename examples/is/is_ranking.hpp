// SPDX-License-Identifier: BSD-3-Clause
// How a variant of IS finds the ranks of keys.
#pragma once

#include "examples/is/is_problem.hpp"

#include <memory>
#include <span>
#include <vector>

namespace is {

// Keys that lie on all threads, the same number on each.
class ranking {
public:
  ranking() = default;
  ranking(const ranking&) = delete;
  ranking& operator=(const ranking&) = delete;
  virtual ~ranking() = default;

  // Collective: all keys, each thread's own, are ranked.
  virtual void rank(std::span<const key> mine) = 0;
  // Of those that were ranked last, what this thread knows: the sum over the threads is the rank of the key.
  virtual std::size_t part_of_rank(key wanted) = 0;
  // This thread's part of the keys in order, the threads one behind the other.
  virtual std::vector<key> sorted() = 0;
};

// Buckets change threads by upc_all_exchange_x; a prefix reduction says how many keys lie on threads before.
std::unique_ptr<ranking> make_by_exchange(const problem& p);
// By upc_all_sort.
std::unique_ptr<ranking> make_by_sort(const problem& p);

} // namespace is
