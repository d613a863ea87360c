#pragma once
#include "tests/soak/dice.hpp"

#include <vector>

namespace soak {

using handles = std::vector<unsigned long long>;

// The ways to complete operations. The last one is for one thread at a time.
inline constexpr unsigned styles = 10;
const char* name_of_style(unsigned style);
// Completes all of them, or, where the style can and `all` is not asked for, at least one: those are 0 then.
void complete(handles& open, unsigned style, bool all, dice& d);

} // namespace soak
