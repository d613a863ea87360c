// SPDX-License-Identifier: BSD-3-Clause
// A late rank holds up no rank in a reduce but its root: it enters only when all others that are not the root
// have left, and have written over what they gave. Each rank is the late one, and each the root. Vectors of
// all lengths on one host and of few ranks, of some of more between hosts; and reproducible sums, whose bits
// are those that all get of a reduce_all.
//
// Mutations that this catches: the plan of `shared` in which all wait for all (compile_shared_reduction);
// `sliced`, and that of ranges, whose root has no choice, or waits for ever before it makes it
// (signals::choose): no round ends then. A root that combines what lies where a rank has left
// (combine_host). The words of another rank than the root (reduce::lender).
#include "tests/jobs/suite.h"

#include <upc.h>
#include <upc_castable.h>
#include <upc_collective_cray.h>

#include <atomic>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <unistd.h>

namespace {

template <class T> T* mine(const upc_shared_ptr_t& rows, std::size_t bytes) {
  return static_cast<T*>(upc_cast(upc_ptradd(rows, 1, bytes, static_cast<std::ptrdiff_t>(MYTHREAD))));
}
upc_shared_ptr_t on(upc_shared_ptr_t rows, int thread) {
  rows.thread = static_cast<std::uint32_t>(thread);
  return rows;
}

int element(int thread, std::size_t k, unsigned round) {
  return static_cast<int>((static_cast<unsigned>(thread) + 1) * (round + 3) + 5 * static_cast<unsigned>(k));
}

// Rounds of calls in which each rank is late once with each root, or of these rounds every so many.
class rounds {
public:
  rounds(int share, int of)
      : share_(share), of_(of), words_(upc_all_alloc(static_cast<std::size_t>(THREADS), bytes)) {
    word(0) = word(1) = 0;
    upc_barrier;
  }
  ~rounds() { upc_all_free(words_); }
  rounds(const rounds&) = delete;
  rounds& operator=(const rounds&) = delete;

  // `call` is one with a root, in a round; `check` is called by the root when it has left.
  void play(const std::function<void(int root, unsigned round)>& call,
            const std::function<void(int root, int late, unsigned round)>& check) {
    for (int root = 0; root != THREADS; ++root)
      for (int late = 0; late != THREADS; ++late) {
        if (late == root || (late + 2 * root + share_) % of_ != 0) continue;
        ++round_;
        alarm(30);
        if (MYTHREAD == late) wait_for_others(root);
        call(root, round_);
        word(0) = round_;
        if (MYTHREAD == root) check(root, late, round_);
        upc_barrier;
      }
  }

  // Of the root, which has posted: it calls nothing before the late one has come.
  void compute() {
    while (word(1) != round_)
      usleep(100);
  }

private:
  static constexpr std::size_t bytes = 2 * sizeof(unsigned);
  // The last round that I have left; in which the late one has come, of the root.
  std::atomic_ref<unsigned> word(std::size_t k) { return std::atomic_ref(mine<unsigned>(words_, bytes)[k]); }
  void wait_for_others(int root) {
    for (int t = 0; t != THREADS; ++t)
      for (unsigned seen = 0; t != MYTHREAD && t != root && seen != round_; usleep(100))
        upc_memget(&seen, on(words_, t), sizeof seen);
    upc_shared_ptr_t come = on(words_, root);
    come.addr += sizeof(unsigned);
    upc_memput(come, &round_, sizeof round_);
  }

  int share_, of_;
  upc_shared_ptr_t words_;
  unsigned round_ = 0;
};

[[noreturn]] void wrong(const char* what, std::size_t n, int root, int late, std::size_t k) {
  std::printf("%s of %zu elements, root %d, late %d: element %zu is wrong\n", what, n, root, late, k);
  std::exit(1);
}

// The threads of the own host whose memory this one reaches, at least, on any thread.
int near_threads() {
  const upc_shared_ptr_t numbers = upc_all_alloc(static_cast<std::size_t>(THREADS), 2 * sizeof(int));
  int* const near = mine<int>(numbers, 2 * sizeof(int));
  *near = 0;
  for (std::size_t t = 0; t != static_cast<std::size_t>(THREADS); ++t)
    if ((upc_thread_info(t).guaranteedCastable & UPC_CASTABLE_ALL_ALLOC) != 0) ++*near;
  upc_shared_ptr_t least = on(numbers, MYTHREAD), own = least;
  least.addr += sizeof(int);
  cray_upc_team_allreduce(least, own, 1, CRAY_UPC_INT, UPC_MIN, CRAY_UPC_TEAM_ALL, nullptr);
  const int found = near[1];
  upc_barrier;
  upc_all_free(numbers);
  return found;
}

// Does the root wait, or has it posted and computes?
enum class root_is : std::uint8_t { waiting, away };

void vectors(rounds& r, root_is how) {
  constexpr std::size_t lengths[] = {1, 700, 2000, 5000, 20'000, 60'000, 600'000}, most = 600'000;
  constexpr std::size_t bytes = most * sizeof(int);
  const auto threads = static_cast<std::size_t>(THREADS);
  const upc_shared_ptr_t sources = upc_all_alloc(threads, bytes), results = upc_all_alloc(threads, bytes);
  constexpr std::size_t at_most = std::size_t{64} << 20; // bytes of all of them
  int* const source = mine<int>(sources, bytes);
  int* const result = mine<int>(results, bytes);
  for (const std::size_t n : lengths) {
    if (n * sizeof(int) * threads > at_most || (how == root_is::away && n < 5000)) continue;
    const auto call = [&](int root, unsigned round) {
      for (std::size_t k = 0; k != n; ++k)
        source[k] = element(MYTHREAD, k, round);
      upc_coll_handle_t h = UPC_HANDLE_COMPLETE;
      cray_upc_team_reduce(on(results, MYTHREAD), on(sources, MYTHREAD), n, CRAY_UPC_INT, UPC_ADD, root,
                           CRAY_UPC_TEAM_ALL, how == root_is::away ? &h : nullptr);
      if (how == root_is::away && MYTHREAD == root) r.compute();
      upc_wait(h);
      for (std::size_t k = 0; k != n; ++k)
        source[k] = -1;
    };
    r.play(call, [&](int root, int late, unsigned round) {
      for (std::size_t k = 0; k != n; ++k) {
        int sum = 0;
        for (int t = 0; t != THREADS; ++t)
          sum += element(t, k, round);
        if (result[k] != sum) wrong("a vector", n, root, late, k);
      }
    });
  }
  upc_all_free(sources);
  upc_all_free(results);
}

// Single elements from thread to thread, and one block on each.
void reproducible_sums(rounds& r, std::size_t each) {
  const std::size_t bytes = each * sizeof(double);
  constexpr upc_flag_t mode = UPC_IN_MYSYNC | UPC_OUT_MYSYNC | WEFT_REPRODUCIBLE;
  const auto threads = static_cast<std::size_t>(THREADS);
  const upc_shared_ptr_t array = upc_all_alloc(threads, bytes);
  const upc_shared_ptr_t sums = upc_all_alloc(threads, sizeof(double));
  double* const here = mine<double>(array, bytes);
  double* const sum = mine<double>(sums, sizeof(double));
  // Other elements in each round than in the one before, of which partial results may lie there still.
  const auto fill = [here, each](unsigned round) {
    for (std::size_t k = 0; k != each; ++k)
      here[k] = 1.0 / element(MYTHREAD, k, round % 2);
  };
  for (const std::size_t block : {std::size_t{1}, each}) {
    std::uint64_t bits[2];
    for (const unsigned round : {0u, 1u}) {
      fill(round);
      upc_all_reduce_allD(sums, array, UPC_ADD, each * threads, block, nullptr, mode);
      bits[round] = std::bit_cast<std::uint64_t>(*sum);
    }
    const auto call = [&](int root, unsigned round) {
      fill(round);
      upc_all_reduceD(on(sums, root), array, UPC_ADD, each * threads, block, nullptr, mode);
      for (std::size_t k = 0; k != each; ++k)
        here[k] = -1;
    };
    r.play(call, [&](int root, int late, unsigned round) {
      if (std::bit_cast<std::uint64_t>(*sum) != bits[round % 2])
        wrong("a sum", each * threads, root, late, 0);
    });
  }
  upc_all_free(array);
  upc_all_free(sums);
}

// Members that have left a reduce are a turn of the slots ahead, and use the words of that slot again, while
// its root still waits. Of the gathers to rank 0 rank 2 completes all without the late one.
void a_turn_ahead(int near) {
  constexpr std::size_t n = 30'000, gathers = 40, bytes = 4096; // of a block that is claimed
  constexpr int root = 1, other = 2, late = 3;
  const auto threads = static_cast<std::size_t>(THREADS);
  // Elsewhere, and through sockets, the gathers are sent ahead, fewer at a time.
  const char* const path = std::getenv("WEFT_PATH");
  const bool sockets = path != nullptr && std::string_view(path) == "sockets";
  if (THREADS < 4 || near * 2 < THREADS || (sockets && near < THREADS)) return;
  const upc_shared_ptr_t sources = upc_all_alloc(threads, n * sizeof(int));
  const upc_shared_ptr_t results = upc_all_alloc(threads, n * sizeof(int));
  const upc_shared_ptr_t blocks = upc_all_alloc(threads, bytes);
  const upc_shared_ptr_t all = upc_all_alloc(threads, threads * gathers * bytes);
  const upc_shared_ptr_t words = upc_all_alloc(threads, sizeof(unsigned));
  int* const source = mine<int>(sources, n * sizeof(int));
  for (std::size_t k = 0; k != n; ++k)
    source[k] = element(MYTHREAD, k, 1);
  std::atomic_ref<unsigned> left(*mine<unsigned>(words, sizeof(unsigned)));
  left = 0;
  upc_barrier;
  alarm(30);
  for (unsigned seen = 0; MYTHREAD == late && seen == 0; usleep(100))
    upc_memget(&seen, on(words, other), sizeof seen);
  upc_coll_handle_t of_reduce = UPC_HANDLE_COMPLETE, of_gather[gathers];
  cray_upc_team_reduce(on(results, MYTHREAD), on(sources, MYTHREAD), n, CRAY_UPC_INT, UPC_ADD, root,
                       CRAY_UPC_TEAM_ALL, &of_reduce);
  for (std::size_t g = 0; g != gathers; ++g) {
    upc_shared_ptr_t to = all;
    to.addr += g * threads * bytes;
    of_gather[g] = upc_all_gather(to, blocks, bytes, UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC);
  }
  if (MYTHREAD == other) {
    upc_waitall(1, &of_reduce);
    upc_waitall(32, of_gather);
    left = 1;
  }
  upc_waitall(1, &of_reduce);
  for (std::size_t k = 0; MYTHREAD != root && k != n; ++k)
    source[k] = -1;
  for (std::size_t k = 0; MYTHREAD == root && k != n; ++k) {
    int sum = 0;
    for (int t = 0; t != THREADS; ++t)
      sum += element(t, k, 1);
    if (mine<int>(results, n * sizeof(int))[k] != sum) wrong("a turn ahead, a vector", n, root, late, k);
  }
  upc_waitall(static_cast<int>(gathers), of_gather);
  upc_barrier;
  for (const upc_shared_ptr_t& p : {sources, results, blocks, all, words})
    upc_all_free(p);
}

} // namespace

//   root_only [K N]: of N parts of the rounds the K-th
WEFT_SUITE(root_only) {
  if (THREADS < 3) return 0;
  const int share = argc > 2 ? std::atoi(argv[1]) : 0, of = argc > 2 ? std::atoi(argv[2]) : 1;
  const int near = near_threads();
  a_turn_ahead(near);
  rounds r(share, of);
  vectors(r, root_is::waiting);
  const char* const progress = std::getenv("WEFT_PROGRESS");
  const bool has_thread = progress == nullptr || std::string_view(progress) != "caller";
  if (has_thread) vectors(r, root_is::away);
  reproducible_sums(r, 1000);
  reproducible_sums(r, 30'000);
  alarm(0);
  return 0;
}
