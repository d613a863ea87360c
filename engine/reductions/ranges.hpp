#pragma once
#include "engine/reductions/reduction.hpp"

namespace weft::reductions {

// A reduction whose members work on ranges of the elements.
void prepare_ranges(reduction& r, std::uint32_t members);

} // namespace weft::reductions
