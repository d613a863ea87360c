// SPDX-License-Identifier: BSD-3-Clause
#include "perf/bench/operation.hpp"

#include <array>
#include <utility>

namespace perf {
namespace {

constexpr std::array<std::pair<operation, std::string_view>, operations.size()> names{{
    {operation::barrier, "barrier"},
    {operation::broadcast, "broadcast"},
    {operation::scatter, "scatter"},
    {operation::gather, "gather"},
    {operation::gather_all, "gather_all"},
    {operation::exchange, "exchange"},
    {operation::permute, "permute"},
    {operation::team_reduce, "team_reduce"},
    {operation::team_allreduce, "team_allreduce"},
    {operation::reduce_all, "reduce_all"},
    {operation::prefix_reduce, "prefix_reduce"},
}};

} // namespace

std::string_view name_of(operation op) {
  for (const auto& [value, name] : names)
    if (value == op) return name;
  return "unknown";
}

std::optional<operation> operation_named(std::string_view wanted) {
  for (const auto& [value, name] : names)
    if (name == wanted) return value;
  return std::nullopt;
}

bool carries_data(operation op) {
  return op != operation::barrier;
}

std::size_t source_blocks(operation op, int rank, int size) {
  switch (op) {
  case operation::barrier:
    return 0;
  case operation::broadcast:
    return rank == 0 ? 1 : 0;
  case operation::scatter:
    return rank == 0 ? static_cast<std::size_t>(size) : 0;
  case operation::gather:
  case operation::gather_all:
  case operation::permute:
  case operation::team_reduce:
  case operation::team_allreduce:
  case operation::reduce_all:
  case operation::prefix_reduce:
    return 1;
  case operation::exchange:
    return static_cast<std::size_t>(size);
  }
  return 0;
}

std::size_t destination_blocks(operation op, int rank, int size) {
  switch (op) {
  case operation::barrier:
    return 0;
  case operation::broadcast:
  case operation::scatter:
  case operation::permute:
  case operation::team_allreduce:
  case operation::reduce_all: // of which the first word is written
  case operation::prefix_reduce:
    return 1;
  case operation::team_reduce:
    return rank == 0 ? 1 : 0;
  case operation::gather:
    return rank == 0 ? static_cast<std::size_t>(size) : 0;
  case operation::gather_all:
  case operation::exchange:
    return static_cast<std::size_t>(size);
  }
  return 0;
}

} // namespace perf
