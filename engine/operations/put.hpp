#pragma once
#include "engine/operations/carried_alone.hpp"

namespace weft::graph::operations {

// Blocks of mine into the peer's destination, carried by me alone. To another host it is complete at my side
// only; a flush says when it is in place.
struct put : carried_alone<put, direction::out> {
  static constexpr kind what = kind::put;
  static constexpr std::string_view name = "put";
  static std::string text(const node& n) { return words("put to ", graph::name(n.peer)); }
};

} // namespace weft::graph::operations
