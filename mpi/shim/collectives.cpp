// SPDX-License-Identifier: BSD-3-Clause
// The collectives of MPI, in their three forms: those that prepare() knows are the library's, the others go
// on to MPI.
#include "mpi/shim/prepare.hpp"
#include "mpi/shim/real.hpp"

namespace weft::mpi {

namespace {

// False if MPI is to do it.
bool carry(collective what, const arguments& a) {
  carried* const c = prepare(what, form::blocking, a);
  if (c == nullptr) return false;
  post(*c);
  wait(*c);
  conclude(*c);
  give_back(*c);
  return true;
}
bool carry(collective what, const arguments& a, MPI_Request* request) {
  if (request == nullptr) return false;
  carried* const c = prepare(what, form::nonblocking, a);
  if (c == nullptr) return false;
  post(*c);
  *request = request_of(*c);
  return true;
}
bool keep(collective what, const arguments& a, MPI_Request* request) {
  if (request == nullptr) return false;
  carried* const c = prepare(what, form::persistent, a);
  if (c == nullptr) return false;
  if (by_blocks(what)) {
    keep_types(*c, c->in_blocks);
    keep_types(*c, c->out_blocks);
  } else {
    keep_types(*c, c->in_side);
    keep_types(*c, c->out_side);
  }
  *request = persistent_request_of(*c);
  return true;
}

// Each of them.
namespace carried_as {
using enum collective;
} // namespace carried_as

arguments of_bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return {.src = buffer, .scount = count, .stype = type, .root = root, .comm = comm};
}
arguments of_reduction(const void* src, void* dst, int count, MPI_Datatype type, MPI_Op op, int root,
                       MPI_Comm comm) {
  return {src, count, type, dst, count, type, root, comm, op};
}

} // namespace

} // namespace weft::mpi

using namespace weft::mpi;

#define WEFT_BARE(...) __VA_ARGS__

// A function of MPI, under both names: the library's if `carried` is true, else MPI's own.
#define WEFT_ENTRY(symbol, parameters, passed, carried)                                                      \
  extern "C" WEFT_SHOW int symbol(WEFT_BARE parameters) {                                                    \
    return carried ? MPI_SUCCESS : WEFT_NEXT(symbol)(WEFT_BARE passed);                                      \
  }                                                                                                          \
  WEFT_ALSO_PMPI_OF(symbol);

#ifdef OPEN_MPI
#define WEFT_PERSISTENT(name) MPIX_##name##_init
#else
#define WEFT_PERSISTENT(name) MPI_##name##_init
#endif

// The three forms of a collective. `given` is what prepare() takes.
#define WEFT_COLLECTIVE(name, small_name, parameters, passed, given)                                         \
  WEFT_ENTRY(MPI_##name, parameters, passed, carry(carried_as::small_name, WEFT_BARE given))                 \
  WEFT_ENTRY(MPI_I##small_name, (WEFT_BARE parameters, MPI_Request * request), (WEFT_BARE passed, request),  \
             carry(carried_as::small_name, WEFT_BARE given, request))                                        \
  WEFT_STORED(WEFT_PERSISTENT(name), (WEFT_BARE parameters, MPI_Info info, MPI_Request * request),           \
              (WEFT_BARE passed, info, request), keep(carried_as::small_name, WEFT_BARE given, request))
// The name of a persistent one is a macro.
#define WEFT_STORED(symbol, parameters, passed, carried) WEFT_ENTRY(symbol, parameters, passed, carried)

#define WEFT_SIDES_DECLARED                                                                                  \
  const void *src, int scount, MPI_Datatype stype, void *dst, int dcount, MPI_Datatype dtype
#define WEFT_SIDES src, scount, stype, dst, dcount, dtype

WEFT_COLLECTIVE(Barrier, barrier, (MPI_Comm comm), (comm), ({.comm = comm}))
WEFT_COLLECTIVE(Bcast, bcast, (void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
                (buffer, count, type, root, comm), (of_bcast(buffer, count, type, root, comm)))
WEFT_COLLECTIVE(Gather, gather, (WEFT_SIDES_DECLARED, int root, MPI_Comm comm), (WEFT_SIDES, root, comm),
                ({WEFT_SIDES, root, comm}))
WEFT_COLLECTIVE(Scatter, scatter, (WEFT_SIDES_DECLARED, int root, MPI_Comm comm), (WEFT_SIDES, root, comm),
                ({WEFT_SIDES, root, comm}))
WEFT_COLLECTIVE(Allgather, allgather, (WEFT_SIDES_DECLARED, MPI_Comm comm), (WEFT_SIDES, comm),
                ({WEFT_SIDES, 0, comm}))
WEFT_COLLECTIVE(Alltoall, alltoall, (WEFT_SIDES_DECLARED, MPI_Comm comm), (WEFT_SIDES, comm),
                ({WEFT_SIDES, 0, comm}))
WEFT_COLLECTIVE(Reduce, reduce,
                (const void* src, void* dst, int count, MPI_Datatype type, MPI_Op op, int root,
                 MPI_Comm comm),
                (src, dst, count, type, op, root, comm),
                (of_reduction(src, dst, count, type, op, root, comm)))
WEFT_COLLECTIVE(Allreduce, allreduce,
                (const void* src, void* dst, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
                (src, dst, count, type, op, comm), (of_reduction(src, dst, count, type, op, 0, comm)))
#define WEFT_REDUCED_DECLARED                                                                                \
  const void *src, void *dst, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm
WEFT_COLLECTIVE(Scan, scan, (WEFT_REDUCED_DECLARED), (src, dst, count, type, op, comm),
                (of_reduction(src, dst, count, type, op, 0, comm)))
WEFT_COLLECTIVE(Exscan, exscan, (WEFT_REDUCED_DECLARED), (src, dst, count, type, op, comm),
                (of_reduction(src, dst, count, type, op, 0, comm)))
WEFT_COLLECTIVE(Reduce_scatter_block, reduce_scatter_block, (WEFT_REDUCED_DECLARED),
                (src, dst, count, type, op, comm), (of_reduction(src, dst, count, type, op, 0, comm)))
WEFT_COLLECTIVE(
    Reduce_scatter, reduce_scatter,
    (const void* src, void* dst, const int* counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
    (src, dst, counts, type, op, comm),
    ({.src = src, .stype = type, .dst = dst, .dtype = type, .comm = comm, .op = op, .counts = counts}))
WEFT_COLLECTIVE(Gatherv, gatherv,
                (const void* src, int scount, MPI_Datatype stype, void* dst, const int* counts,
                 const int* places, MPI_Datatype dtype, int root, MPI_Comm comm),
                (src, scount, stype, dst, counts, places, dtype, root, comm),
                ({.src = src,
                  .scount = scount,
                  .stype = stype,
                  .dst = dst,
                  .dtype = dtype,
                  .root = root,
                  .comm = comm,
                  .counts = counts,
                  .places = places}))
WEFT_COLLECTIVE(Scatterv, scatterv,
                (const void* src, const int* counts, const int* places, MPI_Datatype stype, void* dst,
                 int dcount, MPI_Datatype dtype, int root, MPI_Comm comm),
                (src, counts, places, stype, dst, dcount, dtype, root, comm),
                ({.src = src,
                  .stype = stype,
                  .dst = dst,
                  .dcount = dcount,
                  .dtype = dtype,
                  .root = root,
                  .comm = comm,
                  .scounts = counts,
                  .splaces = places}))
WEFT_COLLECTIVE(Alltoallv, alltoallv,
                (const void* src, const int* scounts, const int* splaces, MPI_Datatype stype, void* dst,
                 const int* counts, const int* places, MPI_Datatype dtype, MPI_Comm comm),
                (src, scounts, splaces, stype, dst, counts, places, dtype, comm),
                ({.src = src,
                  .stype = stype,
                  .dst = dst,
                  .dtype = dtype,
                  .comm = comm,
                  .counts = counts,
                  .places = places,
                  .scounts = scounts,
                  .splaces = splaces}))
WEFT_COLLECTIVE(Alltoallw, alltoallw,
                (const void* src, const int* scounts, const int* splaces, const MPI_Datatype* stypes,
                 void* dst, const int* counts, const int* places, const MPI_Datatype* types, MPI_Comm comm),
                (src, scounts, splaces, stypes, dst, counts, places, types, comm),
                ({.src = src,
                  .dst = dst,
                  .comm = comm,
                  .counts = counts,
                  .places = places,
                  .scounts = scounts,
                  .splaces = splaces,
                  .types = types,
                  .stypes = stypes}))
WEFT_COLLECTIVE(Allgatherv, allgatherv,
                (const void* src, int scount, MPI_Datatype stype, void* dst, const int* counts,
                 const int* places, MPI_Datatype dtype, MPI_Comm comm),
                (src, scount, stype, dst, counts, places, dtype, comm),
                ({.src = src,
                  .scount = scount,
                  .stype = stype,
                  .dst = dst,
                  .dtype = dtype,
                  .comm = comm,
                  .counts = counts,
                  .places = places}))
