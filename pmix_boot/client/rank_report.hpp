// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// What a rank says of itself when a rank waits for too long, and the one text that is made of all of them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::boot {

struct rank_report {
  struct blocked {
    std::uint32_t team = 0;
    std::uint64_t number = 0; // of the operation in the team
    std::string call;
    std::string waits;                  // the steps of its plan, in words
    std::vector<std::uint32_t> missing; // the ranks that have not entered, as far as the rank knows
  };
  struct position {
    std::uint32_t team = 0;
    std::uint64_t entered = 0; // operations of the team that the rank has entered
  };

  std::uint32_t rank = 0;
  std::uint64_t seconds = 0;    // that it has waited; 0 = it does not wait
  std::string last_call;        // the one it posted last, empty = none
  std::string place;            // of the call that waits, as engine::call_place says it; empty = not known
  std::vector<blocked> waiting; // oldest first
  std::vector<position> teams;
  std::vector<std::string> answers; // what else it waits for: "a lock of thread 1 at ..."; oldest first
  std::uint64_t answer_seconds = 0; // that it has waited for the oldest
  std::string flight;               // its last calls, newest first; empty = it records none
  std::vector<std::string> keeps;   // what others wait for at it: "the lock at ..., held by thread 2; ..."

  // In an operation, or for an answer: what a report is worth printing for.
  bool waits() const { return (!waiting.empty() && seconds != 0) || !answers.empty(); }
};

// As one message between a rank and its launcher; nothing if it is not one.
std::string packed(const rank_report& r);
std::optional<rank_report> unpacked(const std::string& message);

// Of a rank that runs without our launcher: its own lines.
std::vector<std::string> lines_of(const rank_report& r);

// Of a whole job: what could be heard from each rank, and what is known of those that did not answer.
struct job_member {
  std::optional<rank_report> report;
  std::string otherwise; // "is stopped", "has ended"
};
std::vector<std::string> lines_of(const std::vector<job_member>& job);

} // namespace weft::boot
