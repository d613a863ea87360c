#pragma once
#include "engine/collectives/families.hpp"
#include "engine/team.hpp"

namespace weft::progress {

// What WEFT_LOG=debug tells of a plan that is about to be compiled; the first member of its team prints.
void log_plan(const collectives::request& r, const engine::team_info& team, const collectives::tuning& t);

} // namespace weft::progress
