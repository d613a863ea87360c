#pragma once
#include "engine/collectives/operations.hpp"
#include "tools/machine.hpp"

#include <functional>
#include <optional>

namespace weft::tool {

// How the predicted time of an operation grows with the ranks.
struct scale_table {
  collectives::request request;
  std::uint32_t each = 32; // ranks of a node
  std::optional<machine> on;
  std::function<collectives::tuning(std::uint32_t nodes)> tuning; // of a team on so many nodes
};

void print_scale(const scale_table& table);

} // namespace weft::tool
