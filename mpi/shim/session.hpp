#pragma once
// What a process has of the library beneath its MPI: the lanes of its communicators, the calls under way, and
// what it has counted.

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

// How a program asks for a collective.
enum class form : unsigned { blocking, nonblocking, persistent, last };
// The form's calls are carried in this session.
bool carries(form f);
// Larger blocks are not.
std::size_t most_carried();

// This rank's end of a call: a buffer, and so many elements in each block.
struct side {
  void* buffer = nullptr;
  int count = 0; // in a block
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int blocks = 0;
};

// A call that is the library's: what its request stands for.
struct carried {
  operation op;
  lane* way = nullptr;
  side in_side, out_side;             // packed ones have their bytes in:
  std::vector<std::byte> in, out;
  // Kept from call to call, as long as MPI has not completed it.
  MPI_Request request = MPI_REQUEST_NULL;
  int tag = 0; // of a persistent one
  bool persistent = false, under_way = false;
  carried* next = nullptr; // while it is free
};
carried& new_call();
void give_back(carried& c);

// Requests of this library that the program has not completed: most calls find none and are MPI's alone.
bool none_under_way();
MPI_Request request_of(carried& c);
// An inactive one.
MPI_Request persistent_request_of(carried& c);
carried* find_persistent(MPI_Request request);
// MPI's request begins with the call.
void begin_again(carried& c);
void forget_persistent(carried& c);
carried* find(MPI_Request request);
// Of a call that is done. The request is null then, and `status` is that of a collective.
void finish(carried& c, MPI_Request* request, MPI_Status* status);
// The same by MPI, in whatever call it is asked.
void complete(carried& c);
// Moves the call on, and completes its request if it is done.
void try_complete(carried& c);
// Waits for the call, while MPI goes on with what else it has.
void wait(carried& c);

// Packs what is not contiguous, and posts.
void post(carried& c);
// Its results are where the program wants them.
void conclude(carried& c);

// Counts, printed at the end with WEFT_STATISTICS=1.
enum class reason : unsigned { carried, no_lane, between_groups, operator_of_user, no_element, too_large, last };
void count(collective what, form f, reason why);

} // namespace weft::mpi
