// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/shim/lane.hpp"
#include "mpi/shim/real.hpp"

#include <algorithm>

namespace weft::mpi {

// A wait for operations of the library in which MPI goes on with all else that it has, without which others
// might wait for this rank (a probe of MPI_COMM_SELF does not make MPICH do so). It waits in slices that
// grow, so a long wait sleeps.
class patience {
public:
  void wait_for(std::span<operation* const> operations) {
    wait_for_any(operations, slice_);
    slice_ = std::min<std::uint64_t>(2 * slice_, 1'000'000);
  }
  static void let_mpi_go_on() {
    int flag = 0;
    WEFT_REAL(Iprobe)(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  }

private:
  std::uint64_t slice_ = 50'000;
};

} // namespace weft::mpi
