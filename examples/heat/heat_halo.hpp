// SPDX-License-Identifier: BSD-3-Clause
// The exchange of halos between the neighbours of a process grid, in two halves with time to compute in
// between.
//
// In UPC's relaxed model upc_sync says that a put is complete, to the thread that began it. The neighbour has
// to be told, and has to tell when it has read what it got. Both is what one split barrier an iteration does:
//
//   my halos are there      a thread notifies after the upc_sync of its puts, so behind upc_wait the halos of
//                           this iteration are in place on all threads.
//   they may be written     the halos of iteration k - 2 are in the buffer of iteration k. A thread reads
//   them
//                           before the upc_notify of k - 1, and its neighbours write behind the upc_wait of k
//                           - 1.
//
// With one buffer in the place of two, the put of iteration k + 1 and the reading of iteration k would both
// lie between the same two barriers.
#pragma once

#include "examples/heat/heat_plate.hpp"
#include "examples/support/process_grid.hpp"

#include <array>
#include <upc_nb.h>
#include <vector>
#include <weft/weft.hpp>

namespace heat {

class halo {
public:
  // Collective. The parts of all threads have at most so many rows and columns.
  halo(const example::process_grid& grid, index most_rows, index most_columns);

  // Begins to put the outermost points of the part, which must stay as they are, to the neighbours.
  void begin(const plate& part);
  // They are there, and all threads are told so. No collective may be called from here to end().
  void notify();
  // Waits for those of the neighbours, and copies them to the frame.
  void end(plate& part);

private:
  static constexpr int above = 0, below = 1, left = 2, right = 3, sides = 4;

  static int opposite(int side) { return side ^ 1; }
  int neighbour(int side) const; // -1 beyond the rim
  weft::ptr<double, weft::dynamic_block> place(int thread, int side) const;
  const double* outermost(const plate& part, int side);

  example::process_grid grid_;
  index most_; // points of a side
  unsigned iteration_ = 0;
  weft::shared_array<double, weft::dynamic_block> buffers_; // [iteration % 2][side] of each thread
  std::array<std::vector<double>, sides> packed_;           // columns do not lie in one piece
  std::array<upc_handle_t, sides> puts_;
};

} // namespace heat
