// SPDX-License-Identifier: BSD-3-Clause
#include "examples/is/is_buckets.hpp"

#include <algorithm>
#include <numeric>

namespace is {
namespace {

constexpr std::size_t most_buckets = 1024;

} // namespace

buckets::buckets(const problem& p, std::size_t rank, std::size_t ranks)
    : ranks_(ranks), me_(rank), buckets_(std::min<std::size_t>(most_buckets, p.end)),
      width_(p.end / buckets_), own_(p.keys / ranks), most_(own_ + own_ / 2 + p.keys / 8) {}

void buckets::count(std::span<const key> mine, int* counts) const {
  std::fill_n(counts, buckets_, 0);
  for (const key k : mine)
    ++counts[k / width_];
}

void buckets::share_out(const int* totals) {
  first_bucket_.assign(1, 0);
  std::size_t so_far = 0;
  for (std::size_t b = 0; b != buckets_; ++b) {
    so_far += static_cast<std::size_t>(totals[b]);
    while (first_bucket_.size() < ranks_ && so_far >= first_bucket_.size() * own_)
      first_bucket_.push_back(b + 1);
  }
  first_bucket_.resize(ranks_ + 1, buckets_);
  first_bucket_.back() = buckets_;
  first_key_ = static_cast<key>(first_bucket_[me_] * width_);
  end_key_ = static_cast<key>(first_bucket_[me_ + 1] * width_);
}

std::vector<std::size_t> buckets::deal(std::span<const key> mine, const int* counts, key* out) const {
  std::vector<std::size_t> next(buckets_ + 1, 0);
  for (std::size_t b = 0; b != buckets_; ++b)
    next[b + 1] = next[b] + static_cast<std::size_t>(counts[b]);
  std::vector<std::size_t> begin;
  for (const std::size_t bucket : first_bucket_)
    begin.push_back(next[bucket]);
  for (const key k : mine)
    out[next[k / width_]++] = k;
  return begin;
}

void buckets::count_received(std::span<const key> keys) {
  less_.assign(end_key_ - first_key_ + 1u, 0);
  for (const key k : keys)
    ++less_[k - first_key_ + 1];
  std::inclusive_scan(less_.begin(), less_.end(), less_.begin());
}

std::size_t buckets::rank_here(key k) const {
  return k >= first_key_ && k < end_key_ ? before_ + less_[k - first_key_] : 0;
}

std::vector<key> buckets::sorted() const {
  std::vector<key> all;
  for (key k = first_key_; k < end_key_; ++k)
    all.insert(all.end(), less_[k + 1 - first_key_] - less_[k - first_key_], k);
  return all;
}

} // namespace is
