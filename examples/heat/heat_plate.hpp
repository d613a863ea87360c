// SPDX-License-Identifier: BSD-3-Clause
// A rectangle of the plate, with a frame of one point around it: what lies beside it, on other threads or on
// the fixed rim of the plate.
#pragma once

#include <cstddef>
#include <vector>

namespace heat {

using index = std::ptrdiff_t;

// The points [top, bottom) by [left, right).
struct rectangle {
  index top, bottom, left, right;

  index rows() const { return bottom - top; }
  index columns() const { return right - left; }
};

// The temperature at the beginning. Neighbours differ everywhere, so that a halo that is missing, old or of
// another side shows at once.
double initial_temperature(index row, index column);

class plate {
public:
  // `where`: the place of the part in the whole plate, of which row and column -1 and those behind the last
  // are the rim.
  explicit plate(const rectangle& where);

  const rectangle& where() const { return where_; }
  index rows() const { return where_.rows(); }
  index columns() const { return where_.columns(); }
  // A row of the part, counted from 0; -1 and rows() are the frame's, and so are the elements -1 and
  // columns().
  double* row(index r) { return now_.data() + (r + 1) * stride_ + 1; }
  const double* row(index r) const { return now_.data() + (r + 1) * stride_ + 1; }

  // Computes the next temperatures of these points of the part; returns the largest change. The order of
  // evaluation at a point is always the same, and so are the bits, however the plate is cut.
  double sweep(const rectangle& points);
  // The next temperatures are those of now.
  void advance() { now_.swap(next_); }

private:
  rectangle where_;
  index stride_;
  std::vector<double> now_, next_;
};

} // namespace heat
