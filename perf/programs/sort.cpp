// SPDX-License-Identifier: BSD-3-Clause
// The sort beside std::stable_sort on one thread, in the same run: numbers, records by a lambda, by a key,
// and numbers by a comparator of C. Tells the ratios, and how the time of a sort is divided.
#include "perf/programs/program.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <numeric>
#include <random>

namespace {

struct options {
  std::size_t elements = 10'000'000;
  int repetitions = 3;
};

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
constexpr std::array shares{"own_percent", "cuts_percent", "bucket_percent", "merge_percent"};

struct measured {
  double sort, one_thread;      // microseconds
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
    took.push_back(perf::time_of([&] {
      sort(a);
      upc_barrier;
    }));
    for (std::size_t s = 0; s != stages.size(); ++s)
      m.stages[s] += static_cast<double>(weft_statistic(stages[s]) - before[s]) / 1e3;
    if (MYTHREAD == 0) {
      const auto all = std::make_unique<T[]>(o.elements);
      draw(all.get(), o.elements, static_cast<std::uint64_t>(k));
      alone.push_back(perf::time_of([&] { std::stable_sort(all.get(), all.get() + o.elements, less); }));
    }
    upc_barrier;
  }
  for (double& stage : m.stages)
    stage /= std::accumulate(took.begin(), took.end(), 0.0);
  m.sort = perf::median(took);
  m.one_thread = MYTHREAD == 0 ? perf::median(alone) : 0;
  return m;
}

template <class T, class Less, class Sort>
void sorts(const options& o, std::string_view what, Less less, Sort sort) {
  const measured m = measure<T>(o, less, sort);
  perf::figures found{{"one_thread_us", m.one_thread}, {"one_thread_ratio", m.sort / m.one_thread}};
  double rest = 1;
  for (std::size_t s = 0; s != stages.size(); ++s) {
    found.emplace_back(shares[s], 100 * m.stages[s]);
    rest -= m.stages[s];
  }
  found.emplace_back("moving_percent", 100 * std::max(rest, 0.0)); // and waiting
  perf::reporter{"sort", "stable"}(what, o.elements * sizeof(T), m.sort, found);
}

void measure_all(const options& o) {
  const auto less = [](long x, long y) { return x < y; };
  const auto by_weight = [](const record& x, const record& y) { return x.weight < y.weight; };
  const auto by_key = [](const record& x, const record& y) { return x.key < y.key; };
  sorts<long>(o, "integers", std::less<long>(), [](auto& a) { upc_all_sort(a, a.size(), 0); });
  sorts<long>(o, "integers, a lambda", less, [&](auto& a) { upc_all_sort(a, a.size(), less, 0); });
  sorts<record>(o, "records, a lambda", by_weight, [&](auto& a) { upc_all_sort(a, a.size(), by_weight, 0); });
  sorts<record>(o, "records, a key", by_key,
                [&](auto& a) { upc_all_sort(a, a.size(), weft::by_key(&record::key), 0); });
  sorts<long>(o, "integers, in C", less,
              [](auto& a) { upc_all_sort(a, sizeof(long), a.size(), a.block(), by_number, 0); });
}

} // namespace

int main(int argc, char** argv) {
  weft::command_line app("the sort of the library beside std::stable_sort");
  options o;
  app.add("--elements", &o.elements, "in all").tells_default();
  perf::add_repetitions(app, o.repetitions);
  return perf::run_program(app, argc, argv, [&] { measure_all(o); });
}
