// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/modes/trial.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <functional>

namespace modes {

// What the ranks tell each other beside the library: memory of the job that the library knows nothing of, so
// that no look at it moves an operation on. Every word holds the number of the trial that it speaks of.
class stage {
public:
  static constexpr int most_ranks = 64;
  using word = std::atomic<std::uint32_t>;

  // Collective over the library. Nothing is left behind, however the job ends.
  stage();
  ~stage();
  stage(const stage&) = delete;
  stage& operator=(const stage&) = delete;

  struct actor {
    alignas(64) word called; // its call has been made, or is about to block
    word patient;            // has looked often enough, and would have to wait for the late rank
    word left;               // its operation is complete
  };
  actor& of(int rank) { return shared_->actors[static_cast<std::size_t>(rank)]; }
  // Set by the late rank before its call.
  word& late_comes() { return shared_->late_comes; }
  word& stop() const { return shared_->stop; }
  word& violations() { return shared_->violations; }

  void barrier();
  // Prints one line for all ranks' violation.
  void complain(const trial& t, const std::string& what);

  // From now on this trial is under way; if it takes far too long the job ends with a message that says who
  // is where.
  void watch(const trial& t);

private:
  struct everybodys {
    std::array<actor, most_ranks> actors;
    alignas(64) word late_comes, stop, violations, arrivals, hung;
  };
  static void hang(int);

  everybodys* shared_ = nullptr;
  std::uint32_t barriers_ = 0;
};

// Sleeps a little, so that others get the core.
void rest();

// Until `fact` holds; false if it does not for so long that something must be wrong.
bool wait_for(const std::function<bool()>& fact, std::chrono::milliseconds patience);

} // namespace modes
