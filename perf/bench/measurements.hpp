// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "perf/bench/session.hpp"

#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace perf {

// One result. `us` is the bench's main figure; the others have names of their own.
struct record {
  double us = 0;
  std::vector<std::pair<std::string_view, double>> figures;
};

// Calls that start together; the slowest rank of each iteration counts. Median over the iterations.
record measure_blocking(session& shared, operation op, std::size_t bytes);
// Calls back to back, writing the source and reading the destination between them. Mean over all iterations
// of the slowest rank; `median_us` is that of the middle one of the run's batches.
record measure_loop(session& shared, operation op, std::size_t bytes);

// Post, compute for as long as the communication takes alone, wait.
record measure_overlap(session& shared, operation op, std::size_t bytes);
// Two pairs of buffers: post one round, compute on the round before, wait.
record measure_pipeline(session& shared, operation op, std::size_t bytes);
// Rank 0 posts and then computes without calling the library; how long the others wait.
record measure_independence(session& shared, operation op, std::size_t bytes);

// What the posting call itself costs.
record measure_post(session& shared, operation op, std::size_t bytes);
// Posting a thousand operations and completing them by wait_any and by wait_some, and the same with ten.
record measure_completion(session& shared, operation op, std::size_t bytes);
// An exchange of one team while a large one of another is under way: what keeps it waiting.
record measure_beside(session& shared, operation op, std::size_t bytes);
// Exchanges of unequal blocks, the largest of so many bytes, by the library and by loops, in turns.
record measure_skewed(session& shared, operation op, std::size_t bytes);
// The processor time of a process that has nothing outstanding.
record measure_idle(session& shared, operation op, std::size_t bytes);

// What a bench is run with.
enum class subject {
  every_call,        // each operation in each size
  long_calls,        // where the communication takes long enough to compute meanwhile
  small_collectives, // one block of 8 bytes of each operation that every library has as a collective with
                     // data
  small_exchange,    // one exchange, of blocks of 8 bytes
  every_exchange,    // exchanges in each size
  process,           // one figure, whatever is called
};

struct bench {
  std::string_view name;
  record (*measure)(session&, operation, std::size_t);
  subject of;
};
std::span<const bench> benches();

} // namespace perf
