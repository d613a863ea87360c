// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/shim/types.hpp"

#include "mpi/shim/real.hpp"
#include "mpi/shim/requests.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>

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

struct known_type {
  facts is;
  unsigned uses = 0, frees = 0; // calls that need it, MPI_Type_free of the program meanwhile
};
struct type_table {
  std::mutex mutex;
  std::unordered_map<MPI_Datatype, known_type> types;
};
type_table& all_types() {
  static type_table& table = *new type_table; // a program may free types while it ends
  return table;
}

// Whether MPI takes it a message to no rank tells: MPI looks at its type, and at nothing else.
facts ask(MPI_Datatype type) {
  facts is;
  int byte = 0;
  is.usable = WEFT_REAL(Send)(&byte, 1, type, MPI_PROC_NULL, 0, own_comm()) == MPI_SUCCESS;
  if (!is.usable) return is;
  int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
  MPI_Count size = 0;
  MPI_Aint lower = 0;
  MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  MPI_Type_size_x(type, &size);
  MPI_Type_get_extent(type, &lower, &is.span);
  is.of_program = combiner != MPI_COMBINER_NAMED;
  is.size = static_cast<std::size_t>(size);
  // A type that is made of others may have its bytes in another order. Pairs may have a gap.
  is.packed = is.of_program || lower != 0 || is.span != size;
  return is;
}

} // namespace

const facts& facts_of(MPI_Datatype type) {
  struct seen {
    std::uint64_t at = 0; // nothing yet
    MPI_Datatype type{};
    facts is{};
  };
  constexpr std::uintptr_t slots = 4;
  static thread_local constinit seen last[slots];
  static constexpr facts none;
  if (type == MPI_DATATYPE_NULL) return none;
  const auto handle = std::uintptr_t(type);
  seen& here = last[(handle ^ handle >> 6) % slots]; // pointers in Open MPI, numbers in MPICH
  const std::uint64_t now = handles_changed.load(std::memory_order_relaxed);
  if (here.at == now && here.type == type) return here.is;
  type_table& t = all_types();
  const std::lock_guard lock(t.mutex);
  const auto found = t.types.find(type);
  here = {now, type, found != t.types.end() ? found->second.is : ask(type)};
  if (!here.is.usable)
    here.at = 0; // it may be committed
  else if (found == t.types.end())
    t.types.emplace(type, known_type{here.is});
  return here.is;
}

void keep_type(MPI_Datatype type) {
  type_table& t = all_types();
  const std::lock_guard lock(t.mutex);
  ++t.types[type].uses;
}
void release_type(MPI_Datatype type) {
  type_table& t = all_types();
  unsigned freed = 0;
  {
    const std::lock_guard lock(t.mutex);
    const auto found = t.types.find(type);
    if (--found->second.uses != 0 || found->second.frees == 0) return;
    freed = found->second.frees;
    t.types.erase(found);
    handles_changed.fetch_add(1, std::memory_order_relaxed);
  }
  for (; freed != 0; --freed) { // MPICH's MPI_Type_get_contents gives a handle again
    MPI_Datatype gone = type;
    WEFT_REAL(Type_free)(&gone);
  }
}

namespace {

// False if MPI is to free it, for no call needs it.
bool free_later(MPI_Datatype type) {
  type_table& t = all_types();
  const std::lock_guard lock(t.mutex);
  const auto found = t.types.find(type);
  if (found == t.types.end() || !found->second.is.of_program) return false;
  if (found->second.uses != 0) {
    ++found->second.frees;
    return true;
  }
  t.types.erase(found);
  handles_changed.fetch_add(1, std::memory_order_relaxed);
  return false;
}

} // namespace

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

extern "C" WEFT_SHOW int MPI_Type_free(MPI_Datatype* type) {
  if (type == nullptr || !weft::mpi::free_later(*type)) return WEFT_REAL(Type_free)(type);
  *type = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}
WEFT_ALSO_PMPI(Type_free);
