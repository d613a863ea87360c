// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/calls/arena.hpp"
#include "tests/modes/trial.hpp"

namespace modes {

// The shared memory of all trials, the same on every rank:
//   trap         where the pointers of a rank lead that has not entered: no rank may follow them
//   arrays       this rank's elements of the arrays of pointers, sizes and permutations
//   source       blocks to send
//   destination  blocks to receive, and a margin
//   aside        two blocks for each rank, of an exchange beside the trial
class arena {
public:
  static constexpr std::size_t margin = 64;

  explicit arena(std::size_t largest_block);

  // What all ranks call in a trial, and the exchange that is under way meanwhile.
  calls::call call_of(const trial& t) const;
  calls::call call_aside() const;

  const calls::members& all() const { return all_; }
  const calls::arena& memory() const { return memory_; }
  std::byte* local(std::uint64_t offset) const { return memory_.mine() + offset; }
  std::uint64_t destination() const { return destination_; }
  // True if this rank reaches the other by loads and stores.
  bool near(int rank) const { return upc_cast(memory_.at(0, static_cast<std::uint32_t>(rank))) != nullptr; }

private:
  void tabulate(calls::call& c) const;

  const calls::members all_;
  const std::uint64_t arrays_, source_, destination_, aside_;
  const calls::arena memory_;
};

} // namespace modes
