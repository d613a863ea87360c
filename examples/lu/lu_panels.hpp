// How a panel gets to those who need it: its diagonal block, its blocks of L along the rows of the grid of
// threads, and those of U along its columns.
//
// There are two buffers. A broadcast writes the memory of a thread only after that thread has posted its part
// (UPC_IN_MYSYNC), and a thread posts panel k + 2 when it is through with all of panel k.
#pragma once

#include "examples/lu/lu_block.hpp"
#include "examples/support/process_grid.hpp"

#include <upc_collective_cray.h>
#include <weft/weft.hpp>

namespace lu {

class panels {
public:
  // Collective. No thread has more than `most` blocks of a column or of a row.
  panels(const example::process_grid& grid, std::size_t most);
  panels(const panels&) = delete;
  panels& operator=(const panels&) = delete;
  ~panels();

  // The calling thread's copies of panel k.
  block& diagonal(std::size_t k) const { return *here(k, 0); }
  block* left(std::size_t k) const { return here(k, 1); }
  block* above(std::size_t k) const { return here(k, 1 + most_); }

  // Who has the diagonal block has filled diagonal(k); then all of its row and of its column of the grid have
  // it.
  void send_diagonal(std::size_t k);
  // The threads of the panel have filled left(k) and above(k), of which this thread gets so many blocks.
  void post(std::size_t k, std::size_t lefts, std::size_t aboves);
  void wait();

private:
  block* here(std::size_t k, std::size_t first) const;
  upc_coll_handle_t broadcast(std::size_t k, std::size_t first, std::size_t blocks, bool along_row) const;

  example::process_grid grid_;
  std::size_t most_, blocks_; // of a panel
  weft::shared_array<block, weft::dynamic_block> buffers_;
  upc_team_t row_ = 0, column_ = 0;
  weft::pending left_, above_;
};

} // namespace lu
