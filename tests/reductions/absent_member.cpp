// A rank that has posted a reduction and computes holds nobody up. No clocks: it comes back only when all
// others are done, so a library that needs it hangs here, and the test's time limit ends it.
//
// Without a progress thread the others combine its vectors for it, and a post hands out what the poster makes
// of its own elements; with one, the thread does.
//
// Mutations that this catches: pieces of vectors that only their owner combines; a partial result that the
// post does not publish.
#include "tests/jobs/suite.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <vector>
#include <weft/weft.hpp>

namespace {

struct scene {
  std::atomic<int> posted, done;
};

constexpr std::size_t longest = 200'000; // words of a rank
constexpr upc_flag_t mode = UPC_IN_MYSYNC | UPC_OUT_MYSYNC;

struct memory {
  upc_shared_ptr_t src, dst;
  std::uint64_t* on_me(upc_shared_ptr_t p) const {
    return static_cast<std::uint64_t*>(upc_cast({p.addr, static_cast<std::uint32_t>(MYTHREAD), 0}));
  }
  upc_shared_ptr_t mine(upc_shared_ptr_t p) const {
    return {p.addr, static_cast<std::uint32_t>(MYTHREAD), 0};
  }
};

std::uint64_t element(int rank, std::size_t k) {
  return static_cast<std::uint64_t>(rank + 1) * 1'000'003 + k * 7;
}
std::uint64_t sum_of(int ranks, std::size_t words) {
  std::uint64_t sum = 0;
  for (int r = 0; r < ranks; ++r)
    for (std::size_t k = 0; k < words; ++k)
      sum += element(r, k);
  return sum;
}

struct form {
  const char* name;
  std::function<upc_coll_handle_t(const memory&, std::size_t words, int root)> post;
  std::function<bool(const memory&, std::size_t words, int root)> right;
};

const std::vector<form>& forms() {
  static const std::vector<form> all{
      {"team_allreduce",
       [](const memory& m, std::size_t n, int) {
         upc_handle_t h = 0;
         cray_upc_team_allreduce(m.mine(m.dst), m.mine(m.src), n, CRAY_UPC_ULONG, UPC_ADD, UPC_TEAM_ALL, &h);
         return h;
       },
       [](const memory& m, std::size_t n, int) {
         for (std::size_t k = 0; k < n; ++k) {
           std::uint64_t wanted = 0;
           for (int r = 0; r < THREADS; ++r)
             wanted += element(r, k);
           if (m.on_me(m.dst)[k] != wanted) return false;
         }
         return true;
       }},
      {"team_reduce",
       [](const memory& m, std::size_t n, int root) {
         upc_handle_t h = 0;
         cray_upc_team_reduce(m.mine(m.dst), m.mine(m.src), n, CRAY_UPC_ULONG, UPC_MAX, root, UPC_TEAM_ALL,
                              &h);
         return h;
       },
       [](const memory& m, std::size_t n, int root) {
         for (std::size_t k = 0; k < n && MYTHREAD == root; ++k)
           if (m.on_me(m.dst)[k] != element(THREADS - 1, k)) return false;
         return true;
       }},
      {"reduce_all",
       [](const memory& m, std::size_t n, int) {
         return upc_all_reduce_allUL(m.dst, m.src, UPC_ADD, n * static_cast<std::size_t>(THREADS), n, nullptr,
                                     mode | UPC_ASYNC);
       },
       [](const memory& m, std::size_t n, int) { return *m.on_me(m.dst) == sum_of(THREADS, n); }},
      {"prefix_reduce",
       [](const memory& m, std::size_t n, int) {
         return upc_all_prefix_reduceUL(m.dst, m.src, UPC_ADD, n * static_cast<std::size_t>(THREADS), n,
                                        nullptr, mode | UPC_ASYNC);
       },
       [](const memory& m, std::size_t n, int) { return m.on_me(m.dst)[n - 1] == sum_of(MYTHREAD + 1, n); }}};
  return all;
}

bool play(const form& f, const memory& m, scene& s, std::size_t words, int absent) {
  const int root = (absent + 1) % THREADS;
  for (std::size_t k = 0; k < words; ++k)
    m.on_me(m.src)[k] = element(MYTHREAD, k);
  if (MYTHREAD == 0) s.posted = s.done = 0;
  upc_barrier;
  upc_coll_handle_t h;
  if (MYTHREAD == absent) {
    h = f.post(m, words, root);
    s.posted = 1;
    while (s.done != THREADS - 1)
      std::atomic_signal_fence(std::memory_order_seq_cst); // computes
  } else {
    while (s.posted == 0)
      std::atomic_signal_fence(std::memory_order_seq_cst);
    h = f.post(m, words, root);
  }
  upc_wait(h);
  const bool right = f.right(m, words, root);
  if (MYTHREAD != absent) ++s.done;
  if (!right) std::printf("absent_member: rank %d: %s of %zu words is wrong\n", MYTHREAD, f.name, words);
  upc_barrier;
  return right;
}

} // namespace

WEFT_SUITE(absent_member) {
  const memory m{upc_all_alloc(static_cast<std::size_t>(THREADS), longest * 8),
                 upc_all_alloc(static_cast<std::size_t>(THREADS), longest * 8)};
  const upc_shared_ptr_t place = upc_all_alloc(static_cast<std::size_t>(THREADS), 64);
  auto& s = *static_cast<scene*>(upc_cast({place.addr, 0, 0}));
  bool right = true;
  for (const form& f : forms())
    for (const std::size_t words : {std::size_t{1}, std::size_t{256}, std::size_t{2000}, longest})
      for (int absent = 0; absent < THREADS && right; ++absent)
        right = play(f, m, s, words, absent);
  return right ? 0 : 1;
}
