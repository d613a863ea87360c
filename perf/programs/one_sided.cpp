// SPDX-License-Identifier: BSD-3-Clause
// One-sided collectives, called by thread 0, beside a loop of upc_memcpy that moves the same blocks, in the
// same run; and what the other threads lose of a computation meanwhile.
#include "perf/programs/program.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <numeric>

namespace {

using perf::on;

struct options {
  std::vector<std::size_t> sizes{8, 1024, 16384, 262144, 4194304};
  std::vector<std::string> operations{"broadcast", "scatter", "gather", "exchange"};
  int repetitions = 15;
};

// Areas with a block for each thread, on each thread.
struct areas {
  upc_shared_ptr_t dst, src;
};
using work = std::function<void(const areas&, std::size_t)>;
struct measured_operation {
  const char* name;
  work one_sided, loop;
};

std::vector<measured_operation> operations() {
  const auto each = [](auto&& f) {
    for (int t = 0; t < THREADS; ++t)
      f(t, static_cast<std::size_t>(t));
  };
  return {
      {"broadcast", [](const areas& a, std::size_t n) { upc_broadcast(a.dst, a.src, n); },
       [=](const areas& a, std::size_t n) {
         each([&](int t, std::size_t) { upc_memcpy(on(a.dst, t), a.src, n); });
       }},
      {"scatter", [](const areas& a, std::size_t n) { upc_scatter(a.dst, a.src, n); },
       [=](const areas& a, std::size_t n) {
         each([&](int t, std::size_t k) { upc_memcpy(on(a.dst, t), on(a.src, 0, k * n), n); });
       }},
      {"gather", [](const areas& a, std::size_t n) { upc_gather(a.dst, a.src, n); },
       [=](const areas& a, std::size_t n) {
         each([&](int t, std::size_t k) { upc_memcpy(on(a.dst, 0, k * n), on(a.src, t), n); });
       }},
      {"exchange", [](const areas& a, std::size_t n) { upc_exchange(a.dst, a.src, n); },
       [=](const areas& a, std::size_t n) {
         each([&](int i, std::size_t from) {
           each([&](int j, std::size_t to) { upc_memcpy(on(a.dst, j, from * n), on(a.src, i, to * n), n); });
         });
       }},
  };
}

// Everybody writes what it sends and reads what it got.
std::uint64_t touch(const areas& a, std::size_t bytes, int round) {
  auto* const source = static_cast<unsigned char*>(upc_cast(on(a.src, MYTHREAD)));
  std::memset(source, round, bytes);
  const auto* const got = static_cast<const unsigned char*>(upc_cast(on(a.dst, MYTHREAD)));
  return std::accumulate(got, got + bytes, std::uint64_t{0});
}

// Of one call of several in a row: long enough for the clock.
double time_of_each(const work& f, const areas& a, std::size_t bytes) {
  const int calls = static_cast<int>(std::clamp<std::size_t>(262144 / bytes, 1, 1000));
  return perf::time_of([&] {
           for (int k = 0; k < calls; ++k)
             f(a, bytes);
         }) /
         calls;
}

// How far a computation comes in that many microseconds.
std::uint64_t compute(double us) {
  std::uint64_t units = 0, x = 1;
  const double end = perf::now_us() + us;
  while (perf::now_us() < end) {
    for (int k = 0; k < 2000; ++k)
      x = x * 6364136223846793005u + 1442695040888963407u;
    units += 1 + (x == 0);
  }
  return units;
}

// In percent, of the thread that loses most: while thread 0 calls, against while it computes as well.
double lost(const work& f, const areas& a, std::size_t bytes) {
  constexpr double us = 20000;
  constexpr int times = 3;
  std::vector<double> losses;
  for (int k = 0; k < times; ++k) {
    double units[2];
    for (const bool calls : {false, true}) {
      upc_barrier;
      const double end = perf::now_us() + us;
      if (MYTHREAD == 0 && calls)
        while (perf::now_us() < end)
          f(a, bytes);
      else
        units[calls] = static_cast<double>(compute(us));
    }
    const double mine = MYTHREAD == 0 ? 0 : 100 * (1 - units[1] / units[0]);
    losses.push_back(weft::reduce_all(mine, UPC_MAX).get());
  }
  return perf::median(losses);
}

void measure(const perf::reporter& report, const measured_operation& op, std::size_t bytes, int repetitions) {
  const auto threads = static_cast<std::size_t>(THREADS), all = bytes * threads;
  const areas a{upc_all_alloc(threads, all), upc_all_alloc(threads, all)};
  std::vector<double> one_sided, loop;
  std::uint64_t seen = 0;
  for (int round = 0; round < 2 * repetitions; ++round) {
    seen += touch(a, all, round);
    const bool turn = round % 2 == 0;
    upc_barrier;
    if (MYTHREAD == 0)
      (turn ? one_sided : loop).push_back(time_of_each(turn ? op.one_sided : op.loop, a, bytes));
    upc_barrier;
  }
  const double loss = THREADS == 1 ? 0 : lost(op.one_sided, a, bytes);
  const double us = perf::median(one_sided), beside = perf::median(loop);
  report(op.name, bytes, us,
         {{"loop_us", beside},
          {"loop_ratio", us / beside},
          {"lost_percent", loss},
          {"checksum", static_cast<double>(seen)}});
  upc_all_free(a.dst);
  upc_all_free(a.src);
}

void measure_all(const options& chosen) {
  const perf::reporter report{"one_sided", "thread 0 calls"};
  for (const measured_operation& op : operations())
    if (std::ranges::count(chosen.operations, op.name) != 0)
      for (const std::size_t bytes : chosen.sizes)
        measure(report, op, bytes, chosen.repetitions);
}

} // namespace

int main(int argc, char** argv) {
  weft::command_line app("one-sided collectives beside a loop of upc_memcpy");
  options chosen;
  perf::add_sizes(app, chosen.sizes);
  perf::add_repetitions(app, chosen.repetitions);
  app.add("--ops", &chosen.operations, "which operations").separated_by(',');
  return perf::run_program(app, argc, argv, [&] { measure_all(chosen); });
}
