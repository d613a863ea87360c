#pragma once
#include "tests/modes/arena.hpp"

namespace modes {

// What one rank does with its memory in a trial: nothing can be read or written too early or too late without
// leaving a trace.
class operands {
public:
  operands(const trial& t, const arena& a) : trial_(t), arena_(a), flow_(t.of()) {}

  // Before anybody calls. With IN_NOSYNC all is in place from now on; else it is not yet.
  void prepare() const;
  // Right before the own call.
  void give() const;
  // Right before the call of the last one under IN_ALLSYNC: only now are the sources of all ranks written.
  void give_for_all() const;
  // When the own operation was left: what the mode allows from then on.
  void take_back() const;

  // The own destination: as it was before the call;
  bool untouched() const;
  // full; or, for those who have come only, full of their blocks.
  bool full() const { return full_without(-1); }
  bool full_without(int late) const { return full_in(arena_.local(arena_.destination(me())), me(), late); }
  // The destination of the next rank, by a get.
  bool next_is_full() const;
  // When all have left: as the modes demand, and nothing was touched that is nobody's business. Returns what
  // is wrong, or nothing.
  const char* fault_at_end() const;

private:
  static int me() { return MYTHREAD; }
  static int next() { return (MYTHREAD + 1) % THREADS; }
  std::byte* block_of_destination(int k) const;
  bool is_source(int k) const;
  bool full_in(const std::byte* destination, int rank, int late) const;
  void write_destination(content what) const;
  void write_source(int rank, content what) const;
  // The elements of this rank in all arrays.
  enum class arrays { not_yet, valid, no_more };
  void write_arrays(arrays what) const;

  const trial& trial_;
  const arena& arena_;
  flow flow_;
};

} // namespace modes
