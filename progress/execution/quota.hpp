// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace weft::progress {

// How much one pass over the operations may carry, so that none of them keeps the others, or a thread that
// wants to drive, waiting for longer than one piece of a large copy takes. What is small is carried whenever
// it can be: to look at everything once more would take as long. Under progress ownership, like all that
// asks.
//
// A pass over many operations costs something too, so it may carry more then: what it costs stays a small
// part of what it carries.
class quota {
public:
  static constexpr std::uint64_t always = 16 * 1024;    // a copy up to this size
  static constexpr std::uint64_t per_pass = 256 * 1024; // of larger ones; the last may go beyond
  static constexpr std::size_t few = 8;                 // operations

  // A pass begins, over so many operations.
  void refill(std::size_t operations) noexcept {
    left_ = static_cast<std::int64_t>(per_pass * (1 + operations / few));
  }
  // A pass that carries nothing large.
  void withhold() noexcept { left_ = 0; }

  bool spent() const noexcept { return left_ <= 0; }
  // For what can be cut anywhere.
  std::uint64_t left() const noexcept { return spent() ? 0 : static_cast<std::uint64_t>(left_); }
  // Asked before a copy of so many bytes, and told of it.
  bool allows(std::uint64_t bytes) const noexcept { return bytes <= always || !spent(); }
  void take(std::uint64_t bytes) noexcept {
    if (bytes > always) left_ -= static_cast<std::int64_t>(std::min(bytes, most));
  }

private:
  static constexpr std::uint64_t most = std::uint64_t{1} << 40;
  std::int64_t left_ = 0;
};

} // namespace weft::progress
