#pragma once
#include "engine/operations/operation_kind.hpp"

namespace weft::graph::operations {

// The nodes of its body for each peer of a range: in any order as facts arrive, one after the other or so
// many at a time (ordered), or each step behind the same one of the iteration before (pipelined). Both the
// executor and the verifier run its body; it has no step of its own.
struct loop : operation_kind {
  static constexpr kind what = kind::loop;
  static constexpr std::string_view name = "loop";

  static bool fits(const node&) { return true; }
  static std::string text(const node& n) {
    const std::string how = n.ordered == 1  ? "ordered "
                            : n.ordered > 1 ? words("ordered by ", std::to_string(n.ordered), " ")
                            : n.pipelined   ? "pipelined "
                                            : "";
    return words(how, "loop over ", graph::name(n.over), ", ", std::to_string(n.count), " times",
                 n.searches ? ", until another root is found" : "");
  }

  template <class Meaning> static auto means(Meaning&, const node&, std::uint32_t e) { return e; }
  template <class C, class Op, class Tag> static outcome run(C&, Op&, const node&, std::uint32_t, Tag) {
    return outcome::blocked;
  }
};

} // namespace weft::graph::operations
