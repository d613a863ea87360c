// SPDX-License-Identifier: BSD-3-Clause
// A program as its user would write it: heat flows along a rod that lies over the threads in blocks. In each
// step a thread begins to get the two cells next to its block, works on the inside of it meanwhile, and then
// on its ends. At the end every thread compares its own cells with what one thread alone would have computed.
#include "tests/jobs/suite.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>
#include <weft/weft.hpp>

namespace {

constexpr std::size_t cells = 500; // of a thread

double start(std::size_t i) {
  return static_cast<double>(i * i % 101);
}
double next(double left, double here, double right) {
  return here + 0.25 * (left - 2 * here + right);
}

std::vector<double> alone(std::size_t n, int steps) {
  std::vector<double> now(n + 2, 0), then(n + 2, 0);
  for (std::size_t i = 0; i != n; ++i)
    now[i + 1] = start(i);
  for (int step = 0; step < steps; ++step, now.swap(then))
    for (std::size_t i = 1; i <= n; ++i)
      then[i] = next(now[i - 1], now[i], now[i + 1]);
  return {now.begin() + 1, now.end() - 1};
}

} // namespace

WEFT_SUITE(stencil) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 50;
  int wrong = 0;
  {
    using rod = weft::shared_array<double, cells>;
    rod a(weft::per_thread(cells)), b(weft::per_thread(cells));
    const upc_tick_t begin = upc_ticks_now();
    for (const std::size_t i : weft::own(a))
      a[static_cast<std::ptrdiff_t>(i)] = start(i);
    upc_barrier;
    rod *now = &a, *then = &b;
    for (int step = 0; step < steps; ++step, std::swap(now, then)) {
      double left = 0, right = 0;
      const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(cells) * MYTHREAD;
      upc_handle_t from_left = UPC_COMPLETE_HANDLE, from_right = UPC_COMPLETE_HANDLE;
      if (MYTHREAD > 0) from_left = upc_memget_nb(&left, *now + (first - 1), sizeof left);
      if (MYTHREAD < THREADS - 1)
        from_right = upc_memget_nb(&right, *now + (first + std::ptrdiff_t{cells}), sizeof right);
      const std::span<double> in = weft::local(*now), out = weft::local(*then);
      for (std::size_t i = 1; i + 1 < cells; ++i)
        out[i] = next(in[i - 1], in[i], in[i + 1]);
      upc_sync(from_left);
      upc_sync(from_right);
      out[0] = next(left, in[0], in[1]);
      out[cells - 1] = next(in[cells - 2], in[cells - 1], right);
      upc_barrier;
    }
    const std::vector<double> expected = alone(a.size(), steps);
    const std::span<double> mine = weft::local(*now);
    std::size_t k = 0;
    for (const std::size_t i : weft::own(*now))
      if (mine[k++] != expected[i] && wrong++ < 5) std::printf("thread %d: cell %zu is wrong\n", MYTHREAD, i);
    if (k != cells) ++wrong;
    if (upc_ticks_to_ns(upc_ticks_now() - begin) > 100'000'000'000u) ++wrong;
  }
  return wrong == 0 ? 0 : 1;
}
