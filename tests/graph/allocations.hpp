// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>

namespace weft::graph {

// How often this test program has allocated so far.
std::size_t allocations();

} // namespace weft::graph
