#include "examples/lu/lu_panels.hpp"

#include <stdexcept>
#include <upc_castable.h>

namespace lu {

panels::panels(const example::process_grid& grid, std::size_t most)
    : grid_(grid), most_(most), blocks_(1 + 2 * most),
      buffers_(weft::extent(2 * blocks_), weft::per_thread(2 * blocks_)) {
  if (cray_upc_team_split(UPC_TEAM_ALL, grid.row, grid.column, &row_) != CRAY_UPC_SUCCESS ||
      cray_upc_team_split(UPC_TEAM_ALL, grid.column, grid.row, &column_) != CRAY_UPC_SUCCESS)
    throw std::runtime_error("there is no memory for the teams of rows and columns");
}

panels::~panels() {
  if (row_ != 0) cray_upc_team_free(row_);
  if (column_ != 0) cray_upc_team_free(column_);
}

block* panels::here(std::size_t k, std::size_t first) const {
  const std::size_t at = (2 * static_cast<std::size_t>(MYTHREAD) + k % 2) * blocks_ + first;
  return static_cast<block*>(upc_cast(buffers_ + static_cast<std::ptrdiff_t>(at)));
}

// The root is the thread of the team that panel k lies with; its own blocks are in their place already.
upc_coll_handle_t panels::broadcast(std::size_t k, std::size_t first, std::size_t blocks,
                                    bool along_row) const {
  const auto on = [&](int rank) {
    const int thread = along_row ? grid_.thread(grid_.row, rank) : grid_.thread(rank, grid_.column);
    const std::size_t at = (2 * static_cast<std::size_t>(thread) + k % 2) * blocks_ + first;
    return upc_shared_ptr_t(buffers_ + static_cast<std::ptrdiff_t>(at));
  };
  const auto members = static_cast<std::size_t>(along_row ? grid_.columns : grid_.rows);
  return upc_all_broadcast(on(0), on(static_cast<int>(k % members)), blocks * sizeof(block),
                           UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC | UPC_IN_PLACE,
                           along_row ? row_ : column_);
}

void panels::send_diagonal(std::size_t k) {
  // Along the row and along the column at once. Their threads other than these two do not need it.
  weft::pending row, column;
  if (static_cast<int>(k % static_cast<std::size_t>(grid_.rows)) == grid_.row)
    row = weft::pending(broadcast(k, 0, 1, true));
  if (static_cast<int>(k % static_cast<std::size_t>(grid_.columns)) == grid_.column)
    column = weft::pending(broadcast(k, 0, 1, false));
  row.wait();
  column.wait();
}

void panels::post(std::size_t k, std::size_t lefts, std::size_t aboves) {
  left_ = weft::pending(broadcast(k, 1, lefts, true));
  above_ = weft::pending(broadcast(k, 1 + most_, aboves, false));
}

void panels::wait() {
  left_.wait();
  above_.wait();
}

} // namespace lu
