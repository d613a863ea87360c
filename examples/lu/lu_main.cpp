// SPDX-License-Identifier: BSD-3-Clause
// L U = A without pivoting, for a matrix with a dominant diagonal, on a grid of threads: one-sided calls
// broadcast panels to teams, along the rows and the columns of the grid, and with look-ahead they travel
// behind the update by the panel before. The bits are those of a serial run.
#include "examples/lu/lu_factorization.hpp"
#include "examples/support/program.hpp"

#include <chrono>
#include <nlohmann/json.hpp>

namespace {

using example::say;

struct options {
  std::size_t rows = 500;
  std::string variant = "both";
  bool json = false;

  bool wants(std::string_view name) const { return variant == "both" || variant == name; }
};

constexpr double largest_residual = 16; // as the benchmark HPL has it

bool run_variant(lu::factorization& f, const std::vector<lu::block>& serial, const char* variant,
                 const options& chosen) {
  upc_barrier;
  const auto begin = std::chrono::steady_clock::now();
  const double mine = f.run(variant == std::string_view("look-ahead"));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const double seconds = weft::reduce_all(took.count(), UPC_MAX).get();
  const double waited = weft::reduce_all(mine, UPC_ADD).get() / THREADS;
  const bool same = weft::reduce_all(f.same_as(serial) ? 1 : 0, UPC_MIN).get() == 1;
  const double residual = weft::reduce_all(f.residual(serial), UPC_MAX).get();
  const bool verified = same && residual < largest_residual;
  const auto n = static_cast<double>(chosen.rows);
  const double gflops = 2 * n * n * n / 3 / seconds / 1e9;
  if (chosen.json) {
    const nlohmann::json object{{"benchmark", "lu"},    {"rows", chosen.rows},  {"threads", int(THREADS)},
                                {"variant", variant},   {"verified", verified}, {"same_bits", same},
                                {"residual", residual}, {"seconds", seconds},   {"waited", waited},
                                {"gflops", gflops}};
    say("{}\n", object.dump());
  } else {
    say("  {}: verification {}, {} bits as a serial run, residual {:.1e}\n", variant,
        verified ? "successful" : "FAILED", same ? "the same" : "other", residual);
    say("  {}: {:.4f} s, {:.2f} Gflop/s, {:.4f} s waiting for panels\n", variant, seconds, gflops, waited);
  }
  return verified;
}

int run(const options& chosen) {
  const example::process_grid grid = example::make_process_grid(1, 1);
  if (!chosen.json)
    say("lu of {} rows, threads: {}, {} by {}\n", chosen.rows, THREADS, grid.rows, grid.columns);
  lu::factorization f(grid, chosen.rows);
  const std::vector<lu::block> serial = lu::factor_serially(chosen.rows);
  f.run(true); // untimed, to touch all memory
  bool verified = true;
  if (chosen.wants("blocking")) verified = run_variant(f, serial, "blocking", chosen);
  if (chosen.wants("look-ahead")) verified = run_variant(f, serial, "look-ahead", chosen) && verified;
  return verified ? EXIT_SUCCESS : EXIT_FAILURE;
}

} // namespace

int main(int argc, char** argv) {
  weft::command_line app("LU factorization with panels that are broadcast to teams, behind the update");
  options chosen;
  app.add("--rows", &chosen.rows, "rows of the matrix").between(1, 1 << 14).tells_default();
  app.add("--variant", &chosen.variant, "blocking, look-ahead or both")
      .one_of({"blocking", "look-ahead", "both"})
      .tells_default();
  app.add_flag("--json", chosen.json, "print one JSON object per variant instead of text");
  return example::run_program(app, "lu", argc, argv, [&] { return run(chosen); });
}
