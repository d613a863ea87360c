// A rank that has posted and is away holds nobody up. No clocks: the absent rank comes back only when all
// others have said that they are done, so a library that needs it hangs here, and the test's time limit ends
// it.
//
//   absent computing  loops without calling the library until the others are done
//   absent stopped    is stopped by SIGSTOP after its post, and continued when the others are done
//
// When the last of the others has left, what the absent one receives is in place too, its own block included,
// unless its modes leave that to itself: OUT_NO, what is sent ahead (IN_MY or less, up to WEFT_EAGER), and a
// permutation in place.
//
// Mutations that this catches: carrying only in my own direction (no claim of outgoing blocks, or no assist);
// an own block that only its owner carries; leaving without a look at what the others lack; a cycle of a
// permutation in place of which only one member rotates.
#include "tests/jobs/suite.h"

#include <upc.h>
#include <upc_castable.h>
#include <upc_collective.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

// Lies in rank 0's shared memory; all ranks of the node see it.
struct scene {
  std::atomic<int> posted;
  std::atomic<int> left; // of the others
  std::atomic<int> done; // of the others, who have looked as well
  std::atomic<int> pid;
};

enum class call {
  exchange,
  gather_all,
  broadcast_from_absent,
  broadcast_to_absent,
  scatter_from_absent,
  scatter_to_absent,
  gather_from_absent,
  gather_to_absent,
  permute_in_place
};
constexpr call calls[] = {call::exchange,
                          call::gather_all,
                          call::broadcast_from_absent,
                          call::broadcast_to_absent,
                          call::scatter_from_absent,
                          call::scatter_to_absent,
                          call::gather_from_absent,
                          call::gather_to_absent,
                          call::permute_in_place};
const char* const call_names[] = {"exchange",
                                  "gather_all",
                                  "broadcast from the absent",
                                  "broadcast to the absent",
                                  "scatter from the absent",
                                  "scatter to the absent",
                                  "gather from the absent",
                                  "gather to the absent",
                                  "permute in place"};

bool broadcasts(call what) {
  return what == call::broadcast_from_absent || what == call::broadcast_to_absent;
}
bool scatters(call what) {
  return what == call::scatter_from_absent || what == call::scatter_to_absent;
}
bool gathers(call what) {
  return what == call::gather_from_absent || what == call::gather_to_absent;
}
int root_of(call what, int absent) {
  const bool is_absent = what == call::broadcast_from_absent || what == call::scatter_from_absent ||
                         what == call::gather_to_absent;
  return is_absent ? absent : (absent + 1) % THREADS;
}

struct buffers {
  upc_shared_ptr_t src, dst, next; // next: everybody's is the one behind him
  std::size_t bytes;               // of src and dst, on a thread
  unsigned char *mine_src, *mine_dst;
};

buffers allocate(std::size_t bytes_per_thread) {
  buffers b{};
  b.bytes = bytes_per_thread;
  b.src = upc_all_alloc(THREADS, bytes_per_thread);
  b.dst = upc_all_alloc(THREADS, bytes_per_thread);
  b.mine_src = static_cast<unsigned char*>(upc_cast(upc_ptradd(b.src, 1, bytes_per_thread, MYTHREAD)));
  b.mine_dst = static_cast<unsigned char*>(upc_cast(upc_ptradd(b.dst, 1, bytes_per_thread, MYTHREAD)));
  b.next = upc_all_alloc(THREADS, sizeof(int));
  *static_cast<int*>(upc_cast(upc_ptradd(b.next, 1, sizeof(int), MYTHREAD))) = (MYTHREAD + 1) % THREADS;
  return b;
}

unsigned char value(int round, int from, int to, std::size_t at) {
  return static_cast<unsigned char>(round * 31 + from * 7 + to * 3 + static_cast<int>(at % 251));
}

upc_coll_handle_t post(call what, const buffers& b, std::size_t n, int absent, upc_flag_t mode) {
  const std::size_t per_thread = n * THREADS;
  const auto on_root = [&](upc_shared_ptr_t p) {
    return upc_ptradd(p, 1, per_thread, root_of(what, absent));
  };
  switch (what) {
  case call::exchange:
    return upc_all_exchange(b.dst, b.src, n, mode);
  case call::gather_all:
    return upc_all_gather_all(b.dst, b.src, n, mode);
  case call::broadcast_from_absent:
  case call::broadcast_to_absent:
    return upc_all_broadcast(b.dst, on_root(b.src), n, mode);
  case call::scatter_from_absent:
  case call::scatter_to_absent:
    return upc_all_scatter(b.dst, on_root(b.src), n, mode);
  case call::gather_from_absent:
  case call::gather_to_absent:
    return upc_all_gather(on_root(b.dst), b.src, n, mode);
  case call::permute_in_place:
    return upc_all_permute(b.src, UPC_SHARED_NULL, b.next, n, mode | UPC_IN_PLACE);
  }
  return 0;
}

bool right(call what, const unsigned char* dst, std::size_t n, int round, int absent, int whose) {
  const bool from_one = broadcasts(what) || scatters(what);
  const int root = root_of(what, absent);
  if (gathers(what) && whose != root) return true; // receives nothing
  if (what == call::permute_in_place) {
    const int before = (whose + THREADS - 1) % THREADS;
    for (std::size_t at = 0; at < n; ++at)
      if (dst[at] != value(round, before, 0, at)) return false;
    return true;
  }
  for (int from = 0; from < (from_one ? 1 : THREADS); ++from)
    for (std::size_t at = 0; at < n; ++at) {
      const int sender = from_one ? root : from;
      const int block = what == call::exchange || scatters(what) ? whose : 0;
      if (dst[static_cast<std::size_t>(from) * n + at] != value(round, sender, block, at)) return false;
    }
  return true;
}

// Must others have carried what the absent one receives?
bool carried_by_others(call what, std::size_t n, upc_flag_t mode) {
  constexpr std::size_t sent_ahead = 2048;
  if ((mode & UPC_OUT_NOSYNC) != 0 || what == call::permute_in_place) return false;
  const bool may_be_sent_ahead = (mode & UPC_IN_MYSYNC) != 0 && (mode & UPC_OUT_MYSYNC) != 0;
  return !may_be_sent_ahead || n > sent_ahead;
}

bool is_stopped(int pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(stat, text);
  return text.substr(text.rfind(')') + 2, 1) == "T";
}

void be_away(scene& s, bool stopped) {
  s.posted.store(1);
  // When stopped: this loop is where it happens.
  while (s.done.load() != THREADS - 1)
    if (!stopped) usleep(100);
}

void see_it_stopped(scene& s, int absent) {
  while (s.posted.load() == 0)
    usleep(100);
  if (MYTHREAD != (absent + 1) % THREADS) return;
  kill(s.pid.load(), SIGSTOP);
  while (!is_stopped(s.pid.load()))
    usleep(100);
}

void fail(const char* how, call what, std::size_t n, upc_flag_t mode, int absent) {
  std::printf("rank %d: %s: %s, %zu bytes, mode %#x, absent %d\n", MYTHREAD, how,
              call_names[static_cast<int>(what)], n, static_cast<unsigned>(mode), absent);
  std::exit(1);
}

void run_case(scene& s, const buffers& b, call what, std::size_t n, upc_flag_t mode, int absent, bool stopped,
              int round) {
  for (int to = 0; to < THREADS; ++to)
    for (std::size_t at = 0; at < n; ++at)
      b.mine_src[static_cast<std::size_t>(to) * n + at] = value(round, MYTHREAD, to, at);
  std::memset(b.mine_dst, 0xee, n * THREADS);
  if (MYTHREAD == absent) {
    s.posted.store(0);
    s.left.store(0);
    s.done.store(0);
    s.pid.store(getpid());
  }
  upc_barrier();
  // In every other round the others come when the absent one has posted. Who comes earlier may be through
  // before.
  const bool behind = (round + (absent == 0)) % 2 == 0 && MYTHREAD != absent;
  while (behind && s.posted.load() == 0)
    usleep(10);
  upc_coll_handle_t h = post(what, b, n, absent, mode | UPC_ASYNC);
  if (MYTHREAD == absent) {
    be_away(s, stopped);
    upc_wait(h);
  } else {
    if (stopped) see_it_stopped(s, absent);
    upc_wait(h);
    if (s.left.fetch_add(1) + 1 == THREADS - 1 && behind && carried_by_others(what, n, mode)) {
      const auto* theirs = static_cast<const unsigned char*>(upc_cast(upc_ptradd(b.dst, 1, b.bytes, absent)));
      if (!right(what, theirs, n, round, absent, absent))
        fail("the last of the others has left, and the absent one's data are not in place", what, n, mode,
             absent);
    }
    const int last = s.done.fetch_add(1) + 1;
    if (stopped && last == THREADS - 1) kill(s.pid.load(), SIGCONT);
  }
  const unsigned char* mine = what == call::permute_in_place ? b.mine_src : b.mine_dst;
  if (!right(what, mine, n, round, absent, MYTHREAD)) fail("wrong data", what, n, mode, absent);
  upc_barrier();
}

} // namespace

WEFT_SUITE(absent) {
  const bool stopped = argc > 1 && std::string(argv[1]) == "stopped";
  const std::size_t sizes[] = {8, 1000, 16 << 10, 256 << 10};
  // The modes under which somebody could be made to wait. With IN_NO and OUT_NO nobody knows of anybody.
  const upc_flag_t modes[] = {
      UPC_IN_MYSYNC | UPC_OUT_MYSYNC,   UPC_IN_MYSYNC | UPC_OUT_ALLSYNC, UPC_IN_ALLSYNC | UPC_OUT_MYSYNC,
      UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC, UPC_IN_NOSYNC | UPC_OUT_MYSYNC,  UPC_IN_NOSYNC | UPC_OUT_ALLSYNC,
      UPC_IN_MYSYNC | UPC_OUT_NOSYNC,   UPC_IN_ALLSYNC | UPC_OUT_NOSYNC, UPC_IN_NOSYNC | UPC_OUT_NOSYNC};
  const upc_shared_ptr_t shared = upc_all_alloc(THREADS, sizeof(scene));
  auto* s = static_cast<scene*>(upc_cast(shared));
  const buffers b = allocate(sizes[3] * static_cast<std::size_t>(THREADS));
  upc_barrier();
  int round = 0;
  if (THREADS > 1)
    for (const int absent : {0, THREADS - 1})
      for (const call what : calls)
        for (const std::size_t n : sizes)
          for (const upc_flag_t mode : modes)
            if (what != call::permute_in_place || (mode & UPC_IN_MYSYNC) == 0) // there each moves his own
              run_case(*s, b, what, n, mode, absent, stopped, ++round);
  if (MYTHREAD == 0) std::printf("%d cases: nobody was held up\n", round);
  return 0;
}
