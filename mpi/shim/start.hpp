// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

namespace weft::mpi {

// Behind MPI_Init: does the library carry calls of this process? Ends the job with a line if it cannot.
// Collective over MPI_COMM_WORLD.
bool may_start();

[[noreturn]] void end_job(const std::string& why);

// Before MPI_Init: ends the process with a line if this library is not for the MPI that the program has.
void require_right_mpi();

} // namespace weft::mpi
