// SPDX-License-Identifier: BSD-3-Clause
#include "engine/collectives/algorithm.hpp"
#include "engine/collectives/operations.hpp"
#include "engine/operations/finish.hpp"
#include "engine/special_paths.hpp"

#include <array>

namespace weft::collectives {

namespace {

graph::plan by_cheapest(const request& r, const graph::topology& g, const tuning& t) {
  if (r.whole && r.apart && !computes(r.op)) return compile_apart(r, g, t);
  return choose(r, g, t)->compile(r, g, t);
}

// In the order of all_operations.
constexpr std::array compilers{
    &compile_barrier,   &by_cheapest,      &by_cheapest,         &by_cheapest,          &by_cheapest,
    &by_cheapest,       &compile_permute,  &compile_broadcast_x, &compile_gather_all_x, &compile_exchange_x,
    &compile_scatter_x, &compile_gather_x, &compile_permute_x,   &by_cheapest,          &by_cheapest,
    &by_cheapest,       &compile_sort,     &by_cheapest,         &by_cheapest,          &by_cheapest,
    &by_cheapest,       &by_cheapest,      &by_cheapest,         &by_cheapest};
static_assert(compilers.size() == std::size(all_operations));

// The member with the most transfers: the root, or in a permutation any one.
std::uint64_t cost_of_blocks(std::uint64_t far, std::uint64_t near, const request& r,
                             const graph::topology& g, const tuning& t) {
  const cost_model c(t.costs);
  const std::uint64_t hop = sent_ahead(r, g, t) ? c.message() : c.get();
  return (far == 0 ? 0 : hop + c.wire(far, r.bytes)) + c.copies(near, r.bytes);
}

} // namespace

// A scatter or a gather, block by block.
std::uint64_t cost_of_flat_rooted(const request& r, const graph::topology& g, const tuning& t) {
  const std::uint64_t near = g.members(g.host(r.root));
  return cost_of_blocks(g.size() - near, near, r, g, t);
}

std::optional<std::uint64_t> cost_of_only_way(const request& r, const graph::topology& g, const tuning& t) {
  switch (r.op) {
  case operation::barrier:
    return cost_of_barrier(r, g, t);
  case operation::permute:
    return cost_of_blocks(g.one_host() ? 0 : 1, g.one_host() ? 1 : 0, r, g, t);
  default:
    return std::nullopt;
  }
}

// The leaders tell each other that all have entered, or that all is in place, as they do in a barrier.
std::optional<std::uint64_t> predicted_time(const request& r, const graph::topology& g, const tuning& t) {
  const algorithm* const by = choose(r, g, t);
  const std::optional<std::uint64_t> cost = by != nullptr ? by->cost(r, g, t) : cost_of_only_way(r, g, t);
  if (!cost || r.op == operation::barrier) return cost;
  const std::uint64_t rounds = cost_of_barrier(r, g, t);
  return *cost + (r.in == graph::sync::all ? rounds : 0) + (r.out == graph::sync::all ? rounds : 0);
}

graph::plan compile(const request& r, const graph::topology& g, const tuning& t) {
  graph::plan p = compilers[static_cast<std::size_t>(r.op)](r, g, t);
  if (t.check && g.size() > 1) p = with_comparison(p, r.in, g);
  if (special::settled_steps) graph::settle(p, g);
  graph::note_for_post(p);
  if (special::straight) graph::straighten(p, g);
  if (!special::post_sends_little && p.opening != 0) p.opening = graph::plan::unbounded;
  return p;
}

} // namespace weft::collectives
