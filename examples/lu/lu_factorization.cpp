// SPDX-License-Identifier: BSD-3-Clause
#include "examples/lu/lu_factorization.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace lu {
namespace {

std::size_t blocks_of(std::size_t rows) {
  return (rows + side - 1) / side;
}

// Adds the product of block (i, k) of L and block (k, j) of U to a. The sum is made the other way round than
// in the factorization, whose rounding would cancel otherwise.
void add_product(block& a, const block& l, const block& u, bool on_diagonal_of_l, bool on_diagonal_of_u) {
  for (std::size_t r = 0; r != side; ++r)
    for (std::size_t k = 0; k != side && (!on_diagonal_of_l || k <= r); ++k) {
      const double factor = on_diagonal_of_l && k == r ? 1 : l[r * side + k];
      for (std::size_t c = on_diagonal_of_u ? k : 0; c != side; ++c)
        a[r * side + c] += factor * u[k * side + c];
    }
}

} // namespace

std::size_t factorization::before(std::size_t k, int parts, int index) {
  const auto first = static_cast<std::size_t>(index), step = static_cast<std::size_t>(parts);
  return k > first ? (k - first - 1) / step + 1 : 0;
}

factorization::factorization(const example::process_grid& grid, std::size_t rows)
    : grid_(grid), elements_(rows), blocks_(blocks_of(rows)),
      mine_(rows_before(blocks_) * columns_before(blocks_)),
      panels_(grid, std::max(before(blocks_, grid.rows, 0), before(blocks_, grid.columns, 0))) {}

template <class F> void factorization::for_each(const F& f) const {
  const auto rows = static_cast<std::size_t>(grid_.rows), columns = static_cast<std::size_t>(grid_.columns);
  auto next = mine_.begin();
  for (auto i = static_cast<std::size_t>(grid_.row); i < blocks_; i += rows)
    for (auto j = static_cast<std::size_t>(grid_.column); j < blocks_; j += columns)
      f(i, j, *next++);
}

double factorization::run(bool look_ahead) {
  auto next = mine_.begin();
  for_each([&](std::size_t i, std::size_t j, const block&) { fill(*next++, elements_, i, j); });
  std::chrono::duration<double> waited{};
  const auto waiting = [&](auto&& call) {
    const auto begin = std::chrono::steady_clock::now();
    call();
    waited += std::chrono::steady_clock::now() - begin;
  };
  const auto notify = [&] { waiting([&] { panels_.notify(); }); };
  upc_barrier; // all are through with the panels of the run before
  send_panel(0);
  notify();
  for (std::size_t k = 0;; ++k) {
    waiting([&] { panels_.wait(); });
    if (k + 1 == blocks_) return waited.count();
    if (look_ahead) {
      // What is left is done in two halves: one while the next panel travels, the other while the barrier
      // does.
      const std::size_t next = k + 1, rest = k + 2, middle = (rest + blocks_) / 2;
      update_by(k, next, blocks_, next, rest);
      update_by(k, next, rest, rest, blocks_);
      send_panel(next);
      update_by(k, rest, middle, rest, blocks_);
      notify();
      update_by(k, middle, blocks_, rest, blocks_);
    } else {
      update_by(k, k + 1, blocks_, k + 1, blocks_);
      send_panel(k + 1);
      notify();
    }
  }
}

void factorization::send_panel(std::size_t k) {
  const std::size_t row = rows_before(k), column = columns_before(k);
  const std::size_t below = rows_before(k + 1), behind = columns_before(k + 1);
  const std::size_t lefts = rows_before(blocks_) - below, aboves = columns_before(blocks_) - behind;
  if (has_row(k) && has_column(k)) {
    factor(at(row, column));
    panels_.diagonal(k) = at(row, column);
  }
  panels_.send_diagonal(k);
  for (std::size_t r = 0; has_column(k) && r != lefts; ++r) {
    solve_left(at(below + r, column), panels_.diagonal(k));
    panels_.left(k)[r] = at(below + r, column);
  }
  for (std::size_t c = 0; has_row(k) && c != aboves; ++c) {
    solve_top(at(row, behind + c), panels_.diagonal(k));
    panels_.above(k)[c] = at(row, behind + c);
  }
  if (has_column(k)) panels_.send_left(k, lefts);
  if (has_row(k)) panels_.send_above(k, aboves);
}

void factorization::update_by(std::size_t k, std::size_t row, std::size_t end_row, std::size_t column,
                              std::size_t end_column) {
  const std::size_t below = rows_before(k + 1), behind = columns_before(k + 1);
  const block *left = panels_.left(k), *above = panels_.above(k);
  for (std::size_t r = rows_before(row); r < rows_before(end_row); ++r)
    for (std::size_t c = columns_before(column); c < columns_before(end_column); ++c)
      update(at(r, c), left[r - below], above[c - behind]);
}

bool factorization::same_as(const std::vector<block>& serial) const {
  bool same = true;
  for_each(
      [&](std::size_t i, std::size_t j, const block& b) { same = same && b == serial[i * blocks_ + j]; });
  return same;
}

double factorization::residual(const std::vector<block>& factors) const {
  double largest = 0;
  for_each([&](std::size_t i, std::size_t j, const block&) {
    block a, product{};
    fill(a, elements_, i, j);
    for (std::size_t k = 0; k <= std::min(i, j); ++k)
      add_product(product, factors[i * blocks_ + k], factors[k * blocks_ + j], k == i, k == j);
    for (std::size_t e = 0; e != a.size(); ++e) {
      const double off = std::abs(a[e] - product[e]);
      if (!(off <= largest)) largest = off; // no number is not small
    }
  });
  const auto n = static_cast<double>(elements_); // about the largest element, too
  return largest / (n * n * std::numeric_limits<double>::epsilon());
}

std::vector<block> factor_serially(std::size_t rows) {
  const std::size_t n = blocks_of(rows);
  std::vector<block> a(n * n);
  for (std::size_t at = 0; at != n * n; ++at)
    fill(a[at], rows, at / n, at % n);
  for (std::size_t k = 0; k != n; ++k) {
    factor(a[k * n + k]);
    for (std::size_t i = k + 1; i != n; ++i) {
      solve_left(a[i * n + k], a[k * n + k]);
      solve_top(a[k * n + i], a[k * n + k]);
    }
    for (std::size_t i = k + 1; i != n; ++i)
      for (std::size_t j = k + 1; j != n; ++j)
        update(a[i * n + j], a[i * n + k], a[k * n + j]);
  }
  return a;
}

} // namespace lu
