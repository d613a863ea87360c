#include "mpi/shim/session.hpp"

#include "mpi/include/weft/mpi.h"
#include "mpi/shim/carrier.hpp"
#include "mpi/shim/patience.hpp"
#include "mpi/shim/real.hpp"
#include "mpi/shim/start.hpp"
#include "mpi/shim/types.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <string>
#include <unordered_map>
#include <utility>

namespace weft::mpi {

namespace {

constexpr std::uint64_t kib = 1024, mib = 1024 * kib;
// Of a communicator: a line of words, and rings for small and for middling calls. A few have some for large ones, too:
// several, so that a loop comes back to memory that it has touched: to touch it first costs more than to copy.
constexpr std::uint64_t words = 64, small_ring = 64 * kib - words, middle_ring = 2 * mib;
constexpr std::uint64_t sizes_of_large[] = {1, 4, 19}; // 24th parts
constexpr unsigned most_lanes = 60, large_lanes = 4;  // bits of a word together

constexpr const char* names[] = {"barrier", "bcast", "gather", "scatter", "allgather", "alltoall", "reduce", "allreduce"};
constexpr const char* reasons[] = {"carried", "communicator has no lane", "two groups", "operator of the user",
                                   "no such element or operator", "larger than WEFT_MPI_LARGEST"};
constexpr std::size_t calls = std::size(names), forms = static_cast<std::size_t>(form::last),
                      outcomes = static_cast<std::size_t>(reason::last), counters = calls * forms * outcomes;
static_assert(std::size(reasons) == outcomes);

// What a lane has of the memory.
struct place_of_lane {
  std::uint64_t bits;
  std::unique_ptr<lane> way;
};

struct session {
  int keyval = MPI_KEYVAL_INVALID;
  bool blocking_too = false;
  std::size_t largest = 0;
  upc_shared_ptr_t area{};
  unsigned lanes = 0;             // that have room
  std::uint64_t large = 0;        // bytes of a large lane's rings
  std::uint64_t taken = 0;        // a bit for each lane, and behind those for the large ones
  std::uint64_t used = 0;         // no lane that is gone has used positions behind it
  std::list<place_of_lane> leave; // of communicators that are freed, until they are quiet
  MPI_Comm self = MPI_COMM_NULL;  // of persistent requests
  int next_tag = 0;
  std::mutex mutex; // of what is below
  std::unordered_map<std::uintptr_t, carried*> requests; // also those of no call
  std::size_t persistent = 0;                            // of these
  carried* free = nullptr;
  std::array<std::atomic<std::uint64_t>, counters> counts{};
};
session* the_session = nullptr;
std::atomic<std::uint64_t> changes{1}; // of which lane a communicator has
std::atomic<int> number_under_way{0};

std::uintptr_t key_of(MPI_Request r) {
  return std::uintptr_t(r);
}
std::size_t counter(std::size_t what, std::size_t f, std::size_t why) {
  return (what * forms + f) * outcomes + why;
}

// Lanes of freed communicators, as soon as nothing is under way and no other member reads there.
void drop_lanes() {
  std::erase_if(the_session->leave, [](place_of_lane& l) {
    if (!l.way->quiet()) return false;
    the_session->taken &= ~l.bits;
    the_session->used = std::max(the_session->used, l.way->end());
    return true;
  });
}
int forget(MPI_Comm, int, void* value, void*) {
  const std::unique_ptr<place_of_lane> gone(static_cast<place_of_lane*>(value));
  changes.fetch_add(1, std::memory_order_relaxed);
  if (the_session == nullptr) return MPI_SUCCESS;
  the_session->leave.push_back(std::move(*gone));
  drop_lanes();
  return MPI_SUCCESS;
}

std::uint64_t lowest(std::uint64_t set) {
  return set & -set;
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

void print_statistics() {
  std::array<std::uint64_t, counters> mine{}, sums{};
  for (std::size_t k = 0; k != counters; ++k)
    mine[k] = the_session->counts[k].load(std::memory_order_relaxed);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  WEFT_REAL(Reduce)
  (mine.data(), sums.data(), static_cast<int>(counters), MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  for (std::size_t what = 0; what != calls; ++what)
    for (std::size_t f = 0; f != forms; ++f)
      for (std::size_t why = 0; why != outcomes; ++why) {
        const std::uint64_t n = sums[counter(what, f, why)];
        if (n == 0) continue;
        std::string name = f == static_cast<std::size_t>(form::nonblocking) ? std::string("I") + names[what] : names[what];
        name[0] = static_cast<char>(std::toupper(name[0]));
        if (f == static_cast<std::size_t>(form::persistent)) name += "_init";
        std::fprintf(stderr, "weft: MPI_%-15s %12llu  %s%s\n", name.c_str(), static_cast<unsigned long long>(n),
                     why == 0 ? "" : "passed on: ", reasons[why]);
      }
}

// The request of no call leaves MPI.
void forget_request(carried& c) {
  if (c.request == MPI_REQUEST_NULL) return;
  {
    const std::lock_guard lock(the_session->mutex);
    the_session->requests.erase(key_of(c.request));
  }
  MPI_Grequest_complete(c.request);
  WEFT_REAL(Wait)(&c.request, MPI_STATUS_IGNORE);
}

// A rank that ends with calls under way: they end with it, if all ranks have posted them.
void end_calls() {
  if (none_under_way()) return;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr,
               "weft: MPI_Finalize on rank %d: %d collectives that it has posted are not completed: complete every "
               "request, by MPI_Wait or its like, before MPI_Finalize\n",
               rank, number_under_way.load());
  constexpr double limit = 5;
  const double end = MPI_Wtime() + limit;
  while (!none_under_way() && MPI_Wtime() < end) {
    std::vector<carried*> all;
    {
      const std::lock_guard lock(the_session->mutex);
      for (const auto& [key, c] : the_session->requests)
        if (c->under_way) all.push_back(c);
    }
    for (carried* const c : all)
      try_complete(*c);
    patience::let_mpi_go_on();
  }
  if (none_under_way()) return;
  std::fprintf(stderr, "weft: MPI_Finalize on rank %d: other ranks have not posted them; the job ends\n", rank);
  WEFT_REAL(Abort)(MPI_COMM_WORLD, 1);
}

} // namespace

void begin_session() {
  if (!may_start()) return;
  const std::uint64_t pool = weft_setting("WEFT_MPI_POOL");
  // Memory is taken when it is touched.
  setenv("WEFT_HEAP_SIZE", std::to_string(pool + 16 * mib).c_str(), 0);
  weft_init_from_mpi(MPI_COMM_WORLD);
  auto made = std::make_unique<session>();
  constexpr std::uint64_t of_lane = words + small_ring + middle_ring;
  made->blocking_too = weft_setting("WEFT_MPI") == 2;
  made->largest = weft_setting("WEFT_MPI_LARGEST");
  made->lanes = static_cast<unsigned>(std::min<std::uint64_t>(most_lanes, pool / 2 / of_lane));
  made->large = (pool - made->lanes * of_lane) / large_lanes / 24 / mib * 24 * mib;
  made->area = upc_all_alloc(static_cast<std::size_t>(THREADS), pool);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &made->keyval, nullptr);
  WEFT_REAL(Comm_dup)(MPI_COMM_SELF, &made->self);
  the_session = made.release();
  make_lane(MPI_COMM_WORLD);
}

void end_session() {
  if (the_session == nullptr) return;
  end_calls();
  if (weft_setting("WEFT_STATISTICS") != 0) print_statistics();
  carrier::stop();
  for (carried* c = the_session->free; c != nullptr; c = c->next)
    forget_request(*c);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, the_session->keyval);
  MPI_Comm_free(&the_session->self);
  weft_finalize();
  // Communicators that the program has not freed keep their attributes until MPI drops them.
  the_session = nullptr;
}

void make_lane(MPI_Comm comm) {
  if (the_session == nullptr || comm == MPI_COMM_NULL) return;
  int between = 0, members = 0;
  MPI_Comm_test_inter(comm, &between);
  if (between != 0) return;
  MPI_Comm_size(comm, &members);
  if (members < 2) return;
  drop_lanes();
  struct member {
    std::uint64_t thread, free, used;
  };
  std::vector<member> all(static_cast<std::size_t>(members));
  const member mine{static_cast<std::uint64_t>(MYTHREAD), ~the_session->taken, the_session->used};
  WEFT_REAL(Allgather)(&mine, 3, MPI_UINT64_T, all.data(), 3, MPI_UINT64_T, comm);
  std::uint64_t free = ~std::uint64_t{0}, used = 0;
  int on_one_host = 1, seen_by_all = 0;
  std::vector<std::uint32_t> threads;
  for (const member& m : all) {
    free &= m.free;
    used = std::max(used, m.used);
    threads.push_back(static_cast<std::uint32_t>(m.thread));
    if ((upc_thread_info(m.thread).guaranteedCastable & UPC_CASTABLE_ALL_ALLOC) == 0) on_one_host = 0;
  }
  WEFT_REAL(Allreduce)(&on_one_host, &seen_by_all, 1, MPI_INT, MPI_MIN, comm);
  const std::uint64_t of_lanes = (std::uint64_t{1} << the_session->lanes) - 1,
                      of_large = ~((std::uint64_t{1} << most_lanes) - 1);
  const std::uint64_t bit = lowest(free & of_lanes), large = the_session->large != 0 ? lowest(free & of_large) : 0;
  if (bit == 0) return;
  const upc_team_t team = comm == MPI_COMM_WORLD ? UPC_TEAM_ALL : weft_team_from_mpi(comm);
  if (team == 0) return;
  constexpr std::uint64_t of_lane = words + small_ring + middle_ring;
  const std::uint64_t place = static_cast<std::uint64_t>(__builtin_ctzll(bit)) * of_lane;
  lane::memory m{the_session->area,
                 place,
                 used,
                 {{place + words, small_ring}, {place + words + small_ring, middle_ring}},
                 seen_by_all != 0};
  if (large != 0) {
    std::uint64_t at = the_session->lanes * of_lane +
                       (static_cast<std::uint64_t>(__builtin_ctzll(large)) - most_lanes) * the_session->large;
    for (const std::uint64_t parts : sizes_of_large) {
      const std::uint64_t size = the_session->large / 24 * parts;
      m.rooms.push_back({std::exchange(at, at + size), size});
    }
  }
  auto made = std::make_unique<place_of_lane>(bit | large, std::make_unique<lane>(team, std::move(threads), m));
  the_session->taken |= made->bits;
  MPI_Comm_set_attr(comm, the_session->keyval, made.release());
  changes.fetch_add(1, std::memory_order_relaxed);
}

lane* lane_of(MPI_Comm comm) {
  if (the_session == nullptr) return nullptr;
  thread_local struct {
    std::uint64_t at = 0;
    MPI_Comm comm = MPI_COMM_NULL;
    lane* way = nullptr;
  } last;
  const std::uint64_t now = changes.load(std::memory_order_relaxed);
  if (last.at == now && last.comm == comm) return last.way;
  void* found = nullptr;
  int flag = 0;
  MPI_Comm_get_attr(comm, the_session->keyval, &found, &flag);
  last = {now, comm, flag != 0 ? static_cast<place_of_lane*>(found)->way.get() : nullptr};
  return last.way;
}

bool carries(form f) {
  return the_session != nullptr && (f != form::blocking || the_session->blocking_too);
}
std::size_t most_carried() {
  return the_session->largest;
}

carried& new_call() {
  const std::lock_guard lock(the_session->mutex);
  if (carried* const old = the_session->free) {
    the_session->free = old->next;
    return *old;
  }
  return *new carried;
}

void give_back(carried& c) {
  const std::lock_guard lock(the_session->mutex);
  c.next = std::exchange(the_session->free, &c);
}

bool none_under_way() {
  return number_under_way.load(std::memory_order_relaxed) == 0;
}

MPI_Request request_of(carried& c) {
  if (c.request == MPI_REQUEST_NULL) {
    MPI_Grequest_start(say_nothing, free_nothing, cancel_nothing, nullptr, &c.request);
    const std::lock_guard lock(the_session->mutex);
    the_session->requests.emplace(key_of(c.request), &c);
  }
  c.under_way = true;
  number_under_way.fetch_add(1, std::memory_order_relaxed);
  return c.request;
}

// MPI has no persistent generalized requests: this one receives an empty message from this process.
MPI_Request persistent_request_of(carried& c) {
  constexpr int tags = 32768; // that every MPI has
  forget_request(c);
  const std::lock_guard lock(the_session->mutex);
  c.persistent = true;
  ++the_session->persistent;
  c.tag = the_session->next_tag++ % tags;
  MPI_Recv_init(nullptr, 0, MPI_BYTE, 0, c.tag, the_session->self, &c.request);
  the_session->requests.emplace(key_of(c.request), &c);
  return c.request;
}

void begin_again(carried& c) {
  WEFT_REAL(Start)(&c.request);
  post(c);
  c.under_way = true;
  number_under_way.fetch_add(1, std::memory_order_relaxed);
}

void forget_persistent(carried& c) {
  {
    const std::lock_guard lock(the_session->mutex);
    the_session->requests.erase(key_of(std::exchange(c.request, MPI_REQUEST_NULL)));
    --the_session->persistent;
    c.persistent = false;
  }
  give_back(c);
}

namespace {

carried* find_any(MPI_Request request) {
  const std::lock_guard lock(the_session->mutex);
  const auto found = the_session->requests.find(key_of(request));
  return found == the_session->requests.end() ? nullptr : found->second;
}

} // namespace

carried* find_persistent(MPI_Request request) {
  if (the_session == nullptr || the_session->persistent == 0) return nullptr;
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
  conclude(c);
  c.under_way = false;
  number_under_way.fetch_sub(1, std::memory_order_relaxed);
  *request = MPI_REQUEST_NULL;
  if (status != MPI_STATUS_IGNORE) say_nothing(nullptr, status);
  give_back(c);
}

void complete(carried& c) {
  conclude(c);
  c.under_way = false;
  number_under_way.fetch_sub(1, std::memory_order_relaxed);
  if (c.persistent) {
    WEFT_REAL(Send)(nullptr, 0, MPI_BYTE, 0, c.tag, the_session->self);
    return;
  }
  const MPI_Request completed = c.request;
  {
    const std::lock_guard lock(the_session->mutex);
    the_session->requests.erase(key_of(std::exchange(c.request, MPI_REQUEST_NULL)));
  }
  MPI_Grequest_complete(completed);
  give_back(c);
}

void try_complete(carried& c) {
  if (c.op.on->test(c.op)) complete(c);
}

void wait(carried& c) {
  operation* const op = &c.op;
  if (c.way->test(*op)) return;
  for (patience p;; patience::let_mpi_go_on()) {
    p.wait_for({&op, 1});
    if (c.way->test(*op)) return;
  }
}

void count(collective what, form f, reason why) {
  if (the_session == nullptr) return;
  the_session->counts[counter(static_cast<std::size_t>(what), static_cast<std::size_t>(f), static_cast<std::size_t>(why))]
      .fetch_add(1, std::memory_order_relaxed);
}

} // namespace weft::mpi
