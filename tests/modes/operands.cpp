// SPDX-License-Identifier: BSD-3-Clause
#include "tests/modes/operands.hpp"

#include "tests/calls/bytes.hpp"
#include "tests/calls/scenario.hpp"
#include "tests/calls/tables.hpp"

#include <algorithm>

namespace modes {
namespace {

bool writes_own(out_mode m) {
  return m == out_mode::my || m == out_mode::local;
}

} // namespace

operands::operands(const trial& t, const arena& a)
    : trial_(t), arena_(a), made_(a.call_of(t)),
      extent_(t.bytes * static_cast<std::uint64_t>(THREADS) + arena::margin) {
  if (t.what.has_data()) effects_ = calls::effects_of(made_, a.all(), static_cast<std::uint32_t>(THREADS));
}

std::vector<std::byte> operands::painted(content what, int rank, std::uint64_t offset,
                                         std::uint64_t bytes) const {
  std::vector<std::byte> painted(bytes);
  const std::uint64_t key =
      calls::mix({trial_.number, static_cast<std::uint64_t>(what), static_cast<std::uint64_t>(rank)});
  calls::paint(painted.data(), key, offset, bytes);
  return painted;
}

bool operands::holds(content what, std::uint64_t offset, std::uint64_t bytes) const {
  const std::vector<std::byte> wanted = painted(what, me(), offset, bytes);
  return std::equal(wanted.begin(), wanted.end(), arena_.local(offset));
}
void operands::write(content what, std::uint64_t offset, std::uint64_t bytes) const {
  std::ranges::copy(painted(what, me(), offset, bytes), arena_.local(offset));
}

void operands::prepare() const {
  if (!trial_.what.has_data()) return;
  const bool now = trial_.in == in_mode::no;
  write(content::untouched, arena_.destination(), extent_);
  write(content::trap, 0, calls::trap_bytes);
  write_source(me(), now ? content::true_data : content::not_yet);
  write_arrays(now);
}

void operands::give() const {
  if (!trial_.what.has_data() || trial_.in == in_mode::no) return;
  write_arrays(true);
  if (trial_.in == in_mode::my) write_source(me(), content::true_data);
}

void operands::give_for_all() const {
  if (!trial_.what.has_data() || trial_.in != in_mode::all) return;
  for (int rank = 0; rank < THREADS; ++rank)
    write_source(rank, content::true_data);
}

void operands::take_back() const {
  if (!trial_.what.has_data()) return;
  if (writes_own(trial_.out)) write_destination(content::taken_back);
  if (trial_.out == out_mode::no || trial_.out == out_mode::local) return;
  write_arrays(false);
  if (trial_.what.in_place) return;
  write_source(me(), content::no_more);
  if (trial_.out == out_mode::all) write_source(next(), content::no_more);
}

// In place, some or all blocks of the destination are sources.
bool operands::is_source(const calls::block& b) const {
  return std::ranges::any_of(effects_.sources, [&](const calls::block& source) {
    return source.thread == b.thread && source.offset == b.offset;
  });
}

bool operands::untouched() const {
  return std::ranges::all_of(effects_.arrivals, [&](const calls::arrival& one) {
    return static_cast<int>(one.thread) != me() ||
           holds(is_source(one) ? content::not_yet : content::untouched, one.offset, one.bytes);
  });
}

bool operands::full_without(int late) const {
  for (const calls::arrival& one : effects_.arrivals) {
    const auto from = static_cast<int>(one.from_thread);
    if (static_cast<int>(one.thread) != me() || from == late) continue;
    const std::vector<std::byte> wanted = painted(content::true_data, from, one.from, one.bytes);
    if (!std::equal(wanted.begin(), wanted.end(), arena_.local(one.offset))) return false;
  }
  return true;
}

bool operands::next_is_full() const {
  for (const calls::arrival& one : effects_.arrivals) {
    if (static_cast<int>(one.thread) != next()) continue;
    std::vector<std::byte> there(one.bytes);
    upc_memget(there.data(), arena_.memory().at(one.offset, one.thread), one.bytes);
    if (there != painted(content::true_data, static_cast<int>(one.from_thread), one.from, one.bytes))
      return false;
  }
  return true;
}

// The destination as it must be beside the blocks that arrive, which are as they are.
bool operands::nothing_else_written() const {
  std::vector<std::byte> wanted = painted(content::untouched, me(), arena_.destination(), extent_);
  const std::byte* const found = arena_.local(arena_.destination());
  for (const calls::arrival& one : effects_.arrivals)
    if (const std::uint64_t at = one.offset - arena_.destination(); static_cast<int>(one.thread) == me())
      std::copy_n(found + at, one.bytes, wanted.begin() + static_cast<std::ptrdiff_t>(at));
  return std::equal(wanted.begin(), wanted.end(), found);
}

const char* operands::fault_at_end() const {
  if (!trial_.what.has_data()) return nullptr;
  for (const calls::arrival& one : effects_.arrivals)
    if (writes_own(trial_.out) && static_cast<int>(one.thread) == me() &&
        !holds(content::taken_back, one.offset, one.bytes))
      return "its destination was written after it had left";
  if (!writes_own(trial_.out) && !full()) return "its destination is wrong when all have left";
  if (!nothing_else_written()) return "its memory was written beside the blocks that it receives";
  if (!holds(content::trap, 0, calls::trap_bytes))
    return "a pointer was followed before its owner had entered or after it had left";
  return nullptr;
}

void operands::write_destination(content what) const {
  for (const calls::arrival& one : effects_.arrivals)
    if (static_cast<int>(one.thread) == me()) write(what, one.offset, one.bytes);
}

void operands::write_source(int rank, content what) const {
  for (const calls::block& b : effects_.sources) {
    if (static_cast<int>(b.thread) != rank) continue;
    const std::vector<std::byte> bytes = painted(what, rank, b.offset, b.bytes);
    if (rank == me())
      std::ranges::copy(bytes, arena_.local(b.offset));
    else
      upc_memput(arena_.memory().at(b.offset, b.thread), bytes.data(), bytes.size());
  }
}

void operands::write_arrays(bool valid) const {
  const auto thread = static_cast<std::uint32_t>(me());
  const auto rows = valid ? calls::rows_of : calls::poisoned_rows_of;
  for (const calls::row& r : rows(made_, arena_.all(), thread, arena_.memory().base()))
    std::memcpy(arena_.local(r.offset), r.bytes.data(), r.bytes.size());
}

} // namespace modes
