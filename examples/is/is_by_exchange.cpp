// SPDX-License-Identifier: BSD-3-Clause
#include "examples/is/is_buckets.hpp"
#include "examples/is/is_ranking.hpp"
#include "examples/support/shared_blocks.hpp"

#include <stdexcept>
#include <string>
#include <upc_collective_cray.h>
#include <upc_collective_ext.h>
#include <weft/weft.hpp>

namespace is {
namespace {

class by_exchange final : public ranking {
public:
  explicit by_exchange(const problem& p)
      : threads_(static_cast<std::size_t>(THREADS)), me_(static_cast<std::size_t>(MYTHREAD)),
        buckets_(p, me_, threads_), counts_(buckets_.count() * sizeof(int)),
        totals_(buckets_.count() * sizeof(int)), outgoing_(buckets_.own() * sizeof(key)),
        incoming_(buckets_.most() * sizeof(key)), sizes_(threads_ * sizeof(std::size_t)),
        sizes_in_(threads_ * sizeof(std::size_t)), from_(threads_ * sizeof(upc_shared_ptr_t)),
        to_(threads_ * sizeof(upc_shared_ptr_t)) {}

  void rank(std::span<const key> mine) override {
    buckets_.count(mine, counts_.local<int>());
    cray_upc_team_allreduce(here(totals_), here(counts_), buckets_.count(), CRAY_UPC_INT, UPC_ADD,
                            UPC_TEAM_ALL, nullptr);
    buckets_.share_out(totals_.local<int>());
    send(mine);
    const std::size_t got = receive();
    weft::value<std::size_t> before = weft::exclusive_prefix_reduce(got, UPC_ADD);
    buckets_.count_received({incoming_.local<key>(), got});
    buckets_.set_before(before.get());
  }

  std::size_t part_of_rank(key wanted) override { return buckets_.rank_here(wanted); }
  std::vector<key> sorted() override { return buckets_.sorted(); }

private:
  upc_shared_ptr_t here(const example::shared_blocks& b) const {
    return {b.shared().addr, static_cast<std::uint32_t>(me_), 0};
  }

  void send(std::span<const key> mine) {
    const std::vector<std::size_t> begin = buckets_.deal(mine, counts_.local<int>(), outgoing_.local<key>());
    for (std::size_t t = 0; t != threads_; ++t) {
      sizes_.local<std::size_t>()[t] = (begin[t + 1] - begin[t]) * sizeof(key);
      from_.local<upc_shared_ptr_t>()[t] = at(outgoing_, begin[t]);
    }
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
    if (all > buckets_.most())
      throw std::runtime_error("a thread would get " + std::to_string(all) + " keys, room is for " +
                               std::to_string(buckets_.most()));
    upc_all_exchange_x(to_.shared(), from_.shared(), sizes_.shared(), UPC_IN_MYSYNC | UPC_OUT_MYSYNC,
                       UPC_TEAM_ALL);
    return all;
  }
  upc_shared_ptr_t at(const example::shared_blocks& b, std::size_t keys) const {
    upc_shared_ptr_t p = here(b);
    p.addr += keys * sizeof(key);
    return p;
  }

  std::size_t threads_, me_;
  buckets buckets_;
  example::shared_blocks counts_, totals_, outgoing_, incoming_, sizes_, sizes_in_, from_, to_;
};

} // namespace

std::unique_ptr<ranking> make_by_exchange(const problem& p) {
  return std::make_unique<by_exchange>(p);
}

} // namespace is
