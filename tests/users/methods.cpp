// SPDX-License-Identifier: BSD-3-Clause
// Three methods as the reader of weft.hpp writes them, each against what one rank computes alone: conjugate
// gradients of two teams at once, whose sums are structs; particles that move between slabs, in coroutines;
// and sweeps in place over a plate in tiles, where edges travel behind the computation and no rank waits for
// a barrier.
//
//   conjugates, particles, sweeps [ROUNDS]
//
// Mutations that this catches: a team's vector in the order of the job; a struct that is combined in another
// order; a block of exchange_v at another's place; a row of a tile that is put as a column; a signal that
// comes before the last row.
#include "tests/jobs/suite.h"

#include <algorithm>
#include <cmath>
#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <numeric>
#include <span>
#include <vector>
#include <weft/weft.hpp>

namespace {

bool report(int me, bool right, const char* what, double value) {
  if (!right) std::printf("rank %d: %s: %.17g\n", me, what, value);
  return right;
}

// ---- conjugate gradients

// A symmetric matrix with a dominant diagonal: each row has 2 + 2 * `far.size()` elements, wherever.
struct matrix {
  std::size_t n;
  std::vector<std::size_t> far;
  double row_times(std::size_t i, std::span<const double> x) const {
    double sum = (4.0 + static_cast<double>(2 * far.size())) * x[i];
    for (const std::size_t d : far)
      sum -= x[(i + d) % n] + x[(i + n - d) % n];
    return sum;
  }
};

struct sums {
  double rr = 0, pq = 0, largest = 0;
  long largest_at = -1;
};
constexpr auto join = [](const sums& a, const sums& b) {
  const bool second = b.largest > a.largest || a.largest_at < 0;
  return sums{a.rr + b.rr, a.pq + b.pq, second ? b.largest : a.largest, second ? b.largest_at : a.largest_at};
};

// Of `ranks` ranks, each of which has `own` of the rows; alone a rank has all.
struct gradients {
  const matrix& a;
  std::size_t first, own;
  // What all ranks make of the sums of each, and the whole vector of the parts of each.
  std::function<sums(const sums&)> total;
  std::function<std::span<const double>(std::span<const double>)> whole;

  std::vector<double> solve(const std::function<double(std::size_t)>& right_side) const {
    std::vector<double> x(own), r(own), p(own), q(own);
    for (std::size_t i = 0; i != own; ++i)
      r[i] = p[i] = first + i < a.n ? right_side(first + i) : 0;
    sums before = total(of(r, r));
    for (int step = 0; step != 200 && before.rr > 1e-24; ++step) {
      const auto all = whole(p);
      for (std::size_t i = 0; i != own; ++i)
        q[i] = first + i < a.n ? a.row_times(first + i, all) : 0;
      const double alpha = before.rr / total(of(p, q)).pq;
      for (std::size_t i = 0; i != own; ++i)
        x[i] += alpha * p[i], r[i] -= alpha * q[i];
      const sums now = total(of(r, r));
      for (std::size_t i = 0; i != own; ++i)
        p[i] = r[i] + now.rr / before.rr * p[i];
      before = now;
    }
    return x;
  }
  sums of(std::span<const double> u, std::span<const double> v) const {
    sums s;
    for (std::size_t i = 0; i != own && first + i < a.n; ++i) {
      s.rr += u[i] * u[i], s.pq += u[i] * v[i];
      if (s.largest_at < 0 || std::abs(u[i]) > s.largest)
        s.largest = std::abs(u[i]), s.largest_at = static_cast<long>(first + i);
    }
    return s;
  }
};

bool conjugate(const weft::team& t, int me, double scale, std::size_t n) {
  const matrix a{n, {1, 7 % n, n / 3}};
  const auto ranks = static_cast<std::size_t>(t.size()), own = (n + ranks - 1) / ranks;
  const auto side = [&](std::size_t i) { return scale * std::sin(static_cast<double>(i * i % 17)); };
  std::vector<double> all(own * ranks);
  const gradients shared{a, own * static_cast<std::size_t>(t.rank()), own,
                         [&](const sums& mine) { return weft::reduce_all(mine, join, t).get(); },
                         [&](std::span<const double> part) {
                           weft::gather_all(all, part, t).wait();
                           return std::span<const double>(all);
                         }};
  const gradients alone{a, 0, n, [](const sums& mine) { return mine; },
                        [](std::span<const double> part) { return part; }};
  const std::vector<double> x = shared.solve(side), wanted = alone.solve(side);
  bool right = true;
  for (std::size_t i = 0; i != own && shared.first + i < n; ++i)
    right = right && std::abs(x[i] - wanted[shared.first + i]) < 1e-9 * scale;
  const sums found = weft::reduce_all(shared.of(x, x), join, t).get(), expected = alone.of(wanted, wanted);
  return report(me, right, "a solution", x[0]) & report(me, found.largest_at == expected.largest_at,
                                                        "where it is largest",
                                                        static_cast<double>(found.largest_at));
}

// ---- particles

struct particle {
  long id;
  double x, v;
};
particle made(long id) {
  return {id, std::fmod(0.37 * static_cast<double>(id), 1.0),
          0.03 * static_cast<double>(id % 11 - 5) + 0.001 * static_cast<double>(id % 3)};
}
void move(particle& p) {
  p.x += p.v;
  p.x -= std::floor(p.x);
  if (p.x >= 1) p.x = 0;
}
int slab(const particle& p, int ranks) {
  return std::min(static_cast<int>(p.x * ranks), ranks - 1);
}

struct routine {
  struct promise_type {
    routine get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const { throw; }
  };
};

// One species goes on by itself: its steps are in order, those of two species are not.
routine travel(const weft::team& t, std::vector<particle>& mine, int steps, int& done) {
  const auto ranks = static_cast<std::size_t>(t.size());
  std::vector<std::size_t> leave(ranks), come(ranks);
  std::vector<particle> sorted, arrived;
  for (int step = 0; step != steps; ++step) {
    std::ranges::for_each(mine, move);
    std::ranges::stable_sort(mine, {}, [&](const particle& p) { return slab(p, t.size()); });
    std::ranges::fill(leave, 0);
    for (const particle& p : mine)
      ++leave[static_cast<std::size_t>(slab(p, t.size()))];
    weft::pending counts = weft::exchange(come, leave, t);
    co_await counts;
    arrived.resize(std::reduce(come.begin(), come.end()));
    weft::pending moved = weft::exchange_v(arrived, come, mine, leave, t);
    co_await moved;
    mine.swap(arrived);
  }
  ++done;
}

} // namespace

WEFT_SUITE(conjugates) {
  const weft::team all;
  const int me = all.rank();
  const weft::team half = all.split(me % 2, -me);
  bool right = conjugate(all, me, 1.0, 61);
  right = conjugate(half, me, me % 2 == 0 ? 2.0 : 3.0, 200) && right;
  right = conjugate(half, me, 1.0, 5) && right; // some ranks may have no row
  all.barrier();
  return right ? 0 : 1;
}

WEFT_SUITE(particles) {
  const weft::team all;
  const int me = all.rank(), ranks = all.size(), steps = argc > 1 ? std::atoi(argv[1]) : 10;
  const weft::team first = all.split(0), second = all.split(0, -me);
  constexpr long species_1 = 400, species_2 = 90; // of the job; ids of the second begin at 10,000
  std::vector<particle> one, two;
  for (long id = 0; id != species_1; ++id)
    if (slab(made(id), ranks) == first.rank()) one.push_back(made(id));
  for (long id = 10'000; id != 10'000 + species_2; ++id)
    if (slab(made(id), ranks) == second.rank()) two.push_back(made(id));
  int done = 0;
  travel(first, one, steps, done);
  travel(second, two, 2 * steps, done);
  weft::run_all();
  bool right = report(me, done == 2, "species that have ended", done);
  const auto are_right = [&](const std::vector<particle>& here, const weft::team& t, long begin, long count,
                             int moves) {
    std::vector<particle> wanted;
    for (long id = begin; id != begin + count; ++id) {
      particle p = made(id);
      for (int k = 0; k != moves; ++k)
        move(p);
      if (slab(p, ranks) == t.rank()) wanted.push_back(p);
    }
    std::vector<particle> found = here;
    std::ranges::sort(found, {}, &particle::id);
    bool same = found.size() == wanted.size();
    for (std::size_t k = 0; same && k != found.size(); ++k)
      same = found[k].id == wanted[k].id && found[k].x == wanted[k].x && found[k].v == wanted[k].v;
    return report(me, same, "particles", static_cast<double>(found.size()));
  };
  right = are_right(one, first, 0, species_1, steps) && right;
  right = are_right(two, second, 10'000, species_2, 2 * steps) && right;
  all.barrier();
  return right ? 0 : 1;
}

// ---- sweeps in place, from one corner of a plate to the other

namespace {

// The point becomes what its neighbours make of it: those above and on the left have it done already.
void relax(const weft::tile<double>& u, std::size_t y, std::size_t x) {
  u(y, x) = 0.25 * (u(y - 1, x) + u(y, x - 1) + u(y, x + 1) + u(y + 1, x)) + 1e-3 * u(y, x);
}
double begin_of(std::size_t y, std::size_t x) {
  return static_cast<double>((y * 31 + x * 17) % 23);
}

bool sweep(const weft::team& all, int rounds, std::size_t high, std::size_t wide, std::size_t strip) {
  const int me = all.rank(), ranks = all.size();
  int down = 1; // ranks above each other, and beside each other
  for (int d = 1; d * d <= ranks; ++d)
    if (ranks % d == 0) down = d;
  const int across = ranks / down, my = me / across, mx = me % across;
  const std::size_t width = wide + 2;
  weft::array<double> memory((high + 2) * width);
  const weft::tile<double> u(memory, width);
  const std::size_t y0 = static_cast<std::size_t>(my) * high, x0 = static_cast<std::size_t>(mx) * wide;
  for (std::size_t y = 0; y != high + 2; ++y)
    for (std::size_t x = 0; x != width; ++x)
      u(y, x) = begin_of(y0 + y, x0 + x);
  enum side { above, left, below, right }; // where what comes is from
  const weft::signals come(4);
  const auto tile_of = [&](int y, int x) { return weft::remote_tile(memory.on(y * across + x), width); };
  const std::size_t strips = (wide + strip - 1) / strip;
  std::vector<weft::pending> put;
  for (std::size_t round = 1; round <= static_cast<std::size_t>(rounds); ++round) {
    // What the last round has made on the right and below, and what this one has on the left.
    if (mx + 1 < across && round > 1) come.wait(round - 1, right);
    if (my + 1 < down && round > 1) come.wait(round - 1, below);
    if (mx > 0) come.wait(round, left);
    weft::wait_all(put);
    put.clear();
    for (std::size_t s = 0; s != strips; ++s) {
      const std::size_t begin = 1 + s * strip, columns = std::min(strip, wide + 1 - begin);
      if (my > 0) come.wait((round - 1) * strips + s + 1, above);
      for (std::size_t y = 1; y <= high; ++y)
        for (std::size_t x = begin; x != begin + columns; ++x)
          relax(u, y, x);
      if (my + 1 < down)
        put.push_back(
            come.put(tile_of(my + 1, mx).part(0, begin, 1, columns), u.part(high, begin, 1, columns), above));
    }
    if (mx + 1 < across)
      put.push_back(come.put(tile_of(my, mx + 1).part(1, 0, high, 1), u.part(1, wide, high, 1), left));
    if (mx > 0)
      put.push_back(come.put(tile_of(my, mx - 1).part(1, width - 1, high, 1), u.part(1, 1, high, 1), right));
    if (my > 0)
      put.push_back(come.put(tile_of(my - 1, mx).part(high + 1, 1, 1, wide), u.part(1, 1, 1, wide), below));
  }
  weft::wait_all(put);
  // The whole plate, on each rank.
  const std::size_t whole_high = high * static_cast<std::size_t>(down) + 2,
                    whole_wide = wide * static_cast<std::size_t>(across) + 2;
  std::vector<double> plate(whole_high * whole_wide);
  const weft::tile<double> p(plate, whole_wide);
  for (std::size_t y = 0; y != whole_high; ++y)
    for (std::size_t x = 0; x != whole_wide; ++x)
      p(y, x) = begin_of(y, x);
  for (int round = 0; round != rounds; ++round)
    for (std::size_t y = 1; y != whole_high - 1; ++y)
      for (std::size_t x = 1; x != whole_wide - 1; ++x)
        relax(p, y, x);
  bool same = true;
  for (std::size_t y = 1; y <= high; ++y)
    for (std::size_t x = 1; x <= wide; ++x)
      same = report(me, !same || u(y, x) == p(y0 + y, x0 + x), "a point", u(y, x)) && same;
  return same;
}

} // namespace

WEFT_SUITE(sweeps) {
  const weft::team all;
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 6;
  bool right = sweep(all, rounds, 7, 9, 2);
  right = sweep(all, rounds, 1, 1, 1) && right;
  right = sweep(all, rounds, 300, 40, 16) && right; // columns of 300 rows of 8 bytes
  all.barrier();
  return right ? 0 : 1;
}
