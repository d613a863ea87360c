#include "tests/differential/ledger.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstring>

namespace differential {

ledger::ledger(const scenario& s, const paints& colours, const arena& memory, report& tell)
    : s_(s), colours_(colours), memory_(memory), tell_(tell), me_(static_cast<std::uint32_t>(MYTHREAD)),
      threads_(static_cast<std::uint32_t>(THREADS)), image_(s.used), shares_(s.calls.size()) {
  for (std::size_t i = 0; i != shares_.size(); ++i)
    find_share(i);
}

void ledger::find_share(std::size_t i) {
  const call& c = s_.calls[i];
  const members& team = s_.teams[c.team];
  share& mine = shares_[i];
  mine.member = std::find(team.begin(), team.end(), me_) != team.end();
  mine.rows = rows_of(c, team, me_, memory_);
  mine.poisoned_rows = poisoned_rows_of(c, team, me_, memory_);
  for (const copy& one : copies_of(c, team, threads_)) {
    if (one.to_thread == me_) mine.incoming.push_back(one);
    if (one.from_thread != me_) continue;
    const auto same = [&](const range& r) { return r.offset == one.from && r.bytes == one.bytes; };
    if (std::none_of(mine.sources.begin(), mine.sources.end(), same))
      mine.sources.push_back({one.from, one.bytes});
  }
}

std::string ledger::name(std::size_t i) const {
  const call& c = s_.calls[i];
  return fmt::format("call {} of {}: {}", i, s_.calls.size(), describe(c, s_.teams[c.team]));
}

void ledger::paint_both(std::uint64_t key, const range& r) {
  paint(image_.data() + r.offset, key, r.offset, r.bytes);
  std::memcpy(memory_.mine() + r.offset, image_.data() + r.offset, r.bytes);
}

void ledger::write_both(const row& r) {
  std::memcpy(image_.data() + r.offset, r.bytes.data(), r.bytes.size());
  std::memcpy(memory_.mine() + r.offset, r.bytes.data(), r.bytes.size());
}

void ledger::begin() {
  paint_both(colours_.guard(me_), {0, s_.used});
  for (std::size_t i = 0; i != shares_.size(); ++i) {
    const share& mine = shares_[i];
    const bool at_once = s_.calls[i].in == sync::no;
    for (const row& r : mine.member && !at_once ? mine.poisoned_rows : mine.rows)
      write_both(r);
    if (mine.member && at_once) put_data(i);
  }
}

void ledger::put_data(std::size_t i) {
  for (const range& r : shares_[i].sources)
    paint_both(colours_.source(i, me_), r);
  for (const row& r : shares_[i].rows)
    write_both(r);
}

void ledger::before_post(std::size_t i) {
  if (s_.calls[i].in == sync::no) return;
  for (const copy& one : shares_[i].incoming)
    if (!compare(one.to, one.bytes, "before its entry, " + name(i))) break;
  put_data(i);
}

// The blocks that arrive, as the reference has them.
void ledger::settle(std::size_t i) {
  share& mine = shares_[i];
  if (mine.settled) return;
  mine.settled = true;
  for (const copy& one : mine.incoming) {
    std::vector<std::uint8_t> block(one.bytes);
    paint(block.data(), colours_.source(i, one.from_thread), one.from, one.bytes);
    if (corrupt_) block[one.bytes / 2] ^= 1;
    corrupt_ = false;
    std::memcpy(image_.data() + one.to, block.data(), one.bytes);
  }
}

void ledger::spoil(std::size_t i) {
  if (s_.calls[i].own == in_place::no)
    for (const range& r : shares_[i].sources)
      paint_both(colours_.spoilt(i, me_), r);
  for (const row& r : shares_[i].poisoned_rows)
    write_both(r);
}

void ledger::after_exit(std::size_t i) {
  const call& c = s_.calls[i];
  const bool only_here = c.what == kind::alltoall_nb || c.what == kind::alltoall_nbi;
  if (c.out == sync::no && !only_here) return;
  settle(i);
  for (const copy& one : shares_[i].incoming)
    if (!compare(one.to, one.bytes,
                 fmt::format("from thread {} at {}, after the exit, {}", one.from_thread, one.from, name(i))))
      break;
  if (!only_here) spoil(i);
}

void ledger::check_other(std::size_t i, std::uint32_t other) {
  const call& c = s_.calls[i];
  std::uint64_t left = 1 << 16;
  for (const copy& one : copies_of(c, s_.teams[c.team], threads_)) {
    if (one.to_thread != other || one.bytes > left || tell_.spoken()) continue;
    left -= one.bytes;
    std::vector<std::uint8_t> found(one.bytes), wanted(one.bytes);
    upc_memget(found.data(), memory_.at(one.to, other), one.bytes);
    paint(wanted.data(), colours_.source(i, one.from_thread), one.from, one.bytes);
    const auto [f, w] = std::mismatch(found.begin(), found.end(), wanted.begin());
    if (f == found.end()) continue;
    tell_.wrong(fmt::format(
        "byte {} of the block from thread {} is {:#04x} on thread {}, not {:#04x}, after the exit here, {}",
        f - found.begin(), one.from_thread, *f, other, *w, name(i)));
  }
}

bool ledger::compare(std::uint64_t offset, std::uint64_t bytes, const std::string& when) {
  const std::uint8_t *found = memory_.mine() + offset, *wanted = image_.data() + offset;
  if (std::memcmp(found, wanted, bytes) == 0) return true;
  const auto at = static_cast<std::uint64_t>(std::mismatch(found, found + bytes, wanted).first - found);
  tell_.wrong(fmt::format("byte {} (at {}) is {:#04x}, not {:#04x}: {}", at, offset + at, found[at],
                          wanted[at], when));
  return false;
}

std::string ledger::whose(std::uint64_t offset) const {
  const auto in = [&](std::uint64_t begin, std::uint64_t bytes) {
    return offset >= begin && offset < begin + bytes;
  };
  for (std::size_t i = 0; i != shares_.size(); ++i) {
    for (const copy& one : shares_[i].incoming)
      if (in(one.to, one.bytes))
        return fmt::format("byte {} of the block from thread {} at {}, {}", offset - one.to, one.from_thread,
                           one.from, name(i));
    for (const range& r : shares_[i].sources)
      if (in(r.offset, r.bytes)) return "a byte of the source, " + name(i);
    for (const row& r : shares_[i].rows)
      if (in(r.offset, r.bytes.size())) return "a byte of an array of pointers, sizes or threads, " + name(i);
  }
  std::string all = "a byte that nobody may write";
  for (std::size_t i = 0; i != shares_.size(); ++i)
    all += "; " + name(i);
  return all;
}

void ledger::finish() {
  for (std::size_t i = 0; i != shares_.size(); ++i)
    settle(i);
  const std::uint8_t* found = memory_.mine();
  if (std::memcmp(found, image_.data(), image_.size()) == 0) return;
  const auto at =
      static_cast<std::uint64_t>(std::mismatch(image_.begin(), image_.end(), found).first - image_.begin());
  tell_.wrong(fmt::format("byte at {} is {:#04x}, not {:#04x}, after the end: {}", at, found[at], image_[at],
                          whose(at)));
}

} // namespace differential
