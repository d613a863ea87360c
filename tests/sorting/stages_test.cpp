// SPDX-License-Identifier: BSD-3-Clause
// The stages of a sort, played for all members one after the other: no threads, no transport. So what they
// compute is looked at alone, with many layouts: the bounds of the buckets above all, which no result shows.
#include "engine/sorting/sorting.hpp"
#include "engine/sorting/stages.hpp"
#include "tests/calls/sorted_elements.hpp"

#include <gtest/gtest.h>
#include <numeric>

namespace weft::sorting {
namespace {
using calls::dice;

struct member {
  std::vector<std::byte> segment, scratch, room;
  graph::work work;
};

class played_sort {
public:
  played_sort(const sorting_task& s, std::uint32_t members, std::uint64_t memory) : task_(s), all_(members) {
    for (std::uint32_t m = 0; m < members; ++m)
      threads_.push_back(m);
    prepare(task_, members);
    for (std::uint32_t m = 0; m < members; ++m) {
      member& it = all_[m];
      it.segment.resize(memory);
      it.scratch.resize(2 * members * row_bytes(task_, members));
      it.room.resize(task_.room + 64);
      it.work.me = m;
      it.work.members = members;
      it.work.threads = threads_.data();
      it.work.segment = it.segment.data();
      it.work.scratch = it.scratch.data();
      it.work.room = it.room.data() + (64 - reinterpret_cast<std::uintptr_t>(it.room.data()) % 64);
      it.work.block = row_bytes(task_, members);
      it.work.src = it.work.dst = task_.of.at;
    }
  }

  void play() {
    if (task_.dealt && !task_.whole) move_parts(0, true);
    run(0);
    spread_rows(0);
    run(1);
    if (task_.whole) return;
    spread_rows(1);
    run(2);
    move_parts(2, true);
    largest_ = 0;
    for (const member& it : all_)
      largest_ = std::max(largest_, bucket_of(it) - std::min(bucket_of(it), own(it)));
    run(3);
    move_parts(4, false);
  }

  std::byte* at(std::uint64_t index) {
    const reductions::layout& l = task_.of;
    return all_[l.thread_of(l.block_of(index))].segment.data() + l.address_of(index);
  }
  // By how much the largest bucket was larger than what its member has.
  std::uint64_t excess() const { return largest_; }
  std::uint64_t slack() const { return task_.slack; }

  std::uint64_t budget = 1000;

private:
  void run(std::uint32_t stage) {
    for (member& it : all_) {
      it.work.stage = stage;
      it.work.done = 0;
      it.work.budget = budget;
      while (!task_.run(task_, it.work)) {
      }
    }
  }
  void spread_rows(std::uint32_t table) {
    for (const member& from : all_)
      for (member& to : all_) {
        const std::uint64_t at = (table * all_.size() + from.work.me) * from.work.block;
        std::memcpy(to.scratch.data() + at, from.scratch.data() + at, from.work.block);
      }
  }
  void move_parts(std::uint32_t stage, bool get) {
    for (member& mine : all_)
      for (member& other : all_) {
        if (&mine == &other) continue;
        mine.work.stage = stage;
        const graph::part p = task_.part_of(task_, mine.work, other.work.me);
        if (p.bytes == 0) continue;
        std::byte* const there = other.segment.data() + p.at;
        ASSERT_LE(p.at + p.bytes, other.segment.size())
            << "stage " << stage << ": " << p.bytes << " bytes between " << mine.work.me << " and "
            << other.work.me;
        get ? std::memcpy(p.mine, there, p.bytes) : std::memcpy(there, p.mine, p.bytes);
      }
  }
  std::uint64_t own(const member& it) const { return task_.of.of_thread(it.work.me).elements; }
  std::uint64_t bucket_of(const member& it) const {
    const room r(task_, it.work.members, it.work.room);
    return r.now().end - r.now().begin;
  }

  sorting_task task_;
  std::vector<member> all_;
  std::vector<std::uint32_t> threads_;
  std::uint64_t largest_ = 0;
};

struct entry {
  std::uint32_t key, index;
};
bool before(const entry& a, const entry& b) {
  return a.key < b.key;
}
struct by_key_field {
  static by_key_field of(const void*) { return {}; }
  bool operator()(const entry& a, const entry& b) const { return before(a, b); }
};

void expect_sorted(std::uint64_t seed, const detail::element_order& how) {
  dice d{seed};
  const auto members = static_cast<std::uint32_t>(d.between(1, 9));
  const std::uint64_t elements = d.chance(50) ? d.below(100) : d.below(20000);
  const std::uint64_t block = d.chance(50) ? elements / members + d.between(1, 500) : d.between(1, 50);
  const auto phase = static_cast<std::uint32_t>(d.below(block));
  const auto first = static_cast<std::uint32_t>(d.below(members));
  const ::sorting::pattern p = d.pick(::sorting::patterns);
  SCOPED_TRACE("seed " + std::to_string(seed) + ": " + std::to_string(elements) + " elements of pattern " +
               std::to_string(static_cast<int>(p)) + " on " + std::to_string(members) + ", blocks of " +
               std::to_string(block));
  sorting_task s;
  s.how = how;
  s.of = reductions::layout::of(phase * sizeof(entry), elements, block, phase, first, members, sizeof(entry));
  played_sort it(s, members, (elements + 3 * block) * sizeof(entry));
  constexpr std::uint64_t budgets[] = {1, 100, 20000, 10000000};
  it.budget = d.pick(budgets);
  std::vector<entry> wanted;
  for (std::uint32_t k = 0; k < elements; ++k) {
    wanted.push_back({::sorting::key_of(p, seed, k, elements), k});
    std::memcpy(it.at(k), &wanted.back(), sizeof(entry));
  }
  std::stable_sort(wanted.begin(), wanted.end(), before);
  it.play();
  EXPECT_LE(it.excess(), it.slack());
  for (std::uint32_t k = 0; k < elements; ++k) {
    entry got;
    std::memcpy(&got, it.at(k), sizeof got);
    ASSERT_EQ(got.index, wanted[k].index) << "element " << k;
  }
}

TEST(sort_stages, give_what_a_stable_sort_gives_with_buckets_within_their_bounds) {
  constexpr detail::element_order how = detail::order_by_comparing<entry, by_key_field>();
  for (std::uint64_t seed = 1; seed <= 400 && !testing::Test::HasFailure(); ++seed)
    expect_sorted(seed, how);
}

struct key_bits {
  static key_bits of(const void*) { return {}; }
  std::uint32_t operator()(const entry& e) const { return e.key; }
};
TEST(sort_stages, by_digits) {
  constexpr detail::element_order how = detail::order_by_key<entry, key_bits>();
  for (std::uint64_t seed = 1; seed <= 400 && !testing::Test::HasFailure(); ++seed)
    expect_sorted(seed, how);
}

// More members than a row has cuts for.
TEST(sort_stages, of_many_members) {
  constexpr std::uint32_t members = 300, each = 7;
  sorting_task s;
  s.how = detail::order_by_comparing<entry, by_key_field>();
  s.of = reductions::layout::of(0, members * each, each, 0, 0, members, sizeof(entry));
  played_sort it(s, members, each * sizeof(entry));
  for (std::uint32_t k = 0; k < members * each; ++k) {
    const entry e{static_cast<std::uint32_t>(calls::mix(k)), k};
    std::memcpy(it.at(k), &e, sizeof e);
  }
  it.play();
  for (std::uint32_t k = 1; k < members * each; ++k) {
    entry a, b;
    std::memcpy(&a, it.at(k - 1), sizeof a);
    std::memcpy(&b, it.at(k), sizeof b);
    ASSERT_LE(a.key, b.key) << k;
  }
}

} // namespace
} // namespace weft::sorting
