// SPDX-License-Identifier: BSD-3-Clause
#include "examples/lu/lu_panels.hpp"

#include <stdexcept>
#include <upc_castable.h>

namespace lu {

panels::panels(const example::process_grid& grid, std::size_t most)
    : grid_(grid), most_(most), blocks_(1 + 2 * most),
      memory_(weft::extent(buffers * blocks_), weft::per_thread(buffers * blocks_)) {
  if (cray_upc_team_split(UPC_TEAM_ALL, grid.row, grid.column, &row_) != CRAY_UPC_SUCCESS ||
      cray_upc_team_split(UPC_TEAM_ALL, grid.column, grid.row, &column_) != CRAY_UPC_SUCCESS)
    throw std::runtime_error("there is no memory for the teams of rows and columns");
}

panels::~panels() {
  if (row_ != 0) cray_upc_team_free(row_);
  if (column_ != 0) cray_upc_team_free(column_);
}

upc_shared_ptr_t panels::place(int thread, std::size_t k, std::size_t first) const {
  const std::size_t at = (buffers * static_cast<std::size_t>(thread) + k % buffers) * blocks_ + first;
  return memory_ + static_cast<std::ptrdiff_t>(at);
}

block* panels::here(std::size_t k, std::size_t first) const {
  return static_cast<block*>(upc_cast(place(MYTHREAD, k, first)));
}

// The root is the thread of the team that panel k lies with; its own block is in its place already.
upc_coll_handle_t panels::broadcast_diagonal(std::size_t k, bool along_row) const {
  const auto on = [&](std::size_t rank) {
    const int r = static_cast<int>(rank);
    return place(along_row ? grid_.thread(grid_.row, r) : grid_.thread(r, grid_.column), k, 0);
  };
  const auto members = static_cast<std::size_t>(along_row ? grid_.columns : grid_.rows);
  return upc_all_broadcast(on(0), on(k % members), sizeof(block),
                           UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC | UPC_IN_PLACE,
                           along_row ? row_ : column_);
}

void panels::send_diagonal(std::size_t k) {
  // Along the row and along the column at once. Their threads other than these two do not need it.
  weft::pending row, column;
  if (static_cast<int>(k % static_cast<std::size_t>(grid_.rows)) == grid_.row)
    row = weft::pending(broadcast_diagonal(k, true));
  if (static_cast<int>(k % static_cast<std::size_t>(grid_.columns)) == grid_.column)
    column = weft::pending(broadcast_diagonal(k, false));
  row.wait();
  column.wait();
}

void panels::send_left(std::size_t k, std::size_t blocks) {
  left_ = weft::pending(upc_broadcast(place(MYTHREAD, k, 1), blocks * sizeof(block), row_, UPC_ASYNC));
}

void panels::send_above(std::size_t k, std::size_t blocks) {
  above_ =
      weft::pending(upc_broadcast(place(MYTHREAD, k, 1 + most_), blocks * sizeof(block), column_, UPC_ASYNC));
}

void panels::notify() {
  left_.wait();
  above_.wait();
  upc_notify;
}

void panels::wait() {
  upc_wait;
}

} // namespace lu
