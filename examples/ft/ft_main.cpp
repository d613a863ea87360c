// NAS FT: a partial differential equation solved by 3-D Fourier transforms, with the two transposition
// variants over one core. Every iteration is verified against the official checksum.
#include "examples/ft/ft_transposition.hpp"
#include "examples/support/program.hpp"
#include "examples/support/shared_blocks.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <numeric>
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

struct seconds {
  double total;
  ft::transposition_times transposition;
};

struct outcome {
  std::vector<ft::complex> checksums;
  bool verified = true;
  seconds slowest; // each the maximum over the threads
};

using example::first_thread;
using example::say;

void configure(CLI::App& app, options& chosen) {
  app.add_option("--class", chosen.problem, "problem class: S, W or A")
      ->check(CLI::IsMember({"S", "W", "A"}))
      ->capture_default_str();
  app.add_option("--variant", chosen.variant, "transposition: blocking, pipelined or both")
      ->check(CLI::IsMember({"blocking", "pipelined", "both"}))
      ->capture_default_str();
  app.add_option("--pieces", chosen.pieces, "pieces of a slab in the pipelined variant")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--plan", chosen.plan,
                 "how FFTW plans: measure (faster transforms), or estimate (faster start)")
      ->check(CLI::IsMember({"estimate", "measure"}))
      ->capture_default_str();
  app.add_flag("--json", chosen.json, "print one JSON object per variant instead of text");
}

void report_iteration(int number, ft::complex sum, ft::complex expected) {
  say("  {:>9}  {:.10f} {:.10f}  {:.10f} {:.10f}  {:>14.1e}  {}\n", number, sum.real(), sum.imag(),
      expected.real(), expected.imag(), ft::relative_error(sum, expected),
      ft::verified(sum, expected) ? "ok" : "WRONG");
}

ft::complex sum_of(const std::vector<ft::complex>& parts) {
  return std::accumulate(parts.begin(), parts.end(), ft::complex(0));
}

seconds slowest_of(const std::vector<seconds>& all) {
  seconds slowest{};
  for (const seconds& s : all) {
    slowest.total = std::max(slowest.total, s.total);
    slowest.transposition.moving = std::max(slowest.transposition.moving, s.transposition.moving);
    slowest.transposition.waiting = std::max(slowest.transposition.waiting, s.transposition.waiting);
  }
  return slowest;
}

// As the benchmark prescribes: an untimed pass touches all memory, then everything from the initial
// conditions to the last checksum counts.
outcome solve(const ft::problem& problem, ft::timed_transposition& transposition, const options& chosen) {
  const auto effort = chosen.plan == "measure" ? ft::planning::measure : ft::planning::estimate;
  ft::solver solver(problem, static_cast<std::size_t>(MYTHREAD), static_cast<std::size_t>(THREADS),
                    transposition, effort);
  solver.start();
  transposition.reset_times();
  example::gatherer<ft::complex> gather;
  outcome result;
  double total = 0;
  upc_barrier;
  {
    const ft::stopwatch running(total);
    solver.start();
    for (int i = 0; i != ft::iterations; ++i) {
      result.checksums.push_back(sum_of(gather(solver.step())));
      const bool verified = ft::verified(result.checksums.back(), problem.checksums[i]);
      result.verified = result.verified && verified;
      if (!chosen.json) report_iteration(i + 1, result.checksums.back(), problem.checksums[i]);
    }
  }
  result.slowest = slowest_of(example::gatherer<seconds>()({total, transposition.times()}));
  return result;
}

void print_json(const ft::problem& problem, const std::string& variant, const outcome& result) {
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

void print_result(const ft::problem& problem, const std::string& variant, const outcome& result) {
  const seconds& time = result.slowest;
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
  const outcome result = solve(problem, *transposition, chosen);
  if (chosen.json)
    print_json(problem, variant, result);
  else
    print_result(problem, variant, result);
  return result.verified;
}

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
    verified = run_variant(problem, "blocking", ft::make_blocking(problem), chosen);
  if (chosen.wants("pipelined"))
    verified =
        run_variant(problem, "pipelined", ft::make_pipelined(problem, chosen.pieces), chosen) && verified;
  return verified ? EXIT_SUCCESS : EXIT_FAILURE;
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app("NAS FT with a blocking and a pipelined all-to-all");
  options chosen;
  configure(app, chosen);
  return example::run_program(app, "ft", argc, argv, [&] { return run(chosen); });
}
