// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/request.hpp"
#include "engine/plan/names.hpp"
#include "engine/topology/topology.hpp"

#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace weft::collectives {

struct tuning;
using plan_of = graph::plan(const request& r, const graph::topology& g, const tuning& t);
using cost_of = std::uint64_t(const request& r, const graph::topology& g, const tuning& t);

// The one way to compile an operation that has no algorithms to choose from, and what it takes.
plan_of compile_barrier, compile_permute, compile_sort;
plan_of compile_broadcast_x, compile_gather_all_x, compile_exchange_x, compile_scatter_x, compile_gather_x,
    compile_permute_x;
cost_of cost_of_barrier, cost_of_permute;

// How many blocks an operand has on a member that has one.
enum class blocks_of_operand : std::uint8_t { one, one_a_member };
enum class root_has : std::uint8_t { none, source, destination };

// The catalogue: what is known of each operation, whatever its arguments, a row for each. The checks of the
// calls, the choice and the compilation of plans, checked mode, reports, traces and `weft plan` read it. What
// an operation is to move verify/specified.cpp says, on its own.
struct operation_facts {
  using enum blocks_of_operand;

  operation op;
  std::string_view name;
  std::string_view call; // how programs call it, and its form of Cray
  std::string_view cray = call;
  // Operands of equal blocks; of others rows or tasks tell.
  blocks_of_operand src = one, dst = one;
  root_has root =
      root_has::none;         // of one member, the root, that is known to all; the other operand is of each
  bool has_in_place = false;  // source and destination may be one buffer
  bool sized_by_rows = false; // the block's bytes are no argument of the call: all sizes lie in shared memory
  bool permutes = false;      // each member's row names another member, and each is named once
  bool rooted_by_rows = false;   // each member's row names the root, if its block is not empty
  bool computes = false;         // what comes together is combined: it means a gather of what is combined
  bool of_vectors = false;       // element by element, at addresses that differ
  bool prefixes = false;         // a member needs what is in front of it
  bool sized_by_members = false; // only the two ends of a block know its size: `bytes` is none of them
  plan_of* compile = nullptr;    // null: by the algorithm that fits and costs least
  cost_of* cost = nullptr;       // of that one way, where the sizes are known
};

// In the order of their enumerators.
inline constexpr operation_facts all_operations[] = {
    {.op = operation::barrier,
     .name = "barrier",
     .call = "upc_barrier",
     .cray = "cray_upc_team_barrier",
     .compile = compile_barrier,
     .cost = cost_of_barrier},
    {.op = operation::broadcast, .name = "broadcast", .call = "upc_all_broadcast", .root = root_has::source},
    {.op = operation::gather_all,
     .name = "gather_all",
     .call = "upc_all_gather_all",
     .dst = operation_facts::one_a_member,
     .has_in_place = true},
    {.op = operation::exchange,
     .name = "exchange",
     .call = "upc_all_exchange",
     .cray = "cray_upc_team_alltoall",
     .src = operation_facts::one_a_member,
     .dst = operation_facts::one_a_member,
     .has_in_place = true},
    {.op = operation::scatter,
     .name = "scatter",
     .call = "upc_all_scatter",
     .src = operation_facts::one_a_member,
     .root = root_has::source},
    {.op = operation::gather,
     .name = "gather",
     .call = "upc_all_gather",
     .dst = operation_facts::one_a_member,
     .root = root_has::destination},
    {.op = operation::permute,
     .name = "permute",
     .call = "upc_all_permute",
     .has_in_place = true,
     .permutes = true,
     .compile = compile_permute,
     .cost = cost_of_permute},
    {.op = operation::broadcast_x,
     .name = "broadcast_x",
     .call = "upc_all_broadcast_x",
     .root = root_has::source,
     .compile = compile_broadcast_x},
    {.op = operation::gather_all_x,
     .name = "gather_all_x",
     .call = "upc_all_gather_all_x",
     .dst = operation_facts::one_a_member,
     .has_in_place = true,
     .sized_by_rows = true,
     .compile = compile_gather_all_x},
    {.op = operation::exchange_x,
     .name = "exchange_x",
     .call = "upc_all_exchange_x",
     .src = operation_facts::one_a_member,
     .dst = operation_facts::one_a_member,
     .has_in_place = true,
     .sized_by_rows = true,
     .compile = compile_exchange_x},
    {.op = operation::scatter_x,
     .name = "scatter_x",
     .call = "upc_all_scatter_x",
     .sized_by_rows = true,
     .rooted_by_rows = true,
     .compile = compile_scatter_x},
    {.op = operation::gather_x,
     .name = "gather_x",
     .call = "upc_all_gather_x",
     .sized_by_rows = true,
     .rooted_by_rows = true,
     .compile = compile_gather_x},
    {.op = operation::permute_x,
     .name = "permute_x",
     .call = "upc_all_permute_x",
     .has_in_place = true,
     .sized_by_rows = true,
     .permutes = true,
     .compile = compile_permute_x},
    {.op = operation::reduce,
     .name = "reduce",
     .call = "upc_all_reduce",
     .root = root_has::destination,
     .computes = true},
    {.op = operation::reduce_all, .name = "reduce_all", .call = "upc_all_reduce_all", .computes = true},
    {.op = operation::prefix_reduce,
     .name = "prefix_reduce",
     .call = "upc_all_prefix_reduce",
     .computes = true,
     .prefixes = true},
    {.op = operation::sort,
     .name = "sort",
     .call = "upc_all_sort",
     .computes = true,
     .compile = compile_sort},
    {.op = operation::team_reduce,
     .name = "team_reduce",
     .call = "cray_upc_team_reduce",
     .root = root_has::destination,
     .computes = true,
     .of_vectors = true},
    {.op = operation::team_allreduce,
     .name = "team_allreduce",
     .call = "cray_upc_team_allreduce",
     .computes = true,
     .of_vectors = true},
    {.op = operation::team_scan,
     .name = "team_scan",
     .call = "cray_upc_team_scan",
     .computes = true,
     .of_vectors = true,
     .prefixes = true},
    {.op = operation::team_reduce_scatter,
     .name = "team_reduce_scatter",
     .call = "cray_upc_team_reduce_scatter",
     .computes = true,
     .of_vectors = true},
    {.op = operation::team_alltoallv,
     .name = "team_alltoallv",
     .call = "cray_upc_team_alltoallv",
     .computes = true,
     .of_vectors = true,
     .sized_by_members = true},
    {.op = operation::team_gatherv,
     .name = "team_gatherv",
     .call = "cray_upc_team_gatherv",
     .root = root_has::destination,
     .computes = true,
     .of_vectors = true,
     .sized_by_members = true},
    {.op = operation::team_scatterv,
     .name = "team_scatterv",
     .call = "cray_upc_team_scatterv",
     .root = root_has::source,
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
  return facts_of(op).root != root_has::none;
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
