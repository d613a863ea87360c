// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// The calls that are the library's, and the requests of MPI that stand for them.
//
// A request is one of MPI's generalized ones, and is kept with its call from use to use: where a program
// waits for one or for all, MPI is not asked at all. Where MPI's own function has to answer, for arrays of
// both kinds, MPI completes it, and the call gets another one.

#include "mpi/shim/session.hpp"
#include "mpi/shim/types.hpp"

#include <vector>

namespace weft::mpi {

// What MPI's function is called with, without the request.
struct arguments {
  const void* src = nullptr;
  int scount = 0;
  MPI_Datatype stype = MPI_DATATYPE_NULL;
  void* dst = nullptr;
  int dcount = 0;
  MPI_Datatype dtype = MPI_DATATYPE_NULL;
  int root = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Op op = MPI_OP_NULL;
  // Of blocks that are not of one size, in the place of dcount, and of scount; types where each has its own.
  const int *counts = nullptr, *places = nullptr, *scounts = nullptr, *splaces = nullptr;
  const MPI_Datatype *types = nullptr, *stypes = nullptr;

  bool operator==(const arguments&) const = default;
};

// This rank's end of a call: a buffer, and so many elements in each block.
struct side {
  void* buffer = nullptr;
  int count = 0; // in a block
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int blocks = 0;
  bool packed = false; // its bytes cannot be copied as they lie
};

// The same of blocks, each of a count and a type of its own: by rank, or one.
struct sided_blocks {
  struct block {
    int count = 0;
    MPI_Aint place = 0; // bytes from the buffer
    MPI_Datatype type = MPI_DATATYPE_NULL;
    extent size{}; // asked once, when the call is prepared
  };
  void* buffer = nullptr;
  std::vector<block> each;
  staged_blocks staged;
  bool plain = false;    // they are where the program has them
  std::size_t begin = 0; // else in the call's room, or its `in`
};

// How elements are combined that the library has no operator for: `by` is called with this, and nothing else.
struct combination {
  weft_user_function_t by = nullptr;
  void (*function)() = nullptr; // of the program
  bool commutes = true;
  MPI_Datatype type = MPI_DATATYPE_NULL; // that such a function gets
  MPI_Fint fortran_type = 0;             // the same for one in Fortran
};

// A call that is the library's: what its request stands for.
struct carried {
  operation op;
  lane* way = nullptr;
  side in_side, out_side; // packed ones have their bytes in:
  std::vector<std::byte> in, out;
  std::vector<int> counts, places;   // of blocks that are not of one size
  std::vector<std::size_t> elements; // of a reduce-scatter
  sided_blocks in_blocks, out_blocks;
  std::vector<MPI_Datatype> kept; // types that the program may free
  upc_shared_ptr_t room{};        // of those that are no plain bytes
  combination combines;           // of a reduction, if the library has no operator for it
  // Kept from call to call, as long as MPI has not completed it.
  MPI_Request request = MPI_REQUEST_NULL;
  int tag = 0; // of a persistent one
  bool persistent = false, under_way = false;
  form as = form::nonblocking;
  // What it was prepared of, what the arrays said that MPI reads here, and the handles' number then; 0: it
  // has to be prepared each time.
  collective asked = collective::barrier;
  arguments of;
  std::vector<int> said;
  std::uint64_t prepared_at = 0;
  std::size_t sum = 0;     // of what the program gives, with WEFT_CHECK=1
  carried* next = nullptr; // while it is free
};
carried& new_call();
// A loop makes the same call again and again. Of what it was prepared, for the next one:
void remember(carried& c, collective what, const arguments& a);
// One that is ready. Null if none is found soon.
carried* prepared_call(collective what, form f, const arguments& a);
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
// Types of the program's that the call needs until it is done, or until its request is freed.
void keep_types(carried& c, const side& s);
void keep_types(carried& c, const sided_blocks& s);
void release_types(carried& c);
// Its results are where the program wants them.
void conclude(carried& c);

inline std::string name_of(const carried& c) {
  return name_of(c.op.c.what, !c.counts.empty(), c.as);
}

// Of this process alone. Its errors are results.
MPI_Comm own_comm();

// At the beginning, at the end of a session.
void open_requests();
void close_requests();
// Behind a program that has not completed all: they end, if the other ranks have posted them.
void end_calls();

} // namespace weft::mpi
