// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/topology/topology.hpp"
#include "verify/events.hpp"
#include "verify/order.hpp"

namespace weft::graph::checking {

// Each plan by itself: indices, edges, operands, bounds. Without findings the plans may be unfolded.
void check_structure(std::span<const plan> plans, const std::vector<topology>& places, report& out);

// Where the root has a choice: is what is of one way behind the choice, in each plan? But for what cannot
// meet the other way: awaits, computations, and messages that the root need not take. Then the ways may be
// verified one by one. For plans as they are, not decided.
// And does the root say to all others when they work together?
void check_choices(std::span<const plan> plans, const std::vector<topology>& places, report& out);

// What the members' plans must have in common.
void check_agreement(std::span<const plan> plans, report& out);

// Is what a plan does with rows in shared memory, and in place, defined for the place where it stands? For
// plans whose loops have been found sane.
void check_rows(const plan& p, const topology& g, report& out);

// Is every destination byte written once, from the right place, and nothing else? Are two writers of a byte
// at least ordered? The run may be incomplete, then nothing is said of order.
void check_bytes(const event_graph& g, const symbolic_run& run, const movement& expected, report& out);

// In place a block may be at its place from the beginning: then no rank need write it, but may.
bool stays(const movement& m, const access& a);

// What the IN modes demand of any rank that touches data, and what a member that leaves a barrier, or waits
// for all, must know: whose entry is known where.
void check_entries(const event_graph& g, const adjacency& before, const symbolic_run& run, report& out);

// What must be complete before something else: an access before the members leave that the OUT mode protects
// from it, a write before its bytes are handed on, and in place the reading of bytes before they are
// overwritten. The run is complete.
void check_accesses(const event_graph& g, const adjacency& after, const adjacency& before,
                    const symbolic_run& run, const on_progress& progress, report& out);

} // namespace weft::graph::checking
