// A late rank holds up no rank in a small reduce of vectors but its root: it enters only when all others that
// are not the root have left, and have written over their vectors. Each rank is the late one, and each the
// root.
//
// Mutation that this catches: `shared` or `sliced` for such vectors (waits_at_root_only): no round ends then.
#include "tests/jobs/suite.h"

#include <upc.h>
#include <upc_castable.h>
#include <upc_collective_cray.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
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

} // namespace

WEFT_SUITE(root_only) {
  if (THREADS < 3) return 0;
  constexpr std::size_t lengths[] = {1, 700, 2000, 5000};
  constexpr std::size_t bytes = 5000 * sizeof(int);
  const auto threads = static_cast<std::size_t>(THREADS);
  const upc_shared_ptr_t sources = upc_all_alloc(threads, bytes), results = upc_all_alloc(threads, bytes);
  const upc_shared_ptr_t words = upc_all_alloc(threads, sizeof(unsigned));
  int* const source = mine<int>(sources, bytes);
  int* const result = mine<int>(results, bytes);
  std::atomic_ref<unsigned> left(*mine<unsigned>(words, sizeof(unsigned)));
  left = 0;
  upc_barrier;
  unsigned round = 0;
  for (const std::size_t n : lengths)
    for (int root = 0; root != THREADS; ++root)
      for (int late = 0; late != THREADS; ++late) {
        if (late == root) continue;
        ++round;
        alarm(30);
        for (std::size_t k = 0; k != n; ++k)
          source[k] = element(MYTHREAD, k, round);
        for (int t = 0; MYTHREAD == late && t != THREADS; ++t)
          for (unsigned seen = 0; t != late && t != root && seen != round; usleep(100))
            upc_memget(&seen, on(words, t), sizeof seen);
        cray_upc_team_reduce(on(results, MYTHREAD), on(sources, MYTHREAD), n, CRAY_UPC_INT, UPC_ADD, root,
                             CRAY_UPC_TEAM_ALL, nullptr);
        for (std::size_t k = 0; k != n; ++k)
          source[k] = -1;
        left = round;
        for (std::size_t k = 0; MYTHREAD == root && k != n; ++k) {
          int sum = 0;
          for (int t = 0; t != THREADS; ++t)
            sum += element(t, k, round);
          if (result[k] == sum) continue;
          std::printf("%zu elements, root %d, late %d: element %zu is %d, not %d\n", n, root, late, k,
                      result[k], sum);
          std::exit(1);
        }
        upc_barrier;
      }
  alarm(0);
  upc_all_free(sources);
  upc_all_free(results);
  upc_all_free(words);
  return 0;
}
