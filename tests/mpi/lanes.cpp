// SPDX-License-Identifier: BSD-3-Clause
// Lanes of libweft-mpi without MPI: calls of all kinds and sizes, more of them at once than their rings hold,
// while each rank completes its own in an order of its own and pauses when it likes. What has no room yet is
// posted by the carrier, beside the program's thread, which takes no turn then, or beside two of them. Blocks
// of unequal sizes are given in slots in half of the runs.
//
//   lanes CALLS SEED one|two
//
// Mutations that this catches: post() asks the carrier each time (a race under ThreadSanitizer; the suite
// hangs or crashes in one of a hundred runs without it); calls take no turn while a piece is held up, or
// never; a member that waits for one call does not look at what it gives in another.
#include "tests/jobs/suite.h"
#include "tests/mpi/lanes_plan.hpp"

#include <upc_castable.h>
#include <upc_collective_cray.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace lanes_of_test;

// A call with its operands, of which some lie where the other ranks reach them.
class task {
public:
  enum state : int { free, of_first, of_second };
  task() {
    const std::size_t bytes = most_words * THREADS * sizeof(word);
    for (std::size_t k = 0; k != 2; ++k) {
      own_[k].resize(most_words * THREADS);
      shared_[k] = upc_alloc(bytes);
    }
  }
  ~task() {
    for (const upc_shared_ptr_t p : shared_)
      upc_free(p);
  }
  task(const task&) = delete;
  task& operator=(const task&) = delete;

  void post(lane& l, const plan& p, unsigned where) {
    const bool again = plan_.is_like(p);
    plan_ = p;
    if (by_blocks(p.what)) return post_blocks(l, p, again);
    elements_.assign(THREADS, p.words);
    const auto side = [&](std::size_t k) {
      return (where >> k & 1) != 0 ? static_cast<word*>(upc_cast(shared_[k])) : own_[k].data();
    };
    word* const in = in_ = side(0);
    out_ = side(1);
    for (int to = 0; to != p.blocks_given(); ++to)
      for (std::size_t at = 0; at != p.words_given(); ++at)
        in[static_cast<std::size_t>(to) * p.words + at] = p.given(me(), to, at);
    const auto given = static_cast<std::size_t>(p.blocks_given());
    const auto got = static_cast<std::size_t>(p.blocks_got());
    std::fill_n(out_, got * p.words, 0xdeadbeefU);
    begin({.what = p.what,
           .root = p.root,
           .in = reinterpret_cast<const std::byte*>(in),
           .out = reinterpret_cast<std::byte*>(out_),
           .in_blocks = given,
           .out_blocks = got,
           .bytes = p.words_given() * sizeof(word),
           .out_bytes = got * p.words * sizeof(word),
           .unit = p.combined() ? sizeof(word) : 1,
           .element = CRAY_UPC_INT,
           .op = UPC_XOR,
           .elements = elements_.data()},
          again);
    l.post(op);
  }
  void begin(const call& c, bool again) {
    if (again)
      op.c = c;
    else
      op.set(c);
  }
  // One behind the other in ordinary memory.
  void post_blocks(lane& l, const plan& p, bool again) {
    in_ = own_[0].data();
    out_ = own_[1].data();
    const int given = p.blocks_given(), got = p.blocks_got();
    lay(0, given, [&](int to) { return p.words_of(me(), to); });
    lay(1, got, [&](int from) { return p.words_of(p.what == scatterv ? p.root : from, me()); });
    std::size_t next = 0;
    for (int to = 0; to != given; ++to)
      for (std::size_t at = 0; at != p.words_of(me(), to); ++at)
        in_[next++] = p.given(me(), to, at);
    std::fill(own_[1].begin(), own_[1].end(), 0xdeadbeefU);
    begin({.what = p.what, .root = p.root, .given = &blocks_[0], .taken = &blocks_[1]}, again);
    l.post(op);
  }
  template <class WordsOf> void lay(std::size_t side, int blocks, WordsOf&& words_of) {
    staged_blocks& s = blocks_[side];
    s.base = reinterpret_cast<std::byte*>(own_[side].data());
    s.at = weft_pointer_to(s.base);
    s.bytes.clear(), s.places.clear();
    std::size_t end = 0;
    for (int k = 0; k != blocks; ++k) {
      s.bytes.push_back(words_of(k) * sizeof(word));
      s.places.push_back(static_cast<std::ptrdiff_t>(end));
      end += s.bytes.back();
    }
  }
  int wrong_blocks() {
    std::size_t next = 0;
    for (int from = 0; from != plan_.blocks_got(); ++from)
      for (std::size_t at = 0; at != plan_.words_of(plan_.what == scatterv ? plan_.root : from, me()); ++at)
        if (out_[next++] != plan_.got(from, at)) {
          std::printf("thread %d: call %u, kind %d: word %zu of the block of %d is wrong\n", me(),
                      plan_.number, static_cast<int>(plan_.what), at, from);
          return 1;
        }
    return 0;
  }

  // Of a call that is done: no member needs what this one gave.
  int wrong(lane& l) {
    if (by_blocks(plan_.what)) {
      std::fill(own_[0].begin(), own_[0].end(), 0xbadbadU);
      l.forget(op);
      return wrong_blocks();
    }
    std::fill_n(in_, static_cast<std::size_t>(plan_.blocks_given()) * plan_.words_given(), 0xbadbadU);
    l.forget(op);
    for (int from = 0; from != plan_.blocks_got(); ++from)
      for (std::size_t at = 0; at != plan_.words; ++at)
        if (out_[static_cast<std::size_t>(from) * plan_.words + at] != plan_.got(from, at)) {
          std::printf("thread %d: call %u, kind %d, of %zu words: word %zu of the block of %d is wrong\n",
                      me(), plan_.number, static_cast<int>(plan_.what), plan_.words, at, from);
          return 1;
        }
    return 0;
  }

  operation op;
  std::atomic<state> is{free};

private:
  plan plan_{0, 0};
  std::array<std::vector<word>, 2> own_;
  std::array<upc_shared_ptr_t, 2> shared_{};
  std::array<staged_blocks, 2> blocks_;
  word *in_ = nullptr, *out_ = nullptr;
  std::vector<std::size_t> elements_;
};

// Completes a call of this thread's, if it is done or is waited for.
int complete(lane& l, task& t, bool waits) {
  operation* const op = &t.op;
  bool done = l.test(*op);
  while (!done && waits) {
    wait_for_any({&op, 1}, 50'000);
    done = l.test(*op);
  }
  if (!done) return 0;
  const int wrong = t.wrong(l);
  t.is.store(task::free, std::memory_order_release);
  return wrong;
}

void pause(std::mt19937& own) {
  if (own() % 200 == 0) std::this_thread::sleep_for(std::chrono::microseconds(own() % 2000));
}

// All members are through with the lane.
void part(lane& l) {
  while (!l.quiet())
    std::this_thread::yield();
  upc_barrier(0);
}

int play(lane& l, unsigned calls, unsigned seed, bool two) {
  std::vector<std::unique_ptr<task>> tasks;
  for (std::size_t k = 0; k != depth; ++k)
    tasks.push_back(std::make_unique<task>());
  std::atomic<int> failures{0};
  std::atomic<bool> over{false};
  std::thread second;
  if (two)
    second = std::thread([&] {
      std::mt19937 own(seed * 77 + static_cast<unsigned>(me()));
      while (!over.load(std::memory_order_acquire)) {
        for (const auto& t : tasks)
          if (t->is.load(std::memory_order_acquire) == task::of_second)
            failures += complete(l, *t, own() % 2 == 0);
        pause(own);
        std::this_thread::yield();
      }
    });
  std::mt19937 own(seed * 55 + static_cast<unsigned>(me()));
  const auto empty = [&](task& t) {
    while (t.is.load(std::memory_order_acquire) == task::of_second)
      std::this_thread::yield();
    if (t.is.load(std::memory_order_relaxed) == task::of_first) failures += complete(l, t, true);
  };
  for (unsigned n = 0; n != calls; ++n) {
    task& t = *tasks[n % depth];
    empty(t);
    t.post(l, plan(seed, n), static_cast<unsigned>(own()));
    t.is.store(two && own() % 2 == 0 ? task::of_second : task::of_first, std::memory_order_release);
    if (task& other = *tasks[own() % depth]; other.is.load(std::memory_order_relaxed) == task::of_first)
      failures += complete(l, other, false);
    pause(own);
  }
  for (const auto& t : tasks)
    empty(*t);
  over.store(true, std::memory_order_release);
  if (second.joinable()) second.join();
  part(l);
  return failures;
}

// Thread 0 completes the second of two calls first, which the others post when they have completed the first:
// what they cannot read of it thread 0 copies meanwhile.
int cross(lane& l) {
  task given, met;
  int failures = 0;
  for (unsigned n = 0; n != 12; ++n) {
    given.post(l, plan(2 * n, bcast, middling), 0);
    if (me() != 0) failures += complete(l, given, true);
    met.post(l, plan(2 * n + 1, barrier, 0), 0);
    failures += complete(l, met, true);
    if (me() == 0) failures += complete(l, given, true);
  }
  part(l);
  return failures;
}

// Thread 0 gives blocks to each other thread, and ends two such calls before any of those looks at one.
int run_ahead(lane& l) {
  task first, second;
  int failures = 0;
  for (unsigned n = 0; n != 12; ++n) {
    for (task* const t : {&first, &second}) {
      t->post(l, plan(2 * n + (t == &second), scatterv, middling), 0);
      if (me() == 0) failures += complete(l, *t, true);
    }
    upc_barrier(0);
    if (me() != 0) failures += complete(l, first, true) + complete(l, second, true);
  }
  part(l);
  return failures;
}

// Of all ranks, by which the kernel lets them read each other's memory. It refuses to where `none`.
std::vector<pid_t> processes(upc_shared_ptr_t area, bool none) {
  const auto at = [&](std::size_t thread) {
    upc_shared_ptr_t p = area;
    p.thread = static_cast<std::uint32_t>(thread);
    return static_cast<std::atomic<pid_t>*>(upc_cast(p));
  };
  at(static_cast<std::size_t>(MYTHREAD))->store(getpid());
  upc_barrier(0);
  constexpr pid_t no_process = 0x3fffffff;
  std::vector<pid_t> all;
  for (std::size_t thread = 0; thread != static_cast<std::size_t>(THREADS); ++thread)
    all.push_back(none ? no_process : at(thread)->load());
  upc_barrier(0);
  return all;
}

bool on_one_host() {
  for (std::size_t thread = 0; thread != static_cast<std::size_t>(THREADS); ++thread)
    if ((upc_thread_info(thread).guaranteedCastable & UPC_CASTABLE_ALL_ALLOC) == 0) return false;
  return true;
}

} // namespace

WEFT_SUITE(lanes) {
  const auto calls = static_cast<unsigned>(argc > 1 ? std::atoi(argv[1]) : 3000);
  const auto seed = static_cast<unsigned>(argc > 2 ? std::atoi(argv[2]) : 1);
  several_threads = argc > 3 && std::string_view(argv[3]) == "two";
  std::vector<std::uint32_t> threads(THREADS);
  std::iota(threads.begin(), threads.end(), 0U);
  int failures = 0;
  for (unsigned turn = 0; turn != 4; ++turn) {
    const bool refuses = turn % 2 != 0, finds = turn < 2; // else there are slots
    const upc_shared_ptr_t area = upc_all_alloc(THREADS, page + small + large);
    {
      lane l(UPC_TEAM_ALL, threads,
             {area,
              0,
              0,
              {{page, small}, {page + small, large}},
              on_one_host(),
              finds ? least_found : UINT64_MAX,
              on_one_host() ? processes(area, refuses) : std::vector<pid_t>()});
      upc_barrier(0);
      failures += cross(l) + run_ahead(l);
      failures += play(l, calls / 4, seed + turn, several_threads);
    }
    if (MYTHREAD == 0) upc_free(area);
  }
  return failures == 0 ? 0 : 1;
}
