// SPDX-License-Identifier: BSD-3-Clause
// The problem classes of the NAS FT benchmark and the checksums that its authors publish for them.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace ft {

using complex = std::complex<double>;

inline constexpr int iterations = 6;
inline constexpr double tolerance = 1e-12;

struct problem {
  std::string_view name;
  std::size_t nx, ny, nz;
  std::array<complex, iterations> checksums;

  std::size_t points() const { return nx * ny * nz; }
};

std::span<const problem> problems();

// Throws std::invalid_argument for a name that is not in the table.
const problem& find_problem(std::string_view name);

// One slab per thread in both layouts: the number of threads divides ny and nz.
std::vector<std::size_t> thread_counts(const problem& p);

// The larger of the relative errors of the real and the imaginary part.
double relative_error(complex value, complex expected);

// NaN does not pass.
bool verified(complex value, complex expected);

// The benchmark's own count of operations, which is not what FFTW executes.
double mega_operations(const problem& p);

} // namespace ft
