// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace weft::progress {

// A counter that any thread may read at any time, always whole, not always the newest.
//   add()             for one writer at a time (the holder of progress ownership, or the only thread that
//   counts
//                     here): a load and a store, no locked instruction
//   add_concurrent()  for writers that may meet
// A counter is written in one of the two ways, never in both: add() would lose what others add meanwhile.
// Relaxed throughout: a number announces nothing about other data.
class counter {
public:
  void add(std::uint64_t amount = 1) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  void add_concurrent(std::uint64_t amount = 1) noexcept {
    value_.fetch_add(amount, std::memory_order_relaxed);
  }
  std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

private:
  std::atomic<std::uint64_t> value_{0};
};

// The numbers of one engine. `Number` is counter where they are counted and std::uint64_t in a snapshot.
// Written with add() by the holder of progress ownership, except where "any thread" says add_concurrent().
template <class Number> struct statistics_of {
  Number posts{};
  Number inline_posts{};
  Number queued_posts{}; // any thread
  Number rings{};        // any thread
  Number cache_hits{};
  Number cache_misses{};
  Number sweeps{};
  Number parks{}; // any thread
  Number wakes{}; // any thread
  Number messages_sent{};
  Number messages_received{};
  Number bytes_copied{}; // any thread
  Number bytes_got{};
  Number bytes_put{};
  Number chunks_claimed{};                                                                // any thread
  Number chunks_assisted{};                                                               // any thread
  Number operands_in_segment{}, operands_in_place{}, operations_staged{}, bytes_staged{}; // any thread
  Number stage_0_ns{}, stage_1_ns{}, stage_2_ns{}, stage_3_ns{};
};

using statistics = statistics_of<counter>;
using statistics_snapshot = statistics_of<std::uint64_t>;

struct statistics_entry {
  const char* name;
  const char* help;
  counter statistics::*counted;
  std::uint64_t statistics_snapshot::*member;
};

// The only list of them: whatever takes, prints or documents statistics walks this table.
inline constexpr std::array<statistics_entry, 24> statistics_table{{
    {"posts", "operations posted", &statistics::posts, &statistics_snapshot::posts},
    {"inline_posts", "posts that the posting thread started itself", &statistics::inline_posts,
     &statistics_snapshot::inline_posts},
    {"queued_posts", "posts handed to another thread through the queue", &statistics::queued_posts,
     &statistics_snapshot::queued_posts},
    {"rings", "times a sleeping thread or process had to be woken", &statistics::rings,
     &statistics_snapshot::rings},
    {"cache_hits", "posts whose plan was in the cache", &statistics::cache_hits,
     &statistics_snapshot::cache_hits},
    {"cache_misses", "posts whose plan had to be compiled", &statistics::cache_misses,
     &statistics_snapshot::cache_misses},
    {"sweeps", "passes over everything outstanding", &statistics::sweeps, &statistics_snapshot::sweeps},
    {"parks", "times a thread went to sleep for want of work", &statistics::parks,
     &statistics_snapshot::parks},
    {"wakes", "times a sleeping thread came back", &statistics::wakes, &statistics_snapshot::wakes},
    {"messages_sent", "active messages sent", &statistics::messages_sent,
     &statistics_snapshot::messages_sent},
    {"messages_received", "active messages received", &statistics::messages_received,
     &statistics_snapshot::messages_received},
    {"bytes_copied", "bytes copied by loads and stores within the node", &statistics::bytes_copied,
     &statistics_snapshot::bytes_copied},
    {"bytes_got", "bytes fetched through the transport", &statistics::bytes_got,
     &statistics_snapshot::bytes_got},
    {"bytes_put", "bytes written through the transport", &statistics::bytes_put,
     &statistics_snapshot::bytes_put},
    {"chunks_claimed", "chunks of shared work taken by this rank", &statistics::chunks_claimed,
     &statistics_snapshot::chunks_claimed},
    {"chunks_assisted", "chunks taken that another rank would have had to do", &statistics::chunks_assisted,
     &statistics_snapshot::chunks_assisted},
    {"operands_in_segment", "operands of calls on own memory that lay in the shared heap: nothing was copied",
     &statistics::operands_in_segment, &statistics_snapshot::operands_in_segment},
    {"operands_in_place", "operands in ordinary memory that were used where they lay",
     &statistics::operands_in_place, &statistics_snapshot::operands_in_place},
    {"operations_staged",
     "operations with operands in ordinary memory that were copied through the shared heap",
     &statistics::operations_staged, &statistics_snapshot::operations_staged},
    {"bytes_staged", "bytes of them, copied in or out", &statistics::bytes_staged,
     &statistics_snapshot::bytes_staged},
    {"stage_0_ns", "nanoseconds of large computations; of a sort: its own elements are put in order",
     &statistics::stage_0_ns, &statistics_snapshot::stage_0_ns},
    {"stage_1_ns", "the same of their second stage; of a sort: the cuts are found", &statistics::stage_1_ns,
     &statistics_snapshot::stage_1_ns},
    {"stage_2_ns", "the third; of a sort: its own part of its bucket is taken", &statistics::stage_2_ns,
     &statistics_snapshot::stage_2_ns},
    {"stage_3_ns", "the fourth; of a sort: its bucket is merged", &statistics::stage_3_ns,
     &statistics_snapshot::stage_3_ns},
}};
static_assert(sizeof(statistics_snapshot) == statistics_table.size() * sizeof(std::uint64_t),
              "every counter has its line in the table");

inline statistics_snapshot snapshot(const statistics& from) noexcept {
  statistics_snapshot result;
  for (const statistics_entry& entry : statistics_table)
    result.*entry.member = (from.*entry.counted).value();
  return result;
}

} // namespace weft::progress
