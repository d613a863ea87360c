// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/plan/plan.hpp"

#include <string_view>

namespace weft::graph {

// The words of the committed digests: they stay when the enumerators, or what messages call them, change.
std::string_view word(fact f);
std::string_view word(buffer b);
std::string_view word(pattern p);
std::string_view word(naming n);
std::string_view word(row_element e);
std::string_view word(descriptor d);
std::string_view word(sync s);
std::string_view word(hint h);

} // namespace weft::graph
