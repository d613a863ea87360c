// SPDX-License-Identifier: BSD-3-Clause
// Blocks of a matrix, and what the factorization A = L U without pivoting does to them. L has ones on its
// diagonal, and shares a block with U there.
#pragma once

#include <array>
#include <cstddef>

namespace lu {

inline constexpr std::size_t side = 32;
using block = std::array<double, side * side>; // by rows

// Block (i, j) of the matrix of that many rows: random, and its diagonal dominant. Behind the last row it is
// that of the identity, which changes no other element of the factors.
void fill(block& a, std::size_t rows, std::size_t i, std::size_t j);

void factor(block& a);                                        // A = L U in place
void solve_left(block& a, const block& diagonal);             // A = A / U
void solve_top(block& a, const block& diagonal);              // A = L \ A
void update(block& a, const block& left, const block& above); // A -= L U

} // namespace lu
