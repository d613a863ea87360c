// SPDX-License-Identifier: BSD-3-Clause
// The meeting point of the ranks, over ranks that are forked by the back end of the tests.
#include "perf/bench/backend.hpp"
#include "perf/bench/meeting.hpp"

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <netinet/in.h>
#include <string>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace {

using perf::backend;
using perf::meeting;

// Mapped before the ranks are forked, so that all see it: the last round that each rank has begun.
struct board {
  static constexpr int most = 64;
  std::atomic<int> round[most];
};

board* shared_board() {
  void* memory = mmap(nullptr, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<board*>(memory);
}

void require(bool condition, const char* what) {
  if (condition) return;
  std::cerr << "meeting: " << what << std::endl;
  std::_Exit(EXIT_FAILURE);
}

// Where no process listens now.
std::string free_address() {
  const int probe = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof at;
  const bool found = bind(probe, reinterpret_cast<sockaddr*>(&at), length) == 0 &&
                     getsockname(probe, reinterpret_cast<sockaddr*>(&at), &length) == 0;
  require(found, "no port is free");
  close(probe);
  return "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
}

// No rank leaves a round before all have begun it.
template <class Wait>
void check_barrier(board& seen, const backend& ranks, int first, Wait&& wait, const char* what) {
  constexpr int rounds = 500;
  for (int round = first + 1; round <= first + rounds; ++round) {
    seen.round[ranks.rank()] = round;
    wait();
    for (int other = 0; other < ranks.size(); ++other)
      require(seen.round[other] >= round, what);
  }
}

// More values than the shared segment holds at a time, the greatest of each on another rank.
void check_maximum(meeting& meet, const backend& ranks) {
  std::vector<double> values(1300);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool greatest =
        i % static_cast<std::size_t>(ranks.size()) == static_cast<std::size_t>(ranks.rank());
    values[i] = greatest ? static_cast<double>(i) : -1.0;
  }
  meet.maximum(values);
  for (std::size_t i = 0; i < values.size(); ++i)
    require(values[i] == static_cast<double>(i), "the maximum of the ranks is wrong");
  require(meet.maximum(-1.0 - ranks.rank()) == -1.0, "the maximum of negative values is wrong");
  require(meet.sum(1.0 + ranks.rank()) == ranks.size() * (ranks.size() + 1) / 2.0, "the sum is wrong");
}

} // namespace

int main(int argc, char** argv) {
  board* seen = shared_board();
  require(seen != nullptr, "cannot map the board");
  const bool over_sockets = argc > 1 && std::string(argv[1]) == "sockets";
  const std::string address = over_sockets ? free_address() : "";
  const auto ranks = perf::make_backend(&argc, &argv);
  const auto point = over_sockets ? perf::meet_over_sockets(ranks->rank(), ranks->size(), address)
                                  : perf::meet_in_memory(*ranks);
  meeting& meet = *point;
  check_barrier(
      *seen, *ranks, 0, [&] { meet.align(); }, "a rank left align() before all had come");
  check_barrier(
      *seen, *ranks, 500, [&] { meet.rest(); }, "a rank left rest() before all had come");
  check_maximum(meet, *ranks);
  return EXIT_SUCCESS;
}
