// SPDX-License-Identifier: BSD-3-Clause
#include "engine/sorting/stages.hpp"

#include "engine/reductions/layout.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace weft::sorting {

// Among a member's elements: in the middle of those that it stands for.
std::uint64_t cuts::position(std::uint32_t place, std::uint64_t number) const {
  const std::uint64_t all = count(place), samples = samples_of(sorting_, all);
  return static_cast<std::uint64_t>((__uint128_t{2 * number + 1} * all) / (2 * samples));
}

void cuts::sample(std::byte* row, const std::byte* elements, std::uint64_t count) const {
  const std::uint64_t samples = samples_of(sorting_, count), size = sorting_.of.size;
  const std::uint32_t place = room_.place_in_line()[work_.me];
  for (std::uint64_t k = 0; k < samples; ++k)
    std::memcpy(row + k * size, elements + position(place, k) * size, size);
}

cuts::sample_of cuts::which(std::uint32_t id) const {
  const auto most = static_cast<std::uint32_t>(most_samples(sorting_));
  return {id / most, id % most};
}

const std::byte* cuts::element(const std::byte* rows, std::uint32_t id) const {
  const sample_of s = which(id);
  return rows + room_.line()[s.place] * work_.block + s.number * sorting_.of.size;
}

// Of equal ones that of the rank that is first in line.
bool cuts::comes_before(const std::byte* rows, std::uint32_t a, std::uint32_t b) const {
  return sorting_.how.less(element(rows, a), element(rows, b), sorting_.of_order());
}

// Merges the rows, two neighbours at a time. Returns how many samples there are; they are in the first half.
std::uint32_t cuts::put_in_order(const std::byte* rows) const {
  const auto most = static_cast<std::uint32_t>(most_samples(sorting_));
  std::uint32_t* const ids = room_.samples();
  std::uint32_t* const merged = ids + work_.members * most;
  std::uint64_t* const bounds = room_.bounds();
  std::uint32_t all = 0, runs = 0;
  for (std::uint32_t place = 0; place < work_.members; ++place) {
    bounds[runs++] = all;
    for (std::uint32_t k = 0; k < samples_of(sorting_, count(place)); ++k)
      ids[all++] = place * most + k;
  }
  bounds[runs] = all;
  for (; runs > 1; runs = (runs + 1) / 2) {
    for (std::uint32_t run = 0; run < runs; run += 2) {
      std::uint64_t a = bounds[run], b = bounds[std::min(run + 1, runs)], to = a;
      const std::uint64_t end_a = b, end_b = bounds[std::min(run + 2, runs)];
      bounds[run / 2] = a;
      while (to != end_b) {
        const bool second = a == end_a || (b != end_b && comes_before(rows, ids[b], ids[a]));
        merged[to++] = second ? ids[b++] : ids[a++];
      }
    }
    bounds[(runs + 1) / 2] = all;
    std::copy_n(merged, all, ids);
  }
  return all;
}

// How many of mine stand before a sample, or before or beside it.
std::uint64_t cuts::in_front(const std::byte* elements, const std::byte* sample, bool equal_too) const {
  const std::uint64_t size = sorting_.of.size;
  std::uint64_t low = 0, high = count(room_.place_in_line()[work_.me]);
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    const std::byte* const it = elements + middle * size;
    const bool before = equal_too ? !sorting_.how.less(sample, it, sorting_.of_order())
                                  : sorting_.how.less(it, sample, sorting_.of_order());
    if (before)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

void cuts::make(std::uint64_t* mine, const std::byte* rows, const std::byte* elements) const {
  const std::uint32_t all = put_in_order(rows), last = buckets(work_.members);
  const std::uint32_t* const ids = room_.samples();
  const std::uint32_t me = room_.place_in_line()[work_.me];
  mine[0] = 0;
  std::uint32_t next = 0;
  double before = 0; // elements that samples stand for
  for (std::uint32_t bucket = 1; bucket < last; ++bucket) {
    const auto wanted = static_cast<double>(target(bucket));
    for (; next != all; ++next) {
      const std::uint64_t elements_there = count(which(ids[next]).place);
      const double stands_for =
          static_cast<double>(elements_there) / static_cast<double>(samples_of(sorting_, elements_there));
      if (before + stands_for / 2 > wanted) break;
      before += stands_for;
    }
    std::uint64_t here = count(me);
    if (next != all) {
      const sample_of chosen = which(ids[next]);
      here = chosen.place == me
                 ? position(me, chosen.number)
                 : in_front(elements, element(rows, ids[next]), /*equal_too=*/me < chosen.place);
    }
    mine[bucket] = std::max(here, mine[bucket - 1]);
  }
}

// How many elements the buckets in front of one are to have.
std::uint64_t cuts::target(std::uint32_t bucket) const {
  const std::uint32_t all = buckets(work_.members);
  if (all < work_.members || bucket == all) return sorting_.of.elements * bucket / all;
  std::uint64_t elements = 0;
  for (std::uint32_t before = 0; before < bucket; ++before)
    elements += count(before);
  return elements;
}

std::uint64_t cuts::by_number(std::uint32_t place, std::uint32_t bucket) const {
  if (sorting_.of.elements == 0) return 0;
  return static_cast<std::uint64_t>(__uint128_t{count(place)} * target(bucket) / sorting_.of.elements);
}

std::uint64_t cuts::cut(const std::byte* rows, std::uint32_t place, std::uint32_t bucket) const {
  if (bucket == buckets(work_.members)) return count(place);
  std::uint64_t at;
  std::memcpy(&at, rows + room_.line()[place] * work_.block + bucket * sizeof at, sizeof at);
  return at;
}

bool cuts::in_bounds(const std::byte* rows) const {
  for (std::uint32_t bucket = 0; bucket < buckets(work_.members); ++bucket) {
    std::uint64_t all = 0;
    for (std::uint32_t place = 0; place < work_.members; ++place)
      all += cut(rows, place, bucket + 1) - cut(rows, place, bucket);
    if (all > target(bucket + 1) - target(bucket) + sorting_.slack) return false;
  }
  return true;
}

void cuts::read(const std::byte* rows) const {
  const std::uint32_t mine = room_.place_in_line()[work_.me], last = buckets(work_.members);
  const bool usable = in_bounds(rows);
  room::state& now = room_.now();
  now.begin = 0;
  std::uint64_t all = 0;
  for (std::uint32_t place = 0; place < work_.members; ++place) {
    const auto at = [&](std::uint32_t bucket) {
      if (usable || bucket >= last) return cut(rows, place, std::min(bucket, last));
      return by_number(place, bucket);
    };
    const std::uint64_t from = at(mine);
    room_.cut_from()[place] = from;
    room_.bounds()[place] = all;
    now.begin += from;
    all += at(mine + 1) - from;
  }
  room_.bounds()[work_.members] = all;
  now.end = now.begin + all;
  now.runs = {.runs = work_.members};
}

using reductions::layout;

bool own_elements::stand_in_line() {
  std::uint32_t* const line = room_.line();
  for (std::uint32_t m = 0; m < w_.members; ++m)
    line[m] = m;
  std::sort(line, line + w_.members, [this](std::uint32_t a, std::uint32_t b) {
    return of_.first_of(thread(a)) < of_.first_of(thread(b));
  });
  for (std::uint32_t place = 0; place < w_.members; ++place) {
    room_.place_in_line()[line[place]] = place;
    room_.counts()[place] = count(line[place]);
  }
  now_.runs = {};
  std::fill_n(room_.digits(), sorting_.how.digits * 256, 0);
  return true;
}

// Where those begin that are mine to work on, if all are brought into line.
std::uint64_t own_elements::line_begin() const {
  std::uint64_t all = 0;
  for (std::uint32_t m = 0; m < w_.members; ++m)
    if (of_.first_of(thread(m)) < of_.first_of(thread(w_.me))) all += count(m);
  return all;
}

graph::part own_elements::part_of(std::uint32_t peer) const {
  const std::uint64_t begin = line_begin();
  std::uint64_t in_front = 0;
  for (std::uint32_t m = 0; m < peer; ++m)
    if (m != w_.me) in_front += span_of_line(m, begin).elements;
  const layout::span s = span_of_line(peer, begin);
  return {s.at, room_.second() + bytes(in_front), bytes(s.elements)};
}

// What I have, and what I got, in the order of the indices.
bool own_elements::bring_into_line() {
  if (!sorting_.dealt) return true;
  const std::uint64_t begin = line_begin();
  if (now_.at == 0) {
    for (std::uint32_t m = 0; m < w_.members; ++m) {
      const graph::part p = part_of(m);
      room_.offsets()[m] = static_cast<std::uint64_t>(p.mine - room_.second()) - p.at;
    }
  }
  reductions::block_walk walk(of_, begin + now_.at);
  for (const std::uint64_t end = begin + now_.at + some(mine() - now_.at); walk.element() != end;) {
    const std::uint64_t run = walk.run(end);
    copy(room_.first() + bytes(now_.at), brought(walk.thread(), walk.address()), run);
    now_.at += run;
    walk.pass(run);
  }
  return now_.at == mine();
}

const std::byte* own_elements::brought(std::uint32_t thread, std::uint64_t address) const {
  const std::uint32_t member = member_of(thread);
  if (member == w_.me) return w_.segment + address;
  return room_.second() + (room_.offsets()[member] + address);
}

// Into that buffer from which levels of merges lead to my part of the array.
bool own_elements::sort_blocks() {
  if (by_digits()) return true;
  const std::uint64_t block = block_elements(sorting_), runs = (mine() + block - 1) / block;
  const bool odd = run_merges::levels(runs, 1) % 2 != 0, into_buffer = odd != sorting_.dealt;
  while (now_.at != mine()) {
    if (left_ == 0) return false;
    const std::uint64_t n = std::min(block, mine() - now_.at);
    std::byte *here = from() + bytes(now_.at), *there = buffer() + bytes(now_.at);
    if (into_buffer) {
      std::memcpy(there, here, bytes(n));
      std::swap(here, there);
    }
    sorting_.how.sort(here, there, n, sorting_.of_order());
    room_.bounds()[now_.at / block] = now_.at;
    now_.at += n;
    left_ -= std::min(left_, n);
  }
  room_.bounds()[runs] = mine();
  now_.runs = {.runs = runs, .in_second = into_buffer};
  return true;
}

bool own_elements::count_digits() {
  if (!by_digits()) return true;
  const std::uint64_t n = some(mine() - now_.at);
  sorting_.how.count(room_.digits(), from() + bytes(now_.at), n, sorting_.of_order());
  now_.at += n;
  return now_.at == mine();
}

// Where the elements of each value go; false if all have the same.
bool own_elements::begin_digit(std::uint64_t* next) const {
  if (std::any_of(next, next + 256, [this](std::uint64_t n) { return n == mine(); })) return false;
  std::uint64_t before = 0;
  for (unsigned value = 0; value < 256; ++value)
    before += std::exchange(next[value], before);
  return true;
}

// Digit by digit; not by one that is the same in all elements.
bool own_elements::deal_digits() {
  for (; now_.digit != sorting_.how.digits; ++now_.digit, now_.at = 0) {
    std::uint64_t* const next = room_.digits() + now_.digit * 256;
    if (left_ == 0) return false; // before the digit is begun: it is but once
    if (now_.at == 0 && !begin_digit(next)) continue;
    std::byte *here = from(), *there = buffer();
    if (now_.runs.in_second) std::swap(here, there);
    const std::uint64_t n = some(mine() - now_.at);
    sorting_.how.deal(there, here + bytes(now_.at), n, now_.digit, next, sorting_.of_order());
    now_.at += n;
    if (now_.at != mine()) return false;
    now_.runs.in_second = !now_.runs.in_second;
  }
  return true;
}

bool own_elements::put_back() {
  const std::byte* const here = now_.runs.in_second ? buffer() : from();
  if (here == own()) return true;
  const std::uint64_t n = some(mine() - now_.at);
  std::memcpy(own() + bytes(now_.at), here + bytes(now_.at), bytes(n));
  now_.at += n;
  return now_.at == mine();
}

bool own_elements::take_samples() {
  cuts(sorting_, room_, w_).sample(samples() + w_.me * w_.block, own(), mine());
  return true;
}

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
