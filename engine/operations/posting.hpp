#pragma once
#include "engine/plan/plan.hpp"

namespace weft::graph {

// Notes what a post over sockets goes by: which nodes others wait for, and how much these send at once, if they
// are no more than messages that wait for no more than words. And what a rank that is away is rung for: which nodes come to
// something that other ranks wait for, and that no other rank can do.
void note_for_post(plan& p);

} // namespace weft::graph
