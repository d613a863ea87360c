// SPDX-License-Identifier: BSD-3-Clause
// What MPI reads of a call's arguments on a rank, and whether it refuses them. Nothing else decides whether a
// call is carried: a rank that looked at more would go on to MPI alone, and one that looked at less would
// carry what MPI calls an error.
#include "mpi/shim/prepare.hpp"
#include "mpi/shim/real.hpp"

#include <algorithm>

namespace weft::mpi {

namespace {

bool is_rooted(collective what) {
  switch (what) {
  case collective::bcast:
  case collective::gather:
  case collective::scatter:
  case collective::reduce:
  case collective::gatherv:
  case collective::scatterv:
    return true;
  default:
    return false;
  }
}

// A message to no rank: MPI looks at its type, and at nothing else.
bool is_usable(MPI_Datatype type) {
  thread_local MPI_Datatype last = MPI_DATATYPE_NULL; // of MPI itself
  if (type == MPI_DATATYPE_NULL) return false;
  if (type == last) return true;
  if (made_by_program(type))
    return WEFT_REAL(Send)(&last, 1, type, MPI_PROC_NULL, 0, own_comm()) == MPI_SUCCESS;
  last = type;
  return true;
}

// Types of the program may have addresses, from MPI_BOTTOM.
bool is_there(const void* buffer, MPI_Datatype type) {
  return buffer != MPI_IN_PLACE && (buffer != nullptr || made_by_program(type));
}

bool is_right(const void* buffer, int count, MPI_Datatype type) {
  return count >= 0 && is_usable(type) && buffer != MPI_IN_PLACE && (count == 0 || is_there(buffer, type));
}

// Do elements that are given lie where results come to, as this MPI looks for?
bool are_one(collective what, const arguments& a, int rank) {
  if (a.src == nullptr) return false;
#ifdef OPEN_MPI
  return what == collective::reduce && rank == a.root && a.src == a.dst;
#else
  if (combines(what)) return a.src == a.dst && (a.dcount != 0 || a.counts != nullptr);
  if (a.scount == 0 || a.scount != a.dcount || a.stype != a.dtype) return false;
  int size = 0;
  MPI_Type_size(a.dtype, &size);
  const std::ptrdiff_t before = std::ptrdiff_t{rank} * a.dcount * size;
  switch (what) {
  case collective::alltoall:
    return a.src == a.dst;
  case collective::gather:
  case collective::allgather:
    return a.src == static_cast<const char*>(a.dst) + before;
  case collective::scatter:
    return a.dst == static_cast<const char*>(a.src) + before;
  default:
    return false;
  }
#endif
}

} // namespace

arguments significant(collective what, arguments a, int rank) {
  const bool gathers = what == collective::gather || what == collective::gatherv;
  const bool scatters = what == collective::scatter || what == collective::scatterv;
  const bool gives = !scatters || rank == a.root;
  const bool gets = !(gathers || what == collective::reduce) || rank == a.root;
  if (!gives || (a.src == MPI_IN_PLACE && !combines(what))) {
    if (!gives) a.src = nullptr;
    a.scount = 0;
    a.stype = MPI_DATATYPE_NULL;
    a.scounts = a.splaces = nullptr;
    a.stypes = nullptr;
  }
  if (!gets && gathers) {
    a.dst = nullptr;
    a.dcount = 0;
    a.dtype = MPI_DATATYPE_NULL;
    a.counts = a.places = nullptr;
  }
  if (scatters && gives && a.dst == MPI_IN_PLACE) {
    a.dcount = 0;
    a.dtype = MPI_DATATYPE_NULL;
  }
  return a;
}

bool are_right(collective what, const arguments& a, int rank, int size) {
  if (is_rooted(what) && (a.root < 0 || a.root >= size)) return false;
  const bool root = rank == a.root, in_place = a.src == MPI_IN_PLACE;
  switch (what) {
  case collective::barrier:
    return true;
  case collective::bcast:
    return is_right(a.src, a.scount, a.stype);
  case collective::gather:
    return (in_place ? root : is_right(a.src, a.scount, a.stype)) &&
           (!root || is_right(a.dst, a.dcount, a.dtype)) && (!root || !are_one(what, a, rank));
  case collective::scatter:
    return (!root || is_right(a.src, a.scount, a.stype)) &&
           (a.dst == MPI_IN_PLACE ? root : is_right(a.dst, a.dcount, a.dtype)) &&
           (!root || !are_one(what, a, rank));
  case collective::allgather:
  case collective::alltoall:
    return (in_place || is_right(a.src, a.scount, a.stype)) && is_right(a.dst, a.dcount, a.dtype) &&
           !are_one(what, a, rank);
  case collective::allgatherv:
    return (in_place || is_right(a.src, a.scount, a.stype)) && a.counts != nullptr && a.places != nullptr &&
           ((is_usable(a.dtype) && is_there(a.dst, a.dtype)) ||
            std::all_of(a.counts, a.counts + size, [](int n) { return n == 0; }));
  case collective::gatherv:
    return (in_place ? root : is_right(a.src, a.scount, a.stype)) &&
           (!root || (a.counts != nullptr && a.places != nullptr));
  case collective::scatterv:
    return (!root || (a.scounts != nullptr && a.splaces != nullptr)) &&
           (a.dst == MPI_IN_PLACE ? root : is_right(a.dst, a.dcount, a.dtype));
  case collective::alltoallv:
    return a.counts != nullptr && a.places != nullptr &&
           (in_place || (a.scounts != nullptr && a.splaces != nullptr));
  case collective::alltoallw:
    return a.counts != nullptr && a.places != nullptr && a.types != nullptr &&
           (in_place || (a.scounts != nullptr && a.splaces != nullptr && a.stypes != nullptr));
  default: { // reductions: of counts, or of one
    const bool some = a.counts != nullptr || a.dcount != 0;
    return a.dcount >= 0 && is_usable(a.dtype) &&
           (!some ||
            ((in_place || is_there(a.src, a.dtype)) &&
             ((what == collective::reduce && !root) || is_there(a.dst, a.dtype)) && !are_one(what, a, rank)));
  }
  }
}

bool is_right(const sided_blocks& s) {
  for (const sided_blocks::block& b : s.each)
    if (b.count < 0 || (b.count != 0 && !(is_usable(b.type) && is_there(s.buffer, b.type)))) return false;
  return true;
}

} // namespace weft::mpi
