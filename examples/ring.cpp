// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdio>
#include <weft/weft.hpp>

int main(int argc, char** argv) {
  const weft::job job(argc, argv);
  const int left = (job.rank() + job.size() - 1) % job.size(), right = (job.rank() + 1) % job.size();
  const std::size_t n = 1000, width = n + 2; // a cell of each neighbour at the ends
  weft::array<double> cells(2 * width);      // two rows, of even and of odd steps
  for (std::size_t i = 1; i <= n; ++i)
    cells[i] = i % 10 == 0 ? 1 : 0;
  const weft::signals edge(2); // from the left, from the right; all ranks have filled their cells now
  for (std::size_t step = 0; step != 200; ++step) {
    const std::size_t row = step % 2 * width;
    double *now = cells.data() + row, *next = cells.data() + width - row;
    const auto flow = [&](std::size_t i) { next[i] = now[i] + 0.2 * (now[i - 1] - 2 * now[i] + now[i + 1]); };
    weft::pending put[] = {edge.put(cells.on(right).subspan(row, 1), std::span(now + n, 1), 0),
                           edge.put(cells.on(left).subspan(row + n + 1, 1), std::span(now + 1, 1), 1)};
    for (std::size_t i = 2; i != n; ++i)
      flow(i);
    edge.wait(step + 1, 0); // the left neighbour's cell is there
    flow(1);
    edge.wait(step + 1, 1);
    flow(n);
    weft::wait_all(put);
  }
  double mine = 0;
  for (std::size_t i = 1; i <= n; ++i)
    mine += cells[i];
  const double all = weft::reduce_all(mine, UPC_ADD).get(), wanted = 100 * job.size();
  if (job.rank() == 0) std::printf("heat %.6f of %.6f\n", all, wanted);
  return std::abs(all - wanted) < 1e-6 ? 0 : 1;
}
