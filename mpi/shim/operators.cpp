// SPDX-License-Identifier: BSD-3-Clause
// How elements are combined that the library has no operator for: by a function of the program, which is
// known since the operator was made, or by one of those here. The library's own thread combines, too, while
// the program's thread may be in MPI: so none of this calls MPI, and the level that the program asks for
// suffices.
#include "mpi/shim/prepare.hpp"

#include "mpi/shim/packing.hpp"
#include "mpi/shim/real.hpp"

#include <cstring>
#include <mutex>
#include <unordered_map>

namespace weft::mpi {

namespace {

struct operator_table {
  std::mutex mutex;
  std::unordered_map<MPI_Op, combination> made;
};
operator_table& all_made() {
  static operator_table& table = *new operator_table; // a program may free operators while it ends
  return table;
}

void forget_operator(MPI_Op op) {
  operator_table& t = all_made();
  const std::lock_guard lock(t.mutex);
  t.made.erase(op);
}
template <class Function>
void note_operator(MPI_Op op, Function* function, int commute, weft_user_function_t by) {
  operator_table& t = all_made();
  const std::lock_guard lock(t.mutex);
  t.made.insert_or_assign(
      op,
      combination{.by = by, .function = reinterpret_cast<void (*)()>(function), .commutes = commute != 0});
}

// A function of the program gets what MPI gives it: the number of elements and their type.
template <class Count, class Type, Type combination::*type_of>
void call_function(const void* in, void* inout, std::size_t nelems, void* how) {
  const auto& c = *static_cast<const combination*>(how);
  auto count = static_cast<Count>(nelems);
  Type type = c.*type_of;
  reinterpret_cast<void (*)(void*, void*, Count*, Type*)>(c.function)(writable(in), inout, &count, &type);
}
constexpr weft_user_function_t call_c = call_function<int, MPI_Datatype, &combination::type>;

#ifdef OPEN_MPI
constexpr weft_user_function_t call_fortran = call_function<MPI_Fint, MPI_Fint, &combination::fortran_type>;

bool lies_in(const void* address, const char* libraries) {
  Dl_info found{};
  if (dladdr(address, &found) == 0 || found.dli_fname == nullptr) return false;
  const char* const slash = std::strrchr(found.dli_fname, '/');
  const char* const name = slash == nullptr ? found.dli_fname : slash + 1;
  return std::strncmp(name, libraries, std::strlen(libraries)) == 0;
}

// Open MPI makes operators of Fortran by the function of C, and only its library for Fortran does. Those of
// C++ and Java have a function of Open MPI's own, which knows the program's: they stay MPI's.
void note_operator(MPI_Op op, MPI_User_function* function, int commute, const void* caller) {
  if (lies_in(reinterpret_cast<const void*>(function), "libmpi_")) return forget_operator(op);
  note_operator(op, function, commute, lies_in(caller, "libmpi_mpifh.") ? call_fortran : call_c);
}
#else
void note_operator(MPI_Op op, MPI_User_function* function, int commute, const void*) {
  note_operator(op, function, commute, call_c);
}
#endif

template <class Value> void exactly_one(const void* in, void* inout, std::size_t nelems, void*) {
  const auto* const left = static_cast<const Value*>(in);
  auto* const right = static_cast<Value*>(inout);
  for (std::size_t k = 0; k != nelems; ++k)
    right[k] = (left[k] != 0) != (right[k] != 0) ? 1 : 0;
}
weft_user_function_t exactly_one_of(MPI_Datatype type) {
  switch (element_of(type).value_or(WEFT_OPAQUE)) {
  case CRAY_UPC_CHAR:
  case CRAY_UPC_UCHAR:
  case CRAY_UPC_BOOL:
    return exactly_one<std::uint8_t>;
  case CRAY_UPC_SHORT:
  case CRAY_UPC_USHORT:
    return exactly_one<std::uint16_t>;
  case CRAY_UPC_INT:
  case CRAY_UPC_UINT:
    return exactly_one<std::uint32_t>;
  case CRAY_UPC_LONG:
  case CRAY_UPC_ULONG:
  case CRAY_UPC_LONGLONG:
  case CRAY_UPC_ULONGLONG:
    return exactly_one<std::uint64_t>;
  default:
    return nullptr;
  }
}

// The largest value, or the smallest; of equal ones the lowest place.
template <class Value, class Place, bool largest>
void keep_place(const void* in, void* inout, std::size_t nelems, void*) {
  struct pair {
    Value value;
    Place at;
  };
  const auto* const left = static_cast<const pair*>(in);
  auto* const right = static_cast<pair*>(inout);
  for (std::size_t k = 0; k != nelems; ++k) {
    const pair &a = left[k], &b = right[k];
    if (!(largest ? a.value > b.value : a.value < b.value) && !(a.value == b.value && a.at < b.at)) continue;
    right[k].value = a.value;
    right[k].at = a.at;
  }
}
struct pairs_of_type {
  MPI_Datatype type;
  weft_user_function_t largest, smallest;
};

} // namespace

combination combination_of(MPI_Op op, MPI_Datatype type) {
  static const pairs_of_type pairs[] = {
      {MPI_LONG_DOUBLE_INT, keep_place<long double, int, true>, keep_place<long double, int, false>},
      {MPI_2REAL, keep_place<float, float, true>, keep_place<float, float, false>},
      {MPI_2DOUBLE_PRECISION, keep_place<double, double, true>, keep_place<double, double, false>}};
  if (op == MPI_LXOR) return {.by = exactly_one_of(type)};
  if (op == MPI_MAXLOC || op == MPI_MINLOC) {
    for (const pairs_of_type& p : pairs)
      if (p.type == type) return {.by = op == MPI_MAXLOC ? p.largest : p.smallest};
    return {};
  }
  operator_table& t = all_made();
  const std::lock_guard lock(t.mutex);
  const auto found = t.made.find(op);
  return found == t.made.end() ? combination{} : found->second;
}

} // namespace weft::mpi

using namespace weft::mpi;

extern "C" {

WEFT_SHOW int MPI_Op_create(MPI_User_function* function, int commute, MPI_Op* op) {
  const int status = WEFT_REAL(Op_create)(function, commute, op);
  if (status == MPI_SUCCESS) note_operator(*op, function, commute, __builtin_return_address(0));
  return status;
}
WEFT_SHOW int MPI_Op_free(MPI_Op* op) {
  if (op != nullptr) forget_operator(*op);
  return WEFT_REAL(Op_free)(op);
}
#ifndef OPEN_MPI
WEFT_SHOW int MPI_Op_create_c(MPI_User_function_c* function, int commute, MPI_Op* op) {
  const int status = WEFT_REAL(Op_create_c)(function, commute, op);
  if (status == MPI_SUCCESS)
    note_operator(*op, function, commute, call_function<MPI_Count, MPI_Datatype, &combination::type>);
  return status;
}
// MPICH's C++ says by it that the function of an operator is one of C++: it stays MPI's.
WEFT_SHOW void MPII_Op_set_cxx(MPI_Op op, void (*call)()) {
  forget_operator(op);
  static const auto next = reinterpret_cast<decltype(&MPII_Op_set_cxx)>(dlsym(RTLD_NEXT, "MPII_Op_set_cxx"));
  next(op, call);
}
#endif

} // extern "C"

WEFT_ALSO_PMPI(Op_create);
WEFT_ALSO_PMPI(Op_free);
#ifndef OPEN_MPI
WEFT_ALSO_PMPI(Op_create_c);
#endif
