// SPDX-License-Identifier: BSD-3-Clause
// Three programs as their users would write them, from weft.hpp alone: conjugate gradients whose dot products
// are one reduction of a struct that goes on behind the product with the matrix; heat on a torus of ranks in
// teams of rows and columns, without a barrier; and means of clusters, whose points then move to the rank
// that has their cluster, and coroutines that follow a value. Each checks its result in another way than it
// computes it.
//
// Mutations that this catches: a value that is reduced over all ranks where a team is given; a barrier that
// lets a rank go on before the others have come; a signal that counts a copy of another neighbour.
#include "tests/jobs/suite.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <coroutine>
#include <functional>
#include <numeric>
#include <random>
#include <vector>
#include <weft/weft.hpp>

namespace {

struct point {
  double x, y;
};
constexpr std::size_t clusters = 3;
struct sums {
  std::array<point, clusters> at{};
  std::array<long, clusters> count{};
};
sums operator+(sums a, const sums& b) {
  for (std::size_t i = 0; i != clusters; ++i) {
    a.at[i].x += b.at[i].x;
    a.at[i].y += b.at[i].y;
    a.count[i] += b.count[i];
  }
  return a;
}

struct task {
  struct promise_type {
    task get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { throw; }
  };
};
// What was posted before is followed here, in whichever order it is complete.
task follow(weft::value<long> one, weft::pending all_have_come, long& result) {
  result = co_await one;
  co_await all_have_come;
  result *= 10;
}

} // namespace

// -u'' = 1 with ends of 0, whose solution is x (n + 1 - x) / 2; both dot products of a step in one reduction
// (Chronopoulos and Gear), which is posted before the halo is.
WEFT_SUITE(gradients) {
  const weft::team world;
  const int me = world.rank(), ranks = world.size();
  const std::size_t n = 40, all = n * std::size_t(ranks);
  weft::array<double> halo(4); // of the left and the right neighbour, in even and in odd rounds
  const weft::signals arrived(2);
  std::uint64_t round = 0;
  std::vector<double> x(n), r(n, 1.0), p(n), s(n), w(n);
  using two = std::array<double, 2>;
  const auto multiply = [&] {
    weft::pending left, right;
    const std::size_t place = round++ % 2 * 2;
    const std::span<const double> v(r);
    if (me > 0) left = arrived.put(halo.on(me - 1).subspan(place + 1, 1), v.first(1), 1);
    if (me + 1 < ranks) right = arrived.put(halo.on(me + 1).subspan(place, 1), v.last(1), 0);
    for (std::size_t i = 1; i + 1 < n; ++i)
      w[i] = 2 * v[i] - v[i - 1] - v[i + 1];
    if (me > 0) arrived.wait(round, 0);
    if (me + 1 < ranks) arrived.wait(round, 1);
    w[0] = 2 * v[0] - v[1] - (me > 0 ? halo[place] : 0);
    w[n - 1] = 2 * v[n - 1] - v[n - 2] - (me + 1 < ranks ? halo[place + 1] : 0);
    left.wait();
    right.wait();
  };
  const auto dot = [](const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  };
  double alpha = 0, gamma_before = 0;
  std::size_t steps = 0;
  for (; steps < 10 * all; ++steps) {
    multiply();
    weft::value<two> dots = weft::reduce_all(two{dot(r, r), dot(w, r)}, [](two a, two b) {
      return two{a[0] + b[0], a[1] + b[1]};
    });
    const auto [gamma, delta] = dots.get();
    if (gamma < 1e-16) break;
    const double beta = steps == 0 ? 0 : gamma / gamma_before;
    alpha = gamma / (steps == 0 ? delta : delta - beta * gamma / alpha);
    for (std::size_t i = 0; i != n; ++i) {
      p[i] = r[i] + beta * p[i];
      s[i] = w[i] + beta * s[i];
      x[i] += alpha * p[i];
      r[i] -= alpha * s[i];
    }
    gamma_before = gamma;
  }
  bool right = steps <= all + 5;
  for (std::size_t i = 0; i != n; ++i) {
    const double at = double(std::size_t(me) * n + i + 1);
    right &= std::abs(x[i] - at * (double(all) + 1 - at) / 2) < 1e-6;
  }
  weft::barrier(); // the last halo has been read
  return weft::reduce_all(int(right), UPC_MIN).get() == 1 ? 0 : 1;
}

// Rows go from where they lie, columns are packed. One cell of 1 becomes what powers of the circulant
// matrices of both directions make of it: the heat keeps its sum and is the same as on one rank.
WEFT_SUITE(torus) {
  const weft::team world;
  int down = int(std::sqrt(world.size()));
  while (world.size() % down != 0)
    --down;
  const int across = world.size() / down;
  const weft::team row = world.split(world.rank() / across), column = world.split(world.rank() % across);
  const auto beside = [](const weft::team& t, int step) {
    return t.thread((t.rank() + t.size() + step) % t.size());
  };
  const int north = beside(column, -1), south = beside(column, 1), west = beside(row, -1),
            east = beside(row, 1);
  const std::size_t h = 3, w = 4, pitch = w + 2, grid = (h + 2) * pitch, steps = 20;
  weft::array<double> a(2 * grid), from_west(2 * h), from_east(2 * h);
  std::ranges::fill(a, 0.0);
  const std::size_t top = std::size_t(column.rank()) * h, left = std::size_t(row.rank()) * w; // of the whole
  const std::size_t height = h * std::size_t(down), width = w * std::size_t(across);
  if (world.rank() == 0) a[pitch + 1] = 1;
  enum : std::size_t { northern, southern, western, eastern };
  const weft::signals edges(4);
  std::vector<double> to_west(h), to_east(h);
  const auto flow = [](double here, double a1, double a2, double a3, double a4) {
    return here + 0.125 * (a1 + a2 + a3 + a4 - 4 * here);
  };
  for (std::size_t step = 0; step != steps; ++step) {
    const std::size_t at = step % 2 * grid, place = step % 2 * h;
    double *const now = a.data() + at, *const next = a.data() + grid - at;
    for (std::size_t y = 0; y != h; ++y) {
      to_west[y] = now[(y + 1) * pitch + 1];
      to_east[y] = now[(y + 1) * pitch + w];
    }
    std::array<weft::pending, 4> puts;
    puts[0] =
        edges.put(a.on(north).subspan(at + (h + 1) * pitch + 1, w), std::span(now + pitch + 1, w), southern);
    puts[1] = edges.put(a.on(south).subspan(at + 1, w), std::span(now + h * pitch + 1, w), northern);
    puts[2] = edges.put(from_east.on(west).subspan(place, h), to_west, eastern);
    puts[3] = edges.put(from_west.on(east).subspan(place, h), to_east, western);
    for (const std::size_t side : {northern, southern, western, eastern})
      edges.wait(step + 1, side);
    for (std::size_t y = 0; y != h; ++y) {
      now[(y + 1) * pitch] = from_west[place + y];
      now[(y + 1) * pitch + w + 1] = from_east[place + y];
    }
    for (std::size_t y = 1; y <= h; ++y)
      for (std::size_t i = y * pitch + 1; i <= y * pitch + w; ++i)
        next[i] = flow(now[i], now[i - 1], now[i + 1], now[i - pitch], now[i + pitch]);
    weft::wait_all(puts);
  }
  std::vector<double> alone(height * width), then(height * width);
  alone[0] = 1;
  for (std::size_t step = 0; step != steps; ++step, alone.swap(then))
    for (std::size_t y = 0; y != height; ++y)
      for (std::size_t x = 0; x != width; ++x)
        then[y * width + x] =
            flow(alone[y * width + x], alone[y * width + (x + width - 1) % width],
                 alone[y * width + (x + 1) % width], alone[(y + height - 1) % height * width + x],
                 alone[(y + 1) % height * width + x]);
  double sum = 0;
  bool right = true;
  for (std::size_t y = 0; y != h; ++y)
    for (std::size_t x = 0; x != w; ++x) {
      const double cell = a[(y + 1) * pitch + x + 1]; // steps is even
      right &= cell == alone[(top + y) * width + left + x];
      sum += cell;
    }
  const double of_row = weft::reduce_all(sum, UPC_ADD, row).get();
  const double of_all = weft::reduce_all(of_row, std::plus<>(), column).get();
  right &= std::abs(of_all - 1) < 1e-12;
  // In the order of the rows, so far: what the rows above have, and those up to this one.
  const double above = weft::exclusive_prefix_reduce(of_row, UPC_ADD, 0.0, column).get();
  right &= std::abs(above + of_row - weft::prefix_reduce(of_row, UPC_ADD, column).get()) < 1e-12;
  return right ? 0 : 1;
}

WEFT_SUITE(means) {
  const weft::team world, half = world.split(world.rank() % 2);
  const auto members = std::size_t(half.size());
  std::mt19937 dice(unsigned(world.rank()));
  std::vector<point> points(100);
  for (point& p : points) {
    const double c = double(dice() % clusters) * 10;
    p = {c + double(dice() % 1000) / 1000, -c};
  }
  std::array<point, clusters> centres{point{1, 0}, {11, -9}, {22, -18}};
  const auto nearest = [&](point p) {
    const auto far = [&](const point& c) { return std::hypot(p.x - c.x, p.y - c.y); };
    return std::size_t(std::ranges::min_element(centres, {}, far) - centres.begin());
  };
  for (int round = 0; round != 3; ++round) {
    sums mine;
    for (const point p : points) {
      const std::size_t c = nearest(p);
      mine.at[c].x += p.x;
      mine.at[c].y += p.y;
      ++mine.count[c];
    }
    const sums all = weft::reduce_all(mine, std::plus<>(), half).get();
    for (std::size_t i = 0; i != clusters; ++i)
      if (all.count[i] != 0)
        centres[i] = {all.at[i].x / double(all.count[i]), all.at[i].y / double(all.count[i])};
  }
  bool right = true;
  for (std::size_t i = 0; i != clusters; ++i) // each is within its own square
    right &= std::abs(centres[i].x - 10 * double(i) - 0.5) <= 0.5 &&
             std::abs(centres[i].y + 10 * double(i)) < 1e-9;

  const auto home = [&](point p) { return nearest(p) % members; };
  std::ranges::sort(points, {}, home);
  std::vector<std::size_t> give(members), get(members);
  for (const point p : points)
    ++give[home(p)];
  weft::exchange(get, give, half).wait();
  std::vector<point> got(std::reduce(get.begin(), get.end()));
  weft::exchange_v(got, get, points, give, half).wait();
  right &= std::ranges::all_of(got, [&](point p) { return home(p) == std::size_t(half.rank()); });
  right &= weft::reduce_all(got.size(), UPC_ADD, half).get() == 100 * members;

  long count = 0, last = 0;
  follow(weft::reduce_all(1L, UPC_ADD, half), weft::arrive(half), count);
  follow(weft::reduce_all(long(world.rank()), UPC_MAX), weft::arrive(), last);
  weft::run_all();
  right &= count == 10 * half.size() && last == 10 * (world.size() - 1);

  std::vector<weft::value<long>> several(3); // nothing is under way
  right &= !several[0].active();
  several[1] = weft::reduce_all(2L, UPC_ADD);
  const weft::value<long> moved = std::move(several[1]);
  try {
    right &= several[1].get() == 0 && false;
  } catch (const weft::error& e) {
    right &= e.call == "weft::value::get";
  }
  return right ? 0 : 1;
}
