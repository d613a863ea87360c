// SPDX-License-Identifier: BSD-3-Clause
// What a link between two hosts allows: plain sockets, one connection, no library. Two processes, of which
// rank 0 writes one JSON object per line, for each size one way and both ways at once.
#include "perf/bench/meeting.hpp"
#include "perf/bench/pin.hpp"
#include "perf/bench/statistics.hpp"
#include "perf/bench/tcp.hpp"
#include "tools/options/command_line.hpp"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <string>
#include <vector>

namespace {

using namespace perf;

constexpr int ranks = 2;
constexpr const char* rank_variable = "WEFT_LINK_RANK";

struct options {
  std::string meeting;
  std::vector<std::size_t> sizes{8, 1024, 16384};
  double budget_ms = 100;
  int minimum_iterations = 10;
};

// The meeting point first, so that its door is closed before this one opens.
connection connected(meeting& both, const std::string& address) {
  if (both.rank() != 0) {
    both.rest();
    return connect_to(address);
  }
  listener door(address);
  both.rest();
  return door.accept();
}

// Messages of one size between the two.
class traffic {
public:
  traffic(meeting& both, connection& link, std::size_t bytes, bool both_ways)
      : both_(both), link_(link), sends_(both_ways || both.rank() == 0), receives_(both_ways || !sends_),
        out_(sends_ ? bytes : 0), in_(receives_ ? bytes : 0) {}

  // Written outside of the timed spans, as the benches write their data.
  void write() { std::fill(out_.begin(), out_.end(), static_cast<std::byte>(++written_)); }
  void move() {
    link_.transfer(out_, in_, [] { sched_yield(); });
  }
  void check() const {
    if (receives_ && (in_.front() != static_cast<std::byte>(written_) || in_.back() != in_.front()))
      throw std::runtime_error("the link brought something else than was sent");
  }

  // From a common start, the slower of the two each time.
  std::vector<double> aligned(const options& chosen) {
    std::vector<double> times;
    const double start = now_us();
    double spent = 0;
    do {
      write();
      both_.align();
      const double before = now_us();
      move();
      times.push_back(both_.maximum(now_us() - before));
      check();
      spent = both_.maximum(now_us() - start);
    } while (spent < chosen.budget_ms * 1000 || static_cast<int>(times.size()) < chosen.minimum_iterations);
    return times;
  }
  double back_to_back(int count) {
    both_.align();
    const double start = now_us();
    for (int i = 0; i < count; ++i)
      move();
    return both_.maximum(now_us() - start) / count;
  }

private:
  meeting& both_;
  connection& link_;
  bool sends_, receives_;
  std::vector<std::byte> out_, in_;
  int written_ = 0;
};

void measure(meeting& both, connection& link, const options& chosen, std::size_t bytes, bool both_ways) {
  traffic messages(both, link, bytes, both_ways);
  messages.back_to_back(2); // wakes everything up
  const std::vector<double> times = messages.aligned(chosen);
  const double us = median(times);
  const double fitting = std::max(chosen.budget_ms * 1000 / us, double(chosen.minimum_iterations));
  const double streamed = messages.back_to_back(static_cast<int>(both.maximum(fitting)));
  if (both.rank() != 0) return;
  const nlohmann::ordered_json line{{"bytes", bytes},
                                    {"both_ways", both_ways},
                                    {"us", us},
                                    {"back_to_back_us", streamed},
                                    {"iterations", times.size()}};
  std::cout << line.dump() << std::endl;
}

void run(const options& chosen) {
  pin_by_rank(rank_variable);
  const std::unique_ptr<meeting> both =
      meet_over_sockets(std::atoi(std::getenv(rank_variable)), ranks, chosen.meeting);
  connection link = connected(*both, chosen.meeting);
  for (const std::size_t bytes : chosen.sizes)
    for (const bool both_ways : {false, true})
      measure(*both, link, chosen, bytes, both_ways);
}

} // namespace

int main(int argc, char** argv) {
  weft::command_line app("measures what plain sockets move between two hosts");
  options chosen;
  app.add("--meeting", &chosen.meeting, "HOST:PORT of rank 0").required();
  app.add("--sizes", &chosen.sizes, "bytes per message").separated_by(',');
  app.add("--budget-ms", &chosen.budget_ms, "wall time of one measurement");
  app.add("--minimum-iterations", &chosen.minimum_iterations).positive();
  if (const auto status = app.parse(argc, argv)) return *status;
  try {
    run(chosen);
  } catch (const std::exception& error) {
    std::cerr << "weft_bench_link: " << error.what() << std::endl;
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
