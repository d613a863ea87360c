// SPDX-License-Identifier: BSD-3-Clause
// Sums and products of random doubles that must have the same bits whatever the number of threads, the
// layout, the phase and the algorithm. Prints them, so that runs can be compared, and what they cost beside
// plain ones.
#include "tests/jobs/suite.h"
#include "tests/calls/dice.hpp"

#include <bit>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <weft/weft.hpp>

namespace {

constexpr std::size_t count = 1'000'000;

// Around 0, of any size; and around 1, so that products stay finite.
double uniform(std::uint64_t i) {
  return static_cast<double>(calls::mix(i) >> 11) / static_cast<double>(std::uint64_t{1} << 53) - 0.5;
}
double summand(std::uint64_t i) {
  return uniform(i) * (i % 7 == 0 ? 1e6 : 1.0) + 0.25;
}
double factor(std::uint64_t i) {
  return 1 + 1e-3 * uniform(i);
}

struct results {
  std::uint64_t sum = 0, product = 0, prefixes = 0;
  bool operator==(const results&) const = default;
};

// `shared [block] double A[count]`, its first element on a thread in a phase.
struct array {
  upc_shared_ptr_t first;
  std::size_t block;

  array(std::size_t block, std::uint32_t thread, std::uint32_t phase) : block(block) {
    const std::size_t blocks = block == 0 ? 1 : (count + phase) / block + 2;
    const std::size_t bytes = block == 0 ? count * sizeof(double) : block * sizeof(double);
    const std::size_t rows =
        block == 0 ? static_cast<std::size_t>(THREADS) : blocks + static_cast<std::size_t>(THREADS) * 2;
    first = upc_all_alloc(rows, bytes);
    base_ = first;
    first.addr += phase * sizeof(double);
    first.thread = thread;
    first.phase = phase;
  }
  ~array() { upc_all_free(base_); }
  array(const array&) = delete;
  array& operator=(const array&) = delete;

  // Calls `visit(i, place)` for each element that lies here.
  template <class Visit> void each_of_mine(Visit&& visit) const {
    upc_shared_ptr_t p = first;
    for (std::size_t i = 0; i < count;) {
      const std::size_t run = block == 0 ? count : std::min(block - p.phase, count - i);
      if (p.thread == static_cast<std::uint32_t>(MYTHREAD)) {
        auto* const here = static_cast<double*>(upc_cast(p));
        for (std::size_t k = 0; k < run; ++k)
          visit(i + k, here[k]);
      }
      i += run;
      p = upc_ptradd(p, block, sizeof(double), static_cast<std::ptrdiff_t>(run));
    }
  }

private:
  upc_shared_ptr_t base_;
};

std::uint64_t reduced(const array& a, upc_op_t op, upc_flag_t flags) {
  const weft::shared_array<double> result(weft::per_thread(1));
  upc_all_reduce_allD(result, a.first, op, count, a.block, nullptr, flags);
  return std::bit_cast<std::uint64_t>(
      *static_cast<const double*>(upc_cast({result.begin().untyped().addr, unsigned(MYTHREAD), 0})));
}

std::uint64_t sum_of(std::uint64_t mine) {
  auto all = weft::reduce_all(mine, UPC_ADD);
  return all.get();
}

results compute(std::size_t block, std::uint32_t thread, std::uint32_t phase) {
  const array a(block, thread, phase), b(block, thread, phase);
  results r;
  a.each_of_mine([](std::size_t i, double& to) { to = factor(i); });
  r.product = reduced(a, UPC_MULT, WEFT_REPRODUCIBLE);
  a.each_of_mine([](std::size_t i, double& to) { to = summand(i); });
  r.sum = reduced(a, UPC_ADD, WEFT_REPRODUCIBLE);
  upc_all_prefix_reduceD(b.first, a.first, UPC_ADD, count, block, nullptr, WEFT_REPRODUCIBLE);
  std::uint64_t mine = 0;
  b.each_of_mine(
      [&](std::size_t i, const double& from) { mine += std::bit_cast<std::uint64_t>(from) * (2 * i + 1); });
  r.prefixes = sum_of(mine);
  upc_barrier;
  return r;
}

} // namespace

WEFT_SUITE(reproducible) {
  const results first = compute(0, 0, 0);
  bool same = true;
  for (const std::size_t block : {0u, 1u, 7u, 4096u, 300'001u})
    for (const std::uint32_t phase : {0u, 5u}) {
      if (block <= phase && phase != 0) continue;
      const auto thread = static_cast<std::uint32_t>((THREADS - 1) * (phase != 0));
      const results r = compute(block, thread, phase);
      if (r == first) continue;
      same = false;
      std::printf("rank %d: blocks of %zu in phase %u differ\n", MYTHREAD, block, phase);
    }
  const auto text = [](std::uint64_t bits) {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(bits));
    return std::string(digits);
  };
  // What is expected of the three, in the arguments; without arguments they are printed.
  const std::vector<std::string> found{text(first.sum), text(first.product), text(first.prefixes)};
  const std::vector<std::string> expected(argv + 1, argv + argc);
  if (found != expected) {
    std::printf("reproducible: sum %s, product %s, prefixes %s\n", found[0].c_str(), found[1].c_str(), found[2].c_str());
    same &= expected.empty();
  }
  return same ? 0 : 1;
}
