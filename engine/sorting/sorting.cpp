#include "engine/sorting/sorting.hpp"

#include "engine/reductions/block_walk.hpp"
#include "engine/sorting/cuts.hpp"
#include "engine/sorting/run_merges.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace weft::sorting {

namespace {

using reductions::layout;

// More than this much is never touched at once, however much may be.
constexpr std::uint64_t most_at_once = 512 * 1024;

class sorter {
public:
  sorter(const sorting_task& s, graph::work& w)
      : sorting_(s), of_(s.of), w_(w), room_(s, w.members, w.room), now_(room_.now()),
        left_(std::max<std::uint64_t>(1, std::min(w.budget, most_at_once) / of_.size)) {
    of_.at = w.src;
  }

  bool run() {
    if (w_.done == 0) now_.part = now_.digit = 0, now_.at = 0;
    w_.done = 1;
    switch (w_.stage) {
    case 0:
      return run_parts(parts_of_stage_0);
    case 1:
      return cut_mine(), true;
    case 2:
      return run_parts(parts_of_stage_2);
    case 3:
      return run_parts(parts_of_stage_3);
    default:
      return true; // my own results are in their places
    }
  }

  graph::part part_of(std::uint32_t peer) {
    if (w_.stage == 0) return part_of_line(peer);
    return w_.stage == 2 ? part_of_bucket(peer) : part_of_results(peer);
  }

private:
  using part = bool (sorter::*)();
  template <std::size_t N> bool run_parts(const std::array<part, N>& parts) {
    for (; now_.part != N; ++now_.part, now_.at = 0)
      if (!(this->*parts[now_.part])()) return false;
    return true;
  }

  std::uint32_t thread(std::uint32_t member) const { return w_.threads[member]; }
  std::uint64_t count(std::uint32_t member) const { return of_.of_thread(thread(member)).elements; }
  std::uint64_t mine() const { return count(w_.me); }
  std::byte* own() const { return w_.segment + of_.of_thread(thread(w_.me)).at; }
  std::uint64_t bytes(std::uint64_t elements) const { return elements * of_.size; }
  // Of what is left to spend.
  std::uint64_t some(std::uint64_t of) {
    const std::uint64_t now = std::min(left_, of);
    left_ -= now;
    return now;
  }

  // Stage 0

  bool stand_in_line() {
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

  // The elements that are mine to work on, if those of all are brought into line.
  std::uint64_t line_begin() const {
    std::uint64_t all = 0;
    for (std::uint32_t m = 0; m < w_.members; ++m)
      if (of_.first_of(thread(m)) < of_.first_of(thread(w_.me))) all += count(m);
    return all;
  }
  layout::span span_of_line(std::uint32_t member, std::uint64_t begin) const {
    return of_.of_thread(thread(member), begin, begin + mine());
  }
  graph::part part_of_line(std::uint32_t peer) const {
    const std::uint64_t begin = line_begin();
    std::uint64_t in_front = 0;
    for (std::uint32_t m = 0; m < peer; ++m)
      if (m != w_.me) in_front += span_of_line(m, begin).elements;
    const layout::span s = span_of_line(peer, begin);
    return {s.at, room_.second() + bytes(in_front), bytes(s.elements)};
  }
  // What I have, and what I got, in the order of the indices.
  bool bring_into_line() {
    if (!sorting_.dealt) return true;
    const std::uint64_t begin = line_begin();
    if (now_.at == 0) {
      for (std::uint32_t m = 0; m < w_.members; ++m) {
        const graph::part p = part_of_line(m);
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
  const std::byte* brought(std::uint32_t thread, std::uint64_t address) const {
    const std::uint32_t member = member_of(thread);
    if (member == w_.me) return w_.segment + address;
    return room_.second() + (room_.offsets()[member] + address);
  }
  std::uint32_t member_of(std::uint32_t thread) const {
    if (thread < w_.members && w_.threads[thread] == thread) return thread;
    return static_cast<std::uint32_t>(std::find(w_.threads, w_.threads + w_.members, thread) - w_.threads);
  }

  // My elements and a buffer for as many: they are in the first of the two.
  std::byte* from() const { return sorting_.dealt ? room_.first() : own(); }
  std::byte* buffer() const { return sorting_.dealt ? own() : room_.first(); }
  run_merges merges() const { return {sorting_, room_, from(), buffer()}; }
  bool by_digits() const { return sorting_.how.digits != 0; }

  // Blocks of them, into that buffer from which levels of merges lead to my part of the array.
  bool sort_blocks() {
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
  bool merge_blocks() { return by_digits() || merges().until(1, left_); }

  bool count_digits() {
    if (!by_digits()) return true;
    const std::uint64_t n = some(mine() - now_.at);
    sorting_.how.count(room_.digits(), from() + bytes(now_.at), n, sorting_.of_order());
    now_.at += n;
    return now_.at == mine();
  }
  // Digit by digit; not by one that is the same in all elements.
  bool deal_digits() {
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
  // Where the elements of each value go; false if all have the same.
  bool begin_digit(std::uint64_t* next) const {
    if (std::any_of(next, next + 256, [this](std::uint64_t n) { return n == mine(); })) return false;
    std::uint64_t before = 0;
    for (unsigned value = 0; value < 256; ++value)
      before += std::exchange(next[value], before);
    return true;
  }

  bool put_back() {
    const std::byte* const here = now_.runs.in_second ? buffer() : from();
    if (here == own()) return true;
    const std::uint64_t n = some(mine() - now_.at);
    std::memcpy(own() + bytes(now_.at), here + bytes(now_.at), bytes(n));
    now_.at += n;
    return now_.at == mine();
  }
  bool take_samples() {
    cuts(sorting_, room_, w_).sample(samples() + w_.me * w_.block, own(), mine());
    return true;
  }
  static constexpr std::array<part, 8> parts_of_stage_0{
      &sorter::stand_in_line, &sorter::bring_into_line, &sorter::sort_blocks, &sorter::merge_blocks,
      &sorter::count_digits,  &sorter::deal_digits,     &sorter::put_back,    &sorter::take_samples};

  // Stages 1 and 2

  std::byte* samples() const { return w_.scratch; }
  std::byte* all_cuts() const { return w_.scratch + w_.members * w_.block; }

  void cut_mine() {
    auto* const row = reinterpret_cast<std::uint64_t*>(all_cuts() + w_.me * w_.block);
    cuts(sorting_, room_, w_).make(row, samples(), own());
  }

  bool read_cuts() {
    cuts(sorting_, room_, w_).read(all_cuts());
    return true;
  }
  bool take_own() {
    const graph::part p = part_of_bucket(w_.me);
    const std::uint64_t done = bytes(now_.at), n = some((p.bytes - done) / of_.size);
    std::memcpy(p.mine + done, w_.segment + p.at + done, bytes(n));
    now_.at += n;
    return bytes(now_.at) == p.bytes;
  }
  graph::part part_of_bucket(std::uint32_t peer) const {
    const std::uint32_t place = room_.place_in_line()[peer];
    const std::uint64_t at = room_.bounds()[place], end = room_.bounds()[place + 1];
    return {of_.of_thread(thread(peer)).at + bytes(room_.cut_from()[place]), room_.first() + bytes(at),
            bytes(end - at)};
  }
  static constexpr std::array<part, 2> parts_of_stage_2{&sorter::read_cuts, &sorter::take_own};

  // Stage 3

  run_merges bucket() const { return {sorting_, room_, room_.first(), room_.second()}; }
  std::uint64_t results() const { return now_.end - now_.begin; }

  bool merge_bucket() { return bucket().until(2, left_); }
  // Those for others go to the buffer that the last two runs are not in.
  bool begin_results() {
    std::uint64_t in_front = 0;
    for (std::uint32_t m = 0; m < w_.members; ++m) {
      const layout::span s = of_.of_thread(thread(m), now_.begin, now_.end);
      room_.offsets()[m] = bytes(in_front) - s.at;
      if (m != w_.me) in_front += s.elements;
    }
    return true;
  }
  std::byte* result(std::uint32_t member, std::uint64_t address) const {
    if (member == w_.me) return w_.segment + address;
    return bucket().others() + (room_.offsets()[member] + address);
  }
  bool merge_results() {
    run_merges last = bucket();
    while (last.taken() != results()) {
      if (left_ == 0) return false;
      reductions::block_walk walk(of_, now_.begin + last.taken());
      const std::uint64_t end = std::min(now_.end, walk.element() + left_), run = walk.run(end);
      if (run >= long_run || of_.size > sizeof together_) {
        last.take(result(member_of(walk.thread()), walk.address()), run);
        left_ -= run;
      } else {
        const std::uint64_t some = std::min(end - walk.element(), sizeof together_ / of_.size);
        last.take(together_, some);
        spread(walk, some);
        left_ -= some;
      }
    }
    return true;
  }
  void spread(reductions::block_walk& walk, std::uint64_t elements) {
    const std::byte* next = together_;
    for (const std::uint64_t end = walk.element() + elements; walk.element() != end;) {
      const std::uint64_t run = walk.run(end);
      copy(result(member_of(walk.thread()), walk.address()), next, run);
      next += bytes(run);
      walk.pass(run);
    }
  }
  graph::part part_of_results(std::uint32_t peer) const {
    const layout::span s = of_.of_thread(thread(peer), now_.begin, now_.end);
    return {s.at, result(peer, s.at), bytes(s.elements)};
  }
  static constexpr std::array<part, 3> parts_of_stage_3{&sorter::merge_bucket, &sorter::begin_results,
                                                        &sorter::merge_results};

  void copy(std::byte* to, const std::byte* from, std::uint64_t elements) const {
    switch (bytes(elements)) {
    case 4:
      std::memcpy(to, from, 4);
      return;
    case 8:
      std::memcpy(to, from, 8);
      return;
    default:
      std::memcpy(to, from, bytes(elements));
    }
  }

  static constexpr std::uint64_t long_run = 64; // elements: worth a merge of their own

  const sorting_task& sorting_;
  layout of_; // where it lies
  graph::work& w_;
  room room_;
  room::state& now_;
  std::uint64_t left_; // elements to touch
  alignas(64) std::byte together_[16 * 1024];
};

bool run(const graph::task& t, graph::work& w) {
  return sorter(static_cast<const sorting_task&>(t), w).run();
}

graph::part part_of(const graph::task& t, const graph::work& w, std::uint32_t peer) {
  graph::work mine = w;
  return sorter(static_cast<const sorting_task&>(t), mine).part_of(peer);
}

} // namespace

std::uint64_t row_bytes(const sorting_task& s, std::uint32_t members) {
  constexpr std::uint64_t alignment = 16;
  const std::uint64_t most =
      std::max<std::uint64_t>(most_samples(s) * s.of.size, buckets(members) * sizeof(std::uint64_t));
  return (most + alignment - 1) / alignment * alignment;
}

void prepare(sorting_task& s, std::uint32_t members) {
  s.run = run;
  s.part_of = part_of;
  s.bytes = sizeof(sorting_task);
  s.dealt = s.of.most_rows() > 1;
  s.slack = slack(s);
  std::uint64_t most = 0;
  for (std::uint32_t t = 0; t < s.of.threads; ++t)
    most = std::max(most, s.of.of_thread(t).elements);
  if (buckets(members) < members) most = std::max(most, s.of.elements / buckets(members) + 1);
  s.most = most + s.slack;
  s.room = room(s, members, nullptr).bytes();
}

} // namespace weft::sorting
