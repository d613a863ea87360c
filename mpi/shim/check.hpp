// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/shim/requests.hpp"

namespace weft::mpi {

// Ends the job with a line if unequal blocks that arrive have a byte in common, or one with what is given.
void require_distinct(const carried& c);

// With WEFT_CHECK=1: a buffer is the library's from the post to the completion. Remembers what the program
// gives.
void remember_buffers(carried& c);
// Ends the job with a line if the program has changed or freed it.
void require_buffers(const carried& c);

} // namespace weft::mpi
