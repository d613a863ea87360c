// SPDX-License-Identifier: BSD-3-Clause
// The factorization of a matrix whose blocks are dealt out to a grid of threads like cards, in both
// directions.
#pragma once

#include "examples/lu/lu_panels.hpp"

#include <vector>

namespace lu {

class factorization {
public:
  // Collective.
  factorization(const example::process_grid& grid, std::size_t rows);

  // Factors the matrix anew. With look-ahead, the next panel is computed and on its way before all else is
  // updated by the present one; without, it is waited for. Returns the seconds that this thread waited.
  double run(bool look_ahead);
  // The same bits as those of `serial`, and how much |A - L U| is of n |A| epsilon, both of this thread's
  // blocks.
  bool same_as(const std::vector<block>& serial) const;
  double residual(const std::vector<block>& factors) const;

private:
  // Blocks of a thread, in one direction, that come before block k of the matrix.
  static std::size_t before(std::size_t k, int parts, int index);
  std::size_t rows_before(std::size_t k) const { return before(k, grid_.rows, grid_.row); }
  std::size_t columns_before(std::size_t k) const { return before(k, grid_.columns, grid_.column); }
  bool has_row(std::size_t k) const { return rows_before(k + 1) != rows_before(k); }
  bool has_column(std::size_t k) const { return columns_before(k + 1) != columns_before(k); }
  block& at(std::size_t r, std::size_t c) { return mine_[r * columns_before(blocks_) + c]; }
  template <class F> void for_each(const F& f) const; // f(row, column, block)

  void send_panel(std::size_t k);
  // By panel k, the blocks of these rows and columns of the matrix.
  void update_by(std::size_t k, std::size_t row, std::size_t end_row, std::size_t column,
                 std::size_t end_column);

  example::process_grid grid_;
  std::size_t elements_, blocks_; // in a row of the matrix
  std::vector<block> mine_;
  panels panels_;
};

// By one thread alone, all blocks by rows.
std::vector<block> factor_serially(std::size_t rows);

} // namespace lu
