#pragma once
#include "engine/plan/plan.hpp"

namespace weft::graph {

// A plan as a part of another one. Its nodes move behind those that are there, into phases of their own, so
// that nobody hears of another part's payloads and counts. It works on buffers of the whole: what gathers in
// place that which an earlier part has brought reads the destination of the whole as its source.
struct as_part {
  node_set after = 0;     // it begins when these are done
  std::uint8_t phase = 0; // the first of its phases
  buffer source = buffer::source, destination = buffer::destination;
  // Which of its top nodes wait for `after`; those that wait for none of their own, unless told otherwise.
  bool (*waits)(const plan& part, const node& n) = [](const plan&, const node& n) { return n.after == 0; };
};

// Returns the nodes with which the part is done. Both are of the same members, and have the same root and
// tree; one of all parts may share its work (claims, assists), in phase 0, and its pieces are those of the
// whole. What rows name belongs to a whole plan. Throws std::logic_error where there is no room.
node_set include(plan& all, const plan& part, const as_part& how);

} // namespace weft::graph
