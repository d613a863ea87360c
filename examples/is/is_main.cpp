// NAS IS: integers are ranked, ten times over; once with buckets that change threads, once by the sort of the
// library. In every iteration the ranks of five keys are verified, and in the end the order of all.
#include "examples/is/is_ranking.hpp"
#include "examples/support/program.hpp"
#include "examples/support/shared_blocks.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
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

struct outcome {
  int passed = 0; // of 10 times 5 ranks, and one order
  double seconds = 0;
};
constexpr int checks = is::tests * is::iterations + 1;

class benchmark {
public:
  benchmark(const is::problem& p, is::ranking& r)
      : problem_(p), ranking_(r), keys_(p.keys / static_cast<std::size_t>(THREADS)),
        first_(keys_.size() * static_cast<std::size_t>(MYTHREAD)) {
    is::make_keys(p, first_, keys_);
  }

  // As the benchmark prescribes: an untimed pass touches all memory.
  outcome run() {
    iterate(1);
    outcome result;
    for (int iteration = 1; iteration <= is::iterations; ++iteration) {
      upc_barrier;
      const auto begin = std::chrono::steady_clock::now();
      const std::vector<is::key> wanted = iterate(iteration);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      result.seconds += weft::reduce_all(took.count(), UPC_MAX).get();
      const std::vector<std::size_t> ranks = ranking_.ranks_of(wanted);
      for (int test = 0; test != is::tests; ++test)
        result.passed += ranks[static_cast<std::size_t>(test)] == problem_.expected_rank(test, iteration);
    }
    result.passed += in_order();
    return result;
  }

private:
  // Two keys change in every iteration. Returns the test keys as they are now.
  std::vector<is::key> iterate(int iteration) {
    if (MYTHREAD == 0) {
      keys_[static_cast<std::size_t>(iteration)] = static_cast<is::key>(iteration);
      keys_[static_cast<std::size_t>(iteration) + is::iterations] =
          problem_.end - static_cast<is::key>(iteration);
    }
    std::vector<is::key> wanted;
    for (const std::size_t index : problem_.index) {
      const bool here = index >= first_ && index - first_ < keys_.size();
      wanted.push_back(here ? keys_[index - first_] : 0);
    }
    ranking_.rank(keys_);
    for (is::key& k : wanted)
      k = weft::reduce_all(k, UPC_MAX).get();
    return wanted;
  }

  bool in_order() {
    const std::vector<is::key> mine = ranking_.sorted();
    const std::size_t all = weft::reduce_all(mine.size(), UPC_ADD).get();
    const is::key largest = mine.empty() ? 0 : mine.back();
    const is::key before = weft::exclusive_prefix_reduce(largest, UPC_MAX, is::key{0}).get();
    const bool here = std::ranges::is_sorted(mine) && (mine.empty() || before <= mine.front());
    return weft::reduce_all(here ? 1 : 0, UPC_MIN).get() == 1 && all == problem_.keys;
  }

  const is::problem& problem_;
  is::ranking& ranking_;
  std::vector<is::key> keys_;
  std::size_t first_;
};

bool run_variant(const is::problem& p, const char* variant, std::unique_ptr<is::ranking> ranking,
                 const options& chosen) {
  const outcome result = benchmark(p, *ranking).run();
  const bool verified = result.passed == checks;
  const double mops = static_cast<double>(p.keys) * is::iterations / result.seconds / 1e6;
  if (chosen.json) {
    const nlohmann::json object{
        {"benchmark", "is"},    {"class", p.name},           {"threads", int(THREADS)},
        {"variant", variant},   {"passed", result.passed},   {"checks", checks},
        {"verified", verified}, {"seconds", result.seconds}, {"mops", mops}};
    say("{}\n", object.dump());
  } else {
    say("is class {} ({} keys below {}), by {}, threads: {}\n", p.name, p.keys, p.end, variant, THREADS);
    say("  {}: verification {}, {} of {} checks\n", variant, verified ? "successful" : "FAILED",
        result.passed, checks);
    say("  {}: {:.4f} s, {:.1f} Mop/s\n", variant, result.seconds, mops);
  }
  return verified;
}

int run(const options& chosen) {
  const is::problem& p = is::find_problem(chosen.problem);
  if (p.keys % static_cast<std::size_t>(THREADS) != 0 || p.keys / static_cast<std::size_t>(THREADS) < 32) {
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
  CLI::App app("NAS IS by an exchange of buckets, and by the sort of the library");
  options chosen;
  app.add_option("--class", chosen.problem, "problem class: S, W or A")
      ->check(CLI::IsMember({"S", "W", "A"}))
      ->capture_default_str();
  app.add_option("--variant", chosen.variant, "exchange, sort or both")
      ->check(CLI::IsMember({"exchange", "sort", "both"}))
      ->capture_default_str();
  app.add_flag("--json", chosen.json, "print one JSON object per variant instead of text");
  return example::run_program(app, "is", argc, argv, [&] { return run(chosen); });
}
