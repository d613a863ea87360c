// SPDX-License-Identifier: BSD-3-Clause
// How a panel gets to those who need it: its diagonal block, its blocks of L along the rows of the grid of
// threads, and those of U along its columns.
//
// The diagonal block is broadcast by a collective: all of its row and of its column wait for it. The others
// are one-sided: the thread that has them calls, the rest of its row or column computes, and sees them behind
// the next barrier (One-sided Collective Operations in UPC, V0.2, 2). One split barrier for each panel says
// two things:
//
//   the panel is there      who sends notifies after its broadcasts are complete, so behind upc_wait they are
//                           in place on all threads.
//   it may be written       no thread asks another before its memory is written, and one that has notified
//   for
//                           panel k + 1 may still be reading panel k. It is through with that when it
//                           notifies for panel k + 2, and panel k + 3 is sent behind that barrier.
//
// So there are three buffers.
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
  // The calling thread has left(k), or above(k), and begins to send so many blocks along its row, or column.
  void send_left(std::size_t k, std::size_t blocks);
  void send_above(std::size_t k, std::size_t blocks);
  // What this thread sends is there, and all threads are told so. No collective may be called from here to
  // wait().
  void notify();
  // All that this thread gets of the panel is there.
  void wait();

private:
  static constexpr std::size_t buffers = 3;

  // Block `first` of the buffer of panel k on a thread.
  upc_shared_ptr_t place(int thread, std::size_t k, std::size_t first) const;
  block* here(std::size_t k, std::size_t first) const;
  upc_coll_handle_t broadcast_diagonal(std::size_t k, bool along_row) const;

  example::process_grid grid_;
  std::size_t most_, blocks_; // of a panel
  weft::shared_array<block, weft::dynamic_block> memory_;
  upc_team_t row_ = 0, column_ = 0;
  weft::pending left_, above_;
};

} // namespace lu
