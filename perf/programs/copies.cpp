// SPDX-License-Identifier: BSD-3-Clause
// One-sided copies between two ranks: thread 0 puts to thread 1 and gets from it, which meanwhile waits in a
// barrier. Blocking ones back to back, and streams of non-blocking ones.
#include "perf/programs/program.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace {

struct options {
  std::vector<std::size_t> sizes{8, 64, 512, 4096, 32768, 262144, 4194304};
  double budget_ms = 50;
};

constexpr std::size_t window = 64; // copies under way at a time

// Microseconds of one of `copies` that each call of `body` makes: the median of batches, which fill the
// budget.
template <class F> double time_of_each(double budget_us, std::size_t copies, F&& body) {
  constexpr double batches = 20;
  body();
  double once = perf::time_of(body);
  for (int warm = 1; warm < 10; ++warm)
    once = std::min(once, perf::time_of(body));
  const int batch = std::max(1, static_cast<int>(budget_us / batches / std::max(once, 0.01)));
  std::vector<double> times;
  for (int k = 0; k < batches; ++k)
    times.push_back(perf::time_of([&] {
      for (int i = 0; i < batch; ++i)
        body();
    }));
  return perf::median(times) / batch / static_cast<double>(copies);
}

// What was put must come back.
void check(upc_shared_ptr_t there, std::vector<unsigned char> put, std::size_t bytes) {
  for (std::size_t i = 0; i != bytes; ++i)
    put[i] = static_cast<unsigned char>(i * 7 + bytes);
  std::vector<unsigned char> got(bytes);
  upc_memput(there, put.data(), bytes);
  upc_memget(got.data(), there, bytes);
  if (std::memcmp(put.data(), got.data(), bytes) != 0)
    throw std::runtime_error("a copy of " + std::to_string(bytes) + " bytes does not hold what was put");
}

// Private memory at the beginning of a page, as ucx_perftest has it: what lies across lines is slower to
// store.
class page_aligned {
public:
  explicit page_aligned(std::size_t bytes) : memory_(bytes + page) {
    void* begin = memory_.data();
    std::size_t room = memory_.size();
    begin_ = std::align(page, bytes, begin, room);
  }
  void* begin() const { return begin_; }

private:
  static constexpr std::size_t page = 4096;
  std::vector<unsigned char> memory_;
  void* begin_;
};

void measure(const options& chosen, upc_shared_ptr_t there, std::size_t most) {
  const page_aligned here(most);
  void* const mine = here.begin();
  const perf::reporter report{"copies", "shared memory through UCX"};
  const auto each_size = [&](const char* op, std::size_t copies, auto&& body) {
    for (const std::size_t n : chosen.sizes)
      report(op, n, time_of_each(chosen.budget_ms * 1000, copies, [&] { body(n); }));
  };
  const auto stream = [&](const char* op, auto&& copy) {
    each_size(op, window, [&](std::size_t n) {
      for (std::size_t k = 0; k != window; ++k)
        copy(n);
      upc_synci();
    });
  };
  for (const std::size_t n : chosen.sizes)
    check(there, std::vector<unsigned char>(n), n);
  each_size("put", 1, [&](std::size_t n) { upc_memput(there, mine, n); });
  each_size("get", 1, [&](std::size_t n) { upc_memget(mine, there, n); });
  stream("put_stream", [&](std::size_t n) { upc_memput_nbi(there, mine, n); });
  stream("get_stream", [&](std::size_t n) { upc_memget_nbi(mine, there, n); });
}

void measure_all(const options& chosen) {
  if (THREADS != 2) throw std::runtime_error("copies are measured between two ranks, start two");
  const std::size_t most = std::ranges::max(chosen.sizes);
  const upc_shared_ptr_t blocks = upc_all_alloc(2, most);
  std::memset(upc_cast(perf::on(blocks, MYTHREAD)), 0, most); // page faults belong to no figure
  upc_barrier;
  if (MYTHREAD == 0) measure(chosen, perf::on(blocks, 1), most);
  upc_barrier;
  upc_all_free(blocks);
}

} // namespace

int main(int argc, char** argv) {
  weft::command_line app("one-sided copies between two ranks");
  options chosen;
  perf::add_sizes(app, chosen.sizes);
  app.add("--budget-ms", &chosen.budget_ms, "wall time of one measurement").positive();
  return perf::run_program(app, argc, argv, [&] { measure_all(chosen); });
}
