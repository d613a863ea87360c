// SPDX-License-Identifier: BSD-3-Clause
// NAS IS: integers are ranked, ten times over; once with buckets that change threads, once by the sort of the
// library. In every iteration the ranks of five keys are verified, and in the end the order of all.
#include "examples/is/is_benchmark.hpp"
#include "examples/support/program.hpp"

#include <nlohmann/json.hpp>
#include <weft/weft.hpp>

namespace {

using example::say;

struct options {
  std::string problem = "S";
  std::string variant = "both";
  bool json = false;

  bool wants(std::string_view name) const { return variant == "both" || variant == name; }
};

struct all_threads {
  std::size_t rank() const { return static_cast<std::size_t>(MYTHREAD); }
  std::size_t ranks() const { return static_cast<std::size_t>(THREADS); }
  void barrier() { upc_barrier; }
  template <class T> T sum(T value) { return weft::reduce_all(value, UPC_ADD).get(); }
  template <class T> T max(T value) { return weft::reduce_all(value, UPC_MAX).get(); }
  template <class T> T min(T value) { return weft::reduce_all(value, UPC_MIN).get(); }
  is::key max_before(is::key value) {
    return weft::exclusive_prefix_reduce(value, UPC_MAX, is::key{0}).get();
  }
};

bool run_variant(const is::problem& p, const char* variant, std::unique_ptr<is::ranking> ranking,
                 const options& chosen) {
  all_threads ranks;
  const is::outcome result = is::benchmark(p, *ranking, ranks).run();
  const bool verified = result.passed == is::checks;
  const double mops = static_cast<double>(p.keys) * is::iterations / result.seconds / 1e6;
  if (chosen.json) {
    const nlohmann::json object{
        {"benchmark", "is"},    {"class", p.name},           {"threads", int(THREADS)},
        {"variant", variant},   {"passed", result.passed},   {"checks", is::checks},
        {"verified", verified}, {"seconds", result.seconds}, {"mops", mops}};
    say("{}\n", object.dump());
  } else {
    say("is class {} ({} keys below {}), by {}, threads: {}\n", p.name, p.keys, p.end, variant, THREADS);
    say("  {}: verification {}, {} of {} checks\n", variant, verified ? "successful" : "FAILED",
        result.passed, is::checks);
    say("  {}: {:.4f} s, {:.1f} Mop/s\n", variant, result.seconds, mops);
  }
  return verified;
}

int run(const options& chosen) {
  const is::problem& p = is::find_problem(chosen.problem);
  if (!is::can_be_cut(p, static_cast<std::size_t>(THREADS))) {
    if (example::first_thread())
      fmt::print(stderr,
                 "is: the {} keys of class {} cannot be cut into {} parts: start it with a power of two of "
                 "threads\n",
                 p.keys, p.name, THREADS);
    return EXIT_FAILURE;
  }
  bool verified = true;
  if (chosen.wants("exchange")) verified = run_variant(p, "exchange", is::make_by_exchange(p), chosen);
  if (chosen.wants("sort")) verified = run_variant(p, "sort", is::make_by_sort(p), chosen) && verified;
  return verified ? EXIT_SUCCESS : EXIT_FAILURE;
}

} // namespace

int main(int argc, char** argv) {
  weft::command_line app("NAS IS by an exchange of buckets, and by the sort of the library");
  options chosen;
  app.add("--class", &chosen.problem, "problem class: S, W or A").one_of({"S", "W", "A"}).tells_default();
  app.add("--variant", &chosen.variant, "exchange, sort or both")
      .one_of({"exchange", "sort", "both"})
      .tells_default();
  app.add_flag("--json", chosen.json, "print one JSON object per variant instead of text");
  return example::run_program(app, "is", argc, argv, [&] { return run(chosen); });
}
