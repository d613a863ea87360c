// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// What MPI's types and operators are to the library.

#include <cstddef>
#include <mpi.h>
#include <optional>
#include <upc_collective_cray.h>

namespace weft::mpi {

// What MPI says of a type. It is asked once: a type of the program is known until MPI_Type_free.
struct facts {
  bool usable = false;     // MPI takes it in a call
  bool of_program = false; // it may be freed while a call needs it; one of MPI itself may not
  bool packed = false;     // its bytes cannot be copied as they lie
  std::size_t size = 0;
  MPI_Aint span = 0;
};
// Until this thread asks for the next one.
const facts& facts_of(MPI_Datatype type);

// `count` elements are so many bytes, one behind the other, and may be copied as they are. Else they are
// packed.
struct extent {
  std::size_t bytes = 0;
  bool packed = false;
};
inline extent extent_of(int count, MPI_Datatype type) {
  const facts& of = facts_of(type);
  return {static_cast<std::size_t>(count) * of.size, of.packed};
}

// A type of the program stays as it is for a call that needs it: MPI_Type_free frees it behind the last one.
void keep_type(MPI_Datatype type);
void release_type(MPI_Datatype type);

// The same on all ranks of a reduction, as MPI asks.
std::optional<cray_upc_dtype_t> element_of(MPI_Datatype type);
// Nothing for an operator of the user's own.
std::optional<upc_op_t> operator_of(MPI_Op op);
// Has the library this operator for these elements?
bool go_together(cray_upc_dtype_t type, upc_op_t op);
// Does MPI refuse this one of its own operators for these elements of its own?
bool is_refused(MPI_Datatype type, MPI_Op op);

} // namespace weft::mpi
