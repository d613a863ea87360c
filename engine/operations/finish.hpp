// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/plan/plan.hpp"
#include "engine/topology/topology.hpp"

namespace weft::graph {

// Notes the region of each step that moves one which is the same in every execution: so the executor need
// not resolve it again. What each_move says of the step is what is noted.
void settle(plan& p, const topology& g);

// Notes what a post over sockets goes by: which nodes others wait for, and how much these send at once, if
// they are no more than messages that wait for no more than words. And what a rank that is away is rung for:
// which nodes come to something that other ranks wait for, and that no other rank can do.
void note_for_post(plan& p);

// Notes the steps of a plan that is straight: few of them, within the host, in the order in which a pass that
// finds all words come makes them, with their peers. A blocking call goes through them with no state but the
// place that it has come to. So a step that may be made again, because a later one of its node has to wait,
// only waits and copies. `straight_posted` of them, signals, are all that a post makes; 0 if that is not so.
void straighten(plan& p, const topology& g);

} // namespace weft::graph
