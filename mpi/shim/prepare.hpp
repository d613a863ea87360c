// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// The collectives that the library carries, as calls of its own. Whether it does depends on facts that are
// the same on all ranks: else some would call MPI's and wait for the others for ever.

#include "mpi/shim/requests.hpp"

#include <mpi.h>

namespace weft::mpi {

// The call, ready to be posted. Null if MPI is to do it: the library does not carry such calls, or this one
// is wrong, which MPI says. Counted.
carried* prepare(collective what, form f, const arguments& a);

// False if MPI refuses those that it reads on this rank of the communicator, and says why, when it gets them.
// The others may be anything: nothing looks at them.
bool are_right(collective what, const arguments& a, int rank, int size);
// The same of blocks with a count each; notes how large they are.
bool are_right(sided_blocks& s);

// Calls of blocks whose sizes each rank knows of its own only: allgatherv, gatherv, scatterv, alltoallv and
// alltoallw. They are staged one behind the other, in memory that the rank takes for the call.
carried* prepare_blocks(collective what, form f, const arguments& a, lane& way);
void post_blocks(carried& c);
// Its blocks are where the program wants them, and the memory is given back.
void conclude_blocks(carried& c);

// Of an operator of the program, or of MPI's own that the library has not for these elements. The program may
// free the operator before the call ends. Nothing for one that MPI alone knows how to call.
combination combination_of(MPI_Op op, MPI_Datatype type);

} // namespace weft::mpi
