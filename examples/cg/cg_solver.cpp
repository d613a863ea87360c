// SPDX-License-Identifier: BSD-3-Clause
#include "examples/cg/cg_solver.hpp"

#include <algorithm>
#include <complex>
#include <numeric>
#include <weft/weft.hpp>

namespace cg {

double dot(const vector& a, const vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}
void add(vector& y, double a, const vector& x) {
  for (std::size_t k = 0; k != y.size(); ++k)
    y[k] += a * x[k];
}
void add_to(vector& y, double a, const vector& x) {
  for (std::size_t k = 0; k != y.size(); ++k)
    y[k] = x[k] + a * y[k];
}

namespace {

std::size_t part_of(const problem& p) {
  const auto threads = static_cast<std::size_t>(THREADS);
  return (p.rows + threads - 1) / threads;
}

weft::value<double> sum(double mine) {
  return weft::reduce_all(mine, UPC_ADD);
}

class blocking final : public solver {
public:
  void solve(product& a, const vector& x, vector& z) override {
    vector r = x, p = x, q(x.size());
    std::ranges::fill(z, 0);
    double rho = sum(dot(r, r)).get();
    for (int k = 0; k != inner_iterations; ++k) {
      a.blocking(p, q);
      const double alpha = rho / sum(dot(p, q)).get();
      add(z, alpha, p);
      add(r, -alpha, q);
      const double before = std::exchange(rho, sum(dot(r, r)).get());
      add_to(p, rho / before, r);
    }
  }
};

// A p follows from A r, so that the product need not wait for the length of r.
class overlapped final : public solver {
public:
  void solve(product& a, const vector& x, vector& z) override {
    vector r = x, w(x.size()), p(x.size()), q(x.size());
    std::ranges::fill(z, 0);
    double before = 0, alpha = 0;
    for (int k = 0; k != inner_iterations; ++k) {
      weft::value<double> length = sum(dot(r, r));
      add(z, alpha, p);
      a(r, w);
      const double rho = length.get(), beta = k == 0 ? 0 : rho / before;
      add_to(p, beta, r);
      add_to(q, beta, w);
      alpha = rho / sum(dot(p, q)).get();
      add(r, -alpha, q);
      before = rho;
    }
    add(z, alpha, p);
  }
};

// A w is kept up by recurrences, too: both dot products are known behind one product.
class pipelined final : public solver {
public:
  void solve(product& a, const vector& x, vector& z) override {
    const std::size_t n = x.size();
    vector r = x, w(n), aw(n), p(n), s(n), as(n);
    std::ranges::fill(z, 0);
    a(r, w);
    double before = 0, alpha = 0;
    std::complex<double> mine(dot(r, r), dot(w, r));
    for (int k = 0; k != inner_iterations; ++k) {
      weft::value<std::complex<double>> both = weft::reduce_all(mine, UPC_ADD);
      if (k + 1 != inner_iterations) a(w, aw); // there is no next one to need it
      const std::complex<double> sums = both.get();
      const double gamma = sums.real(), delta = sums.imag(), beta = k == 0 ? 0 : gamma / before;
      alpha = gamma / (k == 0 ? delta : delta - beta * gamma / alpha);
      before = gamma;
      double length = 0, along = 0; // of what is there next: all vectors are read but once
      for (std::size_t i = 0; i != n; ++i) {
        as[i] = aw[i] + beta * as[i];
        s[i] = w[i] + beta * s[i];
        p[i] = r[i] + beta * p[i];
        z[i] += alpha * p[i];
        r[i] -= alpha * s[i];
        w[i] -= alpha * as[i];
        length += r[i] * r[i];
        along += w[i] * r[i];
      }
      mine = {length, along};
    }
  }
};

} // namespace

product::product(const problem& p)
    : part_(part_of(p)),
      matrix_(make_rows(p, std::min(p.rows, part_ * static_cast<std::size_t>(MYTHREAD)),
                        std::min(p.rows, part_ * (static_cast<std::size_t>(MYTHREAD) + 1)))),
      mine_(part_ * sizeof(double)), all_(part_ * sizeof(double) * static_cast<std::size_t>(THREADS)) {}

void product::put_mine(const vector& x) {
  std::ranges::copy(x, mine_.local<double>());
}

void product::operator()(const vector& x, vector& y) {
  put_mine(x);
  weft::pending gathering(upc_all_gather_all(all_.shared(), mine_.shared(), part_ * sizeof(double),
                                             UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC));
  std::ranges::fill(y, 0);
  matrix_.own.add_product(mine_.local<double>(), y.data());
  gathering.wait();
  matrix_.others.add_product(all(), y.data());
}

void product::blocking(const vector& x, vector& y) {
  put_mine(x);
  upc_all_gather_all(all_.shared(), mine_.shared(), part_ * sizeof(double), UPC_IN_MYSYNC | UPC_OUT_MYSYNC);
  std::ranges::fill(y, 0);
  matrix_.own.add_product(mine_.local<double>(), y.data());
  matrix_.others.add_product(all(), y.data());
}

std::unique_ptr<solver> make_blocking() {
  return std::make_unique<blocking>();
}
std::unique_ptr<solver> make_overlapped() {
  return std::make_unique<overlapped>();
}
std::unique_ptr<solver> make_pipelined() {
  return std::make_unique<pipelined>();
}

} // namespace cg
