#include "tests/modes/call.hpp"

#include <stdexcept>
#include <upc_collective_cray.h>

namespace modes {

void call::begin_aside() {
  if (!trial_.behind) return;
  aside_ = upc_all_exchange(arena_.destination_aside(0), arena_.source_aside(0), arena::bounce_bytes,
                            UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC);
}

void call::finish_aside() {
  upc_wait(aside_);
}

void call::make() {
  if (asynchronous()) handle_ = collective();
  if (trial_.what.op == operation::split_barrier) upc_notify();
  if (trial_.what.op == operation::team_barrier_nb) cray_ = cray_upc_team_barrier_nb(CRAY_UPC_TEAM_ALL);
}

bool call::left() {
  return asynchronous() ? upc_test(handle_) > 0 : upc_sync_attempt(cray_) != 0;
}

void call::enter_with_all() {
  const upc_shared_ptr_t dst = arena_.destination(0), src = arena_.source(trial_, 0);
  if (trial_.what.op == operation::alltoall_nb)
    cray_ = cray_upc_team_alltoall_nb(dst, src, trial_.bytes, CRAY_UPC_TEAM_ALL);
  if (trial_.what.op == operation::alltoall_nbi)
    cray_upc_team_alltoall_nbi(dst, src, trial_.bytes, CRAY_UPC_TEAM_ALL);
}

void call::finish() {
  switch (trial_.what.op) {
  case operation::alltoall:
    return cray_upc_team_alltoall(arena_.destination(0), arena_.source(trial_, 0), trial_.bytes,
                                  CRAY_UPC_TEAM_ALL);
  case operation::alltoall_nb:
  case operation::team_barrier_nb:
    return upc_sync(cray_);
  case operation::alltoall_nbi:
    return upc_synci();
  case operation::barrier:
    return upc_barrier();
  case operation::split_barrier:
    return upc_wait();
  case operation::team_barrier:
    return cray_upc_team_barrier(CRAY_UPC_TEAM_ALL);
  default:
    break;
  }
  if (asynchronous())
    upc_wait(handle_);
  else
    collective();
}

upc_coll_handle_t call::collective() {
  return trial_.what.kind == family::extended ? extended() : plain();
}

upc_coll_handle_t call::plain() {
  const bool from_root = trial_.what.shape == pattern::from_root,
             to_root = trial_.what.shape == pattern::to_root;
  const upc_shared_ptr_t dst = arena_.destination(to_root ? trial_.root : 0);
  const upc_shared_ptr_t src = arena_.source(trial_, from_root ? trial_.root : 0);
  const std::size_t n = trial_.bytes;
  const upc_flag_t flags = trial_.flags();
  switch (trial_.what.op) {
  case operation::broadcast:
    return upc_all_broadcast(dst, src, n, flags);
  case operation::scatter:
    return upc_all_scatter(dst, src, n, flags);
  case operation::gather:
    return upc_all_gather(dst, src, n, flags);
  case operation::gather_all:
    return upc_all_gather_all(dst, src, n, flags);
  case operation::exchange:
    return upc_all_exchange(dst, src, n, flags);
  case operation::permute:
    return upc_all_permute(dst, src, arena_.permutation(0), n, flags);
  default:
    throw std::logic_error("no such function");
  }
}

upc_coll_handle_t call::extended() {
  const upc_shared_ptr_t dst = arena_.places_of_destinations(0), sizes = arena_.sizes(0);
  const upc_shared_ptr_t src = trial_.what.in_place ? dst : arena_.places_of_sources(0);
  const upc_flag_t flags = trial_.flags();
  switch (trial_.what.op) {
  case operation::broadcast:
    return upc_all_broadcast_x(dst, arena_.source(trial_, trial_.root), trial_.bytes, flags, UPC_TEAM_ALL);
  case operation::scatter:
    return upc_all_scatter_x(dst, src, sizes, flags, UPC_TEAM_ALL);
  case operation::gather:
    return upc_all_gather_x(dst, src, sizes, flags, UPC_TEAM_ALL);
  case operation::gather_all:
    return upc_all_gather_all_x(dst, src, sizes, flags, UPC_TEAM_ALL);
  case operation::exchange:
    return upc_all_exchange_x(dst, src, sizes, flags, UPC_TEAM_ALL);
  case operation::permute: // the elements have eight bytes, of which the first four are the number too
    return trial_.turn % 4 < 2
               ? upc_all_permute_x(dst, src, arena_.permutation(0), sizes, flags, UPC_TEAM_ALL)
               : upc_all_permute_xi(dst, src, arena_.permutation(0), sizes, flags, UPC_TEAM_ALL);
  default:
    throw std::logic_error("no such function");
  }
}

} // namespace modes
