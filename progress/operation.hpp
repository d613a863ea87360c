#pragma once
#include "engine/graph/plan.hpp"
#include "engine/memory/cells.hpp"

#include <array>
#include <atomic>
#include <cstdint>

namespace weft::progress {

struct team_state;

// What a rank knows of the values that the members gave to a barrier: the first value it heard of and by
// whom, and the first different one. 0 in `known` = nobody gave a value, 1 = all the same, 2 = two differ.
struct barrier_summary {
  std::uint32_t known = 0;
  std::uint32_t rank = 0, other_rank = 0;
  std::int32_t value = 0, other_value = 0;

  void merge(const barrier_summary& more) {
    if (known == 2 || more.known == 0) return;
    if (known == 0 || more.known == 2) {
      *this = more;
    } else if (more.value != value) {
      known = 2;
      other_rank = more.rank;
      other_value = more.value;
    }
  }
};

// How far a loop is: the iterations [base, base + 64) that are begun and unfinished, and where each stands in
// its body. The window bounds the memory and the transfers in flight.
struct loop_state {
  static constexpr std::uint32_t window = 64;
  std::uint32_t base = 0;
  std::uint32_t next = 0;                  // first iteration not yet begun
  std::uint64_t unfinished = 0;            // bit b: iteration base + b
  std::uint64_t in_flight = 0;             // of those, waiting for a completion
  std::array<std::uint8_t, window> step{}; // by iteration modulo the window
};

// The state of one execution of a plan; borrowed from a pool while the operation is active.
struct execution {
  graph::node_set done = 0;
  graph::node_set in_flight = 0;
  std::array<loop_state, graph::max_loops> loops;
  execution* next_free = nullptr;
};

// One posted collective: which plan, on which buffers, with which sequence number.
struct operation {
  operation* next = nullptr; // link of the queue, the waiting list or the free list that it is in
  const graph::plan* program = nullptr;
  team_state* team = nullptr;
  execution* run = nullptr;
  engine::sequence seq = 0;
  graph::binding at;
  std::uint64_t handle = 0; // 0: a blocking call watches `finished` itself
  barrier_summary value;
  std::uint32_t flights = 0;         // transport requests outstanding
  int status = 0;                    // first transport error
  std::atomic<bool> finished{false}; // for the waiter of a blocking call; the last store to the operation
};

} // namespace weft::progress
