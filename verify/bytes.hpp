#pragma once
#include "verify/order.hpp"

namespace weft::graph::checking {

// Is every destination byte written once, from the right place, and nothing else? Are two writers of a byte
// at least ordered? The run may be incomplete, then nothing is said of order.
void check_bytes(const event_graph& g, const symbolic_run& run, const movement& expected, report& out);

// In place a block may be at its place from the beginning: then nobody need write it, but may.
bool stays(const movement& m, const access& a);

} // namespace weft::graph::checking
