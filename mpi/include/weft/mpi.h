// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/* Weft inside a program of MPI, C or C++: a communicator has all that the library needs of a launcher. This
 * header is the only one that includes mpi.h, and it needs nothing of MPI in the library: the functions are
 * compiled into the program, with whatever MPI that has.
 *
 *   MPI_Init(&argc, &argv);
 *   weft_init_from_mpi(MPI_COMM_WORLD);          in the place of weft_init
 *   upc_team_t rows = weft_team_from_mpi(comm);  a team of the members of a communicator
 *   ...
 *   weft_finalize();
 *   MPI_Finalize();
 *
 * Fortran passes a handle through MPI_Comm_f2c. */
#include <mpi.h>
#include <stdio.h>
#include <upc_collective.h>

static inline int weft_mpi_allgather(void* comm, const void* mine, size_t nbytes, void* all) {
  return MPI_Allgather(mine, (int)nbytes, MPI_BYTE, all, (int)nbytes, MPI_BYTE, *(MPI_Comm*)comm);
}
static inline int weft_mpi_barrier(void* comm) {
  return MPI_Barrier(*(MPI_Comm*)comm);
}
static inline void weft_mpi_abort(void* comm, int status, const char* why) {
  fprintf(stderr, "weft: %s\n", why);
  fflush(NULL);
  MPI_Abort(*(MPI_Comm*)comm, status);
}
static inline weft_exchange_t weft_mpi_exchange(MPI_Comm* comm) {
  weft_exchange_t e = {comm, 0, 1, weft_mpi_allgather, weft_mpi_barrier, weft_mpi_abort};
  MPI_Comm_rank(*comm, &e.rank);
  MPI_Comm_size(*comm, &e.size);
  return e;
}

/* weft_init for the processes of this communicator: a process's rank in it is its thread. Collective over it,
 * between MPI_Init and MPI_Finalize, as weft_finalize is. The library keeps a duplicate of comm until the
 * process ends. Errors: as weft_init_with. */
static inline void weft_init_from_mpi(MPI_Comm comm) {
  static MPI_Comm kept;
  weft_exchange_t e;
  MPI_Comm_dup(comm, &kept);
  e = weft_mpi_exchange(&kept);
  weft_init_with(&e);
}

/* A team of the members of a communicator, with their ranks in it; 0 on all of them if there is no memory for
 * another team. Collective over comm alone, which may be freed afterwards; cray_upc_team_free frees the team.
 * Errors: as weft_team_with. */
static inline upc_team_t weft_team_from_mpi(MPI_Comm comm) {
  upc_team_t team = 0;
  weft_exchange_t e = weft_mpi_exchange(&comm);
  return weft_team_with(&e, &team) == 0 ? team : 0;
}

#ifdef __cplusplus
#include <weft/job.hpp>

namespace weft {

/* The scope of the library inside of that of MPI, for the processes of a communicator:
 *   const weft::mpi_job job(MPI_COMM_WORLD);
 * It ends before MPI_Finalize. */
class mpi_job : public job {
public:
  explicit mpi_job(MPI_Comm comm) : job([comm] { weft_init_from_mpi(comm); }) {}
};

/* The members of a communicator, as a team with their ranks, which ends with its scope. Collective over comm
 * alone. Errors: as weft_team_with; no memory for another team. */
inline team team_from_mpi(MPI_Comm comm) {
  const upc_team_t made = ::weft_team_from_mpi(comm);
  if (made == 0) throw error("weft::team_from_mpi", "", "", "no memory for another team: let one end");
  return team(made);
}

} // namespace weft
#endif
