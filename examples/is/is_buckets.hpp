// SPDX-License-Identifier: BSD-3-Clause
// A bucket sort between ranks: what a rank does with its own keys. It knows nothing of how counts and keys
// cross between ranks, so it is the same object code beside any library.
#pragma once

#include "examples/is/is_problem.hpp"

#include <vector>

namespace is {

class buckets {
public:
  buckets(const problem& p, std::size_t rank, std::size_t ranks);

  std::size_t count() const { return buckets_; }
  // Keys of a rank: before, and at most after they have crossed.
  std::size_t own() const { return own_; }
  std::size_t most() const { return most_; }

  // How many of these keys are in each bucket.
  void count(std::span<const key> mine, int* counts) const;
  // Whole buckets to ranks, in their order: each rank gets a range of buckets, of about as many keys as the
  // others.
  void share_out(const int* totals);
  // The keys bucket by bucket. Those of rank r begin at [r] of what is returned and end at [r + 1].
  std::vector<std::size_t> deal(std::span<const key> mine, const int* counts, key* out) const;
  // Those that are this rank's now; so many keys are on the ranks before.
  void count_received(std::span<const key> keys);
  void set_before(std::size_t keys) { before_ = keys; }

  // The rank of this key if it is in a bucket of this rank, else 0.
  std::size_t rank_here(key k) const;
  std::vector<key> sorted() const;

private:
  std::size_t ranks_, me_;
  std::size_t buckets_, width_; // keys of a bucket
  std::size_t own_, most_;
  std::vector<std::size_t> first_bucket_; // of each rank
  std::vector<std::uint32_t> less_;       // how many of the received ones are less than each key
  key first_key_ = 0, end_key_ = 0;
  std::size_t before_ = 0;
};

} // namespace is
