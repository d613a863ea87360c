// SPDX-License-Identifier: BSD-3-Clause
#include "api/checks/phase_record.hpp"

#include "api/checks/failure.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <vector>

namespace weft::api::phase_record {

bool on = false;

namespace {

// The calls of a phase that touch more than that are not all compared.
constexpr std::uint64_t most = 2000;

struct line {
  std::uint64_t begin, end;
  std::uint32_t thread, writes;
  std::array<char, 24> call;
};
struct record {
  std::uint64_t lines;
  std::array<line, most> all;
};
constexpr std::uint64_t records = 3;

std::uint64_t memory = 0; // of the records, on every thread
std::uint64_t phase = 0;  // the present one

std::uint64_t place_of(std::uint64_t p) {
  return memory + p % records * sizeof(record);
}
record& mine(runtime& rt, std::uint64_t p) {
  return *static_cast<record*>(rt.direct(rt.rank(), place_of(p)));
}

std::vector<line> lines_of(runtime& rt, std::uint32_t thread, std::uint64_t p) {
  std::uint64_t count = 0;
  rt.get(&count, thread, place_of(p), sizeof count);
  std::vector<line> all(std::min(count, most));
  if (!all.empty()) rt.get(all.data(), thread, place_of(p) + sizeof count, all.size() * sizeof(line));
  return all;
}

bool conflict(const line& a, const line& b) {
  return a.thread == b.thread && (a.writes | b.writes) != 0 && a.begin < b.end && b.begin < a.end;
}

std::string text(const line& l) {
  return std::string(l.call.data()) + (l.writes != 0 ? " writes" : " reads");
}

[[noreturn]] void tell(runtime& rt, const char* call, const line& own, std::uint32_t other,
                       const line& theirs) {
  std::array<char, 64> where{};
  std::snprintf(where.data(), where.size(), "thread %u, offset 0x%llx", own.thread,
                static_cast<unsigned long long>(std::max(own.begin, theirs.begin)));
  fail(call, "one-sided calls", where.data(),
       text(own) + " there, called by thread " + std::to_string(rt.rank()) + ", and " + text(theirs) +
           " there, called by thread " + std::to_string(other) +
           ", both since the last barrier: put a barrier between them, or let one thread make both calls");
}

} // namespace

void open(runtime& rt) {
  if (!rt.checks_calls()) return;
  memory = rt.allocate_all(records * sizeof(record));
  if (memory == 0)
    fail("weft_init", "WEFT_HEAP_SIZE", std::to_string(rt.heap_bytes()),
         "has no room for the records of WEFT_CHECK: raise it");
  for (std::uint64_t p = 0; p < records; ++p)
    mine(rt, p).lines = 0;
  phase = 0;
  on = true;
}

void close() noexcept {
  on = false;
}

void note(runtime& rt, const char* call, const touched& what) {
  record& to = mine(rt, phase);
  if (to.lines == most || what.bytes == 0) return;
  line& l = to.all[to.lines];
  l = {what.begin, what.begin + what.bytes, what.thread, what.writes, {}};
  std::strncpy(l.call.data(), call, l.call.size() - 1);
  ++to.lines;
}

void end_phase() {
  ++phase;
}

namespace {

void compare_with_others(runtime& rt, const char* call, std::uint64_t ended) {
  const std::vector<line> own = lines_of(rt, rt.rank(), ended);
  if (own.empty()) return;
  for (std::uint32_t other = 0; other < rt.size(); ++other) {
    if (other == rt.rank()) continue;
    for (const line& theirs : lines_of(rt, other, ended))
      for (const line& l : own)
        if (conflict(l, theirs)) tell(rt, call, l, other, theirs);
  }
}

} // namespace

// The barrier is over, and would not be repeated by the others: without memory nothing is compared.
void compare(runtime& rt, const char* call) {
  const std::uint64_t ended = phase - 1;
  mine(rt, ended + 2).lines = 0; // of ended - 1, which all have read
  try {
    compare_with_others(rt, call, ended);
  } catch (const std::bad_alloc&) {
  }
}

} // namespace weft::api::phase_record
