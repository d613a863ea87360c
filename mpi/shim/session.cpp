// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/shim/session.hpp"
#include "mpi/shim/requests.hpp"

#include "mpi/include/weft/mpi.h"
#include "mpi/shim/carrier.hpp"
#include "mpi/shim/real.hpp"
#include "mpi/shim/start.hpp"
#include "mpi/shim/threads.hpp"

#include <upc_castable.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>

namespace weft::mpi {

namespace {

constexpr std::uint64_t kib = 1024, mib = 1024 * kib;
// Of a communicator: a line of words, and rings for small and for middling calls. A few have some for large
// ones, too: several, so that a loop comes back to memory that it has touched: to touch it first costs more
// than to copy.
constexpr std::uint64_t words = 64, small_ring = 64 * kib - words, middle_ring = 2 * mib;
constexpr std::uint64_t of_lane = words + small_ring + middle_ring;
constexpr std::uint64_t sizes_of_large[] = {1, 4, 19}; // 24th parts
constexpr unsigned most_lanes = 60, large_lanes = 4;   // bits of a word together

// By the collective.
constexpr const char* names[] = {"barrier",
                                 "bcast",
                                 "gather",
                                 "scatter",
                                 "allgather",
                                 "alltoall",
                                 "reduce",
                                 "allreduce",
                                 "scan",
                                 "exscan",
                                 "reduce_scatter_block",
                                 "reduce_scatter",
                                 "allgatherv",
                                 "gatherv",
                                 "scatterv",
                                 "alltoallv",
                                 "alltoallw"};
static_assert(std::size(names) == static_cast<std::size_t>(collective::alltoallw) + 1);
std::size_t number_of(collective what, bool unequal) {
  return static_cast<std::size_t>(unequal ? collective::allgatherv : what);
}
constexpr const char* reasons[] = {"carried",
                                   "communicator has no lane",
                                   "communicator of one rank",
                                   "two groups",
                                   "elements with gaps, large ones or none",
                                   "operator that MPI alone has for these elements",
                                   "larger than WEFT_MPI_LARGEST"};
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
  // The threads whose memory is reached by loads and stores: the same for all of a host.
  std::uint64_t first_of_host = 0, on_host = 0;
  unsigned lanes = 0;             // that have room
  std::uint64_t large = 0;        // bytes of a large lane's rings
  std::mutex mutex;               // of the next three: a program may make communicators in several threads
  std::uint64_t taken = 0;        // a bit for each lane, and behind those for the large ones
  std::uint64_t used = 0;         // no lane that is gone has used positions behind it
  std::list<place_of_lane> leave; // of communicators that are freed, until they are quiet
  std::atomic<std::uint64_t> tickets{0};
  std::array<std::atomic<std::uint64_t>, counters> counts{};
};
session* the_session = nullptr;
[[gnu::used]] session* ended_session = nullptr; // its lanes would free teams that are gone

std::size_t counter(std::size_t what, std::size_t f, std::size_t why) {
  return (what * forms + f) * outcomes + why;
}

// Lanes of freed communicators, as soon as nothing is under way and no other member reads there.
void drop_lanes() {
  const std::lock_guard lock(the_session->mutex);
  std::erase_if(the_session->leave, [](place_of_lane& l) {
    if (!l.way->quiet()) return false;
    the_session->taken &= ~l.bits;
    the_session->used = std::max(the_session->used, l.way->end());
    return true;
  });
}
int forget(MPI_Comm, int, void* value, void*) {
  handles_changed.fetch_add(1, std::memory_order_relaxed);
  if (the_session == nullptr) return MPI_SUCCESS; // it ended with the library
  const std::unique_ptr<place_of_lane> gone(static_cast<place_of_lane*>(value));
  {
    const std::lock_guard lock(the_session->mutex);
    the_session->leave.push_back(std::move(*gone));
  }
  drop_lanes();
  return MPI_SUCCESS;
}

// A bit for each place that no communicator has here.
std::uint64_t look() {
  const std::lock_guard lock(the_session->mutex);
  return ~the_session->taken;
}
// False if another thread has taken one of them meanwhile. `used`: no lane that was here has been behind it.
bool take(std::uint64_t bits, std::uint64_t& used) {
  const std::lock_guard lock(the_session->mutex);
  used = the_session->used;
  if (bits == 0 || (the_session->taken & bits) != 0) return false;
  the_session->taken |= bits;
  return true;
}
void give_back(std::uint64_t bits) {
  const std::lock_guard lock(the_session->mutex);
  the_session->taken &= ~bits;
}

// One of a set, the lowest first.
std::uint64_t member_of(std::uint64_t set, std::uint64_t number) {
  if (set == 0) return 0;
  for (number %= static_cast<std::uint64_t>(std::popcount(set)); number != 0; --number)
    set &= set - 1;
  return set & -set;
}

std::string name_of(std::size_t number, form f) {
  const std::string name = names[number];
  if (f == form::nonblocking) return "I" + name;
  return static_cast<char>(std::toupper(name[0])) + name.substr(1) + (f == form::persistent ? "_init" : "");
}

void print_statistics() {
  constexpr std::size_t all = counters + 2;
  std::array<std::uint64_t, all> mine{}, sums{};
  for (std::size_t k = 0; k != counters; ++k)
    mine[k] = the_session->counts[k].load(std::memory_order_relaxed);
  mine[counters] = bytes_in_place.load(std::memory_order_relaxed);
  mine[counters + 1] = bytes_copied.load(std::memory_order_relaxed);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  WEFT_REAL(Reduce)
  (mine.data(), sums.data(), static_cast<int>(all), MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  for (std::size_t what = 0; what != calls; ++what)
    for (std::size_t f = 0; f != forms; ++f)
      for (std::size_t why = 0; why != outcomes; ++why) {
        const std::uint64_t n = sums[counter(what, f, why)];
        if (n == 0) continue;
        const std::string name = name_of(what, static_cast<form>(f));
        std::fprintf(stderr, "weft: MPI_%-24s %10llu  %s%s\n", name.c_str(),
                     static_cast<unsigned long long>(n), why == 0 ? "" : "passed on: ", reasons[why]);
      }
  constexpr const char* ways[] = {"in place", "copied"};
  for (std::size_t k = 0; k != 2; ++k)
    std::fprintf(stderr, "weft: %-28s %10llu  %s\n", "bytes of large operands",
                 static_cast<unsigned long long>(sums[counters + k]), ways[k]);
}

} // namespace

std::string name_of(collective what, bool unequal, form f) {
  return name_of(number_of(what, unequal), f);
}

namespace {

void end_session() {
  end_calls();
  if (weft_setting("WEFT_STATISTICS") != 0) {
    print_statistics();
    WEFT_REAL(Barrier)(MPI_COMM_WORLD); // what weft_finalize prints on the other ranks comes behind it
  }
  carrier::stop();
  close_requests();
  MPI_Comm_delete_attr(MPI_COMM_WORLD, the_session->keyval);
  weft_finalize();
  // Communicators that the program has not freed keep their attributes until MPI drops them.
  ended_session = std::exchange(the_session, nullptr);
}

// MPI_Finalize begins with the attributes of MPI_COMM_SELF, the last one first: this one is behind those of
// the program, whose functions may still post and complete.
int end_with_mpi(MPI_Comm, int, void*, void*) {
  end_session();
  return MPI_SUCCESS;
}

} // namespace

void begin_session() {
  if (!may_start()) return;
  const std::uint64_t pool = weft_setting("WEFT_MPI_POOL");
  // Memory is taken when it is touched.
  setenv("WEFT_HEAP_SIZE", std::to_string(2 * pool + 16 * mib).c_str(),
         0); // blocks are staged behind the pool
  weft_init_from_mpi(MPI_COMM_WORLD);
  int level = MPI_THREAD_MULTIPLE;
  MPI_Query_thread(&level);
  several_threads = level == MPI_THREAD_MULTIPLE;
  auto made = std::make_unique<session>();
  made->blocking_too = weft_setting("WEFT_MPI") == 2;
  made->largest = weft_setting("WEFT_MPI_LARGEST");
  made->lanes = static_cast<unsigned>(std::min<std::uint64_t>(most_lanes, pool / 2 / of_lane));
  made->large = (pool - made->lanes * of_lane) / large_lanes / 24 / mib * 24 * mib;
  made->area = upc_all_alloc(static_cast<std::size_t>(THREADS), pool);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &made->keyval, nullptr);
  open_requests();
  for (auto thread = static_cast<std::size_t>(THREADS); thread-- != 0;)
    if ((upc_thread_info(thread).guaranteedCastable & UPC_CASTABLE_ALL_ALLOC) != 0) {
      made->first_of_host = thread;
      ++made->on_host;
    }
  the_session = made.release();
  int at_end = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_with_mpi, &at_end, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, at_end, nullptr);
  MPI_Comm_free_keyval(&at_end);
  make_lane(MPI_COMM_WORLD);
}

namespace {

// What all members of a new communicator agree on.
struct agreement {
  std::uint64_t bits = 0, used = 0; // none: there is no room for a lane
  bool on_one_host = true;
  std::vector<std::uint32_t> threads{};
  std::vector<pid_t> processes{}; // on one host, if each may read the memory of each
};

// Each member says what is free, and takes what all of them choose by that. Communicators that several
// threads make at once may choose the same. Where a member comes too late all give it back and choose again,
// by a number of the first member's own, so that two communicators choose apart.
agreement agree(MPI_Comm comm, int members) {
  constexpr std::uint64_t trials = 16, with_large = 8;
  constexpr std::uint64_t of_large = ~((std::uint64_t{1} << most_lanes) - 1);
  const std::uint64_t of_lanes = (std::uint64_t{1} << the_session->lanes) - 1;
  struct member {
    std::uint64_t thread, ticket, free, first_of_host, on_host;
    sample memory;
  };
  std::vector<member> all(static_cast<std::size_t>(members));
  const std::uint64_t ticket = the_session->tickets.fetch_add(1, std::memory_order_relaxed);
  for (std::uint64_t trial = 0; trial != trials; ++trial) {
    const member mine{static_cast<std::uint64_t>(MYTHREAD),
                      ticket,
                      look(),
                      the_session->first_of_host,
                      the_session->on_host,
                      own_sample()};
    constexpr int words = sizeof mine / sizeof mine.thread;
    WEFT_REAL(Allgather)(&mine, words, MPI_UINT64_T, all.data(), words, MPI_UINT64_T, comm);
    std::uint64_t free = ~std::uint64_t{0};
    for (const member& m : all)
      free &= m.free;
    const std::uint64_t choice = trial == 0 ? 0 : (all[0].thread * 13 + all[0].ticket) * trial;
    const bool large = the_session->large != 0 && trial < with_large;
    agreement made{.bits = member_of(free & of_lanes, choice)};
    if (made.bits == 0) return made;
    made.bits |= large ? member_of(free & of_large, choice) : 0;
    std::uint64_t used = 0;
    const bool taken = take(made.bits, used);
    for (const member& m : all)
      made.on_one_host =
          made.on_one_host && m.first_of_host == mine.first_of_host && m.on_host == mine.on_host;
    const bool reads =
        made.on_one_host && std::ranges::all_of(all, [](const member& m) { return is_readable(m.memory); });
    const std::uint64_t here[] = {taken, ~used, reads};
    std::uint64_t least[3];
    WEFT_REAL(Allreduce)(here, least, 3, MPI_UINT64_T, MPI_MIN, comm);
    if (least[0] == 0) {
      if (taken) give_back(made.bits);
      continue;
    }
    made.used = ~least[1];
    for (const member& m : all) {
      made.threads.push_back(static_cast<std::uint32_t>(m.thread));
      if (least[2] != 0) made.processes.push_back(static_cast<pid_t>(m.memory.process));
    }
    return made;
  }
  return {};
}

// As weft_team_from_mpi does, by MPI's own calls.
upc_team_t team_of(MPI_Comm comm) {
  upc_team_t team = 0;
  weft_exchange_t e = weft_mpi_exchange(&comm);
  e.allgather = [](void* of, const void* mine, std::size_t bytes, void* all) {
    const int n = static_cast<int>(bytes);
    return WEFT_REAL(Allgather)(mine, n, MPI_BYTE, all, n, MPI_BYTE, *static_cast<MPI_Comm*>(of));
  };
  e.barrier = [](void* of) { return WEFT_REAL(Barrier)(*static_cast<MPI_Comm*>(of)); };
  return weft_team_with(&e, &team) == 0 ? team : 0;
}

// Processes that were spawned, or that this job has connected to, have a job of their own, or none.
bool all_are_of_this_job(MPI_Comm comm, int members) {
  MPI_Group here = MPI_GROUP_NULL, all = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &here);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  std::vector<int> in_here(static_cast<std::size_t>(members)), in_all(in_here.size());
  std::iota(in_here.begin(), in_here.end(), 0);
  MPI_Group_translate_ranks(here, members, in_here.data(), all, in_all.data());
  MPI_Group_free(&here);
  MPI_Group_free(&all);
  return std::ranges::find(in_all, MPI_UNDEFINED) == in_all.end();
}

} // namespace

void make_lane(MPI_Comm comm) {
  if (the_session == nullptr || comm == MPI_COMM_NULL) return;
  int between = 0, members = 0;
  MPI_Comm_test_inter(comm, &between);
  if (between != 0) return;
  MPI_Comm_size(comm, &members);
  if (members < 2 || !all_are_of_this_job(comm, members)) return;
  drop_lanes();
  agreement with = agree(comm, members);
  if (with.bits == 0) return;
  const upc_team_t team = comm == MPI_COMM_WORLD ? UPC_TEAM_ALL : team_of(comm);
  if (team == 0) return give_back(with.bits);
  const std::uint64_t place = static_cast<std::uint64_t>(std::countr_zero(with.bits)) * of_lane;
  lane::memory m{the_session->area,
                 place,
                 with.used,
                 {{place + words, small_ring}, {place + words + small_ring, middle_ring}},
                 with.on_one_host,
                 weft_setting("WEFT_MALLOC") != 0 ? weft_setting("WEFT_MALLOC_LEAST") : ~std::uint64_t{0},
                 std::move(with.processes)};
  if (const std::uint64_t large = with.bits >> most_lanes; large != 0) {
    std::uint64_t at = the_session->lanes * of_lane +
                       static_cast<std::uint64_t>(std::countr_zero(large)) * the_session->large;
    for (const std::uint64_t parts : sizes_of_large) {
      const std::uint64_t size = the_session->large / 24 * parts;
      m.rooms.push_back({std::exchange(at, at + size), size});
    }
  }
  auto made =
      std::make_unique<place_of_lane>(with.bits, std::make_unique<lane>(team, std::move(with.threads), m));
  MPI_Comm_set_attr(comm, the_session->keyval, made.release());
  handles_changed.fetch_add(1, std::memory_order_relaxed);
}

lane* lane_of(MPI_Comm comm) {
  if (the_session == nullptr) return nullptr;
  thread_local struct {
    std::uint64_t at = 0;
    MPI_Comm comm = MPI_COMM_NULL;
    lane* way = nullptr;
  } last;
  const std::uint64_t now = handles_changed.load(std::memory_order_relaxed);
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

void count(collective what, bool unequal, form f, reason why) {
  if (the_session == nullptr) return;
  add(the_session->counts[counter(number_of(what, unequal), static_cast<std::size_t>(f),
                                  static_cast<std::size_t>(why))],
      std::uint64_t{1});
}

} // namespace weft::mpi
