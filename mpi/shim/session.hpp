// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// What a process has of the library beneath its MPI: the lanes of its communicators, and what it has counted.

#include "mpi/shim/lane.hpp"

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace weft::mpi {

// Begins with MPI_Init, ends in MPI_Finalize.
void begin_session();

// Another number means that a handle may be another communicator or type than it was.
inline std::atomic<std::uint64_t> handles_changed{1};

// A lane for a new communicator: collective over its members, in a call that waits for all of them anyway.
// None if there is no room for it on all, and for communicators of one process and between two groups.
void make_lane(MPI_Comm comm);
// Null for a communicator without one.
lane* lane_of(MPI_Comm comm);

// How a program asks for a collective.
enum class form : unsigned { blocking, nonblocking, persistent, last };
// The form's calls are carried in this session.
bool carries(form f);
// Larger blocks are not.
std::size_t most_carried();

// Of its function, without MPI_. `unequal`: an allgather whose blocks have sizes of their own.
std::string name_of(collective what, bool unequal, form f);

// Counts, printed at the end with WEFT_STATISTICS=1.
enum class reason : unsigned {
  carried,
  no_lane,
  one_rank,
  between_groups,
  no_element,
  no_operator,
  too_large,
  last
};
void count(collective what, bool unequal, form f, reason why);

} // namespace weft::mpi
