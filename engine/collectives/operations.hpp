// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/request.hpp"
#include "engine/plan/names.hpp"

#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace weft::collectives {

// What is known of each operation, whatever its arguments. How it is compiled, compile.cpp says; what it is
// to move, specified.cpp.
struct operation_facts {
  operation op;
  std::string_view name;
  bool rooted = false;        // one member, the root, is the only source or destination, and known to all
  bool has_in_place = false;  // source and destination may be one buffer
  bool sized_by_rows = false; // the block's bytes are no argument of the call: all sizes lie in shared memory
  bool permutes = false;      // each member's row names another member, and each is named once
  bool rooted_by_rows = false;   // each member's row names the root, if its block is not empty
  bool computes = false;         // what comes together is combined: it means a gather of what is combined
  bool of_vectors = false;       // element by element, at addresses that differ
  bool prefixes = false;         // a member needs what is in front of it
  bool sized_by_members = false; // only the two ends of a block know its size: `bytes` is none of them
};

// In the order of their enumerators.
inline constexpr operation_facts all_operations[] = {
    {operation::barrier, "barrier"},
    {.op = operation::broadcast, .name = "broadcast", .rooted = true},
    {.op = operation::gather_all, .name = "gather_all", .has_in_place = true},
    {.op = operation::exchange, .name = "exchange", .has_in_place = true},
    {.op = operation::scatter, .name = "scatter", .rooted = true},
    {.op = operation::gather, .name = "gather", .rooted = true},
    {.op = operation::permute, .name = "permute", .has_in_place = true, .permutes = true},
    {.op = operation::broadcast_x, .name = "broadcast_x", .rooted = true},
    {.op = operation::gather_all_x, .name = "gather_all_x", .has_in_place = true, .sized_by_rows = true},
    {.op = operation::exchange_x, .name = "exchange_x", .has_in_place = true, .sized_by_rows = true},
    {.op = operation::scatter_x, .name = "scatter_x", .sized_by_rows = true, .rooted_by_rows = true},
    {.op = operation::gather_x, .name = "gather_x", .sized_by_rows = true, .rooted_by_rows = true},
    {.op = operation::permute_x,
     .name = "permute_x",
     .has_in_place = true,
     .sized_by_rows = true,
     .permutes = true},
    {.op = operation::reduce, .name = "reduce", .rooted = true, .computes = true},
    {.op = operation::reduce_all, .name = "reduce_all", .computes = true},
    {.op = operation::prefix_reduce, .name = "prefix_reduce", .computes = true, .prefixes = true},
    {.op = operation::sort, .name = "sort", .computes = true},
    {.op = operation::team_reduce,
     .name = "team_reduce",
     .rooted = true,
     .computes = true,
     .of_vectors = true},
    {.op = operation::team_allreduce, .name = "team_allreduce", .computes = true, .of_vectors = true},
    {.op = operation::team_scan, .name = "team_scan", .computes = true, .of_vectors = true, .prefixes = true},
    {.op = operation::team_reduce_scatter,
     .name = "team_reduce_scatter",
     .computes = true,
     .of_vectors = true},
    {.op = operation::team_alltoallv,
     .name = "team_alltoallv",
     .computes = true,
     .of_vectors = true,
     .sized_by_members = true},
    {.op = operation::team_gatherv,
     .name = "team_gatherv",
     .rooted = true,
     .computes = true,
     .of_vectors = true,
     .sized_by_members = true},
    {.op = operation::team_scatterv,
     .name = "team_scatterv",
     .rooted = true,
     .computes = true,
     .of_vectors = true,
     .sized_by_members = true},
};

constexpr const operation_facts& facts_of(operation op) {
  return all_operations[static_cast<std::size_t>(op)];
}
static_assert(graph::in_order(all_operations, [](const operation_facts& f) { return f.op; }));

// Their enumerators alone.
inline constexpr auto operations = [] {
  std::array<operation, std::size(all_operations)> all{};
  for (std::size_t k = 0; k < all.size(); ++k)
    all[k] = all_operations[k].op;
  return all;
}();

constexpr std::string_view name(operation op) {
  return facts_of(op).name;
}
constexpr bool rooted(operation op) {
  return facts_of(op).rooted;
}
constexpr bool has_in_place(operation op) {
  return facts_of(op).has_in_place;
}
constexpr bool sized_by_rows(operation op) {
  return facts_of(op).sized_by_rows;
}
constexpr bool permutes(operation op) {
  return facts_of(op).permutes;
}
constexpr bool rooted_by_rows(operation op) {
  return facts_of(op).rooted_by_rows;
}
constexpr bool of_vectors(operation op) {
  return facts_of(op).of_vectors;
}
constexpr bool prefixes(operation op) {
  return facts_of(op).prefixes;
}
constexpr bool sized_by_members(operation op) {
  return facts_of(op).sized_by_members;
}
constexpr bool computes(operation op) {
  return facts_of(op).computes;
}

} // namespace weft::collectives
