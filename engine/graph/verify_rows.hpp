#pragma once
#include "engine/graph/geometry.hpp"
#include "engine/graph/verify_report.hpp"

namespace weft::graph::checking {

// Is what a plan does with rows in shared memory, and in place, defined for the place where it stands? For
// plans whose loops have been found sane.
void check_rows(const plan& p, const geometry& g, report& out);

} // namespace weft::graph::checking
