// SPDX-License-Identifier: BSD-3-Clause
#include "tests/modes/call.hpp"

#include "tests/calls/issue.hpp"

namespace modes {

unsigned long long call::post(const calls::call& c) const {
  return calls::post(c, UPC_TEAM_ALL, arena_.all(), arena_.memory());
}

void call::make() {
  if (made_.async) handle_ = post(made_);
  if (trial_.what.wait == barrier::split) upc_notify();
  if (trial_.what.wait == barrier::of_team_nb) cray_ = cray_upc_team_barrier_nb(CRAY_UPC_TEAM_ALL);
}

void call::finish() {
  switch (trial_.what.wait) {
  case barrier::of_all:
    return upc_barrier();
  case barrier::split:
    return upc_wait();
  case barrier::of_team:
    return cray_upc_team_barrier(CRAY_UPC_TEAM_ALL);
  case barrier::of_team_nb:
    return upc_sync(cray_);
  case barrier::none:
    break;
  }
  if (made_.async)
    upc_wait(handle_);
  else if (made_.what == calls::kind::alltoall_nbi)
    upc_synci();
  else if (local())
    upc_sync(cray_);
  else
    post(made_);
}

} // namespace modes
