// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/shim/check.hpp"
#include "mpi/shim/start.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace weft::mpi {

namespace {

bool is_on() {
  static const bool on = weft_setting("WEFT_CHECK") != 0;
  return on;
}

using buffer = std::vector<std::string_view>;

std::string_view view_of(const void* bytes, std::size_t size) {
  return {static_cast<const char*>(bytes), size};
}
// Blocks that are not packed are where the program has them.
buffer blocks_of(const sided_blocks& s) {
  buffer parts;
  for (const sided_blocks::block& b : s.each)
    if (s.plain && b.count != 0)
      parts.push_back(view_of(static_cast<const char*>(s.buffer) + b.place, b.size.bytes));
  return parts;
}
buffer given(const carried& c) {
  if (by_blocks(c.op.c.what)) return blocks_of(c.in_blocks);
  return {view_of(c.op.c.in, c.op.c.in_blocks * c.op.c.bytes)};
}
buffer taken(const carried& c) {
  if (by_blocks(c.op.c.what)) return blocks_of(c.out_blocks);
  return {view_of(c.op.c.out, c.op.c.out_bytes)};
}

// From the first of its bytes to the last.
std::string_view whole(const buffer& parts) {
  const char *first = nullptr, *last = nullptr;
  for (const std::string_view part : parts)
    if (!part.empty()) {
      first = first == nullptr ? part.data() : std::min(first, part.data());
      last = std::max(last, part.data() + part.size());
    }
  return {first, static_cast<std::size_t>(last - first)};
}
bool overlap(const buffer& one, const buffer& other) {
  const std::string_view a = whole(one), b = whole(other);
  return a.data() < b.data() + b.size() && b.data() < a.data() + a.size();
}

bool is_mapped(std::string_view buffer) {
  if (buffer.empty()) return true;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(buffer.data()) / page * page;
  const std::size_t length = reinterpret_cast<std::uintptr_t>(buffer.data() + buffer.size()) - begin;
  std::vector<unsigned char> pages(length / page + 1);
  return mincore(reinterpret_cast<void*>(begin), length, pages.data()) == 0;
}

std::size_t sum_of(const buffer& parts) {
  std::size_t sum = 0;
  for (const std::string_view part : parts)
    sum = sum * 31 + std::hash<std::string_view>{}(part);
  return sum;
}

[[noreturn]] void refuse(const carried& c, const char* side, std::string_view buffer, const char* what) {
  char text[320];
  std::snprintf(
      text, sizeof text,
      "MPI_%s on rank %d of its communicator: the %s buffer %p of %zu bytes has been %s since the call was "
      "posted: leave it as it is until the request is complete",
      name_of(c).c_str(), c.way->rank(), side, static_cast<const void*>(buffer.data()), buffer.size(), what);
  end_job(text);
}

// Does each block that arrives lie behind the one before, and none where one is given?
bool are_in_order(const carried& c) {
  struct range {
    std::uintptr_t begin = UINTPTR_MAX, end = 0;
    bool in_order = true;
  };
  const auto range_of = [](const sided_blocks& s) {
    range r;
    for (const sided_blocks::block& b : s.each) {
      if (!s.plain || b.size.bytes == 0) continue;
      const auto at = reinterpret_cast<std::uintptr_t>(s.buffer) + static_cast<std::uintptr_t>(b.place);
      r.in_order &= at >= r.end;
      r.begin = std::min(r.begin, at);
      r.end = std::max(r.end, at + b.size.bytes);
    }
    return r;
  };
  const range in = range_of(c.in_blocks), out = range_of(c.out_blocks);
  return out.in_order && (in.end <= out.begin || out.end <= in.begin);
}
buffer sorted_blocks_of(const sided_blocks& s) {
  buffer parts = blocks_of(s);
  std::erase_if(parts, [](std::string_view part) { return part.empty(); });
  std::ranges::sort(parts, std::less<>(), [](std::string_view part) { return part.data(); });
  return parts;
}
// The one that a rank gives itself may stay where it is.
std::string_view own_block_of(const carried& c, const sided_blocks& s) {
  if (s.each.empty() || !s.plain) return {};
  const sided_blocks::block& b = s.each[s.each.size() == 1 ? 0 : static_cast<std::size_t>(c.way->rank())];
  return view_of(static_cast<const char*>(s.buffer) + b.place, b.size.bytes);
}
[[noreturn]] void refuse_overlap(const carried& c, std::string_view block, const char* what) {
  char text[320];
  std::snprintf(text, sizeof text, "MPI_%s on rank %d of its communicator: at %p %s have no byte in common",
                name_of(c).c_str(), c.way->rank(), static_cast<const void*>(block.data()), what);
  end_job(text);
}

} // namespace

void require_distinct(const carried& c) {
  if (are_in_order(c)) return;
  const buffer written = sorted_blocks_of(c.out_blocks);
  const auto end_of = [](std::string_view part) { return part.data() + part.size(); };
  for (std::size_t k = 1; k < written.size(); ++k)
    if (end_of(written[k - 1]) > written[k].data())
      refuse_overlap(c, written[k], "two blocks of dst overlap: blocks that are received");
  const std::string_view own = own_block_of(c, c.in_blocks), to = own_block_of(c, c.out_blocks);
  auto next = written.begin();
  for (const std::string_view read : sorted_blocks_of(c.in_blocks)) {
    while (next != written.end() && end_of(*next) <= read.data())
      ++next;
    if (next == written.end() || next->data() >= end_of(read)) continue;
    const bool stays = own.data() == to.data() && read.data() == own.data() && read.size() == own.size();
    if (!stays) refuse_overlap(c, read, "a block of src overlaps one of dst: they");
  }
}

void remember_buffers(carried& c) {
  if (!is_on()) return;
  const buffer in = given(c);
  if (!overlap(in, taken(c))) c.sum = sum_of(in);
}

void require_buffers(const carried& c) {
  if (!is_on()) return;
  const buffer in = given(c), out = taken(c);
  for (const std::string_view part : in)
    if (!is_mapped(part)) refuse(c, "send", part, "freed");
  for (const std::string_view part : out)
    if (!is_mapped(part)) refuse(c, "receive", part, "freed");
  if (!overlap(in, out) && sum_of(in) != c.sum) refuse(c, "send", whole(in), "changed or freed");
}

} // namespace weft::mpi
