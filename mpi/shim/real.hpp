// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// The MPI beneath: WEFT_REAL(Wait)(...) is its PMPI_Wait. This library has functions of both names, since
// Open MPI's Fortran calls PMPI_X and MPICH's MPI_X, so those of MPI are the next ones.

#include <dlfcn.h>
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h> // persistent collectives
#endif

#define WEFT_NEXT(symbol)                                                                                    \
  ([] {                                                                                                      \
    static const auto next = reinterpret_cast<decltype(&symbol)>(dlsym(RTLD_NEXT, "P" #symbol));             \
    return next;                                                                                             \
  }())
#define WEFT_REAL(name) WEFT_NEXT(MPI_##name)

#define WEFT_SHOW __attribute__((visibility("default")))
// MPI_X, which was defined in this file, under the other name.
#define WEFT_ALSO_PMPI_OF(symbol)                                                                            \
  extern "C" WEFT_SHOW decltype(symbol) P##symbol __attribute__((alias(#symbol)))
#define WEFT_ALSO_PMPI(name) WEFT_ALSO_PMPI_OF(MPI_##name)
