// SPDX-License-Identifier: BSD-3-Clause
#include "verify/specified.hpp"

#include <stdexcept>

namespace weft::graph {

bool movement::sends(std::uint32_t i, std::uint32_t j) const {
  switch (pairs) {
  case pattern::all_pairs:
    return true;
  case pattern::to_later:
    return i <= j;
  case pattern::from_root:
    return i == root;
  case pattern::to_root:
    return j == root;
  case pattern::by_source:
    return named_by(i) == j;
  case pattern::by_destination:
    return named_by(j) == i;
  case pattern::none:
    break;
  }
  return false;
}

} // namespace weft::graph

namespace weft::collectives {
using graph::block_rule;
using graph::movement;
using graph::pattern;

row_names shifted(std::uint32_t members, std::uint32_t by) {
  row_names names(members);
  for (std::uint32_t r = 0; r < members; ++r)
    names[r] = (r + by) % members;
  return names;
}

row_names to_root(std::uint32_t members, std::uint32_t root) {
  return row_names(members, root);
}

movement specified(const request& r, const row_names& names) {
  block_rule rule;
  rule.bytes = sized_by_rows(r.op) ? 1 : r.bytes; // a byte stands for a block whose size is in the rows
  switch (r.op) {
  case operation::barrier:
    return {};
  case operation::broadcast:
  case operation::broadcast_x:
    return {pattern::from_root, rule, r.root};
  case operation::scatter:
  case operation::team_scatterv:
    rule.src_j = r.bytes;
    return {pattern::from_root, rule, r.root};
  case operation::gather:
  case operation::team_gatherv:
    rule.dst_i = r.bytes;
    return {pattern::to_root, rule, r.root};
  case operation::gather_all:
    rule.dst_i = r.bytes;
    if (r.in_place) rule.src_i = r.bytes;
    return {pattern::all_pairs, rule, 0, {}, r.in_place};
  case operation::gather_all_x: // in place too the rule is that of two buffers
    rule.dst_i = 1;
    return {pattern::all_pairs, rule};
  case operation::exchange:
  case operation::exchange_x:
  case operation::team_alltoallv:
    rule.src_j = rule.bytes;
    rule.dst_i = rule.bytes;
    return {pattern::all_pairs, rule, 0, {}, r.in_place};
  case operation::permute:
  case operation::permute_x:
    return {pattern::by_source, rule, 0, names, r.in_place};
  case operation::scatter_x:
    rule.src_j = 1;
    return {pattern::by_destination, rule, 0, names};
  case operation::gather_x:
    rule.dst_i = 1;
    return {pattern::by_source, rule, 0, names};
  case operation::team_reduce:
  case operation::reduce: // the result, as what it is made of
    rule.dst_i = r.bytes;
    return {pattern::to_root, rule, r.root};
  case operation::sort: // a bucket may have elements for each rank, in what all have read
    rule.dst_i = r.bytes;
    return {pattern::all_pairs, rule, 0, {}, true};
  case operation::reduce_all:
  case operation::prefix_reduce:
  case operation::team_allreduce:
  case operation::team_reduce_scatter:
    rule.dst_i = r.bytes;
    return {pattern::all_pairs, rule};
  case operation::team_scan:
    rule.dst_i = r.bytes;
    return {pattern::to_later, rule};
  }
  throw std::logic_error("unknown operation");
}

} // namespace weft::collectives
