// SPDX-License-Identifier: BSD-3-Clause
// NAS FT: a partial differential equation solved by 3-D Fourier transforms, with the two transposition
// variants over one core. Every iteration is verified against the official checksum.
#include "examples/ft/ft_benchmark.hpp"
#include "examples/ft/ft_carrier.hpp"
#include "examples/support/program.hpp"

#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <weft/weft.hpp>

namespace {

struct options {
  std::string problem = "S";
  std::string variant = "both";
  std::string plan = "measure";
  std::size_t pieces = 4;
  bool json = false;

  bool wants(std::string_view name) const { return variant == "both" || variant == name; }
};

class all_threads {
public:
  std::size_t rank() const { return static_cast<std::size_t>(MYTHREAD); }
  std::size_t ranks() const { return static_cast<std::size_t>(THREADS); }
  void barrier() { upc_barrier; }
  std::vector<ft::complex> gather(ft::complex value) { return numbers_(value); }
  std::vector<ft::seconds> gather(ft::seconds value) { return times_(value); }

private:
  example::gatherer<ft::complex> numbers_;
  example::gatherer<ft::seconds> times_;
};

using example::first_thread;
using example::say;

void configure(weft::command_line& app, options& chosen) {
  app.add("--class", &chosen.problem, "problem class: S, W or A").one_of({"S", "W", "A"}).tells_default();
  app.add("--variant", &chosen.variant, "transposition: blocking, pipelined or both")
      .one_of({"blocking", "pipelined", "both"})
      .tells_default();
  app.add("--pieces", &chosen.pieces, "pieces of a slab in the pipelined variant")
      .between(1, 1024)
      .tells_default();
  app.add("--plan", &chosen.plan, "how FFTW plans: measure (faster transforms), or estimate (faster start)")
      .one_of({"estimate", "measure"})
      .tells_default();
  app.add_flag("--json", chosen.json, "print one JSON object per variant instead of text");
}

void report_iteration(std::size_t number, ft::complex sum, ft::complex expected) {
  say("  {:>9}  {:.10f} {:.10f}  {:.10f} {:.10f}  {:>14.1e}  {}\n", number, sum.real(), sum.imag(),
      expected.real(), expected.imag(), ft::relative_error(sum, expected),
      ft::verified(sum, expected) ? "ok" : "WRONG");
}

void print_json(const ft::problem& problem, const std::string& variant, const ft::outcome& result) {
  nlohmann::json iterations = nlohmann::json::array();
  for (int i = 0; i != ft::iterations; ++i) {
    const ft::complex sum = result.checksums[i];
    const ft::complex expected = problem.checksums[i];
    iterations.push_back({{"iteration", i + 1},
                          {"checksum", {sum.real(), sum.imag()}},
                          {"expected", {expected.real(), expected.imag()}},
                          {"relative_error", ft::relative_error(sum, expected)},
                          {"ok", ft::verified(sum, expected)}});
  }
  const nlohmann::json object{{"benchmark", "ft"},
                              {"class", problem.name},
                              {"threads", static_cast<std::size_t>(THREADS)},
                              {"variant", variant},
                              {"verified", result.verified},
                              {"seconds", result.slowest.total},
                              {"transposition_seconds", result.slowest.transposition.moving},
                              {"waiting_seconds", result.slowest.transposition.waiting},
                              {"mops", ft::mega_operations(problem) / result.slowest.total},
                              {"iterations", iterations}};
  say("{}\n", object.dump());
}

void print_result(const ft::problem& problem, const std::string& variant, const ft::outcome& result) {
  const ft::seconds& time = result.slowest;
  say("  {}: verification {}\n", variant, result.verified ? "successful" : "FAILED");
  say("  {}: {:.4f} s, {:.4f} s in transpositions ({:.4f} s of it in library calls), {:.1f} Mop/s\n", variant,
      time.total, time.transposition.moving, time.transposition.waiting,
      ft::mega_operations(problem) / time.total);
}

bool run_variant(const ft::problem& problem, const std::string& variant,
                 std::unique_ptr<ft::timed_transposition> transposition, const options& chosen) {
  if (!chosen.json) {
    say("ft class {} ({} x {} x {}), {} exchange, threads: {}\n", problem.name, problem.nx, problem.ny,
        problem.nz, variant, THREADS);
    say("  iteration  {:<27}  {:<27}  relative error\n", "checksum", "expected");
  }
  const auto effort = chosen.plan == "measure" ? ft::planning::measure : ft::planning::estimate;
  all_threads threads;
  const ft::outcome result =
      ft::solve(problem, *transposition, effort, threads, [&](std::size_t i, ft::complex sum) {
        if (!chosen.json) report_iteration(i + 1, sum, problem.checksums[i]);
      });
  if (chosen.json)
    print_json(problem, variant, result);
  else
    print_result(problem, variant, result);
  return result.verified;
}

using blocking = ft::blocking_transposition<ft::shared_carrier>;
using pipelined = ft::pipelined_transposition<ft::shared_carrier>;

int run(const options& chosen) {
  const ft::problem& problem = ft::find_problem(chosen.problem);
  const auto counts = ft::thread_counts(problem);
  if (std::ranges::find(counts, static_cast<std::size_t>(THREADS)) == counts.end()) {
    if (first_thread())
      fmt::print(stderr, "ft: class {} cannot be cut into {} slabs: start it with one of {} threads\n",
                 problem.name, THREADS, fmt::join(counts, ", "));
    return EXIT_FAILURE;
  }
  bool verified = true;
  if (chosen.wants("blocking"))
    verified = run_variant(problem, "blocking", std::make_unique<blocking>(problem), chosen);
  if (chosen.wants("pipelined"))
    verified =
        run_variant(problem, "pipelined", std::make_unique<pipelined>(problem, chosen.pieces), chosen) &&
        verified;
  return verified ? EXIT_SUCCESS : EXIT_FAILURE;
}

} // namespace

int main(int argc, char** argv) {
  weft::command_line app("NAS FT with a blocking and a pipelined all-to-all");
  options chosen;
  configure(app, chosen);
  return example::run_program(app, "ft", argc, argv, [&] { return run(chosen); });
}
