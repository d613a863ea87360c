#pragma once
#include "engine/operations/operation_kind.hpp"

namespace weft::graph::operations {

// Checked mode: the other members' calls with mine; done when all else is. It moves nothing, and is added
// only to plans that were verified without it.
struct compare : operation_kind {
  static constexpr kind what = kind::compare;
  static constexpr std::string_view name = "compare";

  static bool fits(const node&) { return false; }
  static std::string text(const node&) { return "compare the calls of all"; }

  template <class Meaning> static auto means(Meaning&, const node&, std::uint32_t e) { return e; }
  template <class C, class Op, class Tag>
  static outcome run(C& c, Op& op, const node& n, std::uint32_t, Tag) {
    return c.calls.compare(op, n);
  }
};

} // namespace weft::graph::operations
