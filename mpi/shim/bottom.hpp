// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/shim/requests.hpp"

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
  int count() const { return is_.count * is_.blocks; }

private:
  side is_;
};

} // namespace weft::mpi
