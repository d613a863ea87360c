// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "api/runtime/runtime.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace weft::api {

// Whether a handle is not UPC_HANDLE_COMPLETE. Asks at `first` first, an index unless there are no handles.
bool any_active(std::span<const upc_coll_handle_t> handles, std::size_t first) noexcept;

// The search of one call for a handle that is ready, among many.
//
// No handle is looked at twice before the process has completed something. After completions the search looks
// at a few handles only: those where it began, because operations complete about in the order in which they
// were posted, and the next few of a round through all. Only after some sweeps that completed nothing, when
// there is time, does it bring the round to its end. So what a call costs does not grow with the number of
// handles as long as something completes near the place where the last one did; and a handle far away is
// found however often others complete.
class ready_scan {
public:
  // The search goes from `first` to the end and round to the beginning; `first` is an index unless there are
  // no handles.
  ready_scan(const runtime& rt, std::span<const upc_coll_handle_t> handles, std::size_t first)
      : rt_(rt), handles_(handles), first_(first), round_(first), found_(handles.size()) {
    if (handles.size() > glance) round_ = behind(first, glance); // the glance at `first` comes before
  }

  // A part of the search as above, for a call that waits; before it sleeps, all of it. True, once, if it is
  // over: a handle is ready, or none is active any more because another thread has completed it.
  bool look(progress::look how) noexcept;
  // After it, what look() has not looked at since the last completion, and the rest.
  bool look_at_all() noexcept;

  bool found() const noexcept { return found_ != handles_.size(); }
  std::size_t index() const noexcept { return found_; }

private:
  static constexpr std::size_t glance = 16;
  static constexpr unsigned patience = 6; // looks after which the round is brought to its end

  bool search(std::size_t begin, std::size_t count) noexcept;
  std::size_t behind(std::size_t index, std::size_t count) const noexcept {
    return (index + count) % handles_.size();
  }
  bool completions_moved() noexcept;

  const runtime& rt_;
  std::span<const upc_coll_handle_t> handles_;
  std::size_t first_;
  std::size_t round_;    // where the round goes on
  std::size_t left_ = 0; // of the round
  unsigned idle_ = 0;    // looks since something completed
  std::size_t found_;
  bool looked_ = false;
  std::uint64_t seen_ = 0; // completions when a round was last begun; read before it, so none is missed
};

// Where a search among an array's handles begins, so that none of them starves: behind the one that the last
// call with this array completed. One for each application thread.
//
// An array is known by its address, and a few arrays are remembered, each in the one place that its address
// names. The search in an array that is not remembered begins anywhere, at a pseudo-random place: arrays that
// keep displacing each other do not starve a handle either.
class rotation {
public:
  // An index below count, which is not 0.
  std::size_t begin(const void* array, std::size_t count) noexcept {
    const place& p = at(array);
    if (p.array == array) return p.next % count;
    return static_cast<std::size_t>((next_random() >> 32) * count >> 32);
  }
  void completed(const void* array, std::size_t index) noexcept { at(array) = {array, index + 1}; }

private:
  struct place {
    const void* array = nullptr;
    std::size_t next = 0;
  };
  static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15; // 2^64 / the golden ratio
  static constexpr unsigned place_bits = 4;

  place& at(const void* array) noexcept {
    return places_[reinterpret_cast<std::uintptr_t>(array) * golden >> (64 - place_bits)];
  }

  // SplitMix64.
  std::uint64_t next_random() noexcept {
    std::uint64_t z = random_ += golden;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::array<place, std::size_t{1} << place_bits> places_{};
  std::uint64_t random_ = 0;
};

} // namespace weft::api
