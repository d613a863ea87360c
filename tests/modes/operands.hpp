// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/calls/reference.hpp"
#include "tests/modes/arena.hpp"

namespace modes {

// What one rank does with its memory in a trial: nothing can be read or written too early or too late without
// leaving a trace.
class operands {
public:
  operands(const trial& t, const arena& a);

  // Before any rank calls. With IN_NOSYNC all is in place from now on; else it is not yet.
  void prepare() const;
  // Right before the own call.
  void give() const;
  // Right before the call of the last one under IN_ALLSYNC: only now are the sources of all ranks written.
  void give_for_all() const;
  // When the own operation was left: what the mode allows from then on.
  void take_back() const;

  // The own destination: as it was before the call;
  bool untouched() const;
  // full; or, without those that have not come, full of their blocks.
  bool full() const { return full_without(-1); }
  bool full_without(int late) const;
  // The destination of the next rank, by a get.
  bool next_is_full() const;
  // When all have left: as the modes demand, and nothing else was touched. Returns what
  // is wrong, or nothing.
  const char* fault_at_end() const;

private:
  static int me() { return MYTHREAD; }
  static int next() { return (MYTHREAD + 1) % THREADS; }
  // The bytes of blocks: which trial, rank and block they are of can be told from them.
  enum class content : std::uint64_t {
    true_data,  // what a rank gives
    not_yet,    // in a source before its owner allows it to be read
    no_more,    // in a source after its owner has left
    untouched,  // in a destination before
    taken_back, // in a destination after its owner has left
    trap
  };
  std::vector<std::byte> painted(content what, int rank, std::uint64_t offset, std::uint64_t bytes) const;
  bool holds(content what, std::uint64_t offset, std::uint64_t bytes) const;
  void write(content what, std::uint64_t offset, std::uint64_t bytes) const;
  bool is_source(const calls::block& b) const;
  void write_destination(content what) const;
  void write_source(int rank, content what) const;
  // The elements of this rank in all arrays; those that are not valid lead into the trap.
  void write_arrays(bool valid) const;
  bool nothing_else_written() const;

  const trial& trial_;
  const arena& arena_;
  const calls::call made_;
  calls::effects effects_;
  std::uint64_t extent_; // of the destination, with its margin
};

} // namespace modes
