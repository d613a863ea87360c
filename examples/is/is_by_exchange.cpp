#include "examples/is/is_ranking.hpp"
#include "examples/support/shared_blocks.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <upc_collective_cray.h>
#include <upc_collective_ext.h>
#include <weft/weft.hpp>

namespace is {
namespace {

constexpr std::size_t most_buckets = 1024;

// A bucket sort between threads: each thread gets the keys of a range of buckets, of about as many keys as
// everybody's.
class by_exchange final : public ranking {
public:
  explicit by_exchange(const problem& p)
      : threads_(static_cast<std::size_t>(THREADS)), me_(static_cast<std::size_t>(MYTHREAD)),
        buckets_(std::min<std::size_t>(most_buckets, p.end)), width_(p.end / buckets_),
        own_(p.keys / threads_), most_(own_ + own_ / 2 + p.keys / 8), counts_(buckets_ * sizeof(int)),
        totals_(buckets_ * sizeof(int)), outgoing_(own_ * sizeof(key)), incoming_(most_ * sizeof(key)),
        sizes_(threads_ * sizeof(std::size_t)), sizes_in_(threads_ * sizeof(std::size_t)),
        from_(threads_ * sizeof(upc_shared_ptr_t)), to_(threads_ * sizeof(upc_shared_ptr_t)) {}

  void rank(std::span<const key> mine) override {
    count(mine);
    cray_upc_team_allreduce(here(totals_), here(counts_), buckets_, CRAY_UPC_INT, UPC_ADD, UPC_TEAM_ALL,
                            nullptr);
    share_out();
    send(mine);
    const std::size_t got = receive();
    weft::value<std::size_t> before = weft::exclusive_prefix_reduce(got, UPC_ADD);
    count_received(got);
    before_ = before.get();
  }

  std::vector<std::size_t> ranks_of(std::span<const key> wanted) override {
    std::vector<std::size_t> ranks;
    for (const key k : wanted) {
      const bool here = k >= first_key_ && k < end_key_;
      const std::size_t mine = here ? before_ + less_[k - first_key_] : 0;
      ranks.push_back(weft::reduce_all(mine, UPC_ADD).get());
    }
    return ranks;
  }

  std::vector<key> sorted() override {
    std::vector<key> all;
    for (key k = first_key_; k < end_key_; ++k)
      all.insert(all.end(), less_[k + 1 - first_key_] - less_[k - first_key_], k);
    return all;
  }

private:
  upc_shared_ptr_t here(const example::shared_blocks& b) const {
    return {b.shared().addr, static_cast<std::uint32_t>(me_), 0};
  }

  void count(std::span<const key> mine) {
    int* const counts = counts_.local<int>();
    std::fill_n(counts, buckets_, 0);
    for (const key k : mine)
      ++counts[k / width_];
  }

  // Whole buckets to threads, in their order.
  void share_out() {
    const int* const totals = totals_.local<int>();
    first_bucket_.assign(1, 0);
    std::size_t so_far = 0;
    for (std::size_t b = 0; b != buckets_; ++b) {
      so_far += static_cast<std::size_t>(totals[b]);
      while (first_bucket_.size() < threads_ && so_far >= first_bucket_.size() * own_)
        first_bucket_.push_back(b + 1);
    }
    first_bucket_.resize(threads_ + 1, buckets_);
    first_bucket_.back() = buckets_;
    first_key_ = static_cast<key>(first_bucket_[me_] * width_);
    end_key_ = static_cast<key>(first_bucket_[me_ + 1] * width_);
  }

  // My keys bucket by bucket, and what of them goes where.
  void send(std::span<const key> mine) {
    const int* const counts = counts_.local<int>();
    std::vector<std::size_t> next(buckets_ + 1, 0);
    for (std::size_t b = 0; b != buckets_; ++b)
      next[b + 1] = next[b] + static_cast<std::size_t>(counts[b]);
    for (std::size_t t = 0; t != threads_; ++t) {
      const std::size_t begin = next[first_bucket_[t]], end = next[first_bucket_[t + 1]];
      sizes_.local<std::size_t>()[t] = (end - begin) * sizeof(key);
      from_.local<upc_shared_ptr_t>()[t] = at(outgoing_, begin);
    }
    key* const out = outgoing_.local<key>();
    for (const key k : mine)
      out[next[k / width_]++] = k;
  }

  // Returns how many keys came.
  std::size_t receive() {
    upc_all_exchange(sizes_in_.shared(), sizes_.shared(), sizeof(std::size_t), 0);
    const std::size_t* const sizes = sizes_in_.local<std::size_t>();
    std::size_t all = 0;
    for (std::size_t t = 0; t != threads_; ++t) {
      to_.local<upc_shared_ptr_t>()[t] = at(incoming_, all);
      all += sizes[t] / sizeof(key);
    }
    if (all > most_)
      throw std::runtime_error("a thread would get " + std::to_string(all) + " keys, room is for " +
                               std::to_string(most_));
    upc_all_exchange_x(to_.shared(), from_.shared(), sizes_.shared(), UPC_IN_MYSYNC | UPC_OUT_MYSYNC,
                       UPC_TEAM_ALL);
    return all;
  }
  upc_shared_ptr_t at(const example::shared_blocks& b, std::size_t keys) const {
    upc_shared_ptr_t p = here(b);
    p.addr += keys * sizeof(key);
    return p;
  }

  // How many of them are less than each key.
  void count_received(std::size_t got) {
    less_.assign(end_key_ - first_key_ + 1u, 0);
    const key* const keys = incoming_.local<key>();
    for (std::size_t k = 0; k != got; ++k)
      ++less_[keys[k] - first_key_ + 1];
    std::inclusive_scan(less_.begin(), less_.end(), less_.begin());
  }

  std::size_t threads_, me_;
  std::size_t buckets_, width_; // keys of a bucket
  std::size_t own_, most_;      // keys of a thread: before, and at most after the exchange
  example::shared_blocks counts_, totals_, outgoing_, incoming_, sizes_, sizes_in_, from_, to_;
  std::vector<std::size_t> first_bucket_; // of each thread
  std::vector<std::uint32_t> less_;
  key first_key_ = 0, end_key_ = 0;
  std::size_t before_ = 0; // keys on threads before this one
};

} // namespace

std::unique_ptr<ranking> make_by_exchange(const problem& p) {
  return std::make_unique<by_exchange>(p);
}

} // namespace is
