// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/plan/task.hpp"
#include "engine/topology/topology.hpp"

#include <cstring>

// What a task keeps of a reduction that hosts combine among each other, see collectives/combined_reduction.
//
// A run is the partial result of ranks that follow each other. What a member knows is a row of runs, from
// left to right, and two of them that meet are joined: so the order of the ranks holds wherever they are, and
// brackets depend on which ranks are on which hosts alone. With host after host a row is one run.
namespace weft::reductions {

struct rank_run {
  std::uint32_t begin = 0, end = 0; // ranks; its value lies behind it
  std::uint64_t last = 0;           // whether it has something of the last row of blocks, see reduction.cpp
};
inline std::uint64_t bytes_of_run(std::uint64_t value) {
  return sizeof(rank_run) + (value + 7) / 8 * 8;
}

// Up to `most` runs. Where there are fewer, an empty one ends them.
class run_row {
public:
  run_row(std::byte* at, std::uint64_t bytes, std::uint64_t most) : at_(at), bytes_(bytes), most_(most) {}

  rank_run& operator[](std::uint64_t k) const { return *reinterpret_cast<rank_run*>(at_ + k * bytes_); }
  std::byte* value(std::uint64_t k) const { return at_ + k * bytes_ + sizeof(rank_run); }
  std::uint64_t count() const {
    std::uint64_t k = 0;
    while (k != most_ && (*this)[k].begin != (*this)[k].end)
      ++k;
    return k;
  }
  void end_at(std::uint64_t count) const {
    if (count != most_) (*this)[count] = {};
  }
  void copy(const run_row& from) const {
    const std::uint64_t count = from.count();
    std::memcpy(at_, from.at_, count * bytes_);
    end_at(count);
  }
  // Two rows as one, from left to right. `join` makes one run of two.
  template <class Join> void merge(const run_row& x, const run_row& y, Join&& join) const {
    const std::uint64_t xs = x.count(), ys = y.count();
    std::uint64_t count = 0;
    for (std::uint64_t i = 0, j = 0; i + j != xs + ys;) {
      const bool left = j == ys || (i != xs && x[i].begin < y[j].begin);
      const run_row& from = left ? x : y;
      const std::uint64_t k = left ? i++ : j++;
      if (count != 0 && (*this)[count - 1].end == from[k].begin) {
        join((*this)[count - 1], value(count - 1), from[k], from.value(k));
        (*this)[count - 1].end = from[k].end;
      } else {
        std::memcpy(at_ + count++ * bytes_, from.at_ + k * bytes_, bytes_);
      }
    }
    end_at(count);
  }
  std::byte* at() const { return at_; }
  std::uint64_t bytes() const { return most_ * bytes_; }

private:
  std::byte* at_;
  std::uint64_t bytes_, most_;
};

// Its stages. The first ones are computed; what the last ones name travels as a payload.
enum combined_stage : std::uint32_t {
  own_run = 11,    // what I contribute; the payload: my neighbour's
  known_of_host,   // those of my host -> what I know
  known_of_pair,   // and what has come from the host beside mine
  known_of_more,   // and what has come from my partner
  rest_of_pair,    // what I know -> what the host beside mine does not
  known_of_rest,   // what has come is all that I did not know
  told_to_host,    // what I know -> what my neighbours need of it
  combined_result, // -> my result
  known_runs,
  runs_that_came,
  runs_of_rest,
  told_runs,
};

// All rows of an operation, in its scratch. A result for all is made of one run; for a prefix a member needs
// those of other hosts, and the contributions of its own host one by one.
class combined_runs {
public:
  combined_runs(const graph::work& w, bool prefix)
      : w_(w), prefix_(prefix), bytes_(bytes_of_run(w.block)), most_(w.message / bytes_) {}

  static std::uint64_t scratch(std::uint64_t locals, std::uint64_t value, std::uint64_t most) {
    return (locals + 8 * most) * bytes_of_run(value) + state_bytes;
  }
  static constexpr std::uint64_t state_bytes = 128 + 16;

  run_row given() const { return row(0, w_.where->locals()); }
  run_row told() const { return prefix_ ? place(0, 1) : row(w_.where->locals(), 1); }
  std::byte* state() const {
    const auto end = reinterpret_cast<std::uintptr_t>(place(8, 0).at());
    return place(8, 0).at() + (16 - end % 16) % 16;
  }

  template <class Join> void compute(std::uint32_t stage, Join&& join) const {
    const auto add = [&](const run_row& to) {
      spare().merge(to, come(), join);
      to.copy(spare());
    };
    switch (stage) {
    case known_of_host:
      beside().end_at(0);
      outside().end_at(0);
      return known().merge(given(), outside(), join);
    case known_of_pair:
      beside().copy(come());
      return add(known());
    case known_of_more:
      add(known());
      if (prefix_) add(outside());
      return;
    case rest_of_pair:
      return prefix_ ? come().merge(given(), outside(), join) : come().copy(known());
    case known_of_rest:
      return (prefix_ ? outside() : known()).copy(come());
    default:
      return prefix_ ? told().merge(outside(), beside(), join) : told().copy(known());
    }
  }

  graph::part part(std::uint32_t stage, std::uint32_t peer) const {
    const run_row payload = stage == own_run      ? row(w_.where->local_index(peer), 1)
                            : stage == known_runs ? known()
                            : stage == told_runs  ? told()
                                                  : come();
    return {0, payload.at(), payload.bytes()};
  }

  // Every run once, from left to right, as long as `visit` wants more.
  template <class Visit> void each(Visit&& visit) const {
    const run_row x = told(), y = given();
    const std::uint64_t xs = x.count(), ys = prefix_ ? y.count() : 0;
    for (std::uint64_t i = 0, j = 0; i + j != xs + ys;) {
      const bool left = j == ys || (i != xs && x[i].begin < y[j].begin);
      const run_row& from = left ? x : y;
      const std::uint64_t k = left ? i++ : j++;
      if (!visit(from[k], from.value(k))) return;
    }
  }

private:
  run_row row(std::uint64_t first, std::uint64_t most) const {
    return {w_.scratch + first * bytes_, bytes_, most};
  }
  // Behind the contributions, in messages.
  run_row place(std::uint64_t message, std::uint64_t messages) const {
    return row(w_.where->locals() + message * most_, messages * most_);
  }
  run_row known() const { return place(1, 1); }
  run_row come() const { return place(2, 1); }
  run_row beside() const { return place(3, 1); }
  run_row outside() const { return place(4, 2); }
  run_row spare() const { return place(6, 2); }

  const graph::work& w_;
  bool prefix_;
  std::uint64_t bytes_, most_;
};

} // namespace weft::reductions
