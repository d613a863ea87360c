// One-sided collectives, called by thread 0, beside a loop of upc_memcpy that moves the same blocks, in the
// same run; and what the other threads lose of a computation meanwhile.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>
#include <weft/weft.hpp>

namespace {

struct options {
  std::vector<std::size_t> sizes{8, 1024, 16384, 262144, 4194304};
  int repetitions = 15;
  std::string json;
};

using clock_type = std::chrono::steady_clock;
using microseconds = std::chrono::duration<double, std::micro>;

double median(std::vector<double> all) {
  std::ranges::sort(all);
  return all[all.size() / 2];
}

upc_shared_ptr_t on(upc_shared_ptr_t p, int thread, std::size_t offset = 0) {
  return {p.addr + offset, static_cast<std::uint32_t>(thread), 0};
}

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

// Calls of thread 0 in a row: long enough for the clock.
double time_of(const work& f, const areas& a, std::size_t bytes) {
  const int calls = static_cast<int>(std::clamp<std::size_t>(262144 / bytes, 1, 1000));
  const auto begin = clock_type::now();
  for (int k = 0; k < calls; ++k)
    f(a, bytes);
  return microseconds(clock_type::now() - begin).count() / calls;
}

// How far a computation comes in a while.
std::uint64_t compute(microseconds time) {
  std::uint64_t units = 0, x = 1;
  const auto end = clock_type::now() + time;
  while (clock_type::now() < end) {
    for (int k = 0; k < 2000; ++k)
      x = x * 6364136223846793005u + 1442695040888963407u;
    units += 1 + (x == 0);
  }
  return units;
}

// In percent, of the thread that loses most: while thread 0 calls, against while it computes as well.
double lost(const work& f, const areas& a, std::size_t bytes) {
  constexpr microseconds time{20000};
  std::vector<double> losses;
  for (int k = 0; k < 5; ++k) {
    double units[2];
    for (const bool calls : {false, true}) {
      upc_barrier;
      const auto end = clock_type::now() + time;
      if (MYTHREAD == 0 && calls)
        while (clock_type::now() < end)
          f(a, bytes);
      else
        units[calls] = static_cast<double>(compute(time));
    }
    const double mine = MYTHREAD == 0 ? 0 : 100 * (1 - units[1] / units[0]);
    losses.push_back(weft::reduce_all(mine, UPC_MAX).get());
  }
  return median(losses);
}

void measure(const options& o, const measured_operation& op, std::size_t bytes,
             std::vector<nlohmann::json>& rows) {
  const std::size_t all = bytes * static_cast<std::size_t>(THREADS);
  const areas a{upc_all_alloc(static_cast<std::size_t>(THREADS), all),
                upc_all_alloc(static_cast<std::size_t>(THREADS), all)};
  std::vector<double> one_sided, loop;
  std::uint64_t seen = 0;
  for (int round = 0; round < 2 * o.repetitions; ++round) {
    seen += touch(a, all, round);
    upc_barrier;
    if (MYTHREAD == 0)
      (round % 2 == 0 ? one_sided : loop)
          .push_back(time_of(round % 2 == 0 ? op.one_sided : op.loop, a, bytes));
    upc_barrier;
  }
  const double loss = THREADS == 1 ? 0 : lost(op.one_sided, a, bytes);
  if (MYTHREAD == 0) {
    const double us = median(one_sided), beside = median(loop);
    fmt::print("  {:<10}{:>9}{:>11.2f}{:>11.2f}{:>8.2f}{:>9.1f} %\n", op.name, bytes, us, beside, us / beside,
               loss);
    std::fflush(stdout);
    rows.push_back({{"bench", "one_sided"},
                    {"op", op.name},
                    {"np", THREADS},
                    {"bytes", bytes},
                    {"us", us},
                    {"loop_us", beside},
                    {"ratio", us / beside},
                    {"lost_percent", loss},
                    {"checksum", seen}});
  }
  upc_all_free(a.dst);
  upc_all_free(a.src);
}

void run(const options& o) {
  std::vector<nlohmann::json> rows;
  if (MYTHREAD == 0)
    fmt::print("one-sided collectives of thread 0 of {} beside a loop of upc_memcpy, medians of {}, and what "
               "the others "
               "lose of a computation\n  {:<10}{:>9}{:>11}{:>11}{:>8}{:>11}\n",
               THREADS, o.repetitions, "op", "bytes", "us", "loop us", "ratio", "lost");
  for (const measured_operation& op : operations())
    for (const std::size_t bytes : o.sizes)
      measure(o, op, bytes, rows);
  if (MYTHREAD == 0 && !o.json.empty())
    if (FILE* const file = std::fopen(o.json.c_str(), "w")) {
      for (const auto& row : rows)
        fmt::print(file, "{}\n", row.dump());
      std::fclose(file);
    }
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app("One-sided collectives beside a loop of upc_memcpy");
  options o;
  app.add_option("--sizes", o.sizes, "bytes of a block")->delimiter(',')->capture_default_str();
  app.add_option("--repetitions", o.repetitions, "of each")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--json", o.json, "a file for one JSON object per line");
  CLI11_PARSE(app, argc, argv);
  weft_init(&argc, &argv);
  run(o);
  weft_finalize();
}
