// SPDX-License-Identifier: BSD-3-Clause
// What a call of the public functions is as a request with its binding, where it lies, and what it does: the
// common layout and reference.
#include "engine/collectives/operations.hpp"
#include "tests/calls/arguments.hpp"
#include "tests/calls/bytes.hpp"
#include "tests/calls/tables.hpp"
#include "tests/simulated/collective_case.hpp"
#include "tests/simulated/gathering_task.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace weft::tests {
namespace {
using calls::kind;
using collectives::operation;
using collectives::request;

kind kind_of(const request& r) {
  switch (r.op) {
  case operation::broadcast:
    return kind::broadcast;
  case operation::scatter:
    return kind::scatter;
  case operation::gather:
  case operation::reduce:
    return kind::gather;
  case operation::exchange:
    return kind::exchange;
  case operation::permute:
    return kind::permute;
  case operation::broadcast_x:
    return kind::broadcast_x;
  case operation::scatter_x:
    return kind::scatter_x;
  case operation::gather_x:
    return kind::gather_x;
  case operation::gather_all_x:
    return kind::gather_all_x;
  case operation::exchange_x:
    return kind::exchange_x;
  case operation::permute_x:
    return r.wide_perm ? kind::permute_x : kind::permute_xi;
  default:
    return kind::gather_all;
  }
}

calls::members all_of(std::uint32_t ranks) {
  calls::members all(ranks);
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

// What a rank has given to a call.
std::uint64_t key_of(std::uint64_t number, std::uint32_t rank) {
  return calls::mix({number, rank, 0x51});
}

} // namespace

collective_case::call lay_out(std::uint32_t ranks, const request& r, std::uint64_t seed,
                              std::uint64_t most_bytes) {
  collective_case::call made;
  made.request = r;
  if (r.op == operation::barrier) return made;
  made.made.what = kind_of(r);
  made.made.in = static_cast<calls::sync>(r.in); // the same enumerators
  made.made.out = static_cast<calls::sync>(r.out);
  calls::settings limits;
  limits.threads = ranks;
  limits.room = ~std::uint64_t{0} / 2;
  limits.largest = std::max<std::uint64_t>(most_bytes, 1);
  std::uint32_t root = r.root;
  if (collectives::rooted_by_rows(r.op)) root = static_cast<std::uint32_t>(seed % ranks);
  limits.fixed = {r.bytes, root, r.in_place};
  calls::symmetric_space space(0);
  calls::dice dice{seed, ranks};
  const calls::members all = all_of(ranks);
  calls::draw_places(made.made, all, limits, space, dice);
  made.effects = calls::effects_of(made.made, all, ranks);
  made.area = space.end();
  return made;
}

graph::binding collective_case::call::binding(std::uint64_t begin) const {
  const bool rows = calls::is_x(made.what);
  const std::uint64_t dst = begin + (rows ? made.dst_at : made.dst.offset);
  const bool one_source = rows && made.what != kind::broadcast_x;
  const std::uint64_t src = begin + (one_source ? made.src_at : made.src.offset);
  const form_of_task form = request.by_ranges && request.op == operation::prefix_reduce
                                ? form_of_task::handed_out
                            : request.whole ? form_of_task::brought
                                            : form_of_task::gathered;
  const graph::task* const task = &gathering_tasks[request.bytes % 3 == 0][static_cast<std::size_t>(form)];
  return {.dst = dst,
          .src = request.in_place ? dst : src,
          .sizes = begin + made.sizes_at,
          .perm = begin + made.perm_at,
          .task = collectives::computes(request.op) ? task : nullptr};
}

std::vector<std::byte> memory_before(const collective_case& c, const collective_case::call& k,
                                     std::uint64_t number, std::uint32_t rank, std::uint64_t begin) {
  std::vector<std::byte> memory(c.call_bytes(), poison);
  for (const calls::block& b : k.effects.sources)
    if (b.thread == rank) calls::paint(memory.data() + b.offset, key_of(number, rank), b.offset, b.bytes);
  if (k.request.op == operation::barrier) return memory;
  for (const calls::row& r : calls::rows_of(k.made, all_of(c.ranks), rank, begin))
    std::memcpy(memory.data() + r.offset, r.bytes.data(), r.bytes.size());
  return memory;
}

std::vector<std::byte> memory_after(const collective_case& c, const collective_case::call& k,
                                    std::uint64_t number, std::uint32_t rank, std::uint64_t begin) {
  std::vector<std::byte> memory = memory_before(c, k, number, rank, begin);
  for (const calls::arrival& one : k.effects.arrivals)
    if (one.thread == rank)
      calls::paint(memory.data() + one.offset, key_of(number, one.from_thread), one.from, one.bytes);
  return memory;
}

std::string check_memory(const collective_case& c, const collective_case::call& k, std::uint64_t number,
                         std::uint32_t rank, const std::byte* segment, std::uint64_t begin) {
  const std::vector<std::byte> wanted = memory_after(c, k, number, rank, begin);
  const auto [here, there] = std::mismatch(wanted.begin(), wanted.end(), segment + begin);
  if (here == wanted.end()) return {};
  return "byte " + std::to_string(here - wanted.begin()) + " of rank " + std::to_string(rank) +
         "'s memory is " + std::to_string(static_cast<int>(*there)) + " and should be " +
         std::to_string(static_cast<int>(*here)) + ": " + calls::describe(k.made, all_of(c.ranks));
}

} // namespace weft::tests
