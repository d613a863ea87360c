// SPDX-License-Identifier: BSD-3-Clause
#include "examples/is/is_ranking.hpp"

#include <algorithm>
#include <upc_castable.h>
#include <weft/weft.hpp>

namespace is {
namespace {

// One call: the rank of a key is the place where it would stand.
class by_sort final : public ranking {
public:
  explicit by_sort(const problem& p)
      : own_(p.keys / static_cast<std::size_t>(THREADS)), keys_(weft::extent(own_), weft::per_thread(own_)) {}

  void rank(std::span<const key> mine) override {
    std::ranges::copy(mine, local().begin());
    upc_all_sort(keys_, keys_.size(), UPC_IN_MYSYNC | UPC_OUT_MYSYNC);
  }

  std::size_t part_of_rank(key wanted) override {
    return static_cast<std::size_t>(std::ranges::lower_bound(local(), wanted) - local().begin());
  }

  std::vector<key> sorted() override { return {local().begin(), local().end()}; }

private:
  std::span<key> local() const {
    const auto mine = keys_ + static_cast<std::ptrdiff_t>(own_) * MYTHREAD;
    return {static_cast<key*>(upc_cast(mine)), own_};
  }

  std::size_t own_;
  weft::shared_array<key, weft::dynamic_block> keys_;
};

} // namespace

std::unique_ptr<ranking> make_by_sort(const problem& p) {
  return std::make_unique<by_sort>(p);
}

} // namespace is
