// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/algorithm.hpp"
#include "tests/graph/operations.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::graph {

// A line of the digest: an operation in its modes and forms, by one algorithm, in one setting.
struct plan_line {
  collectives::request what; // without a size and a root
  // Null: the operation has no choice, or (`choice`) the line says which algorithm is chosen, and what each
  // would cost.
  const collectives::algorithm* by = nullptr;
  bool choice = false;
  std::string_view setting;
  collectives::tuning tuned{};

  std::string key() const;
};

// The ways in which members may be spread over hosts; where there are few members some of them are one.
struct host_shape {
  std::string_view name;
  node_map (*of)(std::uint32_t members);
};
inline constexpr std::size_t host_shapes = 6;
const host_shape& shape_of(std::size_t k);

// One of the cases that a line sums up.
struct plan_case {
  const plan_line& line;
  const std::vector<topology>& places;
  std::size_t shape;
  collectives::request what;
  std::size_t rows; // which set of rows
  collectives::row_names names;

  std::string key() const;
  // What its plans do.
  std::string told() const;
};

// Those that the standard suite looks at, and all others.
enum class sampling : std::uint8_t { sample, rest };

using line_visitor = std::function<void(const plan_line&)>;
void for_each_line(collectives::operation op, const line_visitor& visit);
using plan_case_visitor = std::function<void(const plan_case&)>;
void for_each_case(const plan_line& line, sampling which, const plan_case_visitor& visit);

} // namespace weft::graph
