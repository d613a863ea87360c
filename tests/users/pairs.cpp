// SPDX-License-Identifier: BSD-3-Clause
// Programs that stand here twice: over the names of UPC, of Cray and of the extensions to them in C
// ("before"), and over the scopes and spans of weft.hpp ("after"). Both do the same work on the same data;
// each element of their results is compared with the other's, and with what one rank computes alone. What is
// no matter of the library, generators, transforms and stencils, is common to both. tests/readme/pairs.py
// counts the lines between the marks, for the table in docs/functions.md. More pairs are in
// pairs_of_work.cpp and, with MPI, in tests/mpi/hybrid.cpp.
//
// Mutations that this catches: a row of the transpose that goes to the place of the next one, in either form;
// array::part that begins at its array; an edge that is put a row or a column further; a step that waits for
// the signals of the one before.
#include "tests/users/pairs.hpp"

#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <numbers>
#include <utility>

namespace {

using weft_pairs::same;

// ---- a Fourier transform in two dimensions: the transpose of a row goes on behind the transform of the next

using complex = std::complex<double>;

void transform(std::span<complex> row) {
  const std::vector<complex> given(row.begin(), row.end());
  const auto n = row.size();
  for (std::size_t k = 0; k != n; ++k) {
    row[k] = 0;
    for (std::size_t j = 0; j != n; ++j)
      row[k] += given[j] * std::polar(1.0, -2 * std::numbers::pi * double(k * j % n) / double(n));
  }
}
void transform_all(std::span<complex> rows, std::size_t side) {
  for (std::size_t at = 0; at + side <= rows.size(); at += side)
    transform(rows.subspan(at, side));
}
// Row y of the grid, transformed.
void make_row(std::span<complex> row, std::size_t y) {
  for (std::size_t x = 0; x != row.size(); ++x)
    row[x] = {double((7 * y + 3 * x) % 11), double((y + 5 * x) % 13)};
  transform(row);
}
// The blocks that have come of row y of each rank go to that place of the columns of this one.
void place_row(std::span<complex> columns, std::span<const complex> blocks, std::size_t rows, std::size_t y) {
  const std::size_t side = blocks.size();
  for (std::size_t from = 0; from != side / rows; ++from)
    for (std::size_t x = 0; x != rows; ++x)
      columns[x * side + from * rows + y] = blocks[from * rows + x];
}
// Of whole numbers, so that no bit depends on the order.
complex sum_of(std::span<const complex> all) {
  complex sum;
  for (const complex& z : all)
    sum += complex(std::round(1000 * z.real()), std::round(1000 * z.imag()));
  return sum;
}
// The columns of a rank, and behind them the sum over all ranks.
using spectrum = std::vector<complex>;

// [before: transpose]
spectrum spectrum_before(std::size_t rows) {
  const std::size_t ranks = THREADS, side = rows * ranks, row_bytes = side * sizeof(complex);
  const upc_shared_ptr_t src = upc_all_alloc(ranks, rows * row_bytes);
  const upc_shared_ptr_t dst = upc_all_alloc(ranks, rows * row_bytes);
  complex* const mine = static_cast<complex*>(upc_cast(upc_ptradd(src, 1, rows * row_bytes, MYTHREAD)));
  complex* const got = static_cast<complex*>(upc_cast(upc_ptradd(dst, 1, rows * row_bytes, MYTHREAD)));
  std::vector<upc_coll_handle_t> moved(rows);
  for (std::size_t y = 0; y != rows; ++y) {
    make_row({mine + y * side, side}, MYTHREAD * rows + y);
    const upc_shared_ptr_t to = upc_ptradd(dst, 0, row_bytes, static_cast<std::ptrdiff_t>(y));
    const upc_shared_ptr_t from = upc_ptradd(src, 0, row_bytes, static_cast<std::ptrdiff_t>(y));
    moved[y] = upc_all_exchange(to, from, rows * sizeof(complex), UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC);
  }
  spectrum columns(rows * side + 1);
  int y = 0;
  while ((y = upc_waitany(static_cast<int>(rows), moved.data())) >= 0)
    place_row(columns, {got + static_cast<std::size_t>(y) * side, side}, rows, static_cast<std::size_t>(y));
  transform_all(columns, side);
  const complex sum = sum_of(columns);
  cray_upc_team_allreduce(weft_pointer_to(&columns.back()), weft_pointer_to(&sum), 1, CRAY_UPC_DOUBLE_COMPLEX,
                          UPC_ADD, UPC_TEAM_ALL, nullptr);
  upc_all_free(src);
  upc_all_free(dst);
  return columns;
}
// [end]

// [after: transpose]
spectrum spectrum_after(std::size_t rows) {
  const weft::team all;
  const std::size_t side = rows * all.size();
  weft::array<complex> src(rows * side), dst(rows * side);
  std::vector<weft::pending> moved(rows);
  for (std::size_t y = 0; y != rows; ++y) {
    const auto row = src.part(y * side, side);
    make_row(row, all.rank() * rows + y);
    moved[y] = weft::exchange(dst.part(y * side, side), row);
  }
  spectrum columns(rows * side);
  while (const auto y = weft::wait_any(moved))
    place_row(columns, dst.local().subspan(*y * side, side), rows, *y);
  transform_all(columns, side);
  columns.push_back(weft::reduce_all(sum_of(columns), std::plus<>()).get());
  return columns;
}
// [end]

spectrum spectrum_alone(std::size_t rows, std::size_t me, std::size_t ranks) {
  const std::size_t side = rows * ranks;
  std::vector<complex> grid(side * side), column(side);
  for (std::size_t y = 0; y != side; ++y)
    make_row(std::span(grid).subspan(y * side, side), y);
  spectrum mine;
  complex total = 0;
  for (std::size_t from = 0; from != ranks; ++from) {
    spectrum columns; // of that rank
    for (std::size_t x = from * rows; x != (from + 1) * rows; ++x) {
      for (std::size_t y = 0; y != side; ++y)
        column[y] = grid[y * side + x];
      transform(column);
      columns.insert(columns.end(), column.begin(), column.end());
    }
    total = from == 0 ? sum_of(columns) : total + sum_of(columns);
    if (from == me) mine = columns;
  }
  mine.push_back(total);
  return mine;
}

// ---- a plate in tiles, on a torus of ranks: edges travel behind the inner part, and no rank waits for a
// barrier

// What goes to a neighbour: from where in the tile, and to where in the neighbour's.
struct edge {
  int to;
  std::size_t y, x, there_y, there_x, rows, columns;
};
// The highest point of all, of equal ones that of the least place.
struct peak {
  double height, y, x;
};
peak higher(const peak& a, const peak& b) {
  if (a.height != b.height) return a.height > b.height ? a : b;
  return a.y != b.y ? (a.y < b.y ? a : b) : (a.x < b.x ? a : b);
}
struct plate {
  plate(int rank, int ranks, std::size_t tile_high, std::size_t tile_wide)
      : high(tile_high), wide(tile_wide) {
    for (int d = 1; d * d <= ranks; ++d)
      if (ranks % d == 0) down = d;
    across = ranks / down;
    const int my = rank / across, mx = rank % across;
    y0 = std::size_t(my) * high, x0 = std::size_t(mx) * wide;
    const auto at = [&](int y, int x) { return (y + down) % down * across + (x + across) % across; };
    edges = {edge{at(my - 1, mx), 1, 1, high + 1, 1, 1, wide}, edge{at(my + 1, mx), high, 1, 0, 1, 1, wide},
             edge{at(my, mx - 1), 1, 1, 1, wide + 1, high, 1}, edge{at(my, mx + 1), 1, wide, 1, 0, high, 1}};
  }
  void begin(std::span<double> u) const {
    for (std::size_t y = 1; y <= high; ++y)
      for (std::size_t x = 1; x <= wide; ++x)
        u[y * (wide + 2) + x] = double(((y0 + y) * 31 + (x0 + x) * 17) % 23);
  }
  // A step of the points that have all of their neighbours in the tile, or of the others.
  void step(std::span<double> next, std::span<const double> now, bool inner) const {
    const std::size_t width = wide + 2;
    for (std::size_t y = 1; y <= high; ++y)
      for (std::size_t x = 1; x <= wide; ++x)
        if ((y != 1 && y != high && x != 1 && x != wide) == inner) {
          const double* u = &now[y * width + x];
          next[y * width + x] = *u + 0.2 * (u[-1] + u[1] + *(u - width) + u[width] - 4 * *u);
        }
  }
  // The points of the tile without those of its neighbours.
  std::vector<double> result(std::span<const double> u) const {
    std::vector<double> points;
    for (std::size_t y = 1; y <= high; ++y)
      for (std::size_t x = 1; x <= wide; ++x)
        points.push_back(u[y * (wide + 2) + x]);
    return points;
  }
  peak highest(std::span<const double> points) const {
    peak top{-1, 0, 0};
    for (std::size_t k = 0; k != points.size(); ++k)
      top = higher(top, {points[k], double(y0 + k / wide), double(x0 + k % wide)});
    return top;
  }
  std::size_t high, wide, y0, x0;
  int down = 1, across;
  std::array<edge, 4> edges;
};

// [before: halo]
void keep_higher(const void* in, void* inout, std::size_t count, void*) {
  const peak* const a = static_cast<const peak*>(in);
  peak* const b = static_cast<peak*>(inout);
  for (std::size_t k = 0; k != count; ++k)
    b[k] = higher(a[k], b[k]);
}
std::vector<double> plate_before(const plate& p, std::size_t steps) {
  const std::size_t width = p.wide + 2, cells = (p.high + 2) * width;
  const std::size_t stride = width * sizeof(double), bytes = 2 * cells * sizeof(double);
  const std::size_t word = sizeof(std::uint64_t);
  const upc_shared_ptr_t tiles = upc_all_alloc(static_cast<std::size_t>(THREADS), bytes);
  const upc_shared_ptr_t words = upc_all_alloc(static_cast<std::size_t>(THREADS), 4 * word);
  const upc_shared_ptr_t come = upc_ptradd(words, 1, 4 * word, MYTHREAD);
  double* const both = static_cast<double*>(upc_cast(upc_ptradd(tiles, 1, bytes, MYTHREAD)));
  p.begin({both, cells});
  std::memset(upc_cast(come), 0, 4 * word);
  upc_barrier;
  for (std::size_t step = 0; step != steps; ++step) {
    const std::size_t half = step % 2 * cells;
    double* const now = both + half;
    double* const next = both + cells - half;
    upc_coll_handle_t puts[4];
    for (int k = 0; k != 4; ++k) {
      const edge& e = p.edges[static_cast<std::size_t>(k)];
      const std::size_t place = half + e.there_y * width + e.there_x;
      const upc_shared_ptr_t tile = upc_ptradd(tiles, 1, bytes, e.to);
      const upc_shared_ptr_t there = upc_ptradd(tile, 0, sizeof(double), static_cast<std::ptrdiff_t>(place));
      const upc_shared_ptr_t signal = upc_ptradd(upc_ptradd(words, 1, 4 * word, e.to), 0, word, k);
      puts[k] = weft_put_rows(there, stride, now + e.y * width + e.x, stride, e.columns * sizeof(double),
                              e.rows, signal, 1, WEFT_SIGNAL_ADD);
    }
    p.step({next, cells}, {now, cells}, true);
    for (int k = 0; k != 4; ++k)
      weft_wait_until(upc_ptradd(come, 0, word, k), WEFT_CMP_GE, step + 1);
    p.step({next, cells}, {now, cells}, false);
    upc_waitall(4, puts);
  }
  std::vector<double> points = p.result({both + steps % 2 * cells, cells});
  const peak mine = p.highest(points);
  peak top{};
  upc_op_t highest = 0;
  if (weft_op_create(keep_higher, nullptr, sizeof(peak), 1, &highest) != CRAY_UPC_SUCCESS) upc_global_exit(1);
  cray_upc_team_allreduce(weft_pointer_to(&top), weft_pointer_to(&mine), 1, WEFT_OPAQUE, highest,
                          UPC_TEAM_ALL, nullptr);
  points.insert(points.end(), {top.height, top.y, top.x});
  cray_upc_op_free(highest);
  upc_all_free(words);
  upc_all_free(tiles);
  return points;
}
// [end]

// [after: halo]
std::vector<double> plate_after(const plate& p, std::size_t steps) {
  const std::size_t width = p.wide + 2, cells = (p.high + 2) * width;
  weft::array<double> tiles(2 * cells);
  const auto first = tiles.local().first(cells), second = tiles.local().last(cells);
  p.begin(first);
  const weft::signals come(4);
  for (std::size_t step = 0; step != steps; ++step) {
    const auto now = step % 2 == 0 ? first : second, next = step % 2 == 0 ? second : first;
    std::array<weft::pending, 4> puts;
    for (std::size_t k = 0; k != 4; ++k) {
      const edge& e = p.edges[k];
      const weft::remote_tile there(tiles.on(e.to).subspan(step % 2 * cells, cells), width);
      puts[k] = come.put(there.part(e.there_y, e.there_x, e.rows, e.columns),
                         weft::tile(now, width).part(e.y, e.x, e.rows, e.columns), k);
    }
    p.step(next, now, true);
    for (std::size_t k = 0; k != 4; ++k)
      come.wait(step + 1, k);
    p.step(next, now, false);
  }
  std::vector<double> points = p.result(steps % 2 == 0 ? first : second);
  const peak top = weft::reduce_all(p.highest(points), higher).get();
  points.insert(points.end(), {top.height, top.y, top.x});
  return points;
}
// [end]

std::vector<double> plate_alone(const plate& p, std::size_t steps) {
  const plate whole(0, 1, p.high * std::size_t(p.down), p.wide * std::size_t(p.across));
  const std::size_t width = whole.wide + 2, cells = (whole.high + 2) * width;
  std::vector<double> now(cells), next(cells);
  whole.begin(now);
  for (std::size_t step = 0; step != steps; ++step, now.swap(next)) {
    for (const edge& e : whole.edges)
      for (std::size_t k = 0; k != e.rows * e.columns; ++k)
        now[(e.there_y + k / e.columns) * width + e.there_x + k % e.columns] =
            now[(e.y + k / e.columns) * width + e.x + k % e.columns];
    whole.step(next, now, true);
    whole.step(next, now, false);
  }
  std::vector<double> points;
  for (std::size_t y = 1; y <= p.high; ++y)
    for (std::size_t x = 1; x <= p.wide; ++x)
      points.push_back(now[(p.y0 + y) * width + p.x0 + x]);
  const peak top = whole.highest(whole.result(now));
  points.insert(points.end(), {top.height, top.y, top.x});
  return points;
}

} // namespace

WEFT_SUITE(pair_transpose) {
  const weft::team all;
  bool right = true;
  for (const std::size_t rows : {1, 3, 8})
    right &= same("transpose", spectrum_before(rows), spectrum_after(rows),
                  spectrum_alone(rows, std::size_t(all.rank()), std::size_t(all.size())));
  return right ? 0 : 1;
}

WEFT_SUITE(pair_halo) {
  const weft::team all;
  bool right = true;
  for (const auto& [high, wide] : {std::pair(7, 9), std::pair(1, 1), std::pair(150, 4)}) {
    const plate p(all.rank(), all.size(), std::size_t(high), std::size_t(wide));
    right &= same("halo", plate_before(p, 21), plate_after(p, 21), plate_alone(p, 21));
  }
  return right ? 0 : 1;
}
