// SPDX-License-Identifier: BSD-3-Clause
#include "engine/reductions/reduction.hpp"

#include "engine/plan/call_fields.hpp"
#include "engine/reductions/fixed_tree.hpp"
#include "engine/reductions/runs.hpp"

#include <bit>
#include <cstring>

namespace weft::reductions {

namespace {

// Where stage 1 of a prefix reduction stands, between two pieces.
struct scan_state {
  std::uint64_t block = 0, element = 0; // the next one; of runs, the next one of all rows
  bool begun = false;                   // of runs: there is something in front
  alignas(16) std::byte front[32];      // of all blocks before this one
  alignas(16) std::byte carry[32];      // of all elements before this one
};
static_assert(sizeof(scan_state) + 16 <= state_bytes);
static_assert(sizeof(scan_state) + 16 <= combined_runs::state_bytes);

class array_reduction {
public:
  array_reduction(const reduction& r, graph::work& w) : r_(r), from_(r.from), w_(w) {}

  // A piece of the elements that lie on my thread.
  bool fold_own() { return fold_own(entry(w_.me, 0)); }
  bool fold_own(std::byte* into) {
    const layout::span mine = from_.of_thread(thread(w_.me));
    std::uint64_t left = std::max<std::uint64_t>(1, w_.budget / from_.size);
    for (; left != 0 && w_.done != mine.elements;) {
      const piece next = next_piece(mine.elements, left);
      r_.how.fold(into + next.partial * from_.size, w_.segment + mine.at + w_.done * from_.size,
                  next.elements, next.more, r_.of_kernels());
      w_.done += next.elements;
      left -= next.elements;
    }
    return w_.done == mine.elements;
  }

  // The stages of a reduction that hosts combine among each other.
  bool combine_by_hosts() {
    const combined_runs all(w_, r_.what != reduction::form::value);
    if (w_.stage == own_run) {
      const run_row mine = all.given();
      const std::uint32_t k = w_.where->local_index(w_.me);
      const std::uint64_t blocks = from_.rows_of(thread(w_.me));
      mine[k] = {w_.me, w_.me + 1, r_.in_order ? blocks == rows() : blocks != 0};
      return fold_own(mine.value(k));
    }
    if (w_.stage == combined_result) return from_.elements == 0 || finish(all);
    all.compute(w_.stage,
                [this](rank_run& into, std::byte* value, const rank_run& behind, const std::byte* its) {
                  for (std::uint64_t row = 0; row != rows(); ++row) {
                    if (!has(behind, row)) continue;
                    std::byte* const to = value + row * from_.size;
                    if (has(into, row))
                      r_.how.combine(to, its + row * from_.size, 1, r_.of_kernels());
                    else
                      std::memcpy(to, its + row * from_.size, from_.size);
                  }
                  into.last |= behind.last;
                });
    return true;
  }

  bool finish() {
    if (from_.elements == 0) return true;
    return r_.what == reduction::form::value ? combine_all() : scan_own();
  }

private:
  std::uint32_t thread(std::uint32_t member) const { return thread_of(r_, w_, member); }
  std::uint32_t member(std::uint32_t thread) const { return member_of(r_, w_, thread); }
  // Of a block among those of its thread.
  std::uint64_t number_of(std::uint64_t b) const { return b < from_.threads ? 0 : b / from_.threads; }
  std::byte* entry(std::uint32_t member, std::uint64_t partial) const {
    return w_.scratch + member * w_.block + partial * from_.size;
  }

  struct piece {
    std::uint64_t partial = 0, elements = 0;
    bool more = false; // behind what has been folded into the same partial result
  };
  piece next_piece(std::uint64_t all, std::uint64_t most) const {
    if (!r_.in_order) return {0, std::min(most, all - w_.done), w_.done != 0};
    // The first block of the array may begin in the midst of one, in which my elements then begin.
    const std::uint64_t ahead = from_.first_of(thread(w_.me)) == 0 ? from_.phase : 0;
    const std::uint64_t row = (ahead + w_.done) / from_.block, in_row = (ahead + w_.done) % from_.block;
    const std::uint64_t begun = row == 0 ? in_row - ahead : in_row;
    return {row, std::min({most, all - w_.done, from_.block - in_row}), begun != 0};
  }

  bool combine_all() {
    std::byte* const result = w_.segment + w_.dst;
    bool more = false;
    const auto take = [&](std::uint32_t member, std::uint64_t partial) {
      r_.how.fold(result, entry(member, partial), 1, more, r_.of_kernels());
      more = true;
    };
    if (r_.in_order) {
      for (std::uint64_t b = 0; b < from_.blocks; ++b)
        take(member(from_.thread_of(b)), number_of(b));
    } else {
      for (std::uint32_t m = 0; m < w_.members; ++m)
        if (from_.rows_of(thread(m)) != 0) take(m, 0);
    }
    return true;
  }

  // Block after block: mine are scanned, behind what is in front of them; the others only count.
  bool scan_own() {
    auto& at = *reinterpret_cast<scan_state*>(state_of(w_));
    if (w_.done == 0) at = {};
    w_.done = 1;
    std::uint64_t left = std::max<std::uint64_t>(1, w_.budget / from_.size);
    for (; at.block != from_.blocks; ++at.block) {
      const std::uint64_t b = at.block;
      if (from_.thread_of(b) == thread(w_.me) && !scan_block(at, b, left)) return false;
      r_.how.fold(at.front, entry(member(from_.thread_of(b)), number_of(b)), 1, b != 0, r_.of_kernels());
    }
    return true;
  }

  // As much of it as is left to do now.
  bool scan_block(scan_state& at, std::uint64_t b, std::uint64_t& left) {
    const std::uint64_t begin = from_.begin_of(b), end = from_.end_of(b);
    if (at.element < begin) {
      at.element = begin;
      std::memcpy(at.carry, at.front, sizeof at.carry);
    }
    const std::uint64_t now = std::min(left, end - at.element);
    r_.how.scan(w_.segment + r_.to.address_of(at.element), w_.segment + from_.address_of(at.element), now,
                at.carry, at.element != 0, r_.what == reduction::form::exclusive_prefix, r_.of_kernels());
    at.element += now;
    left -= now;
    return at.element == end;
  }

  // Partial results of a run. All threads have blocks in all rows but the last.
  std::uint64_t rows() const { return w_.block / from_.size; }
  bool has(const rank_run& of, std::uint64_t row) const { return row + 1 != rows() || of.last != 0; }

  // Row after row, run after run.
  bool finish(const combined_runs& all) {
    const bool scans = r_.what != reduction::form::value;
    scan_state fresh;
    auto& at = scans ? *reinterpret_cast<scan_state*>(all.state()) : fresh;
    if (w_.done == 0) at = {};
    w_.done = 1;
    std::uint64_t left = std::max<std::uint64_t>(1, w_.budget / from_.size), number = 0;
    bool through = true;
    for (std::uint64_t row = 0; through && row != rows(); ++row)
      all.each([&](const rank_run& one, const std::byte* value) {
        if (number++ < at.block) return true;
        if (has(one, row)) {
          const bool mine = scans && one.begin == w_.me;
          if (mine && !scan_block(at, first_block() + row * from_.threads, left)) return through = false;
          std::byte* const sum = scans ? at.front : w_.segment + w_.dst;
          r_.how.fold(sum, value + row * from_.size, 1, at.begun, r_.of_kernels());
          at.begun = true;
        }
        at.block = number;
        return true;
      });
    return through;
  }
  std::uint64_t first_block() const { return from_.first_of(thread(w_.me)); }

  const reduction& r_;
  const layout& from_;
  graph::work& w_;
};

bool run(const graph::task& t, graph::work& w) {
  array_reduction it(static_cast<const reduction&>(t), w);
  if (w.stage >= own_run) return it.combine_by_hosts();
  return w.stage == 0 ? it.fold_own() : it.finish();
}

graph::part part_of(const graph::task& t, const graph::work& w, std::uint32_t peer) {
  const bool prefix = static_cast<const reduction&>(t).what != reduction::form::value;
  return combined_runs(w, prefix).part(w.stage, peer);
}

void say(const graph::task& t, graph::call_fields& call) {
  using graph::argument;
  const auto& r = static_cast<const reduction&>(t);
  call.say(argument::type, static_cast<std::uint64_t>(r.type));
  call.say(argument::op, static_cast<std::uint64_t>(r.op));
  call.say(argument::blk_size, r.from.block);
  call.say(argument::src_place, graph::packed(r.from.first, r.from.phase));
  if (r.what != reduction::form::value) call.say(argument::dst_place, graph::packed(r.to.first, r.to.phase));
  call.say(argument::form,
           std::uint64_t{r.what == reduction::form::exclusive_prefix} | std::uint64_t{r.reproducible} << 1);
}

} // namespace

std::uint64_t reduction::partials() const {
  if (reproducible)
    return std::min<std::uint64_t>(most_subtrees, 2u * std::bit_width(leaves_of(from.elements)) + 1);
  return in_order && !by_ranges ? from.most_rows() : 1;
}

void prepare(reduction& r, std::uint32_t members) {
  r.run = run;
  r.part_of = part_of;
  r.say = say;
  r.bytes = sizeof(reduction);
  if (r.by_ranges) prepare_ranges(r, members);
}

bool description::fits(std::uint64_t end) const {
  if (type >= reductions::elements || op >= reductions::operations || threads == 0) return false;
  if (what > static_cast<std::uint8_t>(reduction::form::exclusive_prefix)) return false;
  if (kernels_of(static_cast<element>(type), static_cast<operation>(op)) == nullptr) return false;
  const std::uint64_t all = end / size_of(static_cast<element>(type)); // elements on one thread
  const bool phases = block != 0 && from_phase < block && to_phase < block;
  return phases && from_first < threads && to_first < threads && from_at < end && to_at < end &&
         elements / threads <= all;
}

description describe(const reduction& r) {
  description d;
  d.elements = r.from.elements;
  d.block = r.from.block;
  d.from_at = r.from.at;
  d.from_phase = r.from.phase;
  d.from_first = r.from.first;
  d.to_at = r.to.at;
  d.to_phase = r.to.phase;
  d.to_first = r.to.first;
  d.threads = r.from.threads;
  d.type = static_cast<std::uint8_t>(r.type);
  d.op = static_cast<std::uint8_t>(r.op);
  d.what = static_cast<std::uint8_t>(r.what);
  d.in_order = r.in_order;
  d.by_ranges = r.by_ranges;
  return d;
}

reduction described(const description& d) {
  reduction r;
  r.type = static_cast<element>(d.type);
  r.op = static_cast<operation>(d.op);
  r.how = *kernels_of(r.type, r.op);
  const auto size = static_cast<std::uint32_t>(size_of(r.type));
  const auto over = [&](std::uint64_t at, std::uint32_t phase, std::uint32_t first) {
    return layout::of(at, d.elements, d.block, phase, first, d.threads, size);
  };
  r.from = over(d.from_at, d.from_phase, d.from_first);
  r.to = over(d.to_at, d.to_phase, d.to_first);
  r.what = static_cast<reduction::form>(d.what);
  r.in_order = d.in_order;
  r.by_ranges = d.by_ranges;
  r.by_place = true;
  prepare(r, d.threads);
  return r;
}

} // namespace weft::reductions
