// SPDX-License-Identifier: BSD-3-Clause
// Programs as their users would write them, from weft.hpp alone: spans, counts of elements and scopes. Each
// checks its result in another way than it computes it.
//
// Mutations that this catches: a block of exchange that goes to the next rank; a signal that counts a copy
// which is not in place; a fetch_add that two ranks see alike.
#include "tests/jobs/suite.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <mutex>
#include <numbers>
#include <numeric>
#include <random>
#include <vector>
#include <weft/weft.hpp>

namespace {

using complex = std::complex<double>;

std::vector<complex> transform(std::span<const complex> row) {
  std::vector<complex> all(row.size());
  for (std::size_t k = 0; k != row.size(); ++k)
    for (std::size_t j = 0; j != row.size(); ++j)
      all[k] +=
          row[j] * std::polar(1.0, -2 * std::numbers::pi * double(k * j % row.size()) / double(row.size()));
  return all;
}

} // namespace

// A Fourier transform in two dimensions: the transpose of a row goes on behind the transform of the next. The
// transform of one wave is one peak.
WEFT_SUITE(wave) {
  const weft::team all;
  const std::size_t ranks = std::size_t(all.size()), me = std::size_t(all.rank()), rows = 4,
                    side = rows * ranks;
  const std::size_t p = 3 % side, q = side - 1;
  weft::array<complex> a(rows * side), b(rows * side);
  std::vector<weft::pending> moved(rows);
  for (std::size_t y = 0; y != rows; ++y) {
    const auto row = a.local().subspan(y * side, side);
    for (std::size_t x = 0; x != side; ++x)
      row[x] = std::polar(1.0, 2 * std::numbers::pi * double(p * x + q * (me * rows + y)) / double(side));
    std::ranges::copy(transform(row), row.begin());
    moved[y] = weft::exchange(b.local().subspan(y * side, side), row);
  }
  std::vector<complex> column(rows * side);
  while (const auto y = weft::wait_any(moved))
    for (std::size_t from = 0; from != ranks; ++from)
      for (std::size_t x = 0; x != rows; ++x)
        column[x * side + from * rows + *y] = b[*y * side + from * rows + x];
  bool right = true;
  for (std::size_t x = 0; x != rows; ++x) {
    const auto peaks = transform(std::span(column).subspan(x * side, side));
    for (std::size_t y = 0; y != side; ++y) {
      const double wanted = me * rows + x == p && y == q ? double(side * side) : 0;
      right &= std::abs(peaks[y] - wanted) < 1e-6 * double(side * side);
    }
  }
  all.barrier();
  return right ? 0 : 1;
}

// Heat in a ring, whose edges travel behind the inner part, without a barrier. It keeps its sum, and ends as
// the same steps on one rank do.
WEFT_SUITE(ring) {
  const weft::team all;
  const int me = all.rank(), left = (me + all.size() - 1) % all.size(), right = (me + 1) % all.size();
  const std::size_t n = 50, whole = n * std::size_t(all.size()), steps = 60;
  weft::array<double> u(2 * (n + 2)); // the steps alternate; a cell of a neighbour at each end
  const auto start = [](std::size_t i) { return double(i * i % 17); };
  for (std::size_t i = 0; i != n; ++i)
    u[i + 1] = start(std::size_t(me) * n + i);
  const weft::signals edges(2); // from the left, and from the right
  for (std::size_t step = 0; step != steps; ++step) {
    const std::size_t half = step % 2 * (n + 2);
    const auto now = u.local().subspan(half, n + 2), next = u.local().subspan(n + 2 - half, n + 2);
    const auto flow = [&](std::size_t i) { next[i] = now[i] + 0.2 * (now[i - 1] - 2 * now[i] + now[i + 1]); };
    const weft::pending to_right = edges.put(u.on(right).subspan(half, 1), now.subspan(n, 1), 0);
    const weft::pending to_left = edges.put(u.on(left).subspan(half + n + 1, 1), now.subspan(1, 1), 1);
    for (std::size_t i = 2; i != n; ++i)
      flow(i);
    edges.wait(step + 1, 0), flow(1);
    edges.wait(step + 1, 1), flow(n);
  }
  std::vector<double> alone(whole), next(whole);
  for (std::size_t i = 0; i != whole; ++i)
    alone[i] = start(i);
  for (std::size_t step = 0; step != steps; ++step, alone.swap(next))
    for (std::size_t i = 0; i != whole; ++i)
      next[i] = alone[i] + 0.2 * (alone[(i + whole - 1) % whole] - 2 * alone[i] + alone[(i + 1) % whole]);
  const auto mine = u.local().subspan(1, n); // steps is even
  return std::ranges::equal(mine, std::span(alone).subspan(std::size_t(me) * n, n)) ? 0 : 1;
}

// A sort by samples: blocks of unequal lengths go where the lengths say that they belong. In order between
// the ranks, and as many of each value as before.
WEFT_SUITE(samples) {
  const weft::team all;
  const std::size_t ranks = std::size_t(all.size()), me = std::size_t(all.rank()), n = 2000;
  std::mt19937 dice(unsigned(me) + 5);
  std::vector<long> mine(n);
  for (long& x : mine)
    x = long(dice() % 10'000);
  const long before = weft::reduce_all(std::accumulate(mine.begin(), mine.end(), 0L), UPC_ADD).get();
  std::ranges::sort(mine);
  weft::array<long> sample(8), samples(8 * ranks), whole(n), sorted(n * ranks);
  weft::array<std::size_t> counts(ranks), heard(ranks);
  std::ranges::copy(mine, whole.begin());
  for (std::size_t k = 0; k != 8; ++k)
    sample[k] = mine[(2 * k + 1) * n / 16];
  weft::gather_all(samples, sample).wait();
  std::ranges::sort(samples.local());
  std::size_t cut = 0;
  for (std::size_t r = 0; r != ranks; ++r) {
    const auto end = r + 1 == ranks ? mine.end() : std::ranges::lower_bound(mine, samples[8 * (r + 1)]);
    counts[r] = std::size_t(end - mine.begin()) - cut;
    cut += counts[r];
  }
  weft::exchange(heard, counts).wait();
  const auto got = sorted.local().first(std::reduce(heard.begin(), heard.end()));
  weft::exchange_v(got, heard.local(), whole, counts.local()).wait();
  std::ranges::sort(got);
  const long after = weft::reduce_all(std::accumulate(got.begin(), got.end(), 0L), UPC_ADD).get();
  const long last = weft::exclusive_prefix_reduce(got.empty() ? -1 : got.back(), UPC_MAX, -1L).get();
  return before == after && (got.empty() || last <= got.front()) ? 0 : 1;
}

// Rounds of an all-to-all among the ranks of each half, one round ahead of the computation, until the change
// is small: x becomes (x + 2) / 2 of some rank, so all come to 2.
WEFT_SUITE(rounds) {
  const weft::team half = weft::team().split(weft::team().rank() % 2);
  const std::size_t ranks = std::size_t(weft::team().size()), block = 300,
                    mine = block * std::size_t(half.size());
  weft::array<double> a(block * ranks), b(block * ranks);
  const auto to = b.local().first(mine), from = a.local().first(mine);
  std::ranges::fill(from, double(weft::team().rank()));
  double change = 1;
  int round = 0;
  for (; change > 1e-9 && round != 100; ++round) {
    weft::exchange(to, from, half).wait();
    double most = 0;
    for (std::size_t i = 0; i != mine; ++i) {
      from[i] = (to[i] + 2) / 2;
      most = std::max(most, std::abs(from[i] - to[i]));
    }
    change = weft::reduce_all(most, UPC_MAX, half).get();
  }
  const bool right =
      round < 100 && std::ranges::all_of(from, [](double x) { return std::abs(x - 2) < 1e-8; });
  weft::team().barrier();
  return right ? 0 : 1;
}

// Tasks that whoever is free takes, some at a time, and a list of results that one rank at a time writes.
WEFT_SUITE(tasks) {
  const weft::team all;
  const long count = 500, at_once = 7;
  weft::array<long> next(1), length(1), list(500);
  next[0] = length[0] = 0;
  weft::mutex writing;
  all.barrier();
  long sum = 0;
  for (long first; (first = next.on(0)[0].fetch_add(at_once)) < count;)
    for (long task = first; task != std::min(first + at_once, count); ++task) {
      sum += task;
      if (task % 10 != 0) continue;
      const std::lock_guard hold(writing);
      const long place = length.on(0)[0];
      list.on(0)[std::size_t(place)] = task;
      length.on(0)[0] = place + 1;
    }
  all.barrier();
  bool right = weft::reduce_all(sum, std::plus<>()).get() == count * (count - 1) / 2;
  if (all.rank() == 0) {
    std::ranges::sort(list.local().first(std::size_t(length[0])));
    right &= length[0] == count / 10;
    for (long k = 0; k != count / 10; ++k)
      right &= list[std::size_t(k)] == 10 * k;
  }
  return right ? 0 : 1;
}
