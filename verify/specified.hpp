// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/operations.hpp"
#include "verify/verifier.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace weft::collectives {

// What the texts of the UPC collectives say of each operation. The compilers of plans know nothing of this:
// it is what their plans are verified against.

// Whom each member's row names, for the operations that have such rows.
using row_names = std::vector<std::uint32_t>;
row_names shifted(std::uint32_t members, std::uint32_t by = 1);
row_names to_root(std::uint32_t members, std::uint32_t root);

// What is to be moved, the rows naming these members.
graph::movement specified(const request& r, const row_names& names = {});

} // namespace weft::collectives
