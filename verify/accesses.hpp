#pragma once
#include "verify/order.hpp"

namespace weft::graph::checking {

// What must be complete before something else: an access before the members leave whom the OUT mode protects
// from it, a write before its bytes are handed on, and in place the reading of bytes before they are
// overwritten. The run is complete.
void check_accesses(const event_graph& g, const adjacency& after, const adjacency& before,
                    const symbolic_run& run, const on_progress& progress, report& out);

} // namespace weft::graph::checking
