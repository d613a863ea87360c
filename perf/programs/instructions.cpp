// SPDX-License-Identifier: BSD-3-Clause
// Calls whose instructions callgrind counts: perf/runner/instructions.py starts two ranks, and reads what was
// collected. That is what is executed within the functions named measured_* and nowhere else: neither start
// nor end nor the rest of the program are in any figure.
//
// A rank that waits spins, and how often depends on the machine. So the measured rank never waits: the ranks
// go in lockstep, and it comes last. Its peer posts the same operation, so that its entry, its payload and
// its credit are there, and stays out of the library until the measured rank has returned. Only while the
// measured rank looks over operations that cannot move the peer has posted nothing. What both go by are two
// words of the shared heap, which are waited for outside of the measured functions. Each rank is the measured
// one in turn.
//
// usage: weft_bench_instructions CALLS
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sched.h>
#include <upc.h>
#include <upc_castable.h>
#include <upc_collective.h>
#include <upc_collective_cray.h>

namespace {

constexpr upc_flag_t modes = UPC_IN_MYSYNC | UPC_OUT_MYSYNC;
constexpr std::size_t word = sizeof(std::uint64_t);
constexpr std::size_t many = 32;

// Each operation under way has data of its own: a row of two words on each rank.
upc_shared_ptr_t sources, destinations;
std::array<upc_coll_handle_t, many> handles;

constexpr std::size_t row = 2 * word;
upc_shared_ptr_t at(const upc_shared_ptr_t& rows, std::size_t k, int thread = 0) {
  return {rows.addr + k * row, static_cast<std::uint32_t>(thread), 0};
}

// ---- the calls

upc_coll_handle_t exchange(std::size_t k, upc_flag_t how) {
  return upc_all_exchange(at(destinations, k), at(sources, k), word, how);
}
upc_coll_handle_t broadcast(upc_flag_t how) {
  return upc_all_broadcast(at(destinations, 0), at(sources, 0), word, how);
}
void team_allreduce(upc_handle_t* handle) {
  cray_upc_team_allreduce(at(destinations, 0, MYTHREAD), at(sources, 0, MYTHREAD), 1, CRAY_UPC_ULONG, UPC_ADD,
                          UPC_TEAM_ALL, handle);
}
upc_coll_handle_t reduce_all(upc_flag_t how) {
  return upc_all_reduce_allUL(at(destinations, 0), at(sources, 0), UPC_ADD, THREADS, 1, nullptr, how);
}
void post_many() {
  for (std::size_t k = 0; k != many; ++k)
    handles[k] = exchange(k, modes | UPC_ASYNC);
}
void wait_for_many() {
  for (upc_coll_handle_t& h : handles)
    upc_wait(h);
}

void post_exchange() {
  handles[0] = exchange(0, modes | UPC_ASYNC);
}
void post_broadcast() {
  handles[0] = broadcast(modes | UPC_ASYNC);
}
void post_team_allreduce() {
  team_allreduce(&handles[0]);
}
void post_reduce_all() {
  handles[0] = reduce_all(modes | UPC_ASYNC);
}
void wait_for_one() {
  upc_wait(handles[0]);
}
void run_exchange() {
  exchange(0, modes);
}
void run_broadcast() {
  broadcast(modes);
}
void run_team_allreduce() {
  team_allreduce(nullptr);
}
void run_reduce_all() {
  reduce_all(modes);
}
void run_barrier() {
  upc_barrier;
}
void notify() {
  upc_notify;
}
void wait_behind_notify() {
  upc_wait;
}
void post_and_wait_for_many() {
  post_many();
  wait_for_many();
}
void look_over_many() {
  upc_test(handles[many - 1]);
}
// A test that finds an operation complete says so in its handle.
void wait_for_many_that_could_not_move() {
  if (handles[many - 1] == UPC_HANDLE_COMPLETE) {
    std::fprintf(stderr,
                 "weft_bench_instructions: an operation was complete before the peer had posted it\n");
    std::_Exit(EXIT_FAILURE);
  }
  wait_for_many();
}
void nothing() {}

} // namespace

// What is collected. Each is a function of its own, which the compiler joins with no other.
#define MEASURED(name, body)                                                                                 \
  extern "C" [[gnu::noipa]] void measured_##name() {                                                         \
    body();                                                                                                  \
  }
MEASURED(post, post_exchange)
MEASURED(exchange, run_exchange)
MEASURED(broadcast, run_broadcast)
MEASURED(team_allreduce, run_team_allreduce)
MEASURED(reduce_all, run_reduce_all)
MEASURED(barrier, run_barrier)
MEASURED(many, post_and_wait_for_many)
MEASURED(sweep, look_over_many)

namespace {

using step = void (*)();

// What destinations hold when all ranks have sent `turn`.
bool got_all(std::uint64_t turn, std::size_t rows);
bool got_roots(std::uint64_t turn, std::size_t);
bool got_sum(std::uint64_t turn, std::size_t);
bool no_data(std::uint64_t, std::size_t) {
  return true;
}

struct measurement {
  const char* name;
  step peer_before, peer_behind; // the measured call
  step before;
  step call, measured; // the same, outside of what is collected and within
  step behind;         // when the peer goes on, too
  bool (*right)(std::uint64_t turn, std::size_t rows);
  std::size_t rows = 1;
};

constexpr measurement all[] = {
    {"post", post_exchange, wait_for_one, nothing, post_exchange, measured_post, wait_for_one, got_all},
    {"exchange", post_exchange, wait_for_one, nothing, run_exchange, measured_exchange, nothing, got_all},
    {"broadcast", post_broadcast, wait_for_one, nothing, run_broadcast, measured_broadcast, nothing,
     got_roots},
    {"team_allreduce", post_team_allreduce, wait_for_one, nothing, run_team_allreduce,
     measured_team_allreduce, nothing, got_sum},
    {"reduce_all", post_reduce_all, wait_for_one, nothing, run_reduce_all, measured_reduce_all, nothing,
     got_sum},
    {"barrier", notify, wait_behind_notify, nothing, run_barrier, measured_barrier, nothing, no_data},
    {"many", post_many, wait_for_many, nothing, post_and_wait_for_many, measured_many, nothing, got_all,
     many},
    {"sweep", nothing, post_and_wait_for_many, post_many, look_over_many, measured_sweep,
     wait_for_many_that_could_not_move, got_all, many},
};

// ---- the lockstep

std::uint64_t* local(const upc_shared_ptr_t& rows, std::size_t k) {
  return static_cast<std::uint64_t*>(upc_cast(at(rows, k, MYTHREAD)));
}
std::uint64_t sent(std::uint64_t turn, int from, std::size_t k) {
  return turn * 1000 + static_cast<std::uint64_t>(from) * 100 + k;
}

void write_sources(std::uint64_t turn, std::size_t rows) {
  for (std::size_t k = 0; k != rows; ++k)
    for (std::size_t to = 0; to != 2; ++to)
      local(sources, k)[to] = sent(turn, MYTHREAD, k);
}

bool got_all(std::uint64_t turn, std::size_t rows) {
  for (std::size_t k = 0; k != rows; ++k)
    for (int from = 0; from != 2; ++from)
      if (local(destinations, k)[from] != sent(turn, from, k)) return false;
  return true;
}
bool got_roots(std::uint64_t turn, std::size_t) {
  return local(destinations, 0)[0] == sent(turn, 0, 0);
}
bool got_sum(std::uint64_t turn, std::size_t) {
  return local(destinations, 0)[0] == sent(turn, 0, 0) + sent(turn, 1, 0);
}

// How far each rank has come, in steps of which both make the same number.
class lockstep {
public:
  lockstep() {
    constexpr std::size_t line = 64;
    const upc_shared_ptr_t words = upc_all_alloc(2, line);
    for (int rank = 0; rank != 2; ++rank)
      come_[static_cast<std::size_t>(rank)] =
          static_cast<std::uint64_t*>(upc_cast({words.addr, static_cast<std::uint32_t>(rank), 0}));
  }
  void tell() { word_of(MYTHREAD).store(++step_, std::memory_order_release); }
  void meet() {
    tell();
    catch_up();
  }
  // Until the other one has told as often as this one will have with its next.
  void await() {
    while (word_of(1 - MYTHREAD).load(std::memory_order_acquire) <= step_)
      sched_yield();
  }
  // Until it has told as often as this one has.
  void catch_up() {
    while (word_of(1 - MYTHREAD).load(std::memory_order_acquire) < step_)
      sched_yield();
  }

private:
  std::atomic_ref<std::uint64_t> word_of(int rank) {
    return std::atomic_ref<std::uint64_t>(*come_[static_cast<std::size_t>(rank)]);
  }
  std::array<std::uint64_t*, 2> come_{};
  std::uint64_t step_ = 0;
};

void one_turn(lockstep& both, const measurement& m, std::uint64_t turn, bool last, step call) {
  both.meet(); // the other one has retired its operations, so that there is credit for what is posted now
  write_sources(turn, m.rows);
  if (last) {
    both.await();
    m.before();
    call();
    both.tell();
    m.behind();
  } else {
    m.peer_before();
    both.tell();
    both.catch_up();
    m.peer_behind();
  }
  if (m.right(turn, m.rows)) return;
  std::fprintf(stderr, "weft_bench_instructions: %s: rank %d does not hold what was sent\n", m.name,
               MYTHREAD);
  std::_Exit(EXIT_FAILURE); // without finalizing, which would wait for the other one
}

void measure(const measurement& m, std::uint64_t calls) {
  constexpr std::uint64_t warm = 64; // two turns of the ring of slots
  static lockstep both;
  static std::uint64_t turn = 0;
  for (int rank = 0; rank != 2; ++rank)
    for (std::uint64_t k = 0; k != warm + calls; ++k)
      one_turn(both, m, ++turn, rank == MYTHREAD, k < warm ? m.call : m.measured);
}

} // namespace

int main(int argc, char** argv) {
  weft_init(&argc, &argv);
  const std::uint64_t calls = argc == 2 ? std::strtoull(argv[1], nullptr, 10) : 0;
  if (calls == 0 || THREADS != 2) {
    std::fprintf(stderr, "usage, of two ranks: weft_bench_instructions CALLS\n");
    std::_Exit(EXIT_FAILURE);
  }
  sources = upc_all_alloc(2, many * row);
  destinations = upc_all_alloc(2, many * row);
  for (const measurement& m : all)
    measure(m, calls);
  weft_finalize();
  return EXIT_SUCCESS;
}
