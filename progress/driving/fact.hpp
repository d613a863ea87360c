// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <type_traits>

namespace weft::progress {

// How much of what it waits for a thread looks at. Between two sweeps a search may look at a part and go on
// next time. Before a sleep it looks at all: what it has not seen by then is slept over.
enum class look : std::uint8_t { part, all };

// What a thread waits for. Whatever asks, sweeping, parking or dozing, asks here, and a yes stays: a fact may
// therefore be a search that finds something once. It is called without an argument, or with the look. What
// it throws is an answer too, and kept until no thread drives for it any more.
template <class Fact> class latched {
public:
  // A thread that sleeps over it looks again after `nap` at the latest.
  latched(Fact& fact, std::chrono::nanoseconds nap) noexcept : fact_(fact), nap_(nap) {}
  latched(const latched&) = delete;
  latched& operator=(const latched&) = delete;

  bool holds(look how = look::part) {
    try {
      if (!known_) known_ = ask(how);
    } catch (...) {
      wrong_ = std::current_exception();
      known_ = true;
    }
    return known_;
  }
  std::chrono::nanoseconds nap() const { return nap_; }
  void rethrow() {
    if (wrong_) std::rethrow_exception(wrong_);
  }

private:
  bool ask(look how) {
    if constexpr (std::is_invocable_v<Fact&, look>)
      return fact_(how);
    else
      return fact_();
  }

  Fact& fact_;
  const std::chrono::nanoseconds nap_;
  bool known_ = false;
  std::exception_ptr wrong_;
};

} // namespace weft::progress
