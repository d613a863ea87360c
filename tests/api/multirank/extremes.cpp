// SPDX-License-Identifier: BSD-3-Clause
// Extreme numbers in every argument of every call, and in every array that a call reads: a call succeeds or says
// what is wrong, on all threads alike, and the next right one works. No signal, no hang.
#include "tests/jobs/suite.h"

#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <unistd.h>
#include <vector>
#include <weft/weft.hpp>

namespace {

constexpr std::size_t heap = 8 << 20; // as WEFT_HEAP_SIZE says
constexpr std::size_t block = 4096;
const std::vector<std::size_t> sizes{0,
                                     1,
                                     7,
                                     64,
                                     65,
                                     heap - 1,
                                     heap,
                                     heap + 1,
                                     2 * heap,
                                     std::size_t{INT_MAX},
                                     std::size_t{1} << 31,
                                     UINT32_MAX,
                                     std::size_t{1} << 32,
                                     (std::size_t{1} << 32) + 1,
                                     SIZE_MAX / 3,
                                     SIZE_MAX / 2,
                                     SIZE_MAX / 2 + 1,
                                     SIZE_MAX / 2 + 2,
                                     SIZE_MAX - 4096,
                                     SIZE_MAX - 64,
                                     SIZE_MAX - 63,
                                     SIZE_MAX - 1,
                                     SIZE_MAX};
const std::vector<int> ints{0, 1, -1, 2, 64, 1 << 20, INT_MIN, INT_MIN + 1, INT_MAX, INT_MAX - 1};

int failures = 0, refused = 0, accepted = 0;
std::string present; // what is being tried

void expect(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "thread %d: %s: %s\n", MYTHREAD, present.c_str(), what);
  ++failures;
}

// Succeeds, or fails with one line that names a call and a rule.
void attempt(const std::string& what, const std::function<void()>& call) {
  present = what;
  try {
    call();
    ++accepted;
  } catch (const weft::error& e) {
    ++refused;
    expect(!e.call.empty() && !e.rule.empty(), "an error without call or rule");
    expect(std::strchr(e.what(), '\n') == nullptr, "an error of more than a line");
  }
}

std::vector<upc_shared_ptr_t> pointers(upc_shared_ptr_t good) {
  std::vector<upc_shared_ptr_t> all{good, UPC_SHARED_NULL, weft::in_place};
  for (const std::size_t n : sizes) {
    all.push_back({n, 0, 0});
    all.push_back({good.addr + n, good.thread, 0});
    all.push_back({good.addr, static_cast<std::uint32_t>(n), 0});
    all.push_back({good.addr, good.thread, static_cast<std::uint32_t>(n)});
  }
  return all;
}

struct arrays {
  upc_shared_ptr_t dst, src, nbytes, perm, wide; // rows
  upc_shared_ptr_t to, from;                     // what they point to: the last allocations, nothing lies behind
};
arrays a;
std::vector<unsigned char> own(2 * heap);

template <class T> T* row(upc_shared_ptr_t p) {
  p.thread = static_cast<std::uint32_t>(MYTHREAD);
  return static_cast<T*>(upc_cast(p));
}

// All elements right again.
void restore() {
  upc_barrier;
  const auto me = static_cast<std::uint32_t>(MYTHREAD), threads = static_cast<std::uint32_t>(THREADS);
  for (std::uint32_t i = 0; i != threads; ++i) {
    row<upc_shared_ptr_t>(a.dst)[i] = {a.to.addr + i * block, me, 0};
    row<upc_shared_ptr_t>(a.src)[i] = {a.from.addr + i * block, me, 0};
    row<std::size_t>(a.nbytes)[i] = block;
  }
  *row<int>(a.perm) = static_cast<int>((me + 1) % threads);
  *row<std::size_t>(a.wide) = (me + 1) % threads;
  upc_barrier;
}

using relocation = std::function<void(upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t n, int mode,
                                      upc_team_t team)>;
struct named {
  const char* name;
  relocation call;
};

void finish(upc_coll_handle_t h) {
  upc_wait(h);
}

const named scalars[] = {
    {"broadcast", [](auto d, auto s, auto n, int m, auto t) { finish(upc_all_broadcast(d, s, n, m, t)); }},
    {"scatter", [](auto d, auto s, auto n, int m, auto t) { finish(upc_all_scatter(d, s, n, m, t)); }},
    {"gather", [](auto d, auto s, auto n, int m, auto t) { finish(upc_all_gather(d, s, n, m, t)); }},
    {"gather_all", [](auto d, auto s, auto n, int m, auto t) { finish(upc_all_gather_all(d, s, n, m, t)); }},
    {"exchange", [](auto d, auto s, auto n, int m, auto t) { finish(upc_all_exchange(d, s, n, m, t)); }},
    {"permute", [](auto d, auto s, auto n, int m, auto t) { finish(upc_all_permute(d, s, a.perm, n, m, t)); }},
    {"broadcast_x", [](auto, auto s, auto n, int m, auto t) { finish(upc_all_broadcast_x(a.dst, s, n, m, t)); }},
    {"alltoall", [](auto d, auto s, auto n, int, auto t) { cray_upc_team_alltoall(d, s, n, t); }},
    {"alltoall_nb", [](auto d, auto s, auto n, int, auto t) { upc_sync(cray_upc_team_alltoall_nb(d, s, n, t)); }},
    {"alltoall_nbi",
     [](auto d, auto s, auto n, int, auto t) {
       cray_upc_team_alltoall_nbi(d, s, n, t);
       upc_synci();
     }},
    {"scatter_x", [](auto d, auto s, auto, int m, auto t) { finish(upc_all_scatter_x(d, s, a.nbytes, m, t)); }},
    {"gather_x", [](auto d, auto s, auto, int m, auto t) { finish(upc_all_gather_x(d, s, a.nbytes, m, t)); }},
    {"gather_all_x",
     [](auto d, auto s, auto, int m, auto t) { finish(upc_all_gather_all_x(d, s, a.nbytes, m, t)); }},
    {"exchange_x", [](auto d, auto s, auto, int m, auto t) { finish(upc_all_exchange_x(d, s, a.nbytes, m, t)); }},
};

void collectives() {
  restore();
  for (const named& c : scalars) {
    const std::string name = c.name;
    const bool rows = name.ends_with("_x") && name != "broadcast_x";
    const upc_shared_ptr_t dst = rows ? a.dst : a.to, src = rows ? a.src : a.from;
    for (const std::size_t n : sizes)
      attempt(name + " nbytes " + std::to_string(n), [&] { c.call(dst, src, n, 0, UPC_TEAM_ALL); });
    restore(); // a legal one may have filled much
    if (rows) continue; // an array that lies anywhere else holds anything
    for (const upc_shared_ptr_t p : pointers(dst))
      attempt(name + " dst " + std::to_string(p.addr), [&] { c.call(p, src, SIZE_MAX / 4, 0, UPC_TEAM_ALL); });
    for (const upc_shared_ptr_t p : pointers(src))
      attempt(name + " src " + std::to_string(p.addr), [&] { c.call(dst, p, SIZE_MAX / 4, 0, UPC_TEAM_ALL); });
    for (const int flags : ints)
      if (flags != 64 && flags != 1 && flags != 2)
        attempt(name + " mode " + std::to_string(flags), [&] { c.call(dst, src, 8, flags, UPC_TEAM_ALL); });
    for (const std::size_t team : sizes)
      if (team != UPC_TEAM_ALL)
        attempt(name + " team " + std::to_string(team), [&] { c.call(dst, src, 8, 0, team); });
  }
  restore();
}

// One element of one thread.
void elements() {
  const auto culprit = THREADS > 1 ? 1 : 0;
  const int modes[] = {0, UPC_IN_MYSYNC | UPC_OUT_MYSYNC, UPC_IN_PLACE};
  const auto run = [&](const std::string& what, const std::function<void()>& plant) {
    for (const named& c : scalars) {
      const std::string name = c.name;
      if (!name.ends_with("_x")) continue;
      for (const int mode : modes) {
        const bool in_place = mode == UPC_IN_PLACE;
        if (in_place && name != "exchange_x" && name != "gather_all_x") continue;
        restore();
        if (name == "scatter_x") row<upc_shared_ptr_t>(a.src)[0] = {a.from.addr + MYTHREAD * block, 0, 0};
        if (name == "gather_x") row<upc_shared_ptr_t>(a.dst)[0] = {a.to.addr + MYTHREAD * block, 0, 0};
        if (MYTHREAD == culprit) plant();
        upc_barrier;
        const upc_shared_ptr_t src = name == "broadcast_x" ? a.from : in_place ? UPC_SHARED_NULL : a.src;
        attempt(name + " " + what + " mode " + std::to_string(mode),
                [&] { c.call(a.dst, src, block, mode, UPC_TEAM_ALL); });
      }
    }
    restore();
    if (MYTHREAD == culprit) plant();
    upc_barrier;
    attempt("permute_x " + what,
            [&] { finish(upc_all_permute_x(a.dst, a.src, a.wide, a.nbytes, 0, UPC_TEAM_ALL)); });
  };
  for (const std::size_t n : sizes) {
    run("size " + std::to_string(n), [n] { row<std::size_t>(a.nbytes)[0] = n; });
    run("dst " + std::to_string(n), [n] { row<upc_shared_ptr_t>(a.dst)[0].addr = n; });
    run("src behind " + std::to_string(n), [n] { row<upc_shared_ptr_t>(a.src)[0].addr += n; });
    run("thread " + std::to_string(n),
        [n] { row<upc_shared_ptr_t>(a.dst)[0].thread = static_cast<std::uint32_t>(n); });
  }
  restore();
}

void memory() {
  for (const std::size_t n : sizes) {
    const std::string what = std::to_string(n);
    attempt("memset " + what, [&] { upc_memset(a.to, 0, n); });
    upc_barrier;
    attempt("memcpy " + what, [&] { upc_memcpy(a.to, a.from, n); });
    upc_barrier;
    if (n <= own.size() || n > std::size_t{1} << 33) {
      attempt("memget " + what, [&] { upc_memget(own.data(), a.from, n); });
      attempt("memput " + what, [&] { upc_memput(a.to, own.data(), n); });
    }
    for (const std::size_t m : sizes)
      attempt("all_alloc " + what, [&] { upc_all_free(upc_all_alloc(n, m)); });
    for (const std::size_t m : sizes)
      attempt("global_alloc " + what, [&] { upc_free(upc_global_alloc(n, m)); });
    attempt("alloc " + what, [&] { upc_free(upc_alloc(n)); });
    upc_barrier;
  }
  for (const upc_shared_ptr_t p : pointers({a.to.addr + 8, 0, 0})) {
    attempt("free " + std::to_string(p.addr), [&] {
      if (p.addr != a.dst.addr) upc_free(p);
    });
    attempt("cast", [&] { upc_cast(p); });
    attempt("memget", [&] { upc_memget(own.data(), p, SIZE_MAX); });
    attempt("memset", [&] { upc_memset(p, 0, SIZE_MAX); });
  }
  static upc_shared_ptr_t where[4]; // those that are registered stay until the end
  int used = 0;
  for (const std::size_t n : sizes)
    for (int argument = 0; argument != 3; ++argument) {
      if (used == 4) break;
      attempt("register_shared " + std::to_string(n), [&] {
        if (n < heap) return;
        weft_register_shared(&where[used], argument == 0 ? n : 1, argument == 1 ? n : 8, argument == 2 ? n : 8, 1);
        ++used;
      });
    }
}

void numbers() {
  for (const std::size_t x : sizes)
    for (const std::size_t y : sizes)
      for (const std::size_t z : sizes) {
        const upc_shared_ptr_t p{x, static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(z)};
        attempt("ptradd", [&] { upc_ptradd(a.to, x, y, static_cast<std::ptrdiff_t>(z)); });
        attempt("ptradd", [&] { upc_ptradd(p, y, z, static_cast<std::ptrdiff_t>(x)); });
        attempt("ptrdiff", [&] { upc_ptrdiff(p, a.to, y, x); });
        attempt("ptrdiff", [&] { upc_ptrdiff(a.to, {z, 0, 0}, x, y); });
        attempt("ptrcmp", [&] { upc_ptrcmp(p, a.from, z, y); });
        attempt("affinitysize", [&] { upc_affinitysize(x, y, z); });
      }
  for (const std::size_t x : sizes) {
    attempt("thread_info", [&] { upc_thread_info(x); });
    attempt("typed", [&] { static_cast<void>(weft::ptr<int>(a.to) + static_cast<std::ptrdiff_t>(x)); });
    attempt("dynamic", [&] { static_cast<void>(weft::dynamic_ptr<int>(a.to, x) + 1); });
    attempt("handle", [&] { upc_wait_value(x); });
    attempt("handle", [&] { upc_test_value(x); });
    attempt("handle", [&] { upc_get_status(x); });
    attempt("handle", [&] { upc_sync(x); });
    attempt("handle", [&] { upc_sync_attempt(x); });
    upc_coll_handle_t several[] = {UPC_HANDLE_COMPLETE, x};
    attempt("handles", [&] { upc_waitall(2, several); });
    attempt("handles", [&] { upc_testany(2, several); });
    attempt("team", [&] { cray_upc_team_size(x); });
    attempt("team", [&] { cray_upc_team_rank(x); });
    attempt("team", [&] {
      if (x != 1) cray_upc_team_free(x);
    });
  }
  std::vector<int> list(static_cast<std::size_t>(THREADS));
  for (int i = 0; i != THREADS; ++i)
    list[static_cast<std::size_t>(i)] = i;
  for (const int i : ints) {
    upc_team_t made = 0;
    const auto free_made = [&] {
      if (made > 2) cray_upc_team_free(made);
    };
    attempt("team of " + std::to_string(i), [&] {
      weft_team_from_threads(UPC_TEAM_ALL, i, list.data(), &made);
      free_made();
    });
    made = 0;
    attempt("team with " + std::to_string(i), [&] {
      weft_team_from_threads(UPC_TEAM_ALL, 1, &i, &made);
      free_made();
    });
    made = 0;
    attempt("split " + std::to_string(i), [&] {
      cray_upc_team_split(UPC_TEAM_ALL, i, -i / 2, &made);
      free_made();
    });
    attempt("count", [&] { upc_waitall(i < 0 ? i : 0, nullptr); });
    attempt("count", [&] { upc_waitany(i, nullptr); });
    attempt("count", [&] { upc_testsome(i, nullptr); });
  }
}

// All of it right: the blocks come where they belong.
void right_call() {
  present = "a right call afterwards";
  restore();
  const auto threads = static_cast<std::size_t>(THREADS);
  for (std::size_t i = 0; i != threads; ++i)
    std::memset(row<unsigned char>(a.from) + i * block, static_cast<int>(10 * i + MYTHREAD), block);
  upc_all_exchange_x(a.dst, a.src, a.nbytes, 0, UPC_TEAM_ALL);
  for (std::size_t i = 0; i != threads; ++i)
    expect(row<unsigned char>(a.to)[i * block + block - 1] == 10 * MYTHREAD + static_cast<int>(i), "wrong data");
  upc_barrier;
}

} // namespace

WEFT_SUITE(extremes) {
  alarm(100);
  const auto threads = static_cast<std::size_t>(THREADS);
  a.dst = upc_all_alloc(threads, threads * sizeof(upc_shared_ptr_t));
  a.src = upc_all_alloc(threads, threads * sizeof(upc_shared_ptr_t));
  a.nbytes = upc_all_alloc(threads, threads * sizeof(std::size_t));
  a.perm = upc_all_alloc(threads, sizeof(int));
  a.wide = upc_all_alloc(threads, sizeof(std::size_t));
  a.to = upc_all_alloc(threads, threads * block);
  a.from = upc_all_alloc(threads, threads * block);
  for (const auto part : {numbers, memory, collectives, elements}) {
    part();
    right_call();
  }
  if (MYTHREAD == 0) std::printf("%d calls refused, %d accepted\n", refused, accepted);
  return failures == 0 ? 0 : 1;
}
