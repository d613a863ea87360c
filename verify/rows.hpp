#pragma once
#include "engine/topology/topology.hpp"
#include "verify/report.hpp"

namespace weft::graph::checking {

// Is what a plan does with rows in shared memory, and in place, defined for the place where it stands? For
// plans whose loops have been found sane.
void check_rows(const plan& p, const topology& g, report& out);

} // namespace weft::graph::checking
