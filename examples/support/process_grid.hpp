// SPDX-License-Identifier: BSD-3-Clause
// The threads as a grid of rows and columns, for any number of threads.
#pragma once

#include <cstddef>
#include <upc.h>

namespace example {

struct process_grid {
  int rows, columns; // of the grid
  int row, column;   // of this thread

  int thread(int r, int c) const { return r * columns + c; }
};

// The grid that cuts a plane of that height and width into parts of the least circumference.
inline process_grid make_process_grid(double height, double width) {
  int best = 1;
  const auto circumference = [&](int rows) { return height / rows + width * rows / THREADS; };
  for (int rows = 2; rows <= THREADS; ++rows)
    if (THREADS % rows == 0 && circumference(rows) < circumference(best)) best = rows;
  const int columns = THREADS / best;
  return {best, columns, MYTHREAD / columns, MYTHREAD % columns};
}

// Where part `index` of `parts` begins, which are as equal as can be; the end of the last one is `count`.
inline std::ptrdiff_t begin_of_part(std::ptrdiff_t count, int parts, int index) {
  return count * index / parts;
}

} // namespace example
