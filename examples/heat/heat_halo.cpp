// SPDX-License-Identifier: BSD-3-Clause
#include "examples/heat/heat_halo.hpp"

#include <algorithm>
#include <upc_castable.h>

namespace heat {
namespace {

weft::extent points_of_thread(index most, int sides) {
  return static_cast<std::size_t>(2 * sides * most);
}

index length(const plate& part, bool row) {
  return row ? part.columns() : part.rows();
}

} // namespace

halo::halo(const example::process_grid& grid, index most_rows, index most_columns)
    : grid_(grid), most_(std::max(most_rows, most_columns)),
      buffers_(points_of_thread(most_, sides), weft::per_thread(points_of_thread(most_, sides))) {
  puts_.fill(UPC_COMPLETE_HANDLE);
  upc_barrier; // no thread puts before the memory of all is there
}

int halo::neighbour(int side) const {
  const int row = grid_.row + (side == below) - (side == above);
  const int column = grid_.column + (side == right) - (side == left);
  const bool rim = row < 0 || row == grid_.rows || column < 0 || column == grid_.columns;
  return rim ? -1 : grid_.thread(row, column);
}

weft::ptr<double, weft::dynamic_block> halo::place(int thread, int side) const {
  const index buffer = iteration_ % 2;
  return buffers_ + ((2 * thread + buffer) * sides + side) * most_;
}

const double* halo::outermost(const plate& part, int side) {
  if (side == above) return part.row(0);
  if (side == below) return part.row(part.rows() - 1);
  const index column = side == left ? 0 : part.columns() - 1;
  std::vector<double>& packed = packed_[static_cast<std::size_t>(side)];
  packed.clear();
  for (index r = 0; r != part.rows(); ++r)
    packed.push_back(part.row(r)[column]);
  return packed.data();
}

void halo::begin(const plate& part) {
  for (int side = 0; side != sides; ++side) {
    if (neighbour(side) < 0) continue;
    const auto points = static_cast<std::size_t>(length(part, side < left));
    puts_[static_cast<std::size_t>(side)] =
        upc_memput_nb(place(neighbour(side), opposite(side)), outermost(part, side), points * sizeof(double));
  }
}

void halo::notify() {
  for (upc_handle_t& put : puts_)
    upc_sync(std::exchange(put, UPC_COMPLETE_HANDLE));
  upc_notify;
}

void halo::end(plate& part) {
  upc_wait;
  for (int side = 0; side != sides; ++side) {
    if (neighbour(side) < 0) continue;
    const auto* got = static_cast<const double*>(upc_cast(place(MYTHREAD, side)));
    if (side < left) {
      std::copy_n(got, part.columns(), part.row(side == above ? -1 : part.rows()));
    } else {
      for (index r = 0; r != part.rows(); ++r)
        part.row(r)[side == left ? -1 : part.columns()] = got[r];
    }
  }
  ++iteration_;
}

} // namespace heat
