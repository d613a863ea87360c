// SPDX-License-Identifier: BSD-3-Clause
// NAS CG: the smallest eigenvalue of a sparse matrix by inverse iteration with conjugate gradients, whose dot
// products wait for all threads, or are hidden behind the product with the matrix. The estimate is verified.
#include "examples/cg/cg_solver.hpp"
#include "examples/support/program.hpp"

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <weft/weft.hpp>

namespace {

using example::say;
using clock_type = std::chrono::steady_clock;

struct options {
  std::string problem = "S";
  std::string variant = "all";
  bool json = false;

  bool wants(std::string_view name) const { return variant == "all" || variant == name; }
};

struct outcome {
  double zeta = 0, residual = 0;
  double seconds = 0, products = 0; // in all; of as many products alone
};

double seconds_since(clock_type::time_point begin) {
  const std::chrono::duration<double> took = clock_type::now() - begin;
  return weft::reduce_all(took.count(), UPC_MAX).get();
}

class benchmark {
public:
  benchmark(const cg::problem& p, cg::solver& solver)
      : problem_(p), solver_(solver), product_(p), x_(product_.rows()), z_(product_.rows()) {}

  // As the benchmark prescribes: an untimed iteration touches all memory.
  outcome run(bool tell) {
    outcome result;
    std::ranges::fill(x_, 1);
    static_cast<void>(iterate());
    std::ranges::fill(x_, 1);
    upc_barrier;
    const auto begin = clock_type::now();
    for (int iteration = 1; iteration <= problem_.iterations; ++iteration) {
      result.zeta = iterate();
      if (tell) say("  {:>9}  {:.13f}\n", iteration, result.zeta);
    }
    result.seconds = seconds_since(begin);
    result.products = products();
    result.residual = residual();
    return result;
  }

private:
  double iterate() {
    solver_.solve(product_, x_, z_);
    weft::value<double> along = weft::reduce_all(cg::dot(x_, z_), UPC_ADD);
    weft::value<double> length = weft::reduce_all(cg::dot(z_, z_), UPC_ADD);
    const double zeta = problem_.shift + 1 / along.get(), scale = 1 / std::sqrt(length.get());
    before_ = x_;
    for (std::size_t k = 0; k != x_.size(); ++k)
      x_[k] = scale * z_[k];
    return zeta;
  }
  // |x - A z| of the last iteration.
  double residual() {
    cg::vector az(z_.size());
    product_(z_, az);
    cg::add(az, -1, before_);
    return std::sqrt(weft::reduce_all(cg::dot(az, az), UPC_ADD).get());
  }
  double products() {
    cg::vector y(x_.size());
    upc_barrier;
    const auto begin = clock_type::now();
    for (int k = 0; k != problem_.iterations * cg::inner_iterations; ++k)
      product_(x_, y);
    return seconds_since(begin);
  }

  const cg::problem& problem_;
  cg::solver& solver_;
  cg::product product_;
  cg::vector x_, z_, before_;
};

bool run_variant(const cg::problem& p, const char* variant, const std::unique_ptr<cg::solver>& solver,
                 const options& chosen) {
  if (!chosen.json)
    say("cg class {} ({} rows), {}, threads: {}\n  iteration  zeta\n", p.name, p.rows, variant, THREADS);
  const outcome result = benchmark(p, *solver).run(!chosen.json);
  const double error = std::abs(result.zeta - p.zeta) / p.zeta;
  const bool verified = error <= cg::tolerance; // no number does not pass
  const double each = 1e6 / (p.iterations * cg::inner_iterations);
  if (chosen.json) {
    const nlohmann::json object{{"benchmark", "cg"},
                                {"class", p.name},
                                {"threads", int(THREADS)},
                                {"variant", variant},
                                {"verified", verified},
                                {"zeta", result.zeta},
                                {"expected", p.zeta},
                                {"relative_error", error},
                                {"residual", result.residual},
                                {"seconds", result.seconds},
                                {"iteration_us", result.seconds * each},
                                {"product_us", result.products * each}};
    say("{}\n", object.dump());
  } else {
    say("  {}: verification {}, zeta {:.13f}, expected {:.13f}, residual {:.1e}\n", variant,
        verified ? "successful" : "FAILED", result.zeta, p.zeta, result.residual);
    say("  {}: {:.4f} s, {:.1f} us an inner iteration, {:.1f} us the product alone\n", variant,
        result.seconds, result.seconds * each, result.products * each);
  }
  return verified;
}

int run(const options& chosen) {
  const cg::problem& p = cg::find_problem(chosen.problem);
  bool verified = true;
  if (chosen.wants("blocking")) verified = run_variant(p, "blocking", cg::make_blocking(), chosen);
  if (chosen.wants("overlapped"))
    verified = run_variant(p, "overlapped", cg::make_overlapped(), chosen) && verified;
  if (chosen.wants("pipelined"))
    verified = run_variant(p, "pipelined", cg::make_pipelined(), chosen) && verified;
  return verified ? EXIT_SUCCESS : EXIT_FAILURE;
}

} // namespace

int main(int argc, char** argv) {
  weft::command_line app("NAS CG with blocking, overlapped and pipelined dot products");
  options chosen;
  app.add("--class", &chosen.problem, "problem class: S, W or A").one_of({"S", "W", "A"}).tells_default();
  app.add("--variant", &chosen.variant, "blocking, overlapped, pipelined or all")
      .one_of({"blocking", "overlapped", "pipelined", "all"})
      .tells_default();
  app.add_flag("--json", chosen.json, "print one JSON object per variant instead of text");
  return example::run_program(app, "cg", argc, argv, [&] { return run(chosen); });
}
