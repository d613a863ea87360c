// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/plan/plan.hpp"
#include "engine/topology/topology.hpp"
#include "verify/verifier.hpp"

#include <span>
#include <string>
#include <vector>

namespace weft::graph {

// What the plans of all members do, in words that hold however a plan is put together: which bytes go from
// where to where, which word is raised or awaited, which stage is computed, and what each of these waits for.
// For each rank a line with what holds for its plan as a whole, and then its actions:
//
//   7* [2] after 3 5: move 1.source+16 > 2.destination+8 (8)
//
// is the seventh in the order in which the rank looks at them. Others wait for it or for an action of the
// same group (*). It is of the iteration 2 of a loop. It begins when the actions 3 and 5 are done; 0 is the
// entry. What rows of shared memory say is what `moved` says.
std::string told_actions(std::span<const plan> plans, const std::vector<topology>& places,
                         const movement& moved);

} // namespace weft::graph
