// SPDX-License-Identifier: BSD-3-Clause
#include "engine/sorting/stages.hpp"

#include "engine/reductions/block_walk.hpp"
#include "engine/sorting/cuts.hpp"

namespace weft::sorting {

using reductions::layout;

bool bucket::read_cuts() {
  cuts(sorting_, room_, w_).read(all_cuts());
  return true;
}

graph::part bucket::part_of(std::uint32_t peer) const {
  const std::uint32_t place = room_.place_in_line()[peer];
  const std::uint64_t at = room_.bounds()[place], end = room_.bounds()[place + 1];
  return {of_.of_thread(thread(peer)).at + bytes(room_.cut_from()[place]), room_.first() + bytes(at),
          bytes(end - at)};
}

bool bucket::take_own() {
  const graph::part p = part_of(w_.me);
  const std::uint64_t done = bytes(now_.at), n = some((p.bytes - done) / of_.size);
  std::memcpy(p.mine + done, w_.segment + p.at + done, bytes(n));
  now_.at += n;
  return bytes(now_.at) == p.bytes;
}

bool bucket::begin_results() {
  std::uint64_t in_front = 0;
  for (std::uint32_t m = 0; m < w_.members; ++m) {
    const layout::span s = of_.of_thread(thread(m), now_.begin, now_.end);
    room_.offsets()[m] = bytes(in_front) - s.at;
    if (m != w_.me) in_front += s.elements;
  }
  return true;
}

std::byte* bucket::result(std::uint32_t member, std::uint64_t address) const {
  if (member == w_.me) return w_.segment + address;
  return runs().others() + (room_.offsets()[member] + address);
}

graph::part bucket::results_of(std::uint32_t peer) const {
  const layout::span s = of_.of_thread(thread(peer), now_.begin, now_.end);
  return {s.at, result(peer, s.at), bytes(s.elements)};
}

// To its place at once what stands together there; else some together, which are then spread.
bool bucket::merge_results() {
  constexpr std::uint64_t long_run = 64; // elements: worth a merge of their own
  alignas(64) std::array<std::byte, 16 * 1024> together;
  run_merges last = runs();
  for (std::uint64_t index = now_.begin + last.taken(); index != now_.end;
       index = now_.begin + last.taken()) {
    if (left_ == 0) return false;
    const reductions::block_walk walk(of_, index);
    const std::uint64_t end = std::min(now_.end, index + left_), run = walk.run(end);
    if (run >= long_run || of_.size > together.size()) {
      last.take(result(member_of(walk.thread()), walk.address()), some(run));
    } else {
      const std::uint64_t count = some(std::min(end - index, together.size() / of_.size));
      last.take(together.data(), count);
      spread(together.data(), count, index);
    }
  }
  return true;
}

void bucket::spread(const std::byte* elements, std::uint64_t count, std::uint64_t index) {
  reductions::block_walk walk(of_, index);
  for (const std::uint64_t end = index + count; walk.element() != end;) {
    const std::uint64_t run = walk.run(end);
    copy(result(member_of(walk.thread()), walk.address()), elements, run);
    elements += bytes(run);
    walk.pass(run);
  }
}

} // namespace weft::sorting
