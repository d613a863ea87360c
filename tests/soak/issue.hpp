#pragma once
#include "tests/soak/berths.hpp"

namespace soak {

// Fills this thread's part of what the call reads, and paints its destination.
void prepare(const call& c, const berths::view& b, std::uint32_t my_rank);
// Calls the function: the handle, or 0 if it was blocking.
unsigned long long issue(const call& c, const berths::view& b, upc_team_t team);
// The first byte of this thread's areas that is not what it must be after the call; empty if all are right.
std::string wrong_byte(const call& c, const berths::view& b, std::uint32_t my_rank);

} // namespace soak
