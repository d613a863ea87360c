// SPDX-License-Identifier: BSD-3-Clause
#include "examples/heat/heat_plate.hpp"

#include <algorithm>
#include <cmath>

namespace heat {

double initial_temperature(index row, index column) {
  return static_cast<double>(((row + 1) * 7919 + (column + 1) * 104729) % 1009) / 10;
}

plate::plate(const rectangle& where)
    : where_(where), stride_(where.columns() + 2),
      now_(static_cast<std::size_t>((where.rows() + 2) * stride_)) {
  for (index r = -1; r <= rows(); ++r)
    for (index c = -1; c <= columns(); ++c)
      row(r)[c] = initial_temperature(where.top + r, where.left + c);
  next_ = now_; // the rim is in both
}

double plate::sweep(const rectangle& points) {
  double change = 0;
  for (index r = points.top; r < points.bottom; ++r) {
    const double *above = row(r - 1), *here = row(r), *below = row(r + 1);
    double* next = next_.data() + (r + 1) * stride_ + 1;
    for (index c = points.left; c < points.right; ++c) {
      next[c] = 0.25 * ((above[c] + below[c]) + (here[c - 1] + here[c + 1]));
      change = std::max(change, std::abs(next[c] - here[c]));
    }
  }
  return change;
}

} // namespace heat
