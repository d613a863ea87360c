// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::transport {

// What operations cost on the virtual clock, in nanoseconds. The far lane is LogGP: o at either end, L on the
// way, at least g between two transfers of one host, G for each byte, also for what a get fetches from it.
struct simulated_costs {
  double word = 2;       // load or store of a word
  double atomic = 20;    // compare-and-swap, add, fence
  double near_copy = 10; // a copy, whatever its size
  double near_byte = 0.05;
  double poll = 10;
  double relax = 20;
  double yield = 500;
  double ring = 8000; // at the caller
  double wake = 30000;
  double o = 600;
  double latency = 5000;
  double g = 300;
  double byte = 0.8;
};

// How far the simulation goes beyond a machine at its best. All zero: a prediction of cost, nothing random.
struct simulated_chaos {
  double interrupt = 0;      // probability that a rank is held up before an operation
  std::int64_t delay_ns = 0; // ... and for how long at most
  double stall = 0;          // probability that it is held up for long
  std::int64_t stall_ns = 0;
  std::int64_t burst_ns = 0;   // how far a running rank may get ahead of the others
  double tear = 0;             // probability that a copy lands in pieces, in any order
  double late = 0;             // probability that a copy or store is not visible to others at once
  std::int64_t late_ns = 0;    // ... and after what time a store is at the latest
  double spurious = 0;         // probability that a compare-and-swap fails for no reason
  std::int64_t network_ns = 0; // additional delay of everything on the far lane
  std::int64_t landing_ns = 0; // additional delay of a put's landing: messages are there long before
  double needs_poll = 0;       // probability that a put or get is carried out by the target's poll
  double needs_own_poll = 0;   // probability that the source of a put or send is read by the initiator's poll
  double at_once = 1; // probability that the source of a put or send has been read when the call returns
  double few = 0;     // probability that a poll handles not everything that is there
  double spin = 0;    // probability that a fruitless wait is gone through although nothing can change

  // Everything at once: for finding faults in protocols.
  static simulated_chaos rough() {
    return {.interrupt = 0.2,
            .delay_ns = 400,
            .stall = 0.002,
            .stall_ns = 60000,
            .burst_ns = 200,
            .tear = 0.7,
            .late = 0.5,
            .late_ns = 1000,
            .spurious = 0.05,
            .network_ns = 20000,
            .needs_poll = 0.4,
            .needs_own_poll = 0.3,
            .at_once = 0.4,
            .few = 0.2,
            .spin = 0.3};
  }
};

// Faults of the machine itself, to show that a test would notice them.
struct simulated_faults {
  double lost_ring = 0;     // probability that a ring is lost
  bool reordered = false;   // stores overtake the copies and stores before them
  bool early_flush = false; // a flush does not wait for puts
};

struct simulation_options {
  std::uint64_t seed = 1;
  std::uint32_t ranks = 1;
  std::vector<std::uint32_t> host_of_rank; // empty: all on one host
  std::size_t segment_bytes = std::size_t{1} << 20;
  simulated_costs costs;
  simulated_chaos chaos;
  simulated_faults faults;
  bool keeps_order = false;  // messages stay behind puts that were ordered, as over sockets
  bool endless_naps = false; // a nap ends by an event or a ring only: a lost one is a deadlock
  std::uint64_t step_limit = 20'000'000, steps_of_rank = 200'000; // as many more for each rank
  std::size_t stack_bytes = std::size_t{256} << 10;
};

} // namespace weft::transport
