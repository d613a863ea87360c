#pragma once
#include "verify/order.hpp"

namespace weft::graph::checking {

// What the IN modes demand of whoever touches data, and what a member that leaves a barrier, or waits for
// all, must know: whose entry is known where.
void check_entries(const event_graph& g, const adjacency& before, const symbolic_run& run, report& out);

} // namespace weft::graph::checking
