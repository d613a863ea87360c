#pragma once
#include "mpi/shim/real.hpp"

#include <ctime>
#include <sched.h>

namespace weft::mpi {

// Between two looks: the core goes to the ranks that this one waits for, and MPI goes on with all else that
// it has, without which they might wait for this rank (a probe of MPI_COMM_SELF does not make MPICH do so). A
// long wait sleeps.
class patience {
public:
  void pass() {
    if (++looks_ < 64) return;
    if (looks_ % 4 == 0) {
      int flag = 0;
      WEFT_REAL(Iprobe)(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    if (looks_ < 2000) {
      sched_yield();
      return;
    }
    const timespec nap{0, 20'000};
    nanosleep(&nap, nullptr);
  }

private:
  unsigned looks_ = 0;
};

} // namespace weft::mpi
