// SPDX-License-Identifier: BSD-3-Clause
#include "engine/reductions/reduction.hpp"

#include "engine/reductions/fixed_tree.hpp"
#include "engine/reductions/layout.hpp"

#include <array>
#include <cstring>

namespace weft::reductions {

namespace {

// Of the elements, as even as may be, in the order of the ranks. Or the root has all: then no other member
// works.
struct range {
  std::uint64_t begin, end;
};
bool is_alone(const reduction& r, const graph::work& w) {
  return r.alone || w.alone;
}
range part_of_line(const reduction& r, const graph::work& w, std::uint64_t length, std::uint32_t member) {
  if (is_alone(r, w)) return {member > w.me ? length : 0, member >= w.me ? length : 0};
  const std::uint64_t each = length / w.members, more = length % w.members;
  const auto begin_of = [&](std::uint64_t m) { return m * each + std::min(m, more); };
  return {begin_of(member), begin_of(member + 1u)};
}
range leaf_range(const reduction& r, const graph::work& w, std::uint32_t member) {
  return part_of_line(r, w, leaves_of(r.from.elements), member);
}
range range_of(const reduction& r, const graph::work& w, std::uint32_t member) {
  if (!r.reproducible) return part_of_line(r, w, r.from.elements, member);
  const range leaves = leaf_range(r, w, member);
  return {std::min(r.from.elements, leaves.begin * leaf_elements),
          std::min(r.from.elements, leaves.end * leaf_elements)};
}
std::uint64_t longest_range(const reduction& r, std::uint32_t members, bool alone) {
  if (alone) return r.from.elements;
  return r.reproducible ? (leaves_of(r.from.elements) / members + 1) * leaf_elements
                        : r.from.elements / members + 1;
}

// The room: a word for each member and side that says where its part begins, then what others have, then what
// others get.
class rooms {
public:
  rooms(const reduction& r, const graph::work& w) : r_(r), w_(w), mine_(range_of(r, w, w.me)) {}

  static std::uint64_t bytes(const reduction& r, std::uint32_t members, bool alone) {
    const bool results = r.what != reduction::form::value;
    return tables(members) + (results ? 2 : 1) * side_bytes(r, members, alone) + row_bytes;
  }

  const range& mine() const { return mine_; }
  const layout& side(bool result) const { return result ? r_.to : r_.from; }
  layout::span span(std::uint32_t member, bool result) const {
    return side(result).of_thread(thread_of(r_, w_, member), mine_.begin, mine_.end);
  }
  // In the room; one after the other, in the order of the ranks.
  std::uint64_t begin_of(std::uint32_t member, bool result) const {
    std::uint64_t at = tables(w_.members);
    if (result) at += side_bytes(r_, w_.members, is_alone(r_, w_));
    for (std::uint32_t m = 0; m < member; ++m)
      if (m != w_.me) at += span(m, result).elements * r_.from.size;
    return at;
  }

  // By thread of the job: what to add to an address on that thread. Noted when the first stage begins.
  void note() const {
    for (const bool result : {false, true}) {
      if (result && r_.what == reduction::form::value) break;
      std::uint64_t at = begin_of(0, result);
      for (std::uint32_t m = 0; m < w_.members; ++m) {
        const layout::span s = span(m, result);
        if (m == w_.me) continue;
        offsets(result)[m] = at - s.at;
        at += s.elements * r_.from.size;
      }
    }
  }
  std::byte* at(std::uint32_t member, std::uint64_t address, bool result) const {
    return member == w_.me ? w_.segment + address : w_.room + (offsets(result)[member] + address);
  }

  // For the subtrees in front of what is being scanned.
  std::byte* row() const { return w_.room + bytes(r_, w_.members, is_alone(r_, w_)) - row_bytes; }

private:
  static constexpr std::uint64_t row_bytes = (most_subtrees + 1) * 32;
  static std::uint64_t side_bytes(const reduction& r, std::uint32_t members, bool alone) {
    return (longest_range(r, members, alone) * r.from.size + 63) / 64 * 64;
  }
  static std::uint64_t tables(std::uint32_t members) {
    return (2 * members * sizeof(std::uint64_t) + 63) / 64 * 64;
  }
  std::uint64_t* offsets(bool result) const {
    return reinterpret_cast<std::uint64_t*>(w_.room) + (result ? w_.members : 0);
  }

  const reduction& r_;
  const graph::work& w_;
  range mine_;
};

// Elements of a range in their order, some at a time in one place: as they lie there if a run of them is
// long, else put together.
class range_reduction {
public:
  range_reduction(const reduction& r, graph::work& w) : r_(r), w_(w), rooms_(r, w), left_(pieces(w.budget)) {}

  // My partial result, or those of my subtrees.
  bool fold() {
    if (w_.done == 0) rooms_.note();
    if (r_.reproducible) return fold_leaves();
    for (; left_ != 0 && rooms_.mine().begin + w_.done < rooms_.mine().end; --left_) {
      const piece p = next();
      r_.how.fold(entry(w_.me), p.elements, p.count, w_.done != 0, r_.of_kernels());
      w_.done += p.count;
    }
    return rooms_.mine().begin + w_.done >= rooms_.mine().end;
  }

  bool finish() {
    if (r_.from.elements == 0) return true;
    if (r_.reproducible) return r_.what == reduction::form::value ? join_all() : scan_leaves();
    return r_.what == reduction::form::value ? combine_all() : scan();
  }

private:
  static constexpr std::uint64_t most = 1024, long_run = 128; // elements
  std::uint64_t pieces(std::uint64_t budget) const {
    return std::max<std::uint64_t>(1, budget / (most * r_.from.size));
  }
  std::byte* entry(std::uint32_t member) const { return w_.scratch + member * w_.block; }
  std::uint32_t member(std::uint32_t thread) const { return member_of(r_, w_, thread); }

  struct piece {
    const std::byte* elements;
    std::uint64_t count;
  };
  piece next(std::uint64_t most_elements = most) {
    block_walk walk(r_.from, rooms_.mine().begin + w_.done);
    const std::uint64_t end = std::min(rooms_.mine().end, walk.element() + most_elements);
    const std::uint64_t enough = most_elements == most ? long_run : end - walk.element(); // a leaf is whole
    if (const std::uint64_t run = walk.run(end); run >= enough)
      return {rooms_.at(member(walk.thread()), walk.address(), false), run};
    std::uint64_t count = 0;
    while (walk.element() != end && walk.run(end) < enough) {
      const std::uint64_t run = walk.run(end);
      copy(together_ + count * r_.from.size, rooms_.at(member(walk.thread()), walk.address(), false), run);
      count += run;
      walk.pass(run);
    }
    return {together_, count};
  }
  // The results of so many elements, to where they belong.
  void spread(const std::byte* results, std::uint64_t count, std::uint64_t skip) {
    block_walk walk(r_.to, rooms_.mine().begin + w_.done + skip);
    const std::uint64_t end = rooms_.mine().begin + w_.done + count;
    results += skip * r_.from.size;
    while (walk.element() != end) {
      const std::uint64_t run = walk.run(end);
      copy(rooms_.at(member(walk.thread()), walk.address(), true), results, run);
      results += run * r_.from.size;
      walk.pass(run);
    }
  }
  void copy(std::byte* to, const std::byte* from, std::uint64_t count) const {
    copy_run(to, from, count * r_.from.size);
  }

  subtree_row row_at(std::byte* values) const { return {values, r_.from.size, r_.how, r_.of_kernels()}; }
  std::uint64_t leaf() const { return (rooms_.mine().begin + w_.done) / leaf_elements; }

  bool fold_leaves() {
    const std::uint64_t first = leaf_range(r_, w_, w_.me).begin;
    subtree_row mine = row_at(entry(w_.me));
    mine.assume(first, leaf());
    for (left_ *= most / leaf_elements; left_ != 0 && rooms_.mine().begin + w_.done < rooms_.mine().end;
         --left_)
      push_next(mine, next(leaf_elements));
    return rooms_.mine().begin + w_.done >= rooms_.mine().end;
  }
  void push_next(subtree_row& row, const piece& p) {
    alignas(16) std::array<std::byte, 32> value;
    r_.how.fold(value.data(), p.elements, p.count, false, r_.of_kernels());
    row.push(leaf(), 0, value.data());
    w_.done += p.count;
  }
  // The subtrees of the members before this one.
  void push_before(subtree_row& row, std::uint32_t end) const {
    for (std::uint32_t m = 0; m < end; ++m) {
      const range leaves = leaf_range(r_, w_, m);
      const std::byte* value = entry(m);
      subtree_row::each(leaves.begin, leaves.end, [&](std::uint64_t at, unsigned level) {
        row.push(at, level, value);
        value += r_.from.size;
      });
    }
  }
  bool join_all() {
    subtree_row all = row_at(rooms_.row());
    push_before(all, w_.members);
    alignas(16) std::array<std::byte, 32> value;
    if (all.whole(value.data())) r_.how.fold(w_.segment + w_.dst, value.data(), 1, false, r_.of_kernels());
    return true;
  }
  // A leaf is scanned behind what all leaves before it make.
  bool scan_leaves() {
    const range mine = rooms_.mine();
    subtree_row front = row_at(rooms_.row());
    if (w_.done == 0)
      push_before(front, w_.me);
    else
      front.assume(0, leaf());
    for (left_ *= most / leaf_elements; left_ != 0 && mine.begin + w_.done < mine.end; --left_) {
      const piece p = next(leaf_elements);
      alignas(16) std::array<std::byte, 32> carry;
      const bool more = front.whole(carry.data());
      const bool exclusive = r_.what == reduction::form::exclusive_prefix;
      r_.how.scan(results_, p.elements, p.count, carry.data(), more, exclusive, r_.of_kernels());
      alignas(16) std::array<std::byte, 32> value; // before its place is written
      r_.how.fold(value.data(), p.elements, p.count, false, r_.of_kernels());
      spread(results_, p.count, exclusive && !more ? 1 : 0);
      front.push(leaf(), 0, value.data());
      w_.done += p.count;
    }
    return mine.begin + w_.done == mine.end;
  }

  bool has_elements(std::uint32_t m) const {
    const range it = range_of(r_, w_, m);
    return it.begin != it.end;
  }
  // What the members before this one have, if they have anything.
  bool fold_before(std::byte* into, std::uint32_t end) const {
    bool more = false;
    for (std::uint32_t m = 0; m < end; ++m) {
      if (!has_elements(m)) continue;
      r_.how.fold(into, entry(m), 1, more, r_.of_kernels());
      more = true;
    }
    return more;
  }

  bool combine_all() {
    fold_before(w_.segment + w_.dst, w_.members);
    return true;
  }

  bool scan() {
    std::byte* const carry = state_of(w_);
    const range mine = rooms_.mine();
    if (mine.begin == mine.end) return true;
    if (w_.done == 0) fold_before(carry, w_.me);
    for (; left_ != 0 && mine.begin + w_.done < mine.end; --left_) {
      const piece p = next();
      const bool more = mine.begin + w_.done != 0;
      const bool exclusive = r_.what == reduction::form::exclusive_prefix;
      r_.how.scan(results_, p.elements, p.count, carry, more, exclusive, r_.of_kernels());
      spread(results_, p.count, exclusive && !more ? 1 : 0);
      w_.done += p.count;
    }
    return mine.begin + w_.done == mine.end;
  }

  const reduction& r_;
  graph::work& w_;
  rooms rooms_;
  std::uint64_t left_;
  alignas(64) std::byte together_[most * 32], results_[most * 32];
};

bool run(const graph::task& t, graph::work& w) {
  if (w.stage == 2) return true; // my own results are in their places
  range_reduction it(static_cast<const reduction&>(t), w);
  return w.stage == 0 ? it.fold() : it.finish();
}

// What is worked on belongs to stage 0, the results to stage 1.
graph::part part_of(const graph::task& t, const graph::work& w, std::uint32_t peer) {
  const bool result = w.stage != 0;
  const auto& r = static_cast<const reduction&>(t);
  const rooms where(r, w);
  const layout::span s = where.span(peer, result);
  // Nothing is in front of the first element: its place keeps what it has.
  const bool first = result && r.what == reduction::form::exclusive_prefix && where.mine().begin == 0 &&
                     s.elements != 0 && s.at == r.to.address_of(0) && r.to.first == thread_of(r, w, peer);
  const std::uint64_t left_out = first ? r.from.size : 0;
  return {s.at + left_out, w.room + where.begin_of(peer, result) + left_out,
          s.elements * r.from.size - left_out};
}

} // namespace

void prepare_ranges(reduction& r, std::uint32_t members) {
  r.run = run;
  r.part_of = part_of;
  r.room = rooms::bytes(r, members, r.alone);
  // A root that may choose waits about as long as it takes to combine all elements.
  constexpr std::uint64_t combined_in_a_ns = 8; // bytes
  r.room_alone = rooms::bytes(r, members, true);
  r.patience = r.from.elements * r.from.size / combined_in_a_ns;
}

} // namespace weft::reductions
