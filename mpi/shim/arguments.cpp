// SPDX-License-Identifier: BSD-3-Clause
// Does MPI refuse the arguments of a call on a rank? Of those that it reads there nothing else decides
// whether the call is carried: a rank that looked at more would go on to MPI alone, and one that looked at
// less would carry what MPI calls an error.
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

// Types of the program may have addresses, from MPI_BOTTOM.
bool is_there(const void* buffer, MPI_Datatype type) {
  return buffer != MPI_IN_PLACE && (buffer != nullptr || facts_of(type).of_program);
}

bool is_right(const void* buffer, int count, MPI_Datatype type) {
  return count >= 0 && facts_of(type).usable && buffer != MPI_IN_PLACE &&
         (count == 0 || is_there(buffer, type));
}

// Do elements that are given lie where results come to, as this MPI looks for? Of a rank that gets results.
bool are_one(collective what, const arguments& a, [[maybe_unused]] int rank) {
  if (a.src == nullptr) return false;
#ifdef OPEN_MPI
  return a.src == a.dst && (what == collective::reduce || (what == collective::allreduce && a.dcount > 1));
#else
  if (combines(what)) return a.src == a.dst && (a.dcount != 0 || a.counts != nullptr);
  if (a.stype != a.dtype) return false;
  const int given = a.scounts != nullptr ? a.scounts[rank] : a.scount;
  const int taken = a.counts != nullptr ? a.counts[rank] : a.dcount;
  if (given == 0 || taken == 0) return false;
  const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(facts_of(a.stype).size);
  const auto own = [&](const void* blocks, const int* places) {
    return static_cast<const char*>(blocks) +
           size * (places != nullptr ? places[rank] : std::ptrdiff_t{rank} * taken);
  };
  switch (what) {
  case collective::alltoall:
    return given == taken && a.src == a.dst;
  case collective::alltoallv:
  case collective::alltoallw:
    return a.scounts == a.counts && a.stypes == a.types && a.src == a.dst;
  case collective::gather:
  case collective::allgather:
    return given == taken && a.src == own(a.dst, nullptr);
  case collective::gatherv:
  case collective::allgatherv:
    return a.src == own(a.dst, a.places);
  case collective::scatter:
    return given == taken && a.dst == own(a.src, nullptr);
  case collective::scatterv:
    return a.dst == own(a.src, a.splaces);
  default:
    return false;
  }
#endif
}

} // namespace

bool are_right(collective what, const arguments& a, int rank, int size) {
  if (is_rooted(what) && (a.root < 0 || a.root >= size)) return false;
  const bool root = rank == a.root, in_place = a.src == MPI_IN_PLACE;
  const auto none_is_negative = [&] {
    return std::all_of(a.counts, a.counts + size, [](int n) { return n >= 0; });
  };
  switch (what) {
  case collective::barrier:
    return true;
  case collective::bcast:
    return is_right(a.src, a.scount, a.stype);
  case collective::gather:
    return (in_place ? root : is_right(a.src, a.scount, a.stype)) &&
           (!root || (is_right(a.dst, a.dcount, a.dtype) && !are_one(what, a, rank)));
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
           none_is_negative() &&
           ((facts_of(a.dtype).usable && is_there(a.dst, a.dtype)) ||
            std::all_of(a.counts, a.counts + size, [](int n) { return n == 0; })) &&
           !are_one(what, a, rank);
  case collective::gatherv:
    return (in_place ? root : is_right(a.src, a.scount, a.stype)) &&
           (!root || (a.counts != nullptr && a.places != nullptr && !are_one(what, a, rank)));
  case collective::scatterv:
    return (!root || (a.scounts != nullptr && a.splaces != nullptr && !are_one(what, a, rank))) &&
           (a.dst == MPI_IN_PLACE ? root : is_right(a.dst, a.dcount, a.dtype));
  case collective::alltoallv:
  case collective::alltoallw:
    return a.counts != nullptr && a.places != nullptr &&
           (what == collective::alltoallv || a.types != nullptr) &&
           (in_place || (a.scounts != nullptr && a.splaces != nullptr &&
                         (what == collective::alltoallv || a.stypes != nullptr) && !are_one(what, a, rank)));
  default: { // reductions: of counts, or of one
    if (a.dcount < 0 || !facts_of(a.dtype).usable || (a.counts != nullptr && !none_is_negative()))
      return false;
    if (a.counts == nullptr && a.dcount == 0) return true;
    // The first rank of an exclusive scan gets nothing.
    const bool gets = what == collective::reduce           ? root
                      : what == collective::exscan         ? rank != 0 || in_place
                      : what == collective::reduce_scatter ? in_place || a.counts[rank] != 0
                                                           : true;
    return (in_place || is_there(a.src, a.dtype)) &&
           (!gets || (is_there(a.dst, a.dtype) && !are_one(what, a, rank)));
  }
  }
}

bool are_right(sided_blocks& s) {
  facts of; // of the block before: most have the same type
  const sided_blocks::block* asked = nullptr;
  for (sided_blocks::block& b : s.each) {
    if (b.count == 0) continue;
    if (asked == nullptr || asked->type != b.type) of = facts_of(b.type);
    asked = &b;
    if (b.count < 0 || !of.usable || !is_there(s.buffer, b.type)) return false;
    b.size = {static_cast<std::size_t>(b.count) * of.size, of.packed};
  }
  return true;
}

} // namespace weft::mpi
