// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/sorting/room.hpp"

#include <utility>

namespace weft::sorting {

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

} // namespace weft::sorting
