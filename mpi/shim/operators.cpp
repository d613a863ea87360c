// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/shim/prepare.hpp"

#include "mpi/shim/real.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

namespace weft::mpi {

namespace {

struct held_operator {
  MPI_Op op;
  unsigned calls;
  bool freed;
};
struct operator_table {
  std::mutex mutex;
  std::vector<held_operator> operators;

  auto find(MPI_Op op) {
    return std::ranges::find_if(operators, [op](const held_operator& h) { return h.op == op; });
  }
};
operator_table& all_held() {
  static operator_table operators;
  return operators;
}

} // namespace

void hold_operator(MPI_Op op) {
  operator_table& t = all_held();
  const std::lock_guard lock(t.mutex);
  if (const auto at = t.find(op); at != t.operators.end())
    ++at->calls;
  else
    t.operators.push_back({op, 1, false});
}

void give_back_operator(MPI_Op op) {
  operator_table& t = all_held();
  const std::lock_guard lock(t.mutex);
  const auto at = t.find(op);
  if (--at->calls != 0) return;
  MPI_Op freed = at->freed ? op : MPI_OP_NULL;
  t.operators.erase(at);
  if (freed != MPI_OP_NULL) WEFT_REAL(Op_free)(&freed);
}

namespace {

// False if MPI is to free it now.
bool free_later(MPI_Op* op) {
  operator_table& t = all_held();
  const std::lock_guard lock(t.mutex);
  const auto at = t.find(*op);
  if (at == t.operators.end()) return false;
  at->freed = true;
  *op = MPI_OP_NULL;
  return true;
}

} // namespace

} // namespace weft::mpi

extern "C" WEFT_SHOW int MPI_Op_free(MPI_Op* op) {
  return weft::mpi::free_later(op) ? MPI_SUCCESS : WEFT_REAL(Op_free)(op);
}
WEFT_ALSO_PMPI(Op_free);
