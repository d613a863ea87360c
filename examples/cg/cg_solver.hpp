// SPDX-License-Identifier: BSD-3-Clause
// The conjugate gradients of the benchmark, in three ways, on vectors of which each thread has a part.
#pragma once

#include "examples/cg/cg_problem.hpp"
#include "examples/support/shared_blocks.hpp"

#include <memory>
#include <vector>

namespace cg {

using vector = std::vector<double>;

double dot(const vector& a, const vector& b); // of this thread's parts
// y += a x, and y = x + a y.
void add(vector& y, double a, const vector& x);
void add_to(vector& y, double a, const vector& x);

// The product with the matrix. A thread gathers what the others have of a vector, and multiplies its own part
// meanwhile.
class product {
public:
  explicit product(const problem& p);

  std::size_t rows() const { return matrix_.own.rows(); }
  // y = A x. Collective.
  void operator()(const vector& x, vector& y);
  // The same, one after the other.
  void blocking(const vector& x, vector& y);

private:
  void put_mine(const vector& x);
  const double* all() const { return all_.local<double>(); }

  std::size_t part_; // elements of a thread, but the last ones
  rows_of_thread matrix_;
  example::shared_blocks mine_, all_;
};

// Solves A z = x roughly, by a fixed number of iterations from z = 0.
class solver {
public:
  solver() = default;
  solver(const solver&) = delete;
  solver& operator=(const solver&) = delete;
  virtual ~solver() = default;
  virtual void solve(product& a, const vector& x, vector& z) = 0;
};

// Everything waits for everything: two dot products an iteration.
std::unique_ptr<solver> make_blocking();
// One of them is posted, and complete behind the product.
std::unique_ptr<solver> make_overlapped();
// Both are one reduction, complete behind the product (Ghysels and Vanroose 2014).
std::unique_ptr<solver> make_pipelined();

} // namespace cg
