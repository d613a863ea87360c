#pragma once
#include "engine/collectives/request.hpp"
#include "engine/verify/verifier.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace weft::collectives {

// What the texts of the UPC collectives say of each operation. The compilers of plans know nothing of this:
// it is what their plans are verified against.

inline constexpr std::array operations{operation::barrier,  operation::broadcast,    operation::scatter,
                                       operation::gather,   operation::gather_all,   operation::exchange,
                                       operation::permute,  operation::broadcast_x,  operation::scatter_x,
                                       operation::gather_x, operation::gather_all_x, operation::exchange_x,
                                       operation::permute_x};

// With all sizes in shared memory; the block's bytes are no argument of the call.
bool sized_by_rows(operation op);
// Each member's row names another member, and each is named once.
bool permutes(operation op);
// Each member's row names the root, if its block is not empty.
bool rooted_by_rows(operation op);
bool has_in_place(operation op);

// Whom each member's row names, for the operations that have such rows.
using row_names = std::vector<std::uint32_t>;
row_names shifted(std::uint32_t members, std::uint32_t by = 1);
row_names to_root(std::uint32_t members, std::uint32_t root);

// What is to be moved, the rows naming these members.
graph::movement specified(const request& r, const row_names& names = {});

} // namespace weft::collectives
