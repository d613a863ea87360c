#pragma once
#include "engine/graph/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace weft::collectives {

enum class operation : std::uint8_t { barrier, broadcast, gather_all, exchange, scatter, gather };

// True if one member, the root, is the only source or the only destination.
inline bool rooted(operation op) {
  return op == operation::broadcast || op == operation::scatter || op == operation::gather;
}

// What a plan depends on, besides the team: single-valued arguments only, and never an address.
struct request {
  operation op = operation::barrier;
  graph::sync in = graph::sync::all;
  graph::sync out = graph::sync::all;
  graph::hint direction = graph::hint::none;
  std::uint32_t root = 0;  // team rank; 0 where the operation has none
  std::uint64_t bytes = 0; // of one block

  bool operator==(const request&) const = default;
};

} // namespace weft::collectives
