// SPDX-License-Identifier: BSD-3-Clause
#include "engine/sorting/sorting.hpp"

#include "engine/plan/call_fields.hpp"
#include "engine/reductions/block_walk.hpp"
#include "engine/sorting/cuts.hpp"
#include "engine/sorting/room.hpp"
#include "engine/sorting/stages.hpp"

#include <algorithm>

namespace weft::sorting {

namespace {

// Stage 1: the samples of all are there.
class own_cuts : stage {
public:
  using stage::stage;
  bool run() {
    auto* const row = reinterpret_cast<std::uint64_t*>(all_cuts() + w_.me * w_.block);
    cuts(sorting_, room_, w_).make(row, samples(), own());
    return true;
  }
};

// Stages 0 and 1 of few elements.
class whole_array : stage {
public:
  using stage::stage;
  bool tell_own() {
    std::memcpy(row(w_.me), own(), bytes(mine()));
    return true;
  }
  bool sort_all() {
    std::byte* const all = room_.first();
    each_run([&](std::uint64_t index, std::uint32_t member, std::uint64_t in_row, std::uint64_t run) {
      copy(all + bytes(index), row(member) + bytes(in_row), run);
    });
    sorting_.how.sort(all, room_.second(), of_.elements, sorting_.of_order());
    each_run([&](std::uint64_t index, std::uint32_t member, std::uint64_t in_row, std::uint64_t run) {
      if (member == w_.me) copy(own() + bytes(in_row), all + bytes(index), run);
    });
    return true;
  }

private:
  std::byte* row(std::uint32_t member) const { return w_.scratch + member * w_.block; }
  // Of those that lie together: the index of the first, whose it is, and its number there.
  template <class Visit> void each_run(Visit&& visit) const {
    reductions::block_walk walk(of_, 0);
    while (walk.element() != of_.elements) {
      const std::uint64_t run = walk.run(of_.elements);
      const std::uint64_t in_row = (walk.address() - of_.of_thread(walk.thread()).at) / of_.size;
      visit(walk.element(), member_of(walk.thread()), in_row, run);
      walk.pass(run);
    }
  }
};

bool run(const graph::task& t, graph::work& w) {
  const auto& s = static_cast<const sorting_task&>(t);
  if (s.whole) {
    whole_array it(s, w);
    return w.stage == 0 ? it.tell_own() : it.sort_all();
  }
  switch (w.stage) {
  case 0:
    return own_elements(s, w).run();
  case 1:
    return own_cuts(s, w).run();
  case 2:
    return bucket(s, w).take();
  case 3:
    return bucket(s, w).merge();
  default:
    return true; // my own results are in their places
  }
}

graph::part part_of(const graph::task& t, const graph::work& w, std::uint32_t peer) {
  const auto& s = static_cast<const sorting_task&>(t);
  graph::work mine = w;
  switch (w.stage) {
  case 0:
    return own_elements(s, mine).part_of(peer);
  case 2:
    return bucket(s, mine).part_of(peer);
  default:
    return bucket(s, mine).results_of(peer);
  }
}

} // namespace

namespace {

// Of a member's elements: so many are told to each rank.
constexpr std::uint64_t few_bytes = 512;

std::uint64_t most_elements(const sorting_task& s) {
  std::uint64_t most = 0;
  for (std::uint32_t t = 0; t < s.of.threads; ++t)
    most = std::max(most, s.of.of_thread(t).elements);
  return most;
}

} // namespace

std::uint64_t row_bytes(const sorting_task& s, std::uint32_t members) {
  constexpr std::uint64_t alignment = 16;
  std::uint64_t most = most_elements(s) * s.of.size;
  if (!s.whole)
    most = std::max<std::uint64_t>(most_samples(s) * s.of.size, buckets(members) * sizeof(std::uint64_t));
  return (most + alignment - 1) / alignment * alignment;
}

namespace {

void say(const graph::task& t, graph::call_fields& call) {
  using graph::argument;
  const auto& s = static_cast<const sorting_task&>(t);
  call.say(argument::elem_size, s.of.size);
  call.say(argument::blk_size, s.of.block);
  call.say(argument::array_place, graph::packed(s.of.first, s.of.phase));
  call.say(argument::order, static_cast<std::uint64_t>(s.numbers));
}

} // namespace

void prepare(sorting_task& s, std::uint32_t members) {
  s.run = run;
  s.part_of = part_of;
  s.say = say;
  s.bytes = sizeof(sorting_task);
  s.dealt = s.of.most_rows() > 1;
  std::uint64_t most = most_elements(s);
  s.whole = !s.user && most * s.of.size <= few_bytes && s.of.elements <= block_elements(s);
  if (s.whole) {
    s.most = s.of.elements;
    s.room = room(s, members, nullptr).bytes();
    return;
  }
  s.slack = slack(s);
  if (buckets(members) < members) most = std::max(most, s.of.elements / buckets(members) + 1);
  s.most = most + s.slack;
  s.room = room(s, members, nullptr).bytes();
}

std::uint64_t slack(const sorting_task& s) {
  std::uint64_t all = 0, widest = 0;
  for (std::uint32_t t = 0; t < s.of.threads; ++t) {
    const std::uint64_t elements = s.of.of_thread(t).elements, samples = samples_of(s, elements);
    if (elements == 0) continue;
    if (samples == 0) return s.of.elements;
    const std::uint64_t each = (elements + samples - 1) / samples;
    all += each + 2;
    widest = std::max(widest, each);
  }
  return std::min(s.of.elements, all + 2 * widest);
}

room::room(const sorting_task& s, std::uint32_t members, std::byte* memory) : memory_(memory) {
  reserve(sizeof(state));
  const std::uint64_t each = members * sizeof(std::uint64_t);
  line_ = reserve(each);
  place_ = reserve(each);
  counts_ = reserve(each);
  cut_from_ = reserve(each);
  offsets_ = reserve(each);
  const std::uint64_t runs = std::max<std::uint64_t>(members, s.most / block_elements(s) + 1);
  bounds_ = reserve((runs + 1) * sizeof(std::uint64_t));
  digits_ = reserve(s.how.digits * 256 * sizeof(std::uint64_t));
  samples_ = reserve(2 * members * most_samples(s) * sizeof(std::uint32_t));
  first_ = reserve(s.most * s.of.size);
  second_ = reserve(s.most * s.of.size);
}

} // namespace weft::sorting
