// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// What MPI's types and operators are to the library.

#include <mpi.h>
#include <optional>
#include <upc_collective_cray.h>

namespace weft::mpi {

// `count` elements are so many bytes, one behind the other, and may be copied as they are. Else they are
// packed.
struct extent {
  std::size_t bytes = 0;
  bool packed = false;
};
extent extent_of(int count, MPI_Datatype type);

// Such a type may be freed while a call needs it; one of MPI itself may not, and operators of pairs do not
// know its duplicates.
bool made_by_program(MPI_Datatype type);

// The same on all ranks of a reduction, as MPI asks.
std::optional<cray_upc_dtype_t> element_of(MPI_Datatype type);
// Nothing for an operator of the user's own.
std::optional<upc_op_t> operator_of(MPI_Op op);
// Has the library this operator for these elements?
bool go_together(cray_upc_dtype_t type, upc_op_t op);
// Does MPI refuse this one of its own operators for these elements of its own?
bool is_refused(MPI_Datatype type, MPI_Op op);

} // namespace weft::mpi
