// SPDX-License-Identifier: BSD-3-Clause
#include "tests/calls/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace calls {

ledger::ledger(const scenario& s, std::uint64_t number, const paints& colours, const arena& memory,
               report& tell)
    : s_(s), number_(number), colours_(colours), memory_(memory), tell_(tell),
      me_(static_cast<std::uint32_t>(MYTHREAD)), threads_(static_cast<std::uint32_t>(THREADS)),
      image_(s.used), shares_(s.calls.size()) {
  for (std::size_t i = 0; i != shares_.size(); ++i)
    find_share(i);
}

void ledger::find_share(std::size_t i) {
  const call& c = s_.calls[i];
  const members& team = s_.teams[c.team];
  share& mine = shares_[i];
  mine.member = std::find(team.begin(), team.end(), me_) != team.end();
  mine.rows = rows_of(c, team, me_, memory_.base());
  mine.poisoned_rows = poisoned_rows_of(c, team, me_, memory_.base());
  effects all = effects_of(c, team, threads_);
  for (arrival& one : all.arrivals)
    if (one.thread == me_) mine.incoming.push_back(std::move(one));
  for (block& one : all.sources)
    if (one.thread == me_) mine.sources.push_back(std::move(one));
}

std::string ledger::name(std::size_t i) const {
  const call& c = s_.calls[i];
  return fmt::format("call {} of {}: {}", i, s_.calls.size(), describe(c, s_.teams[c.team]));
}

void ledger::paint_both(std::uint64_t key, std::uint64_t offset, std::uint64_t bytes) {
  paint(image_.data() + offset, key, offset, bytes);
  std::memcpy(memory_.mine() + offset, image_.data() + offset, bytes);
}

void ledger::write_both(std::uint64_t offset, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  std::memcpy(image_.data() + offset, from, bytes);
  std::memcpy(memory_.mine() + offset, from, bytes);
}

void ledger::begin() {
  paint_both(colours_.guard(me_), 0, s_.used);
  for (std::size_t i = 0; i != shares_.size(); ++i) {
    const share& mine = shares_[i];
    const bool at_once = s_.calls[i].in == sync::no;
    for (const row& r : mine.member && !at_once ? mine.poisoned_rows : mine.rows)
      write_both(r);
    if (at_once) put_data(i);
  }
}

void ledger::put_data(std::size_t i) {
  for (const block& b : shares_[i].sources)
    if (b.value.empty())
      paint_both(colours_.source(i, me_), b.offset, b.bytes);
    else
      write_both(b.offset, b.value.data(), b.value.size());
  if (shares_[i].member)
    for (const row& r : shares_[i].rows)
      write_both(r);
}

void ledger::before_post(std::size_t i) {
  const call& c = s_.calls[i];
  if (c.in != sync::no) {
    for (const arrival& one : shares_[i].incoming)
      if (!compare(one.offset, one.bytes, "before its entry, " + name(i))) break;
    put_data(i);
  }
  memory_.note_entry(i, number_);
}

// It reads what the library may be writing: nothing for the thread sanitizer.
#ifdef __SANITIZE_THREAD__
constexpr bool looks_at_gates = false;
#else
constexpr bool looks_at_gates = true;
#endif

void ledger::look_at_gate(std::size_t i) {
  if (!looks_at_gates) return;
  const call& c = s_.calls[i];
  if (c.in != sync::all || shares_[i].settled) return;
  const auto written = [&](const arrival& one) {
    return std::memcmp(memory_.mine() + one.offset, image_.data() + one.offset, one.bytes) != 0;
  };
  const auto& incoming = shares_[i].incoming;
  if (std::none_of(incoming.begin(), incoming.end(), written)) return;
  for (const std::uint32_t member : s_.teams[c.team])
    if (!memory_.has_entered(i, number_, member))
      tell_.wrong(
          fmt::format("its destination is written to, and thread {} has not entered, {}", member, name(i)));
}

std::vector<std::byte> ledger::contents(std::size_t i, const arrival& one) const {
  if (!one.value.empty()) return one.value;
  std::vector<std::byte> bytes(one.bytes);
  paint(bytes.data(), colours_.source(i, one.from_thread), one.from, one.bytes);
  return bytes;
}

bool ledger::alike(std::size_t i, const std::byte* found, const std::byte* wanted,
                   std::uint64_t bytes) const {
  if (std::memcmp(found, wanted, bytes) == 0) return true;
  const elements* const of = s_.calls[i].of;
  if (of == nullptr || (of->defined && of->same == nullptr)) return false;
  for (std::uint64_t at = 0; of->defined && at < bytes; at += of->size)
    if (std::memcmp(found + at, wanted + at, of->size) != 0 && !of->same(found + at, wanted + at))
      return false;
  return true;
}

// The blocks that arrive, as the reference has them.
void ledger::settle(std::size_t i) {
  share& mine = shares_[i];
  if (mine.settled) return;
  mine.settled = true;
  for (const arrival& one : mine.incoming) {
    std::vector<std::byte> wanted = contents(i, one);
    if (corrupt_) wanted[one.bytes / 2] ^= std::byte{1};
    const std::byte* const found = memory_.mine() + one.offset;
    const bool take_found = !corrupt_ && alike(i, found, wanted.data(), one.bytes);
    std::memcpy(image_.data() + one.offset, take_found ? found : wanted.data(), one.bytes);
    corrupt_ = false;
  }
}

// What this thread has again: all of it under OUT_MYSYNC, where the results of some calls go, too, so that
// what comes late is seen; else what no other rank looks at.
void ledger::spoil(std::size_t i) {
  const call& c = s_.calls[i];
  const bool only_here = c.what == kind::alltoall_nb || c.what == kind::alltoall_nbi;
  const bool defined = c.of == nullptr || c.of->defined;
  const bool results = defined && (c.out == sync::my || only_here) && i % 2 == 0;
  if (!only_here && (c.own == in_place::no || results))
    for (const block& b : shares_[i].sources)
      paint_both(colours_.spoilt(i, me_), b.offset, b.bytes);
  if (results)
    for (const arrival& one : shares_[i].incoming)
      paint_both(colours_.spoilt(i, me_), one.offset, one.bytes);
  if (only_here) return;
  for (const row& r : shares_[i].poisoned_rows)
    write_both(r);
}

void ledger::after_exit(std::size_t i) {
  const call& c = s_.calls[i];
  const bool only_here = c.what == kind::alltoall_nb || c.what == kind::alltoall_nbi;
  if (c.out == sync::no && !only_here) return;
  settle(i);
  for (const arrival& one : shares_[i].incoming)
    if (!compare(one.offset, one.bytes,
                 fmt::format("from thread {} at {}, after the exit, {}", one.from_thread, one.from, name(i))))
      break;
  spoil(i);
}

void ledger::check_other(std::size_t i, std::uint32_t other) {
  const call& c = s_.calls[i];
  std::uint64_t left = 1 << 16;
  for (const arrival& one : effects_of(c, s_.teams[c.team], threads_).arrivals) {
    if (one.thread != other || one.bytes > left || tell_.spoken()) continue;
    left -= one.bytes;
    std::vector<std::byte> found(one.bytes);
    const std::vector<std::byte> wanted = contents(i, one);
    upc_memget(found.data(), memory_.at(one.offset, other), one.bytes);
    if (alike(i, found.data(), wanted.data(), one.bytes)) continue;
    const auto [f, w] = std::mismatch(found.begin(), found.end(), wanted.begin());
    tell_.wrong(fmt::format(
        "byte {} of the block from thread {} is {:#04x} on thread {}, not {:#04x}, after the exit here, {}",
        f - found.begin(), one.from_thread, std::to_integer<unsigned>(*f), other,
        std::to_integer<unsigned>(*w), name(i)));
  }
}

bool ledger::compare(std::uint64_t offset, std::uint64_t bytes, const std::string& when) {
  const std::byte *found = memory_.mine() + offset, *wanted = image_.data() + offset;
  if (std::memcmp(found, wanted, bytes) == 0) return true;
  const auto at = static_cast<std::uint64_t>(std::mismatch(found, found + bytes, wanted).first - found);
  tell_.wrong(fmt::format("byte {} (at {}) is {:#04x}, not {:#04x}: {}", at, offset + at,
                          std::to_integer<unsigned>(found[at]), std::to_integer<unsigned>(wanted[at]), when));
  return false;
}

std::string ledger::whose(std::uint64_t offset) const {
  const auto in = [&](std::uint64_t begin, std::uint64_t bytes) {
    return offset >= begin && offset < begin + bytes;
  };
  for (std::size_t i = 0; i != shares_.size(); ++i) {
    for (const arrival& one : shares_[i].incoming)
      if (in(one.offset, one.bytes))
        return fmt::format("byte {} of the block from thread {} at {}, {}", offset - one.offset,
                           one.from_thread, one.from, name(i));
    for (const block& b : shares_[i].sources)
      if (in(b.offset, b.bytes)) return "a byte of the source, " + name(i);
    for (const row& r : shares_[i].rows)
      if (in(r.offset, r.bytes.size())) return "a byte of an array of pointers, sizes or threads, " + name(i);
  }
  std::string all = "a byte that no call may write";
  for (std::size_t i = 0; i != shares_.size(); ++i)
    all += "; " + name(i);
  return all;
}

void ledger::finish() {
  for (std::size_t i = 0; i != shares_.size(); ++i)
    settle(i);
  const std::byte* found = memory_.mine();
  if (std::memcmp(found, image_.data(), image_.size()) == 0) return;
  const auto at =
      static_cast<std::uint64_t>(std::mismatch(image_.begin(), image_.end(), found).first - image_.begin());
  tell_.wrong(fmt::format("byte at {} is {:#04x}, not {:#04x}, after the end: {}", at,
                          std::to_integer<unsigned>(found[at]), std::to_integer<unsigned>(image_[at]),
                          whose(at)));
}

void ledger::count_elements() {
  for (std::size_t i = 0; i != shares_.size(); ++i) {
    const call& c = s_.calls[i];
    if (c.of == nullptr || c.of->defined) continue;
    std::uint64_t before = 0, after = 0;
    const auto add = [&](std::uint64_t& sum, const std::byte* element) {
      std::uint64_t x = c.of->size;
      for (std::uint64_t k = 0; k != c.of->size; ++k)
        x = mix(x ^ static_cast<std::uint64_t>(element[k]));
      sum += x;
    };
    for (const block& b : shares_[i].sources)
      for (std::uint64_t at = 0; at < b.bytes; at += c.of->size) {
        add(before, b.value.data() + at);
        add(after, memory_.mine() + b.offset + at);
      }
    if (weft::reduce_all(after - before, UPC_ADD).get() != 0) tell_.wrong("elements were lost, " + name(i));
  }
}

} // namespace calls
