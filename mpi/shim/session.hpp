#pragma once
// What a process has of the library beneath its MPI: the lanes of its communicators, the requests under way,
// and what it has counted.

#include "mpi/shim/lane.hpp"

#include <mpi.h>

#include <memory>

namespace weft::mpi {

// Begins with MPI_Init, ends with MPI_Finalize.
void begin_session();
void end_session();

// A lane for a new communicator: collective over its members, in a call that waits for all of them anyway.
// None if there is no room for it on all, and for communicators of one process and between two groups.
void make_lane(MPI_Comm comm);
// Null for a communicator without one.
lane* lane_of(MPI_Comm comm);

// A call that is the library's: what its request stands for.
struct carried {
  operation op;
  MPI_Request request = MPI_REQUEST_NULL;
  std::vector<std::byte> in, out; // packed
  // The results are taken apart into these, unless there is nothing packed.
  void* to = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  carried* next = nullptr; // while it is free
};
carried& new_call();

// Requests of this library that the program has not completed: most calls find none and are MPI's alone.
bool none_under_way();
MPI_Request request_of(carried& c);
carried* find(MPI_Request request);
// Of a call that is done: MPI completes the request now, in whatever call.
void complete(carried& c);
// Moves the call on, and completes its request if it is done.
void try_complete(carried& c);
// Waits for the call, while MPI goes on with what else it has.
void wait(carried& c);

// Counts, printed at the end with WEFT_STATISTICS=1.
enum class reason : unsigned { carried, no_lane, between_groups, operator_of_user, no_element, last };
void count(collective what, reason why);

} // namespace weft::mpi
