// SPDX-License-Identifier: BSD-3-Clause
// A small table that is transposed again and again between crowded hosts, as a spectral code does with few
// elements a thread: matrices of ids, all threads in step (IN_ALL), several transpositions under way. Two of
// them in a row give the first one back, and the trace says who sent what; no other copy of the data is kept.
#include "tests/jobs/suite.h"

#include <upc.h>
#include <upc_castable.h>
#include <upc_collective_ext.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using word = std::uint32_t;
constexpr int under_way = 3;

struct matrix { // THREADS rows, one on each thread; of cells of so many words
  upc_shared_ptr_t at;
  std::size_t cell;

  explicit matrix(std::size_t words)
      : at(upc_all_alloc(static_cast<std::size_t>(THREADS), THREADS * words * sizeof(word))), cell(words) {}
  word* row() const {
    return static_cast<word*>(upc_cast(upc_ptradd(at, 1, THREADS * cell * sizeof(word), MYTHREAD)));
  }
};

word id(int row, int column, std::size_t k, word salt) {
  return (static_cast<word>(row) << 20 | static_cast<word>(column) << 8) + static_cast<word>(k % 251) + salt;
}

// Cell `column` of my row, as it was written by `row`.
bool holds(const matrix& m, int row, int column, int at, word salt) {
  for (std::size_t k = 0; k < m.cell; ++k)
    if (m.row()[static_cast<std::size_t>(at) * m.cell + k] != id(row, column, k, salt)) return false;
  return true;
}

void fill(const matrix& m, word salt) {
  for (int column = 0; column < THREADS; ++column)
    for (std::size_t k = 0; k < m.cell; ++k)
      m.row()[static_cast<std::size_t>(column) * m.cell + k] = id(MYTHREAD, column, k, salt);
}

bool transposed_twice(const matrix& a, const matrix& b, const matrix& back, upc_flag_t out, word salt) {
  const std::size_t bytes = a.cell * sizeof(word);
  fill(a, salt);
  upc_all_exchange(b.at, a.at, bytes, UPC_IN_ALLSYNC | out);
  bool right = true;
  for (int from = 0; from < THREADS; ++from)
    right &= holds(b, from, MYTHREAD, from, salt);
  upc_all_exchange(back.at, b.at, bytes, UPC_IN_ALLSYNC | UPC_OUT_MYSYNC);
  for (int column = 0; column < THREADS; ++column)
    right &= holds(back, MYTHREAD, column, column, salt);
  upc_barrier();
  return right;
}

bool several_at_once(std::size_t words, word salt) {
  std::vector<matrix> from, to;
  for (int k = 0; k < under_way; ++k) {
    from.emplace_back(words + static_cast<std::size_t>(k));
    to.emplace_back(words + static_cast<std::size_t>(k));
    fill(from.back(), salt + static_cast<word>(k));
  }
  upc_barrier();
  upc_coll_handle_t open[under_way];
  for (std::size_t k = 0; k < under_way; ++k)
    open[k] = upc_all_exchange(to[k].at, from[k].at, from[k].cell * sizeof(word),
                               UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC | UPC_ASYNC);
  bool right = true;
  for (std::size_t k = under_way; k-- > 0;) { // the last first
    upc_wait(open[k]);
    for (int sender = 0; sender < THREADS; ++sender)
      right &= holds(to[k], sender, MYTHREAD, sender, salt + static_cast<word>(k));
  }
  upc_barrier();
  for (std::size_t k = 0; k < under_way; ++k) {
    upc_all_free(from[k].at);
    upc_all_free(to[k].at);
  }
  return right;
}

} // namespace

WEFT_SUITE(crowd) {
  const int times = argc > 1 ? std::atoi(argv[1]) : 40;
  bool right = true;
  word salt = 1;
  for (const std::size_t words : {1u, 2u, 7u, 100u, 1000u}) {
    const matrix a(words), b(words), back(words);
    upc_barrier();
    for (int again = 0; again < times; ++again)
      right &= transposed_twice(a, b, back, again % 2 == 0 ? UPC_OUT_MYSYNC : UPC_OUT_ALLSYNC, salt++);
    right &= several_at_once(words, salt);
    salt += under_way;
  }
  if (!right) std::fprintf(stderr, "thread %d: a transposition is wrong\n", MYTHREAD);
  upc_barrier();
  return right ? 0 : 1;
}
