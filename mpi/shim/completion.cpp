// SPDX-License-Identifier: BSD-3-Clause
// The calls that complete requests. Those of this library are MPI's generalized requests: as soon as a call
// is done its request is completed, in the thread that asks, and then MPI's own function gives the answer,
// for arrays of both kinds. While no call of the library is under way all of this is MPI's alone.
#include "mpi/shim/check.hpp"
#include "mpi/shim/patience.hpp"
#include "mpi/shim/real.hpp"
#include "mpi/shim/requests.hpp"

#include <algorithm>
#include <sched.h>
#include <span>
#include <vector>

namespace weft::mpi {

namespace {

using requests = std::span<MPI_Request>;

requests of(int count, MPI_Request* all) {
  return {all, count > 0 && all != nullptr ? static_cast<std::size_t>(count) : 0};
}

// Moves all of ours on.
void try_all(requests all) {
  for (const MPI_Request r : all)
    if (carried* const c = find(r)) try_complete(*c);
}

// Then they are null.
void wait_for_all(requests all, MPI_Status* statuses) {
  for (std::size_t k = 0; k != all.size(); ++k)
    if (carried* const c = find(all[k])) {
      wait(*c);
      finish(*c, &all[k], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[k]);
    }
}

// `ask` is MPI's function that does not wait; true if it has an answer. MPI's requests go on in it.
template <class Ask> void ask_until_answered(requests all, Ask&& ask) {
  for (patience p;;) {
    try_all(all);
    if (ask()) return;
    std::vector<operation*> ours;
    for (const MPI_Request r : all)
      if (carried* const c = find(r)) ours.push_back(&c->op);
    p.wait_for(ours);
  }
}

// Moves ours on, then MPI's function answers at once. A program that looks again and again keeps its core
// from the ranks that it waits for, where ranks outnumber cores: every few looks in vain hand it on.
void note_look(bool answered) {
  constexpr unsigned looks = 16;
  thread_local unsigned in_vain = 0;
  in_vain = answered ? 0 : in_vain + 1;
  if (in_vain == looks) {
    in_vain = 0;
    sched_yield();
  }
}
template <class Ask> int look(requests all, const int* answered, Ask&& ask) {
  if (none_under_way() || answered == nullptr) return ask();
  try_all(all);
  const int result = ask();
  note_look(*answered != 0);
  return result;
}

bool has_ours(requests all) {
  return std::ranges::any_of(all, [](MPI_Request r) { return find(r) != nullptr; });
}

// A call that MPI forbids for this request: MPI says so, by the one that it refuses always.
int refused_by(int (*call)(MPI_Request*)) {
  MPI_Request none = MPI_REQUEST_NULL;
  return call(&none);
}

} // namespace

} // namespace weft::mpi

using namespace weft::mpi;

extern "C" {

WEFT_SHOW int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  carried* const c = request == nullptr ? nullptr : find(*request);
  if (c == nullptr) return WEFT_REAL(Wait)(request, status);
  wait(*c);
  finish(*c, request, status);
  return MPI_SUCCESS;
}
WEFT_SHOW int MPI_Waitall(int count, MPI_Request all[], MPI_Status statuses[]) {
  if (!none_under_way()) wait_for_all(of(count, all), statuses);
  return WEFT_REAL(Waitall)(count, all, statuses);
}
WEFT_SHOW int MPI_Waitany(int count, MPI_Request all[], int* index, MPI_Status* status) {
  if (none_under_way() || !has_ours(of(count, all))) return WEFT_REAL(Waitany)(count, all, index, status);
  int result = MPI_SUCCESS, flag = 0;
  ask_until_answered(of(count, all), [&] {
    result = WEFT_REAL(Testany)(count, all, index, &flag, status);
    return flag != 0 || result != MPI_SUCCESS;
  });
  return result;
}
WEFT_SHOW int MPI_Waitsome(int count, MPI_Request all[], int* done, int indices[], MPI_Status statuses[]) {
  if (none_under_way() || !has_ours(of(count, all)))
    return WEFT_REAL(Waitsome)(count, all, done, indices, statuses);
  int result = MPI_SUCCESS;
  ask_until_answered(of(count, all), [&] {
    result = WEFT_REAL(Testsome)(count, all, done, indices, statuses);
    return *done != 0 || result != MPI_SUCCESS;
  });
  return result;
}
WEFT_SHOW int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  carried* const c = request == nullptr || flag == nullptr ? nullptr : find(*request);
  if (c == nullptr) return WEFT_REAL(Test)(request, flag, status);
  require_buffers(*c);
  *flag = c->way->test(c->op);
  if (*flag != 0)
    finish(*c, request, status);
  else
    patience::let_mpi_go_on();
  note_look(*flag != 0);
  return MPI_SUCCESS;
}
WEFT_SHOW int MPI_Testall(int count, MPI_Request all[], int* flag, MPI_Status statuses[]) {
  return look(of(count, all), flag, [&] { return WEFT_REAL(Testall)(count, all, flag, statuses); });
}
WEFT_SHOW int MPI_Testany(int count, MPI_Request all[], int* index, int* flag, MPI_Status* status) {
  return look(of(count, all), flag, [&] { return WEFT_REAL(Testany)(count, all, index, flag, status); });
}
WEFT_SHOW int MPI_Testsome(int count, MPI_Request all[], int* done, int indices[], MPI_Status statuses[]) {
  return look(of(count, all), done, [&] { return WEFT_REAL(Testsome)(count, all, done, indices, statuses); });
}
WEFT_SHOW int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  return look(of(1, &request), flag, [&] { return WEFT_REAL(Request_get_status)(request, flag, status); });
}

// Persistent ones.
WEFT_SHOW int MPI_Start(MPI_Request* request) {
  carried* const c = request == nullptr ? nullptr : find_persistent(*request);
  if (c == nullptr) return WEFT_REAL(Start)(request);
  if (c->under_way) return refused_by(WEFT_REAL(Start));
  begin_again(*c);
  return MPI_SUCCESS;
}
WEFT_SHOW int MPI_Startall(int count, MPI_Request all[]) {
  if (count < 0 || all == nullptr) return WEFT_REAL(Startall)(count, all);
  int status = MPI_SUCCESS;
  for (MPI_Request& r : of(count, all))
    if (status == MPI_SUCCESS) status = MPI_Start(&r);
  return status;
}
WEFT_SHOW int MPI_Request_free(MPI_Request* request) {
  if (request == nullptr) return WEFT_REAL(Request_free)(request);
  if (find(*request) != nullptr) return refused_by(WEFT_REAL(Request_free));
  if (carried* const c = find_persistent(*request)) forget_persistent(*c);
  return WEFT_REAL(Request_free)(request);
}
// No collective can be cancelled, nor a persistent one that is not under way.
WEFT_SHOW int MPI_Cancel(MPI_Request* request) {
  const bool own = request != nullptr && (find(*request) != nullptr || find_persistent(*request) != nullptr);
  return own ? refused_by(WEFT_REAL(Cancel)) : WEFT_REAL(Cancel)(request);
}

} // extern "C"

WEFT_ALSO_PMPI(Start);
WEFT_ALSO_PMPI(Startall);
WEFT_ALSO_PMPI(Request_free);
WEFT_ALSO_PMPI(Cancel);

WEFT_ALSO_PMPI(Wait);
WEFT_ALSO_PMPI(Waitall);
WEFT_ALSO_PMPI(Waitany);
WEFT_ALSO_PMPI(Waitsome);
WEFT_ALSO_PMPI(Test);
WEFT_ALSO_PMPI(Testall);
WEFT_ALSO_PMPI(Testany);
WEFT_ALSO_PMPI(Testsome);
WEFT_ALSO_PMPI(Request_get_status);
