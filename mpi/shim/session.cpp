#include "mpi/shim/session.hpp"

#include "mpi/include/weft/mpi.h"
#include "mpi/shim/patience.hpp"
#include "mpi/shim/real.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_map>
#include <utility>

namespace weft::mpi {

namespace {

constexpr std::uint64_t kib = 1024, mib = 1024 * kib;
// Of a communicator: rings for small and for middling calls. A few have one for large ones, too.
constexpr std::uint64_t small_ring = 64 * kib, middle_ring = 2 * mib, large_rings = 96 * mib;
// Several, so that a loop comes back to memory that it has touched: to touch it first costs more than to
// copy.
constexpr std::uint64_t sizes_of_large[] = {8 * mib, 24 * mib, 64 * mib};
constexpr unsigned lanes = 60, large_lanes = 4; // bits of a word together
constexpr std::uint64_t area_bytes = lanes * (small_ring + middle_ring) + large_lanes * large_rings;

constexpr const char* names[] = {"Ibarrier",   "Ibcast",    "Igather", "Iscatter",
                                 "Iallgather", "Ialltoall", "Ireduce", "Iallreduce"};
constexpr const char* reasons[] = {"carried", "communicator has no lane", "two groups",
                                   "operator of the user", "no such element or operator"};
constexpr std::size_t calls = std::size(names), outcomes = static_cast<std::size_t>(reason::last);

struct session {
  int keyval = MPI_KEYVAL_INVALID;
  upc_shared_ptr_t area{};
  std::uint64_t taken = 0; // a bit for each lane, and behind those for the large ones
  std::mutex mutex;        // of what is below
  std::unordered_map<std::uintptr_t, carried*> under_way;
  carried* free = nullptr;
  std::array<std::array<std::uint64_t, outcomes>, calls> counts{};
};
session* the_session = nullptr;
std::atomic<int> number_under_way{0};

std::uintptr_t key_of(MPI_Request r) {
  return std::uintptr_t(r);
}

// The attribute of a communicator.
struct attached {
  std::unique_ptr<lane> way;
  std::uint64_t bits;
};
int forget(MPI_Comm, int, void* value, void*) {
  const std::unique_ptr<attached> gone(static_cast<attached*>(value));
  if (the_session != nullptr) the_session->taken &= ~gone->bits;
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
  std::array<std::array<std::uint64_t, outcomes>, calls> sums{};
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  WEFT_REAL(Reduce)
  (the_session->counts.data(), sums.data(), static_cast<int>(calls * outcomes), MPI_UINT64_T, MPI_SUM, 0,
   MPI_COMM_WORLD);
  if (rank != 0) return;
  for (std::size_t what = 0; what != calls; ++what)
    for (std::size_t why = 0; why != outcomes; ++why)
      if (sums[what][why] != 0)
        std::fprintf(stderr, "weft: MPI_%-11s %12llu  %s%s\n", names[what],
                     static_cast<unsigned long long>(sums[what][why]),
                     why == 0 ? "" : "passed on: ", reasons[why]);
}

bool is_set(const char* name, const char* value) {
  const char* const set = std::getenv(name);
  return set != nullptr && std::strcmp(set, value) == 0;
}

void give_back(carried& c) {
  const std::lock_guard lock(the_session->mutex);
  c.next = std::exchange(the_session->free, &c);
}

// Its results are where the program wants them.
void conclude(carried& c) {
  if (c.out.empty()) return;
  int at = 0;
  MPI_Unpack(c.out.data(), static_cast<int>(c.out.size()), &at, c.to, c.count, c.type, c.comm);
}

} // namespace

void begin_session() {
  if (is_set("WEFT_MPI", "off")) return;
  // Room for the rings, unless the user has said how much; memory is taken when it is touched.
  setenv("WEFT_HEAP_SIZE", std::to_string(area_bytes + 16 * mib).c_str(), 0);
  weft_init_from_mpi(MPI_COMM_WORLD);
  auto made = std::make_unique<session>();
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &made->keyval, nullptr);
  made->area = upc_all_alloc(static_cast<std::size_t>(THREADS), area_bytes);
  the_session = made.release();
  make_lane(MPI_COMM_WORLD);
}

void end_session() {
  if (the_session == nullptr) return;
  if (is_set("WEFT_STATISTICS", "1")) print_statistics();
  stop_carrier();
  MPI_Comm_delete_attr(MPI_COMM_WORLD, the_session->keyval);
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
  std::uint64_t mine = ~the_session->taken, all = 0;
  WEFT_REAL(Allreduce)(&mine, &all, 1, MPI_UINT64_T, MPI_BAND, comm);
  constexpr std::uint64_t of_lanes = (std::uint64_t{1} << lanes) - 1;
  const std::uint64_t bit = lowest(all & of_lanes), large = lowest(all & ~of_lanes);
  if (bit == 0) return;
  std::vector<std::uint32_t> threads(static_cast<std::size_t>(members));
  const auto me = static_cast<std::uint32_t>(MYTHREAD);
  WEFT_REAL(Allgather)(&me, 1, MPI_UINT32_T, threads.data(), 1, MPI_UINT32_T, comm);
  const upc_team_t team = comm == MPI_COMM_WORLD ? UPC_TEAM_ALL : weft_team_from_mpi(comm);
  if (team == 0) return;
  const auto number = static_cast<std::uint64_t>(__builtin_ctzll(bit));
  const std::uint64_t place = number * (small_ring + middle_ring);
  std::vector<lane::room> rooms = {{place, small_ring}, {place + small_ring, middle_ring}};
  if (large != 0) {
    std::uint64_t at = lanes * (small_ring + middle_ring) +
                       (static_cast<std::uint64_t>(__builtin_ctzll(large)) - lanes) * large_rings;
    for (const std::uint64_t size : sizes_of_large)
      rooms.push_back({std::exchange(at, at + size), size});
  }
  auto made = std::make_unique<attached>();
  made->way = std::make_unique<lane>(team, std::move(threads), the_session->area, rooms);
  made->bits = bit | large;
  the_session->taken |= made->bits;
  MPI_Comm_set_attr(comm, the_session->keyval, made.release());
}

lane* lane_of(MPI_Comm comm) {
  if (the_session == nullptr) return nullptr;
  void* found = nullptr;
  int flag = 0;
  MPI_Comm_get_attr(comm, the_session->keyval, &found, &flag);
  return flag != 0 ? static_cast<attached*>(found)->way.get() : nullptr;
}

carried& new_call() {
  const std::lock_guard lock(the_session->mutex);
  if (carried* const old = the_session->free) {
    the_session->free = old->next;
    return *old;
  }
  return *new carried;
}

bool none_under_way() {
  return number_under_way.load(std::memory_order_relaxed) == 0;
}

MPI_Request request_of(carried& c) {
  MPI_Grequest_start(say_nothing, free_nothing, cancel_nothing, nullptr, &c.request);
  const std::lock_guard lock(the_session->mutex);
  the_session->under_way.emplace(key_of(c.request), &c);
  number_under_way.fetch_add(1, std::memory_order_relaxed);
  return c.request;
}

carried* find(MPI_Request request) {
  if (request == MPI_REQUEST_NULL || none_under_way()) return nullptr;
  const std::lock_guard lock(the_session->mutex);
  const auto found = the_session->under_way.find(key_of(request));
  return found == the_session->under_way.end() ? nullptr : found->second;
}

void complete(carried& c) {
  conclude(c);
  {
    const std::lock_guard lock(the_session->mutex);
    the_session->under_way.erase(key_of(c.request));
    number_under_way.fetch_sub(1, std::memory_order_relaxed);
  }
  MPI_Grequest_complete(c.request);
  give_back(c);
}

void try_complete(carried& c) {
  if (c.op.on->test(c.op)) complete(c);
}

void wait(carried& c) {
  for (patience p; !c.op.on->test(c.op);)
    p.pass();
}

void count(collective what, reason why) {
  if (the_session != nullptr)
    ++the_session->counts[static_cast<std::size_t>(what)][static_cast<std::size_t>(why)];
}

} // namespace weft::mpi
