// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/operations.hpp"
#include "engine/collectives/tuning.hpp"
#include "tools/machine.hpp"
#include "verify/specified.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace weft::tool {

// The command line of weft plan.
struct plan_options {
  collectives::request request;
  std::uint32_t ranks = 2, nodes = 1, rank = 0;
  std::optional<std::uint32_t> root;
  std::optional<std::uint64_t> bytes;
  std::optional<std::vector<std::uint32_t>> perm;
  std::string algorithm;
  bool verify = false, goal = false;
  std::optional<std::uint32_t> scale; // ranks of a node; 0: as many as there are cores, or 32
  std::optional<double> skew;         // of the sizes of blocks
  std::optional<machine> on;          // what it is predicted for, if not what the settings say
  bool named = false;                 // the operation is
  bool spread = false;                // the number of nodes is told

  std::uint32_t each() const { return *scale != 0 ? *scale : on ? on->cores : 32; }
};

// The request as the library makes it of a call, and what stands in shared memory when the plan runs.
collectives::request completed(const plan_options& o);
collectives::row_names rows(const plan_options& o);
// What the settings say, the algorithm of the command line, and the machine's costs for a team on so many
// nodes.
collectives::tuning tuning_for(const plan_options& o, std::uint32_t nodes);

// How the predicted time of an operation grows with the ranks.
struct scale_table {
  collectives::request request;
  std::uint32_t each = 32; // ranks of a node
  std::optional<machine> on;
  std::function<collectives::tuning(std::uint32_t nodes)> tuning; // of a team on so many nodes
};

void print_scale(const scale_table& table);

// What an exchange of unequal blocks takes whose sizes have this skew.
void print_skewed(const plan_options& o, const std::vector<std::uint32_t>& nodes);

// The plans of all ranks: checked against each other, or written as a schedule. Returns the exit status.
int unfold_all(const plan_options& o, const std::vector<std::uint32_t>& nodes,
               const std::function<graph::plan(std::uint32_t rank)>& compiled);

} // namespace weft::tool
