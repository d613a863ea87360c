// The sort beside std::stable_sort on one thread, in the same run: numbers, records by a lambda, by a key,
// and numbers by a comparator of C. Prints the ratios, and how the time of a sort is divided.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <string>
#include <vector>
#include <weft/weft.hpp>

namespace {

struct options {
  std::size_t elements = 10'000'000;
  int repetitions = 3;
  std::string json;
};

using clock_type = std::chrono::steady_clock;
double seconds_since(clock_type::time_point begin) {
  return std::chrono::duration<double>(clock_type::now() - begin).count();
}
double median(std::vector<double> all) {
  std::ranges::sort(all);
  return all[all.size() / 2];
}

struct record {
  double weight;
  std::uint32_t key, id;
};

// Random elements.
template <class T> void draw(T* into, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t k = 0; k != count; ++k) {
    if constexpr (std::is_same_v<T, record>)
      into[k] = {static_cast<double>(random()), static_cast<std::uint32_t>(random()),
                 static_cast<std::uint32_t>(k)};
    else
      into[k] = static_cast<T>(random());
  }
}

int by_number(upc_shared_ptr_t a, upc_shared_ptr_t b) {
  const long x = *static_cast<const long*>(upc_cast(a)), y = *static_cast<const long*>(upc_cast(b));
  return (x > y) - (x < y);
}

constexpr std::array stages{"stage_0_ns", "stage_1_ns", "stage_2_ns", "stage_3_ns"};
constexpr std::array stage_names{"own elements", "cuts", "own bucket", "merge"};

struct measured {
  double sort, one_thread;      // seconds
  std::array<double, 4> stages; // shares of the time of all repetitions
};

// `less` is what std::stable_sort is given on thread 0, while all others wait.
template <class T, class Less, class Sort> measured measure(const options& o, Less less, Sort sort) {
  const std::size_t each = o.elements / static_cast<std::size_t>(THREADS);
  weft::shared_array<T, weft::dynamic_block> a(weft::extent(each), weft::per_thread(each));
  T* const mine = static_cast<T*>(upc_cast(a + static_cast<std::ptrdiff_t>(each) * MYTHREAD));
  std::vector<double> took, alone;
  measured m{};
  for (int k = 0; k != o.repetitions; ++k) {
    draw(mine, each, static_cast<std::uint64_t>(k * THREADS + MYTHREAD));
    std::array<unsigned long long, 4> before{};
    for (std::size_t s = 0; s != stages.size(); ++s)
      before[s] = weft_statistic(stages[s]);
    upc_barrier;
    const auto begin = clock_type::now();
    sort(a);
    upc_barrier;
    took.push_back(seconds_since(begin));
    for (std::size_t s = 0; s != stages.size(); ++s)
      m.stages[s] += static_cast<double>(weft_statistic(stages[s]) - before[s]) / 1e9;
    if (MYTHREAD == 0) {
      const auto all = std::make_unique<T[]>(o.elements);
      draw(all.get(), o.elements, static_cast<std::uint64_t>(k));
      const auto start = clock_type::now();
      std::stable_sort(all.get(), all.get() + o.elements, less);
      alone.push_back(seconds_since(start));
    }
    upc_barrier;
  }
  for (double& stage : m.stages)
    stage /= std::accumulate(took.begin(), took.end(), 0.0);
  m.sort = median(took);
  m.one_thread = MYTHREAD == 0 ? median(alone) : 0;
  return m;
}

void report(const char* what, const measured& m, nlohmann::json& rows) {
  if (MYTHREAD != 0) return;
  fmt::print("  {:<32} {:7.3f} s  {:7.3f} s  {:5.2f}  ", what, m.sort, m.one_thread, m.sort / m.one_thread);
  double rest = 1;
  for (std::size_t s = 0; s != stages.size(); ++s) {
    fmt::print(" {} {:.0f} %,", stage_names[s], 100 * m.stages[s]);
    rest -= m.stages[s];
  }
  fmt::print(" moving and waiting {:.0f} %\n", 100 * std::max(rest, 0.0));
  std::fflush(stdout);
  rows.push_back({{"what", what},
                  {"threads", int(THREADS)},
                  {"seconds", m.sort},
                  {"one_thread_seconds", m.one_thread},
                  {"ratio", m.sort / m.one_thread},
                  {"stages", m.stages}});
}

void run(const options& o) {
  nlohmann::json rows;
  if (MYTHREAD == 0)
    fmt::print("sort of {} elements on {} threads beside std::stable_sort on one: medians of {}\n",
               o.elements, THREADS, o.repetitions);
  const auto less = [](long x, long y) { return x < y; };
  report("64-bit integers",
         measure<long>(o, std::less<long>(), [](auto& a) { upc_all_sort(a, a.size(), 0); }), rows);
  report("64-bit integers, a lambda",
         measure<long>(o, less, [&](auto& a) { upc_all_sort(a, a.size(), less, 0); }), rows);
  const auto by_weight = [](const record& x, const record& y) { return x.weight < y.weight; };
  report("records of 16 bytes, a lambda",
         measure<record>(o, by_weight, [&](auto& a) { upc_all_sort(a, a.size(), by_weight, 0); }), rows);
  const auto by_key = [](const record& x, const record& y) { return x.key < y.key; };
  report(
      "records of 16 bytes, a key",
      measure<record>(o, by_key, [&](auto& a) { upc_all_sort(a, a.size(), weft::by_key(&record::key), 0); }),
      rows);
  report("64-bit integers, a comparator of C",
         measure<long>(o, less,
                       [](auto& a) { upc_all_sort(a, sizeof(long), a.size(), a.block(), by_number, 0); }),
         rows);
  if (MYTHREAD == 0 && !o.json.empty())
    if (FILE* const file = std::fopen(o.json.c_str(), "w")) {
      for (const auto& row : rows)
        fmt::print(file, "{}\n", row.dump());
      std::fclose(file);
    }
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app("The sort of the library beside std::stable_sort");
  options o;
  app.add_option("--elements", o.elements, "in all")->capture_default_str();
  app.add_option("--repetitions", o.repetitions, "of each sort")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_option("--json", o.json, "a file for one JSON object per line and sort");
  CLI11_PARSE(app, argc, argv);
  weft_init(&argc, &argv);
  run(o);
  weft_finalize();
}
