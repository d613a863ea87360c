// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/shim/requests.hpp"
#include "mpi/shim/start.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace weft::mpi {

inline void* writable(const void* buffer) {
  return const_cast<void*>(buffer); // MPI has one type for both ends of a call
}

// A side whose type has the addresses, from somewhere else than MPI_BOTTOM, where MPICH does not pack from.
class side_from_bottom {
public:
  explicit side_from_bottom(const side& s) : is_(s) {
    if (s.buffer != MPI_BOTTOM) return;
    const int one = 1;
    const MPI_Aint back = -reinterpret_cast<MPI_Aint>(&is_);
    MPI_Aint lower = 0, span = 0;
    MPI_Datatype moved = MPI_DATATYPE_NULL;
    MPI_Type_get_extent(s.type, &lower, &span);
    MPI_Type_create_hindexed(1, &one, &back, s.type, &moved);
    MPI_Type_create_resized(moved, lower, span, &is_.type);
    MPI_Type_free(&moved);
    MPI_Type_commit(&is_.type);
    is_.buffer = &is_;
  }
  ~side_from_bottom() {
    if (is_.buffer == &is_) MPI_Type_free(&is_.type);
  }
  side_from_bottom(const side_from_bottom&) = delete;
  side_from_bottom& operator=(const side_from_bottom&) = delete;
  const side* operator->() const { return &is_; }

private:
  side is_;
};

// Packs a side's elements to `packed`, or brings them back from there. MPI packs 2 GiB at most in a call.
// MPI_COMM_SELF: the program may free its communicator before the call ends, and the format is the same.
inline void pack(const side& s, std::byte* packed, bool back) {
  constexpr std::size_t most = 1 << 30;
  const facts of = facts_of(s.type);
  const std::size_t all = static_cast<std::size_t>(s.count) * static_cast<std::size_t>(s.blocks);
  if (all == 0 || of.size == 0) return; // where they would go to may be null then, which MPI does not take
  if (of.size > std::numeric_limits<int>::max())
    end_job("a type has elements of " + std::to_string(of.size) +
            " bytes that do not lie side by side, and MPI packs 2 GiB at most: use more elements of a "
            "smaller type");
  const side_from_bottom from(s);
  std::size_t n = 0;
  for (std::size_t at = 0; at != all; at += n) {
    n = std::min(std::max<std::size_t>(most / of.size, 1), all - at);
    const int count = static_cast<int>(n), bytes = static_cast<int>(n * of.size);
    char* const elements = static_cast<char*>(from->buffer) + static_cast<MPI_Aint>(at) * of.span;
    std::byte* const place = packed + at * of.size;
    int end = 0;
    if (back)
      MPI_Unpack(place, bytes, &end, elements, count, from->type, MPI_COMM_SELF);
    else
      MPI_Pack(elements, count, from->type, place, bytes, &end, MPI_COMM_SELF);
  }
}

} // namespace weft::mpi
