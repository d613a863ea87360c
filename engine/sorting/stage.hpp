#pragma once
#include "engine/reductions/block_walk.hpp"
#include "engine/reductions/reduction.hpp"
#include "engine/sorting/room.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace weft::sorting {

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

} // namespace weft::sorting
