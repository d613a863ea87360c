// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Calls of blocks whose sizes each rank knows of its own only: allgatherv, gatherv, scatterv, alltoallv and
// alltoallw. They are staged one behind the other, in memory that the rank takes for the call.

#include "mpi/shim/prepare.hpp"

namespace weft::mpi {

carried* prepare_blocks(collective what, form f, const arguments& a, lane& way);
void post_blocks(carried& c);
// Its blocks are where the program wants them, and the memory is given back.
void conclude_blocks(carried& c);

// Types that the program may free before.
void keep_types(sided_blocks& s);
void release_types(sided_blocks& s);

} // namespace weft::mpi
