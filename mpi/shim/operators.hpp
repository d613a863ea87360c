// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Operators of the program that calls under way use. A program may free one before: then MPI frees it when
// the last of those calls is complete.

#include <mpi.h>

namespace weft::mpi {

void hold_operator(MPI_Op op);
void give_back_operator(MPI_Op op);

} // namespace weft::mpi
