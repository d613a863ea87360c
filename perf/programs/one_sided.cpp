// SPDX-License-Identifier: BSD-3-Clause
// One-sided collectives, called by thread 0, beside a loop of upc_memcpy that moves the same blocks, in the
// same run; and what the other threads lose of a computation meanwhile. `--ops halo`: steps of a ring of
// ranks, whose edges go by copies with a signal, beside copies and a barrier.
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

// Every rank writes what it sends and reads what it got.
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

// A step of a stencil in a ring: edges of so many bytes to both neighbours, an inner part of eight times as
// many that needs none of them, and what the neighbours have put is read.
class ring {
public:
  explicit ring(std::size_t bytes)
      : count_(std::max<std::size_t>(bytes / sizeof(double), 1)), inner_(8 * count_) {
    std::ranges::fill(edges_of_mine_, 1.0);
  }

  void by_signals() {
    const std::size_t half = step_++ % 2 * count_;
    weft::pending put[] = {come_.put(from_right_.on(left_).subspan(half, count_), edges_of_mine_, 1),
                           come_.put(from_left_.on(right_).subspan(half, count_), edges_of_mine_, 0)};
    compute_inner();
    come_.wait(++rounds_, 0);
    come_.wait(rounds_, 1);
    read_edges(half);
    weft::wait_all(put);
  }
  void by_barrier() {
    const std::size_t half = step_++ % 2 * count_;
    weft::pending put[] = {from_right_.on(left_).subspan(half, count_).put(edges_of_mine_),
                           from_left_.on(right_).subspan(half, count_).put(edges_of_mine_)};
    compute_inner();
    weft::wait_all(put);
    upc_barrier;
    read_edges(half);
  }

private:
  void compute_inner() {
    for (std::size_t i = 1; i + 1 < inner_.size(); ++i)
      inner_[i] += 0.25 * (inner_[i - 1] - 2 * inner_[i] + inner_[i + 1]);
  }
  void read_edges(std::size_t half) {
    for (std::size_t i = 0; i != count_; ++i)
      edges_of_mine_[i] = 0.5 * (from_left_[half + i] + from_right_[half + i]);
  }

  const int left_ = (MYTHREAD + THREADS - 1) % THREADS, right_ = (MYTHREAD + 1) % THREADS;
  const std::size_t count_;
  std::size_t step_ = 0;
  std::uint64_t rounds_ = 0;
  std::vector<double> inner_, edges_of_mine_ = std::vector<double>(count_);
  weft::array<double> from_left_ = weft::array<double>(2 * count_),
                      from_right_ = weft::array<double>(2 * count_);
  weft::signals come_ = weft::signals(2);
};

void measure_halo(std::size_t bytes, int repetitions) {
  const perf::reporter report{"one_sided", "neighbours"};
  constexpr int steps = 200;
  ring r(bytes);
  std::vector<double> signals, barrier;
  for (int round = 0; round < 2 * repetitions + 2; ++round) {
    upc_barrier;
    const bool turn = round % 2 == 0;
    const double us = perf::time_of([&] {
                        for (int k = 0; k < steps; ++k)
                          turn ? r.by_signals() : r.by_barrier();
                      }) /
                      steps;
    if (round >= 2) (turn ? signals : barrier).push_back(weft::reduce_all(us, UPC_MAX).get());
  }
  const double us = perf::median(signals), beside = perf::median(barrier);
  report("halo", bytes, us, {{"barrier_us", beside}, {"barrier_ratio", us / beside}});
}

void measure_all(const options& chosen) {
  if (std::ranges::count(chosen.operations, "halo") != 0)
    for (const std::size_t bytes : chosen.sizes)
      measure_halo(bytes, chosen.repetitions);
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
