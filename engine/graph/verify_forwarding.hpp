#pragma once
#include "engine/graph/verify_order.hpp"

namespace weft::graph::checking {

// Whoever reads a destination to hand on what is in it must know that all of it has been written.
void check_forwarding(const event_graph& g, const knowledge& known, report& out);

} // namespace weft::graph::checking
