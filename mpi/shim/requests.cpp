// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/shim/requests.hpp"

#include "mpi/shim/check.hpp"
#include "mpi/shim/patience.hpp"
#include "mpi/shim/real.hpp"
#include "mpi/shim/start.hpp"
#include "mpi/shim/threads.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace weft::mpi {

namespace {

struct request_table {
  std::mutex mutex;
  std::unordered_map<std::uintptr_t, carried*> requests; // also those of no call
  std::size_t persistent = 0;                            // of these
  std::atomic<carried*> latest{nullptr}; // posted last, most likely the next that is looked for
  carried* free = nullptr;
  MPI_Comm self = MPI_COMM_NULL; // of persistent requests
  int next_tag = 0;
};
request_table the_table;
std::atomic<int> number_under_way{0};

std::uintptr_t key_of(MPI_Request r) {
  return std::uintptr_t(r);
}

int say_nothing(void*, MPI_Status* status) {
  MPI_Status_set_elements(status, MPI_BYTE, 0);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
int free_nothing(void*) {
  return MPI_SUCCESS;
}
int cancel_nothing(void*, int) {
  return MPI_SUCCESS;
}

// The request of no call leaves MPI.
void forget_request(carried& c) {
  MPI_Request gone = MPI_REQUEST_NULL;
  {
    const turn mine(the_table.mutex);
    gone = std::exchange(c.request, MPI_REQUEST_NULL);
    if (gone == MPI_REQUEST_NULL) return;
    the_table.requests.erase(key_of(gone));
  }
  MPI_Grequest_complete(gone);
  WEFT_REAL(Wait)(&gone, MPI_STATUS_IGNORE);
}

} // namespace

void open_requests() {
  WEFT_REAL(Comm_dup)(MPI_COMM_SELF, &the_table.self);
  MPI_Comm_set_errhandler(the_table.self, MPI_ERRORS_RETURN);
}

MPI_Comm own_comm() {
  return the_table.self;
}

void close_requests() {
  for (carried* c = the_table.free; c != nullptr; c = c->next)
    forget_request(*c);
  MPI_Comm_free(&the_table.self);
}

namespace {

int all_under_way() {
  const int mine = number_under_way.load();
  int all = 0;
  WEFT_REAL(Allreduce)(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

} // namespace

void end_calls() {
  if (all_under_way() == 0) return;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!none_under_way())
    std::fprintf(
        stderr,
        "weft: MPI_Finalize on rank %d: the program has not completed %d of its collectives: complete every "
        "request, by MPI_Wait or its like, before MPI_Finalize\n",
        rank, number_under_way.load());
  constexpr double limit = 5;
  const double end = MPI_Wtime() + limit;
  while (!none_under_way() && MPI_Wtime() < end) {
    std::vector<carried*> all;
    {
      const turn mine(the_table.mutex);
      for (const auto& [key, c] : the_table.requests)
        if (c->under_way) all.push_back(c);
    }
    for (carried* const c : all)
      try_complete(*c);
    patience::let_mpi_go_on();
  }
  // None may go on: what the library's end has in common with a call would complete it.
  if (all_under_way() == 0) return;
  if (!none_under_way())
    end_job("MPI_Finalize on rank " + std::to_string(rank) +
            ": other ranks have not posted its collectives, so they cannot end");
  WEFT_REAL(Barrier)(MPI_COMM_WORLD);
}

carried& new_call() {
  const turn mine(the_table.mutex);
  carried* const old = the_table.free;
  if (old == nullptr) return *new carried;
  the_table.free = old->next;
  old->prepared_at = 0;
  return *old;
}

namespace {

// The program may change what they say.
std::array<const int*, 4> arrays_read(const carried& c) {
  const arguments& a = c.of;
  const bool root = c.way->rank() == a.root;
  const bool taken = c.asked != collective::gatherv || root;
  const bool given = a.src != MPI_IN_PLACE && (c.asked != collective::scatterv || root);
  return {taken ? a.counts : nullptr, taken ? a.places : nullptr, given ? a.scounts : nullptr,
          given ? a.splaces : nullptr};
}

bool say_the_same(const carried& c) {
  if (c.said.empty()) return true;
  const auto members = static_cast<std::size_t>(c.way->size());
  const int* said = c.said.data();
  for (const int* const array : arrays_read(c)) {
    if (array == nullptr) continue;
    if (!std::equal(array, array + members, said)) return false;
    said += members;
  }
  return true;
}

} // namespace

// An operator of the program may be another one with the same handle, as may types of an array.
void remember(carried& c, collective what, const arguments& a) {
  if (c.as == form::persistent || c.combines.by != nullptr || what == collective::alltoallw) return;
  c.asked = what;
  c.of = a;
  c.said.clear();
  for (const int* const array : arrays_read(c))
    if (array != nullptr) c.said.insert(c.said.end(), array, array + c.way->size());
  c.prepared_at = handles_changed.load(std::memory_order_relaxed);
}

carried* prepared_call(collective what, form f, const arguments& a) {
  constexpr int looked_at = 8; // a program has few calls under way
  const std::uint64_t now = handles_changed.load(std::memory_order_relaxed);
  const turn mine(the_table.mutex);
  carried** at = &the_table.free;
  for (int k = 0; k != looked_at && *at != nullptr; ++k, at = &(*at)->next) {
    carried& c = **at;
    if (c.prepared_at != now || c.asked != what || c.as != f || c.of != a || !say_the_same(c)) continue;
    *at = c.next;
    return &c;
  }
  return nullptr;
}

void give_back(carried& c) {
  const turn mine(the_table.mutex);
  c.next = std::exchange(the_table.free, &c);
}

bool none_under_way() {
  return number_under_way.load(std::memory_order_relaxed) == 0;
}

namespace {

void begin_call(carried& c) {
  c.under_way = true;
  add(number_under_way, 1);
}
void end_call(carried& c) {
  conclude(c);
  c.under_way = false;
  add(number_under_way, -1);
}

} // namespace

MPI_Request request_of(carried& c) {
  if (c.request == MPI_REQUEST_NULL) {
    MPI_Grequest_start(say_nothing, free_nothing, cancel_nothing, nullptr, &c.request);
    const turn mine(the_table.mutex);
    the_table.requests.emplace(key_of(c.request), &c);
  }
  begin_call(c);
  the_table.latest.store(&c, std::memory_order_relaxed);
  return c.request;
}

// MPI has no persistent generalized requests: this one receives an empty message from this process.
MPI_Request persistent_request_of(carried& c) {
  constexpr int tags = 32768; // that every MPI has
  forget_request(c);
  c.way->keep(); // until the program frees the request, also behind MPI_Comm_free
  const turn mine(the_table.mutex);
  c.persistent = true;
  ++the_table.persistent;
  c.tag = the_table.next_tag++ % tags;
  MPI_Recv_init(nullptr, 0, MPI_BYTE, 0, c.tag, the_table.self, &c.request);
  the_table.requests.emplace(key_of(c.request), &c);
  return c.request;
}

void begin_again(carried& c) {
  WEFT_REAL(Start)(&c.request);
  post(c);
  begin_call(c);
}

void forget_persistent(carried& c) {
  {
    const turn mine(the_table.mutex);
    the_table.requests.erase(key_of(std::exchange(c.request, MPI_REQUEST_NULL)));
    --the_table.persistent;
    c.persistent = false;
  }
  c.way->forget(c.op);
  release_types(c);
  give_back(c);
}

namespace {

carried* find_any(MPI_Request request) {
  const turn mine(the_table.mutex);
  carried* const latest = the_table.latest.load(std::memory_order_relaxed);
  if (latest != nullptr && latest->request == request) return latest;
  const auto found = the_table.requests.find(key_of(request));
  return found == the_table.requests.end() ? nullptr : found->second;
}

} // namespace

carried* find_persistent(MPI_Request request) {
  if (the_table.persistent == 0) return nullptr;
  carried* const c = find_any(request);
  return c != nullptr && c->persistent ? c : nullptr;
}

carried* find(MPI_Request request) {
  if (request == MPI_REQUEST_NULL || none_under_way()) return nullptr;
  carried* const c = find_any(request);
  return c != nullptr && c->under_way ? c : nullptr;
}

void finish(carried& c, MPI_Request* request, MPI_Status* status) {
  if (c.persistent) {
    complete(c);
    WEFT_REAL(Wait)(request, status);
    return;
  }
  end_call(c);
  *request = MPI_REQUEST_NULL;
  if (status != MPI_STATUS_IGNORE) say_nothing(nullptr, status);
  give_back(c);
}

void complete(carried& c) {
  end_call(c);
  if (c.persistent) {
    WEFT_REAL(Send)(nullptr, 0, MPI_BYTE, 0, c.tag, the_table.self);
    return;
  }
  const MPI_Request completed = c.request;
  {
    const turn mine(the_table.mutex);
    the_table.requests.erase(key_of(std::exchange(c.request, MPI_REQUEST_NULL)));
  }
  MPI_Grequest_complete(completed);
  give_back(c);
}

void try_complete(carried& c) {
  require_buffers(c);
  if (c.op.on->test(c.op)) complete(c);
}

void wait(carried& c) {
  require_buffers(c);
  operation* const op = &c.op;
  if (c.way->test(*op)) return;
  for (patience p;; patience::let_mpi_go_on()) {
    p.wait_for({&op, 1});
    if (c.way->test(*op)) return;
  }
}

} // namespace weft::mpi
