// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/reductions/layout.hpp"
#include "engine/reductions/reduction.hpp"
#include "engine/sorting/sorting.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace weft::sorting {

// Where the elements of all members are cut into buckets. Of the samples, put in order, those are chosen in
// front of which about so many elements lie as the buckets before are to have.
class cuts {
public:
  cuts(const sorting_task& s, const room& r, const graph::work& w) : sorting_(s), room_(r), work_(w) {}

  // Samples of my elements, which are in order.
  void sample(std::byte* row, const std::byte* elements, std::uint64_t count) const;
  // The beginning of each bucket among my elements; `rows` are the samples of all.
  void make(std::uint64_t* mine, const std::byte* rows, const std::byte* elements) const;
  // My bucket, from the cuts of all.
  void read(const std::byte* rows) const;

private:
  // A sample is one of a member's, which stands at this place in line.
  struct sample_of {
    std::uint32_t place, number;
  };
  sample_of which(std::uint32_t id) const;
  std::uint64_t count(std::uint32_t place) const { return room_.counts()[place]; }
  std::uint64_t position(std::uint32_t place, std::uint64_t number) const;
  std::uint32_t put_in_order(const std::byte* rows) const;
  bool comes_before(const std::byte* rows, std::uint32_t a, std::uint32_t b) const;
  const std::byte* element(const std::byte* rows, std::uint32_t id) const;
  std::uint64_t in_front(const std::byte* elements, const std::byte* sample, bool equal_too) const;
  std::uint64_t cut(const std::byte* rows, std::uint32_t place, std::uint32_t bucket) const;
  std::uint64_t target(std::uint32_t bucket) const;
  std::uint64_t by_number(std::uint32_t place, std::uint32_t bucket) const;
  bool in_bounds(const std::byte* rows) const;

  const sorting_task& sorting_;
  const room& room_;
  const graph::work& work_;
};

// Runs that stand one behind the other in one of two buffers, each in order, become fewer and longer: pairs
// of neighbours are merged into the other buffer, level by level. As much at a time as there is to spend.
class run_merges {
public:
  run_merges(const sorting_task& s, const room& r, std::byte* first, std::byte* second)
      : sorting_(s), now_(r.now().runs), bounds_(r.bounds()), first_(first), second_(second) {}

  static std::uint64_t levels(std::uint64_t runs, std::uint64_t enough) {
    std::uint64_t all = 0;
    for (; runs > enough; runs = (runs + 1) / 2)
      ++all;
    return all;
  }
  // In which buffer they are.
  std::byte* runs() const { return now_.in_second ? second_ : first_; }
  std::byte* others() const { return now_.in_second ? first_ : second_; }

  // Until there are no more than `enough`; true when it has come to that. `elements`: to spend.
  bool until(std::uint64_t enough, std::uint64_t& elements) {
    while (now_.runs > enough) {
      if (elements == 0) return false;
      merge_some(elements);
      if (now_.next >= now_.runs) next_level();
    }
    return true;
  }

  // So many of the two runs that are left, or of the one, behind what has been taken of them.
  void take(std::byte* out, std::uint64_t elements) { merge(out, bounds_[0], elements); }
  std::uint64_t taken() const { return now_.of_a + now_.of_b; }

private:
  std::uint64_t end_of(std::uint64_t run) const { return bounds_[std::min(run, now_.runs)]; }

  void merge_some(std::uint64_t& elements) {
    const std::uint64_t begin = bounds_[now_.next], all = end_of(now_.next + 2) - begin;
    const std::uint64_t some = std::min(elements, all - taken());
    merge(others() + (begin + taken()) * sorting_.of.size, begin, some);
    elements -= some;
    if (taken() != all) return;
    bounds_[now_.merged++] = begin; // no run that is still to be merged begins there
    now_.next += 2;
    now_.of_a = now_.of_b = 0;
  }
  void next_level() {
    bounds_[now_.merged] = bounds_[now_.runs];
    now_.runs = now_.merged;
    now_.next = now_.merged = 0;
    now_.in_second = !now_.in_second;
  }
  // Of the pair that begins there.
  void merge(std::byte* out, std::uint64_t begin, std::uint64_t elements) {
    const std::uint64_t middle = end_of(now_.next + 1), end = end_of(now_.next + 2);
    const std::uint64_t size = sorting_.of.size, a = begin + now_.of_a, b = middle + now_.of_b;
    const std::uint64_t of_a = sorting_.how.merge(out, runs() + a * size, middle - a, runs() + b * size,
                                                  end - b, elements, sorting_.of_order());
    now_.of_a += of_a;
    now_.of_b += elements - of_a;
  }

  const sorting_task& sorting_;
  room::merging& now_;
  std::uint64_t* bounds_;
  std::byte *first_, *second_;
};

// What the stages of a sort know of this member's work.
class stage {
public:
  stage(const sorting_task& s, graph::work& w)
      : sorting_(s), of_(s.of), w_(w), room_(s, w.members, w.room), now_(room_.now()),
        left_(std::max<std::uint64_t>(1, std::min(w.budget, most_at_once) / of_.size)) {
    of_.at = w.src;
  }

protected:
  // The parts of a stage, one after the other, each as far as there is something to spend.
  template <class Stage, std::size_t N>
  bool run_parts(Stage& it, const std::array<bool (Stage::*)(), N>& parts) {
    if (w_.done == 0) now_.part = now_.digit = 0, now_.at = 0;
    w_.done = 1;
    for (; now_.part != N; ++now_.part, now_.at = 0)
      if (!(it.*parts[now_.part])()) return false;
    return true;
  }
  // Of what is left to spend.
  std::uint64_t some(std::uint64_t of) {
    const std::uint64_t now = std::min(left_, of);
    left_ -= now;
    return now;
  }

  std::uint32_t thread(std::uint32_t member) const { return w_.threads[member]; }
  std::uint32_t member_of(std::uint32_t thread) const { return reductions::member_of(w_, thread); }
  std::uint64_t count(std::uint32_t member) const { return of_.of_thread(thread(member)).elements; }
  std::uint64_t mine() const { return count(w_.me); }
  std::byte* own() const { return w_.segment + of_.of_thread(thread(w_.me)).at; }
  std::uint64_t bytes(std::uint64_t elements) const { return elements * of_.size; }

  // The rows of the two tables.
  std::byte* samples() const { return w_.scratch; }
  std::byte* all_cuts() const { return w_.scratch + w_.members * w_.block; }

  void copy(std::byte* to, const std::byte* from, std::uint64_t elements) const {
    reductions::copy_run(to, from, bytes(elements));
  }

  const sorting_task& sorting_;
  reductions::layout of_; // where it lies
  graph::work& w_;
  room room_;
  room::state& now_;
  std::uint64_t left_; // elements to touch

private:
  // More than this is never touched at once, however much may be.
  static constexpr std::uint64_t most_at_once = 512 * 1024;
};

// Stage 0: what is mine to work on, brought into line if need be, is put in order where I have my part of the
// array. By comparisons: blocks that stay in the cache, then levels of merges. By the bytes of a key: they
// are counted once, and dealt byte by byte.
class own_elements : stage {
public:
  using stage::stage;

  bool run() { return run_parts(*this, parts); }
  // What another member has of them before they stand in line.
  graph::part part_of(std::uint32_t peer) const;

private:
  bool stand_in_line();
  bool bring_into_line();
  bool sort_blocks();
  bool merge_blocks() { return by_digits() || merges().until(1, left_); }
  bool count_digits();
  bool deal_digits();
  bool put_back();
  bool take_samples();
  static constexpr std::array<bool (own_elements::*)(), 8> parts{
      &own_elements::stand_in_line, &own_elements::bring_into_line, &own_elements::sort_blocks,
      &own_elements::merge_blocks,  &own_elements::count_digits,    &own_elements::deal_digits,
      &own_elements::put_back,      &own_elements::take_samples};

  std::uint64_t line_begin() const;
  reductions::layout::span span_of_line(std::uint32_t member, std::uint64_t begin) const {
    return of_.of_thread(thread(member), begin, begin + mine());
  }
  const std::byte* brought(std::uint32_t thread, std::uint64_t address) const;
  bool begin_digit(std::uint64_t* next) const;

  // They and a buffer for as many: they are in the first of the two.
  std::byte* from() const { return sorting_.dealt ? room_.first() : own(); }
  std::byte* buffer() const { return sorting_.dealt ? own() : room_.first(); }
  run_merges merges() const { return {sorting_, room_, from(), buffer()}; }
  bool by_digits() const { return sorting_.how.digits != 0; }
};

// Stages 2 and 3: my bucket comes together, a run from each member as they stand in line, and is merged. Its
// elements go to where they belong in the array, those for others to where they are put from: the buffer that
// the last two runs are not in.
class bucket : stage {
public:
  using stage::stage;

  bool take() { return run_parts(*this, parts_of_taking); }
  bool merge() { return run_parts(*this, parts_of_merging); }
  // What another member has of it, and what it gets.
  graph::part part_of(std::uint32_t peer) const;
  graph::part results_of(std::uint32_t peer) const;

private:
  bool read_cuts();
  bool take_own();
  static constexpr std::array<bool (bucket::*)(), 2> parts_of_taking{&bucket::read_cuts, &bucket::take_own};

  bool merge_runs() { return runs().until(2, left_); }
  bool begin_results();
  bool merge_results();
  static constexpr std::array<bool (bucket::*)(), 3> parts_of_merging{
      &bucket::merge_runs, &bucket::begin_results, &bucket::merge_results};

  run_merges runs() const { return {sorting_, room_, room_.first(), room_.second()}; }
  std::byte* result(std::uint32_t member, std::uint64_t address) const;
  void spread(const std::byte* elements, std::uint64_t count, std::uint64_t index);
};

} // namespace weft::sorting
