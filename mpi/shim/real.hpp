#pragma once
// The MPI beneath: WEFT_REAL(Wait)(...) is its PMPI_Wait. This library has functions of both names, since
// Open MPI's Fortran calls PMPI_X and MPICH's MPI_X, so those of MPI are the next ones.

#include <dlfcn.h>
#include <mpi.h>

#define WEFT_REAL(name)                                                                                      \
  ([] {                                                                                                      \
    static const auto next = reinterpret_cast<decltype(&MPI_##name)>(dlsym(RTLD_NEXT, "PMPI_" #name));       \
    return next;                                                                                             \
  }())

#define WEFT_SHOW __attribute__((visibility("default")))
// MPI_X, which was defined in this file, under the other name.
#define WEFT_ALSO_PMPI(name)                                                                                 \
  extern "C" WEFT_SHOW decltype(MPI_##name) PMPI_##name __attribute__((alias("MPI_" #name)))
