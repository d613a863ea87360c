// SPDX-License-Identifier: BSD-3-Clause
#include "tests/modes/arena.hpp"

#include "tests/calls/scenario.hpp"

#include <numeric>

namespace modes {
namespace {

using calls::kind;

constexpr std::size_t line = 64;

std::uint64_t threads() {
  return static_cast<std::uint64_t>(THREADS);
}
calls::members all_threads() {
  calls::members all(threads());
  std::iota(all.begin(), all.end(), 0u);
  return all;
}
calls::sync sync_of(int mode) {
  constexpr calls::sync all[] = {calls::sync::no, calls::sync::my, calls::sync::all, calls::sync::no};
  return all[mode];
}

} // namespace

arena::arena(std::size_t largest_block)
    : all_(all_threads()), arrays_(calls::trap_bytes),
      source_(arrays_ + (threads() * 40 + 2 * line) / line * line),
      destination_(source_ + (largest_block + line) * threads()),
      aside_(destination_ + (largest_block + line) * threads() + margin),
      memory_(aside_ + 2 * threads() * line) {}

calls::call arena::call_of(const trial& t) const {
  calls::call c;
  c.what = t.what.what;
  if (c.what == kind::permute_x && t.turn % 4 >= 2) c.what = kind::permute_xi;
  c.in = sync_of(static_cast<int>(t.in));
  c.out = sync_of(static_cast<int>(t.out));
  c.hints = t.hint;
  c.async = t.how == form::posted && t.what.has_modes();
  if (t.what.in_place) c.own = calls::in_place::flag_and_same;
  c.nbytes = t.bytes;
  const auto root = static_cast<std::uint32_t>(t.root);
  c.src = {source_, t.what.shape() == pattern::from_root ? root : 0, 0};
  c.dst = {destination_, t.what.shape() == pattern::to_root ? root : 0, 0};
  if (t.what.shape() == pattern::permuted)
    for (int rank = 0; rank < THREADS; ++rank)
      c.perm.push_back(static_cast<std::uint64_t>(t.of().permuted(rank)));
  c.dst_at = arrays_;
  c.src_at = c.dst_at + threads() * sizeof(upc_shared_ptr_t);
  c.sizes_at = c.src_at + threads() * sizeof(upc_shared_ptr_t);
  c.perm_at = c.sizes_at + threads() * sizeof(std::size_t);
  if (t.what.extended()) tabulate(c);
  return c;
}

// The blocks of the _x forms lie as those of the others.
void arena::tabulate(calls::call& c) const {
  const std::uint64_t n = c.nbytes;
  const std::uint32_t root = c.src.thread + c.dst.thread; // one of them is 0
  const bool exchanges = c.what == kind::exchange_x, many = exchanges || c.what == kind::gather_all_x;
  for (const std::uint32_t t : all_) {
    const bool scatters = c.what == kind::scatter_x, gathers = c.what == kind::gather_x;
    for (std::uint32_t i = 0; i != (many ? all_.size() : 1); ++i)
      c.dst_table.push_back({destination_ + (many ? i : gathers ? t : 0) * n, gathers ? root : t, 0});
    for (std::uint32_t i = 0; i != (exchanges ? all_.size() : 1); ++i) {
      c.src_table.push_back({source_ + (exchanges ? i : scatters ? t : 0) * n, scatters ? root : t, 0});
      c.sizes.push_back(n);
    }
  }
  if (c.what == kind::broadcast_x || c.in_own_place()) c.src_table.clear();
  if (c.what == kind::broadcast_x) c.sizes.clear();
}

calls::call arena::call_aside() const {
  calls::call c;
  c.what = kind::exchange;
  c.in = c.out = calls::sync::my;
  c.async = true;
  c.nbytes = line;
  c.dst = {aside_, 0, 0};
  c.src = {aside_ + threads() * line, 0, 0};
  return c;
}

} // namespace modes
