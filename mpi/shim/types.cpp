// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/shim/types.hpp"

#include <cstddef>

namespace weft::mpi {

namespace {

struct named_type {
  MPI_Datatype type;
  cray_upc_dtype_t element;
};
struct named_operator {
  MPI_Op op;
  upc_op_t is;
};

template <class Entry, std::size_t N, class Key>
const Entry* find(const Entry (&table)[N], Key key, Key Entry::*member) {
  for (const Entry& entry : table)
    if (entry.*member == key) return &entry;
  return nullptr;
}

} // namespace

extent extent_of(int count, MPI_Datatype type) {
  // Types of MPI itself stay what they are.
  thread_local struct {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    int size = 0;
  } last;
  if (last.type == type && type != MPI_DATATYPE_NULL)
    return {static_cast<std::size_t>(count) * static_cast<std::size_t>(last.size), false};
  int size = 0, integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
  MPI_Type_size(type, &size);
  extent e{static_cast<std::size_t>(count) * static_cast<std::size_t>(size), false};
  MPI_Aint lower = 0, span = 0;
  MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  MPI_Type_get_extent(type, &lower, &span);
  // A type that is made of others may have its bytes in another order. Pairs may have a gap.
  e.packed = combiner != MPI_COMBINER_NAMED || lower != 0 || span != size;
  if (!e.packed) last = {type, size};
  return e;
}

bool made_by_program(MPI_Datatype type) {
  int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
  MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  return combiner != MPI_COMBINER_NAMED;
}

std::optional<cray_upc_dtype_t> element_of(MPI_Datatype type) {
  // Handles of Open MPI are no constants.
  static const named_type table[] = {
      {MPI_INT, CRAY_UPC_INT},
      {MPI_DOUBLE, CRAY_UPC_DOUBLE},
      {MPI_LONG, CRAY_UPC_LONG},
      {MPI_FLOAT, CRAY_UPC_FLOAT},
      {MPI_SIGNED_CHAR, CRAY_UPC_CHAR},
      {MPI_CHAR, CRAY_UPC_CHAR},
      {MPI_INT8_T, CRAY_UPC_CHAR},
      {MPI_UNSIGNED_CHAR, CRAY_UPC_UCHAR},
      {MPI_UINT8_T, CRAY_UPC_UCHAR},
      {MPI_BYTE, CRAY_UPC_UCHAR},
      {MPI_SHORT, CRAY_UPC_SHORT},
      {MPI_INT16_T, CRAY_UPC_SHORT},
      {MPI_UNSIGNED_SHORT, CRAY_UPC_USHORT},
      {MPI_UINT16_T, CRAY_UPC_USHORT},
      {MPI_INT32_T, CRAY_UPC_INT},
      {MPI_UNSIGNED, CRAY_UPC_UINT},
      {MPI_UINT32_T, CRAY_UPC_UINT},
      {MPI_UNSIGNED_LONG, CRAY_UPC_ULONG},
      {MPI_LONG_LONG, CRAY_UPC_LONGLONG},
      {MPI_UNSIGNED_LONG_LONG, CRAY_UPC_ULONGLONG},
      {MPI_INT64_T, CRAY_UPC_LONG},
      {MPI_UINT64_T, CRAY_UPC_ULONG},
      {MPI_AINT, CRAY_UPC_LONG},
      {MPI_OFFSET, CRAY_UPC_LONG},
      {MPI_COUNT, CRAY_UPC_LONG},
      {MPI_LONG_DOUBLE, CRAY_UPC_LONGDOUBLE},
      {MPI_C_BOOL, CRAY_UPC_BOOL},
      {MPI_C_FLOAT_COMPLEX, CRAY_UPC_FLOAT_COMPLEX},
      {MPI_C_DOUBLE_COMPLEX, CRAY_UPC_DOUBLE_COMPLEX},
      {MPI_C_LONG_DOUBLE_COMPLEX, CRAY_UPC_LONGDOUBLE_COMPLEX},
      {MPI_CXX_BOOL, CRAY_UPC_BOOL},
      {MPI_CXX_FLOAT_COMPLEX, CRAY_UPC_FLOAT_COMPLEX},
      {MPI_CXX_DOUBLE_COMPLEX, CRAY_UPC_DOUBLE_COMPLEX},
      {MPI_CXX_LONG_DOUBLE_COMPLEX, CRAY_UPC_LONGDOUBLE_COMPLEX},
      {MPI_INTEGER, CRAY_UPC_INT},
      {MPI_LOGICAL, CRAY_UPC_INT},
      {MPI_REAL, CRAY_UPC_FLOAT},
      {MPI_DOUBLE_PRECISION, CRAY_UPC_DOUBLE},
      {MPI_COMPLEX, CRAY_UPC_FLOAT_COMPLEX},
      {MPI_DOUBLE_COMPLEX, CRAY_UPC_DOUBLE_COMPLEX},
      {MPI_CHARACTER, CRAY_UPC_CHAR},
      {MPI_INTEGER1, CRAY_UPC_CHAR},
      {MPI_INTEGER2, CRAY_UPC_SHORT},
      {MPI_INTEGER4, CRAY_UPC_INT},
      {MPI_INTEGER8, CRAY_UPC_LONG},
      {MPI_REAL4, CRAY_UPC_FLOAT},
      {MPI_REAL8, CRAY_UPC_DOUBLE},
      {MPI_COMPLEX8, CRAY_UPC_FLOAT_COMPLEX},
      {MPI_COMPLEX16, CRAY_UPC_DOUBLE_COMPLEX},
#ifdef OPEN_MPI
      {MPI_LOGICAL1, CRAY_UPC_CHAR},
      {MPI_LOGICAL2, CRAY_UPC_SHORT},
      {MPI_LOGICAL4, CRAY_UPC_INT},
      {MPI_LOGICAL8, CRAY_UPC_LONG},
#endif
      {MPI_2INT, CRAY_UPC_2INT},
      {MPI_2INTEGER, CRAY_UPC_2INT},
      {MPI_FLOAT_INT, CRAY_UPC_FLOAT_INT},
      {MPI_DOUBLE_INT, CRAY_UPC_DOUBLE_INT},
      {MPI_LONG_INT, CRAY_UPC_LONG_INT},
      {MPI_SHORT_INT, CRAY_UPC_SHORT_INT},
  };
  const named_type* const found = find(table, type, &named_type::type);
  return found == nullptr ? std::nullopt : std::optional(found->element);
}

std::optional<upc_op_t> operator_of(MPI_Op op) {
  static const named_operator table[] = {{MPI_SUM, UPC_ADD},           {MPI_MAX, UPC_MAX},
                                         {MPI_MIN, UPC_MIN},           {MPI_PROD, UPC_MULT},
                                         {MPI_LAND, UPC_LOGAND},       {MPI_LOR, UPC_LOGOR},
                                         {MPI_BAND, UPC_AND},          {MPI_BOR, UPC_OR},
                                         {MPI_BXOR, UPC_XOR},          {MPI_MINLOC, CRAY_UPC_MINLOC},
                                         {MPI_MAXLOC, CRAY_UPC_MAXLOC}};
  const named_operator* const found = find(table, op, &named_operator::op);
  return found == nullptr ? std::nullopt : std::optional(found->is);
}

bool go_together(cray_upc_dtype_t type, upc_op_t op) {
  const bool pair = type >= CRAY_UPC_FLOAT_INT;
  if (op == CRAY_UPC_MINLOC || op == CRAY_UPC_MAXLOC) return pair;
  const bool integer = type <= CRAY_UPC_ULONG || type == CRAY_UPC_LONGLONG || type == CRAY_UPC_ULONGLONG;
  if (op == UPC_AND || op == UPC_OR || op == UPC_XOR) return integer;
  const bool complex = type >= CRAY_UPC_FLOAT_COMPLEX && type <= CRAY_UPC_LONGDOUBLE_COMPLEX;
  if (op == UPC_MIN || op == UPC_MAX) return !pair && !complex && type != CRAY_UPC_BOOL;
  if (op == UPC_ADD || op == UPC_MULT) return !pair && type != CRAY_UPC_BOOL;
  return integer || type == CRAY_UPC_BOOL;
}

bool is_refused(MPI_Datatype type, MPI_Op op) {
  const bool logical = op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR;
  if (type == MPI_LOGICAL) return !logical;
#ifdef OPEN_MPI
  return logical && (type == MPI_INTEGER || type == MPI_INTEGER4);
#else
  return type == MPI_BYTE && op != MPI_BAND && op != MPI_BOR && op != MPI_BXOR;
#endif
}

} // namespace weft::mpi
