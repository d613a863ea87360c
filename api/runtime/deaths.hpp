// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "progress/driving/doorbell.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <poll.h>
#include <thread>
#include <utility>
#include <vector>

namespace weft::api {

// Which process a rank is: its number, and when it began, so that the number's next owner is not taken for
// it.
struct process_name {
  std::int64_t pid = 0;
  std::uint64_t began = 0;     // clock ticks since the host booted
  std::uint64_t numbering = 0; // the namespace of process numbers
  static process_name of_this();
  bool operator==(const process_name&) const = default;
};

// Says once of each rank that it is dead, in a thread of its own that sleeps until then. It hears of it from
// the kernel (a descriptor for the process of each rank on this host), and from any thread that calls
// report(): the launcher's events and the transport, which must not be kept waiting. No operation pays for
// it. The transport knows of a connection that is lost and no more: whether the rank lives is for the one
// that is told to find out.
//
// From start() on nothing here allocates: neither that thread nor UCX and PMIx, which call report(), could be
// told of want of memory. A report is a flag of the rank (release; acquire by the thread), then a ring; the
// thread that has drained the bell looks at the flags behind it.
class death_watch {
public:
  // How it is known that a rank cannot be reached any more, or does not answer: it has said so itself.
  enum class news : std::uint8_t { none, connection, death, departure };
  using handler = std::function<void(std::uint32_t rank, news)>;

  explicit death_watch(handler dead);
  ~death_watch();
  death_watch(const death_watch&) = delete;
  death_watch& operator=(const death_watch&) = delete;

  // First of all.
  void expect(std::uint32_t ranks) { told_of_ = std::vector<told>(ranks); }
  // Before start(). A process that cannot be watched is left to the other means.
  void watch(std::uint32_t rank, const process_name& process);
  void start();
  // Calls this again and again as well, in the same thread. Before start().
  void meanwhile(std::chrono::milliseconds period, std::function<void()> look) {
    period_ = period;
    look_ = std::move(look);
  }
  // No thread is told anything afterwards.
  void stop();
  // Any thread, any number of times.
  void report(std::uint32_t rank, news what) noexcept;

private:
  struct told {
    std::atomic<news> reported{news::none};
    bool passed_on = false;
  };
  void serve() noexcept;
  void sleep();
  void tell();

  const handler dead_;
  std::chrono::milliseconds period_{-1}; // never
  std::function<void()> look_;
  progress::doorbell bell_;
  std::vector<pollfd> descriptors_{{bell_.fd(), POLLIN, 0}}; // and one for each process that is watched
  std::vector<std::uint32_t> ranks_{0};                      // whose they are; of the bell no thread's
  std::vector<told> told_of_;                                // by rank
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

} // namespace weft::api
