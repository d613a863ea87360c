// SPDX-License-Identifier: BSD-3-Clause
// The problem classes of the NAS CG benchmark, the eigenvalue estimates that its authors publish for them,
// and the matrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace cg {

inline constexpr int inner_iterations = 25;
inline constexpr double tolerance = 1e-10;

struct problem {
  std::string_view name;
  std::size_t rows, nonzeros; // of a random vector, of which the matrix is made
  int iterations;
  double shift, zeta;
};

std::span<const problem> problems();

// Throws std::invalid_argument for a name that is not in the table.
const problem& find_problem(std::string_view name);

// Some rows of a sparse matrix: those of row r are [begin[r], begin[r + 1]).
struct sparse_rows {
  std::vector<std::size_t> begin{0};
  std::vector<std::uint32_t> column;
  std::vector<double> value;

  std::size_t rows() const { return begin.size() - 1; }
  // Adds the product with x to y.
  void add_product(const double* x, double* y) const;
};

// The rows [first, last) of the matrix of the problem, once with the columns of the same numbers, which are
// counted from `first` on, and once with all others.
struct rows_of_thread {
  sparse_rows own, others;
};
rows_of_thread make_rows(const problem& p, std::size_t first, std::size_t last);

} // namespace cg
