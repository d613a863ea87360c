#pragma once
#include "engine/graph/verify_order.hpp"

namespace weft::graph::checking {

// Is every destination byte written once, from the right place, and nothing else? Are two writers of a byte
// at least ordered? The run may be incomplete, then nothing is said of order.
void check_bytes(const event_graph& g, const symbolic_run& run, const movement& expected, report& out);

} // namespace weft::graph::checking
