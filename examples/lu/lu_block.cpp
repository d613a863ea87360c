// SPDX-License-Identifier: BSD-3-Clause
#include "examples/lu/lu_block.hpp"

#include <cstdint>

namespace lu {
namespace {

double element(std::size_t rows, std::size_t r, std::size_t c) {
  if (r >= rows || c >= rows) return r == c ? 1 : 0;
  std::uint64_t key = (r * rows + c + 1) * 0x9e3779b97f4a7c15;
  key = (key ^ key >> 29) * 0xbf58476d1ce4e5b9;
  const double random = static_cast<double>(key >> 11) * 0x1p-53 - 0.5;
  return r == c ? random + static_cast<double>(rows) : random;
}

} // namespace

void fill(block& a, std::size_t rows, std::size_t i, std::size_t j) {
  for (std::size_t r = 0; r != side; ++r)
    for (std::size_t c = 0; c != side; ++c)
      a[r * side + c] = element(rows, i * side + r, j * side + c);
}

void factor(block& a) {
  for (std::size_t k = 0; k != side; ++k)
    for (std::size_t r = k + 1; r != side; ++r) {
      const double l = a[r * side + k] /= a[k * side + k];
      for (std::size_t c = k + 1; c != side; ++c)
        a[r * side + c] -= l * a[k * side + c];
    }
}

void solve_left(block& a, const block& diagonal) {
  for (std::size_t r = 0; r != side; ++r)
    for (std::size_t k = 0; k != side; ++k) {
      const double l = a[r * side + k] /= diagonal[k * side + k];
      for (std::size_t c = k + 1; c != side; ++c)
        a[r * side + c] -= l * diagonal[k * side + c];
    }
}

void solve_top(block& a, const block& diagonal) {
  for (std::size_t k = 0; k != side; ++k)
    for (std::size_t r = k + 1; r != side; ++r)
      for (std::size_t c = 0; c != side; ++c)
        a[r * side + c] -= diagonal[r * side + k] * a[k * side + c];
}

void update(block& a, const block& left, const block& above) {
  for (std::size_t r = 0; r != side; ++r)
    for (std::size_t k = 0; k != side; ++k) {
      const double l = left[r * side + k];
      for (std::size_t c = 0; c != side; ++c)
        a[r * side + c] -= l * above[k * side + c];
    }
}

} // namespace lu
