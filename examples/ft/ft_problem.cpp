// SPDX-License-Identifier: BSD-3-Clause
#include "examples/ft/ft_problem.hpp"

#include "examples/support/problem_class.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ft {
namespace {

// NAS parallel benchmarks 3.3, FT, subroutine verify.
constexpr std::array<problem, 3> table{{
    {"S",
     64,
     64,
     64,
     {{{554.6087004964, 484.5363331978},
       {554.6385409189, 486.5304269511},
       {554.6148406171, 488.3910722336},
       {554.5423607415, 490.1273169046},
       {554.4255039624, 491.7475857993},
       {554.2683411902, 493.2597244941}}}},
    {"W",
     128,
     128,
     32,
     {{{567.3612178944, 529.3246849175},
       {563.1436885271, 528.2149986629},
       {559.4024089970, 527.0996558037},
       {556.0698047020, 526.0027904925},
       {553.0898991250, 524.9400845633},
       {550.4159734538, 523.9212247086}}}},
    {"A",
     256,
     256,
     128,
     {{{504.6735008193, 511.4047905510},
       {505.9412319734, 509.8809666433},
       {506.9376896287, 509.8144042213},
       {507.7892868474, 510.1336130759},
       {508.5233095391, 510.4914655194},
       {509.1487099959, 510.7917842803}}}},
}};

} // namespace

std::span<const problem> problems() {
  return table;
}

const problem& find_problem(std::string_view name) {
  return example::problem_class(table, name);
}

std::vector<std::size_t> thread_counts(const problem& p) {
  const std::size_t common = std::gcd(p.ny, p.nz);
  std::vector<std::size_t> counts;
  for (std::size_t n = 1; n <= common; ++n)
    if (common % n == 0) counts.push_back(n);
  return counts;
}

double relative_error(complex value, complex expected) {
  const double real = std::abs((value.real() - expected.real()) / expected.real());
  const double imag = std::abs((value.imag() - expected.imag()) / expected.imag());
  return real > imag || std::isnan(real) ? real : imag;
}

bool verified(complex value, complex expected) {
  return relative_error(value, expected) <= tolerance;
}

double mega_operations(const problem& p) {
  const double n = static_cast<double>(p.points());
  const double log_n = std::log(n);
  return 1e-6 * n * (14.8157 + 7.19641 * log_n + (5.23518 + 7.21113 * log_n) * iterations);
}

} // namespace ft
