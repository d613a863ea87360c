// SPDX-License-Identifier: BSD-3-Clause
// Tiles as a user of weft.hpp has them: heat in a plate whose columns are dealt to a ring of ranks, with the
// edges put into, or got from, the neighbours' arrays, and no buffer; a transposition by rows; parts of any
// shape that are put and got in any order, against what a rank alone would copy; and wrong calls.
//
//   columns CASES SEED
//
// Mutations that this catches: the widths of the two ends exchanged; the signal before the last row; an
// overlap that is looked for in the whole of the rows, and not in their bytes.
#include "tests/jobs/suite.h"

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>
#include <weft/weft.hpp>

namespace {

int failures = 0;
void expect(bool holds, const char* what, long number) {
  if (!holds && failures++ < 10) std::printf("rank %d, %ld: %s\n", weft::upc_mythread(), number, what);
}

double flow(double here, double a, double b, double c, double d) {
  return here + 0.125 * (a + b + c + d - 4 * here);
}
// A step of the rows between the first and the last, in the columns from first to last - 1.
void step(const weft::tile<const double>& now, const weft::tile<double>& next, std::size_t first,
          std::size_t last) {
  for (std::size_t y = 1; y + 1 < now.rows(); ++y)
    for (std::size_t x = first; x != last; ++x)
      next(y, x) = flow(now(y, x), now(y, x - 1), now(y, x + 1), now(y - 1, x), now(y + 1, x));
}

// The plate is closed to a ring in one direction, and cold at its ends in the other.
void heat(const weft::team& all, std::size_t rows, bool gets) {
  const std::size_t own = 3 + rows % 3, width = own + 2, steps = 12, whole = own * std::size_t(all.size());
  const int left = (all.rank() + all.size() - 1) % all.size(), right = (all.rank() + 1) % all.size();
  weft::array<double> a(rows * width), b(rows * width);
  std::ranges::fill(a, 0.0);
  std::ranges::fill(b, 0.0);
  const auto initial = [&](std::size_t y, std::size_t x) { return double((y * 31 + x * 17) % 23); };
  for (std::size_t y = 1; y + 1 < rows; ++y)
    for (std::size_t x = 0; x != own; ++x)
      a[y * width + x + 1] = initial(y, std::size_t(all.rank()) * own + x);
  const weft::signals edges(2);
  weft::barrier(all);
  for (std::size_t t = 0; t != steps; ++t) {
    weft::array<double>&from = t % 2 == 0 ? a : b, &to = t % 2 == 0 ? b : a;
    const weft::tile mine(from, width);
    const weft::remote_tile before(from.on(left), width), behind(from.on(right), width);
    if (gets) {
      weft::pending both[] = {before.column(own).get(mine.column(0)),
                              behind.column(1).get(mine.column(own + 1))};
      weft::wait_all(both);
    } else {
      weft::pending both[] = {edges.put(before.column(own + 1), mine.column(1), 0),
                              edges.put(behind.column(0), mine.column(own), 1)};
      edges.wait(t + 1, 0);
      edges.wait(t + 1, 1);
      weft::wait_all(both);
    }
    step(mine, weft::tile(to, width), 1, own + 1);
    // A neighbour's edges of the next step lie in the other array; those that are got must be there.
    if (gets) weft::barrier(all);
  }
  std::vector<double> now(rows * (whole + 2)), next(now.size());
  for (std::size_t y = 1; y + 1 < rows; ++y)
    for (std::size_t x = 0; x != whole; ++x)
      now[y * (whole + 2) + x + 1] = initial(y, x);
  for (std::size_t t = 0; t != steps; ++t, now.swap(next)) {
    for (std::size_t y = 0; y != rows; ++y) {
      now[y * (whole + 2)] = now[y * (whole + 2) + whole];
      now[y * (whole + 2) + whole + 1] = now[y * (whole + 2) + 1];
    }
    step(weft::tile<const double>(now, whole + 2), weft::tile(next, whole + 2), 1, whole + 1);
  }
  for (std::size_t y = 0; y != rows; ++y)
    for (std::size_t x = 0; x != own; ++x)
      expect(a[y * width + x + 1] == now[y * (whole + 2) + std::size_t(all.rank()) * own + x + 1],
             gets ? "heat by gets" : "heat by puts", long(y * own + x));
}

// Each rank writes to a part of the others' arrays of its own, and reads what stays as it is.
void parts(const weft::team& all, std::mt19937& draw, long number) {
  const auto any = [&](std::size_t most) { return std::size_t(draw() % (most + 1)); };
  const std::size_t rows = 1 + any(40), width = 1 + any(60),
                    ranks = std::size_t(all.size()); // the same everywhere
  const std::uint32_t own_seed = std::uint32_t(draw()) + std::uint32_t(all.rank());
  std::mt19937 own(own_seed);
  const auto mine_of = [&](std::size_t most) { return std::size_t(own() % (most + 1)); };
  weft::array<int> fixed(rows * width), written(ranks * rows * width);
  const auto value = [&](int rank, std::size_t at) { return int(at * 7 + 1) + 100'000 * rank; };
  for (std::size_t k = 0; k != fixed.size(); ++k)
    fixed[k] = value(all.rank(), k);
  std::ranges::fill(written, -1);
  const weft::signals arrived;
  weft::barrier(all);
  std::vector<std::vector<int>> expected(ranks, std::vector<int>(rows * width, -1));
  std::vector<std::vector<int>> memory;
  std::vector<weft::pending> under_way;
  struct got {
    std::vector<int> after;
    std::size_t at;
  };
  std::vector<got> gets;
  std::vector<std::uint64_t> sent(ranks);
  for (std::size_t left = 1 + mine_of(8); left != 0; --left) {
    const std::size_t row = mine_of(rows - 1), column = mine_of(width - 1), n = mine_of(rows - row),
                      m = mine_of(width - column), here = m + 1 + mine_of(5);
    const int peer = int(mine_of(ranks - 1));
    std::vector<int>& local = memory.emplace_back((n + 1) * here);
    std::iota(local.begin(), local.end(), int(own() % 1000));
    const weft::tile there = weft::tile(local, here).part(mine_of(1), mine_of(here - m), n, m);
    if (own() % 2 == 0) {
      std::vector<int> after = local;
      for (std::size_t y = 0; y != n; ++y)
        for (std::size_t x = 0; x != m; ++x)
          after[std::size_t(&there(y, x) - local.data())] = value(peer, (row + y) * width + column + x);
      under_way.push_back(weft::remote_tile(fixed.on(peer), width).part(row, column, n, m).get(there));
      gets.push_back({std::move(after), memory.size() - 1});
      continue;
    }
    const std::size_t to = std::size_t(peer);
    // Two puts to one place are in no order.
    if (sent[to]++ != 0) {
      --sent[to];
      continue;
    }
    for (std::size_t y = 0; y != n; ++y)
      for (std::size_t x = 0; x != m; ++x)
        expected[to][(row + y) * width + column + x] = there(y, x);
    const weft::remote_tile area(
        written.on(peer).subspan(std::size_t(all.rank()) * rows * width, rows * width), width);
    under_way.push_back(arrived.put(area.part(row, column, n, m), there));
  }
  weft::array<std::uint64_t> counts(ranks), come(ranks);
  std::ranges::copy(sent, counts.begin());
  weft::exchange(come, counts).wait();
  arrived.wait(std::accumulate(come.begin(), come.end(), std::uint64_t{0}));
  weft::wait_all(under_way);
  for (const got& g : gets)
    expect(memory[g.at] == g.after, "what was got", number);
  weft::array<int> wanted(ranks * rows * width), given(ranks * rows * width);
  for (std::size_t r = 0; r != ranks; ++r)
    std::ranges::copy(expected[r], given.begin() + std::ptrdiff_t(r * rows * width));
  weft::exchange(wanted, given).wait();
  expect(std::ranges::equal(written, wanted), "what was put", number);
}

// Each row is sent as a column, to the ranks that have its rows, while the next one is made.
void transpose(const weft::team& all, std::size_t own) {
  const std::size_t ranks = std::size_t(all.size()), n = own * ranks, first = own * std::size_t(all.rank());
  weft::array<long> a(own * n), b(own * n);
  const weft::signals rows_come;
  const weft::tile mine(a, n);
  std::vector<weft::pending> under_way;
  for (std::size_t i = 0; i != own; ++i) {
    for (std::size_t k = 0; k != n; ++k)
      mine[i][k] = long((first + i) * n + k);
    for (std::size_t r = 0; r != ranks; ++r)
      under_way.push_back(rows_come.put(weft::remote_tile(b.on(int(r)), n).column(first + i),
                                        weft::tile(mine[i].subspan(r * own, own), 1)));
  }
  rows_come.wait(n);
  const weft::tile<const long> turned(b, n);
  for (std::size_t i = 0; i != own; ++i)
    for (std::size_t k = 0; k != n; ++k)
      expect(turned(i, k) == long(k * n + first + i), "transposed", long(i));
  weft::wait_all(under_way);
}

template <class F> void fails(const char* what, F&& call, std::string_view in) {
  try {
    call();
    expect(false, what, 0);
  } catch (const weft::error& e) {
    expect(std::string_view(e.what()).find(in) != std::string_view::npos, e.what(), 0);
  }
}
void wrong_calls(const weft::team& all) {
  weft::array<double> a(24);
  std::iota(a.begin(), a.end(), 0.0);
  const weft::tile mine(a, 6);
  const weft::remote_tile self(a.on(all.rank()), 6);
  fails(
      "a width", [&] { weft::tile(a, 7); }, "width = 7: must divide the 24 elements");
  fails(
      "a part", [&] { (void)mine.part(2, 0, 3, 1); }, "row = 2: with 3 rows is past the end: there are 4");
  fails(
      "a column", [&] { (void)self.column(6); }, "column = 6: with 1 columns is past the end: there are 6");
  fails(
      "a shape", [&] { self.column(0).put(mine.row(0)).wait(); },
      "from = 1 x 6: must be as large as the tile there, 4 x 1");
  fails(
      "an overlap", [&] { self.part(0, 0, 2, 2).put(mine.part(0, 1, 2, 2)).wait(); },
      "overlap the private ones");
  fails(
      "a get that overlaps", [&] { self.part(1, 0, 2, 6).get(mine.part(0, 0, 2, 6)).wait(); },
      "overlap the private ones");
  fails(
      "a rank", [&] { weft::remote_tile(a.on(all.size()), 6).row(0).put(mine.row(0)).wait(); },
      "weft::array::on: rank = ");
  fails(
      "a stride", [&] { weft::pending(weft::weft_get_rows(a.data(), 8, a.on(0).data(), 4, 8, 2)).wait(); },
      "src_stride = 4: must not be less than nbytes, 8");
  fails(
      "a part of an array", [&] { (void)a.part(20, 5); },
      "weft::array::part: offset = 20 elements: with 5 elements is past the end: there are 24");
  // The bytes of two columns of one array are apart.
  self.column(5).put(mine.column(1)).wait();
  for (std::size_t y = 0; y != 4; ++y)
    expect(mine(y, 5) == double(y * 6 + 1) && mine(y, 4) == double(y * 6 + 4), "a column beside another",
           long(y));
}

} // namespace

WEFT_SUITE(columns) {
  failures = 0;
  const weft::team all;
  std::mt19937 draw(argc > 2 ? std::uint32_t(std::atoi(argv[2])) : 1);
  const long cases = argc > 1 ? std::atol(argv[1]) : 10;
  heat(all, 50, false);
  heat(all, 7, true);
  transpose(all, 1);
  transpose(all, 9);
  for (long k = 0; k != cases; ++k)
    parts(all, draw, k);
  wrong_calls(all);
  weft::barrier(all);
  return failures == 0 ? 0 : 1;
}
