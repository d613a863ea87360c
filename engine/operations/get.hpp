#pragma once
#include "engine/operations/carried_alone.hpp"

namespace weft::graph::operations {

// Blocks of the peer into my destination, carried by me alone: by loads and stores within the host, else by
// the transport.
struct get : carried_alone<get, direction::in> {
  static constexpr kind what = kind::get;
  static constexpr std::string_view name = "get";
  static std::string text(const node& n) { return words("get from ", graph::name(n.peer)); }
};

} // namespace weft::graph::operations
