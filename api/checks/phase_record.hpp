// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "api/runtime/runtime.hpp"

#include <cstdint>

namespace weft::api {

// Checked mode: what the one-sided calls of each thread touch between two barriers, and whether calls of two
// threads touch the same bytes of which one writes them. (What one thread calls one after the other is in
// order: the text makes an all-gather of a gather and a broadcast.)
//
// A phase ends where its barrier is entered. Each thread writes down what its calls touch in memory of its
// own that all can read, and compares it with the records of all others when the barrier is over. There are
// three records, used in turn: that of phase p is written again in phase p + 3, which begins when barrier p +
// 2 is entered, behind the end of barrier p + 1, which no rank enters before it has read the records of p.
// Nothing but the barriers is needed for that.
namespace phase_record {

extern bool on;

// Collective, at the beginning: makes room for the records, if calls are checked.
void open(runtime& rt);
void close() noexcept;

// Bytes on one thread that a call reads or writes.
struct touched {
  std::uint32_t thread;
  std::uint64_t begin, bytes;
  bool writes;
};
void note(runtime& rt, const char* call, const touched& what);

// The barrier of the phase is entered. When it is over: an error, on both threads, if there is a conflict.
void end_phase();
void compare(runtime& rt, const char* call);

} // namespace phase_record
} // namespace weft::api
