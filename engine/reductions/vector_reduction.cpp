// SPDX-License-Identifier: BSD-3-Clause
#include "engine/reductions/vector_reduction.hpp"

#include "engine/reductions/runs.hpp"
#include "engine/topology/topology.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>

namespace weft::reductions {

namespace {

constexpr std::uint64_t line = 64;

// Of the vector.
struct slice {
  std::uint64_t begin, bytes;
};

void combine(const graph::task& t, void* into, const void* from, std::uint64_t bytes) {
  const auto& r = static_cast<const vector_reduction&>(t);
  r.how.combine(into, from, bytes / r.size, r.argument);
}

class vector_stage {
public:
  vector_stage(const vector_reduction& r, graph::work& w) : r_(r), w_(w) {}

  bool run() {
    switch (w_.stage) {
    case 0:
      std::memcpy(w_.scratch + w_.me * w_.block, w_.segment + w_.src, w_.block);
      return true;
    case 1:
      combine_table();
      return true;
    case 2:
      table()[w_.me] = {w_.dst, w_.src};
      return true;
    case 3:
      return combine_slice();
    case 6:
      return combine_part(own(own_part()));
    case 7:
      return combine_slices_of_twins();
    case first_part:
      if (w_.done == 0) rounds() = 0;
      return combine_part(own(own_part()));
    case combine_half:
      return combine_half_of_twin();
    case part_of_host:
      if (r_.what == form::own_block) return combine_blocks_of_twins();
      return combine_part(sum_of(own_host()) + own_part().begin);
    case combine_parts:
      return prefix() ? combine_prefixes_of_part() : combine_sums();
    case run_is_there:
      return true;
    case 10:
      return combine_whole();
    case own_run:
      own_run_of(combined());
      return true;
    case combined_result:
      combine_runs(combined());
      return true;
    case prefixes_of_slice:
      return combine_prefixes();
    case own_prefix:
      if (const graph::part mine = prefix_of(w_.me); mine.bytes != 0)
        std::memcpy(w_.segment + mine.at, mine.mine, mine.bytes);
      return true;
    case combine_block:
      return combine(own_block().bytes, w_.members, w_.segment + w_.dst, [this](std::uint32_t member) {
        return member == w_.me ? w_.segment + w_.src + r_.block_at : brought(member);
      });
    case known_of_host:
    case known_of_pair:
    case known_of_more:
    case rest_of_pair:
    case known_of_rest:
    case told_to_host:
      combined().compute(w_.stage,
                         [this](rank_run&, std::byte* value, const rank_run&, const std::byte* behind) {
                           reductions::combine(r_, value, behind, w_.block);
                         });
      return true;
    default:
      const slice mine = own_slice();
      std::memcpy(own(mine), result(), mine.bytes);
      return true;
    }
  }

  graph::part part_of(std::uint32_t peer) const {
    const addresses& there = table()[peer];
    if (w_.stage == hand_on_prefix) return prefix_of(peer);
    if (w_.stage == bring_block) return {there.src + r_.block_at, brought(peer), r_.block_bytes};
    if (w_.stage == bring_half || w_.stage == hand_on_run) {
      const slice run = run_apart_from(peer);
      return {there.dst + run.begin, w_.stage == bring_half ? brought(0) : own(run), run.bytes};
    }
    if (w_.stage == part_for_twin || w_.stage == part_of_twin) {
      const std::uint32_t host = w_.where->host(peer);
      if (r_.what == form::own_block)
        return {0, w_.stage == part_for_twin ? block_for(host) : block_of(host), r_.block_bytes};
      const slice part = own_part();
      return {0, sum_of(w_.stage == part_for_twin ? own_host() : host) + part.begin, part.bytes};
    }
    if (w_.stage == 8 && prefix()) {
      const slice part = own_part();
      return {there.dst + part.begin, prefix_for(w_.where->local_index(peer)) + part.begin,
              end_of(peer) == 0 ? 0 : part.bytes};
    }
    if (w_.stage >= own_run) return combined().part(w_.stage, peer);
    if (w_.stage == 9) return {there.src, whole(peer), w_.block};
    const slice it = w_.stage == 8 ? own_part() : own_slice();
    if (w_.stage == 3) return {there.src + it.begin, brought(peer), it.bytes};
    if (w_.stage == 7) return {there.dst + it.begin, brought(peer), it.bytes};
    return {there.dst + it.begin, w_.stage == 8 ? own(it) : result(), it.bytes};
  }

private:
  slice slices(std::uint32_t first, std::uint32_t count) const {
    const std::uint64_t begin = std::min(w_.block, first * r_.slice);
    return {begin, std::min(w_.block - begin, count * r_.slice)};
  }
  // Those of a part follow each other.
  std::uint32_t first_of_part() const { return w_.where->local_index(w_.me) * w_.where->hosts(); }
  slice own_slice() const {
    const graph::topology& g = *w_.where;
    return slices(g.equal_hosts() ? first_of_part() + own_host() : w_.me, 1);
  }
  slice own_part() const { return slices(first_of_part(), w_.where->hosts()); }
  // Of the result.
  slice own_block() const {
    return r_.what == form::own_block ? slice{r_.block_at, r_.block_bytes} : slice{0, w_.block};
  }
  std::byte* own(slice s) const { return w_.segment + w_.dst + s.begin; }

  addresses* table() const { return reinterpret_cast<addresses*>(w_.scratch); }
  std::byte* behind_table() const { return w_.scratch + w_.members * sizeof(addresses); }
  // In the room: what each of the others has of my slice; the last place is for the result.
  std::byte* brought(std::uint32_t member) const { return w_.room + member * r_.slice; }
  std::byte* result() const { return brought(w_.members); }
  // In the scratch, behind the table, or in the room of a root that has chosen to be alone: all that each of
  // the others has.
  std::byte* whole(std::uint32_t member) const {
    return (w_.alone ? w_.room : behind_table()) + member * w_.block;
  }

  using form = vector_reduction::form;
  bool prefix() const { return r_.what == form::inclusive_prefix || r_.what == form::exclusive_prefix; }
  // The first member whose vector is not in a member's result.
  std::uint32_t end_of(std::uint32_t member) const {
    return !prefix() ? w_.members : member + (r_.what == form::inclusive_prefix ? 1 : 0);
  }

  void combine_table() const {
    const std::uint32_t end = end_of(w_.me);
    if (end == 0) return; // nothing is in front of me
    const slice mine = own_block();
    const std::byte* const from = w_.scratch + mine.begin;
    std::byte* const into = w_.segment + w_.dst;
    std::memcpy(into, from, mine.bytes);
    for (std::uint32_t m = 1; m < end; ++m)
      reductions::combine(r_, into, from + m * w_.block, mine.bytes);
  }

  // What a member is to have of my slice: the prefix that ends with the member before `end`.
  graph::part prefix_of(std::uint32_t member) const {
    const slice it = own_slice();
    const std::uint32_t end = end_of(member);
    if (end == 0) return {};
    return {table()[member].dst + it.begin, brought(end - 1), it.bytes};
  }
  // Each in the place of the last vector in it.
  bool combine_prefixes() {
    const slice mine = own_slice();
    alignas(line) std::array<std::byte, largest_element> sum;
    const std::uint64_t most = sum.size() / r_.size * r_.size;
    for (std::uint64_t left = w_.budget; left != 0 && w_.done != mine.bytes;) {
      const std::uint64_t now = std::min(most, mine.bytes - w_.done);
      std::memcpy(brought(w_.me) + w_.done, w_.segment + w_.src + mine.begin + w_.done, now);
      std::memcpy(sum.data(), brought(0) + w_.done, now);
      for (std::uint32_t m = 1; m < w_.members; ++m) {
        reductions::combine(r_, sum.data(), brought(m) + w_.done, now);
        std::memcpy(brought(m) + w_.done, sum.data(), now);
      }
      w_.done += now;
      left -= std::min(left, 2 * now * w_.members);
    }
    return w_.done == mine.bytes;
  }

  combined_runs combined() const { return {w_, prefix()}; }
  void own_run_of(const combined_runs& all) const {
    const run_row mine = all.given();
    const std::uint32_t k = w_.where->local_index(w_.me);
    mine[k] = {w_.me, w_.me + 1, 1};
    std::memcpy(mine.value(k), w_.segment + w_.src, w_.block);
  }
  // All of them; of a prefix those that end with me, or before me.
  void combine_runs(const combined_runs& all) const {
    const std::uint32_t end = end_of(w_.me);
    const slice mine = own_block();
    bool more = false;
    all.each([&](const rank_run& one, const std::byte* value) {
      if (one.begin >= end) return false;
      std::byte* const into = w_.segment + w_.dst;
      if (more)
        reductions::combine(r_, into, value + mine.begin, mine.bytes);
      else
        std::memcpy(into, value + mine.begin, mine.bytes);
      return more = true;
    });
  }

  bool combine_slice() {
    const slice mine = own_slice();
    return combine(mine.bytes, w_.members, result(), [&](std::uint32_t member) {
      return member == w_.me ? w_.segment + w_.src + mine.begin : brought(member);
    });
  }
  bool combine_part(std::byte* into) {
    const slice part = own_part();
    return combine(part.bytes, w_.where->locals(), into,
                   [&](std::uint32_t k) { return source_of(w_.where->local(k)) + part.begin; });
  }
  // The vector of a member of my host, where it lies.
  const std::byte* source_of(std::uint32_t member) const {
    if (member == w_.me) return w_.segment + w_.src;
    return w_.near(w_.threads[member]) + table()[member].src;
  }

  // In the scratch, behind the table: room for a vector for each host, of which a part is used, and of a scan
  // for each result on my host.
  std::uint32_t own_host() const { return w_.where->host(w_.me); }
  std::byte* sum_of(std::uint32_t host) const { return behind_table() + host * w_.block; }
  std::byte* prefix_for(std::uint32_t local) const { return sum_of(w_.where->hosts() + local); }
  // There, of a reduce-scatter of equal blocks: of my host for my twin on each, and of each for me.
  std::byte* block_for(std::uint32_t host) const { return behind_table() + host * r_.block_bytes; }
  std::byte* block_of(std::uint32_t host) const {
    return block_for(host == own_host() ? host : w_.where->hosts() + host);
  }
  bool combine_blocks_of_twins() {
    const std::uint64_t bytes = r_.block_bytes;
    for (auto host = static_cast<std::uint32_t>(w_.done / bytes); host != w_.where->hosts(); ++host) {
      w_.done -= host * bytes;
      const std::uint64_t at = w_.where->twin(host) * bytes;
      const bool whole = combine(bytes, w_.where->locals(), block_for(host),
                                 [&](std::uint32_t k) { return source_of(w_.where->local(k)) + at; });
      w_.done += host * bytes;
      if (!whole) return false;
    }
    return true;
  }
  bool combine_sums() {
    if (r_.what == form::own_block)
      return combine(r_.block_bytes, w_.where->hosts(), w_.segment + w_.dst,
                     [&](std::uint32_t host) { return block_of(host); });
    const slice part = own_part();
    return combine(part.bytes, w_.where->hosts(), own(part),
                   [&](std::uint32_t host) { return sum_of(host) + part.begin; });
  }
  bool combine_prefixes_of_part() {
    const slice part = own_part();
    const std::uint32_t hosts = own_host(), locals = w_.where->locals();
    const bool inclusive = r_.what == form::inclusive_prefix;
    alignas(line) std::array<std::byte, largest_element> sum;
    const std::uint64_t most = sum.size() / r_.size * r_.size;
    for (std::uint64_t left = w_.budget; left != 0 && w_.done != part.bytes;) {
      const std::uint64_t now = std::min(most, part.bytes - w_.done), at = part.begin + w_.done;
      bool begun = false;
      const auto add = [&](const std::byte* from) {
        if (begun)
          reductions::combine(r_, sum.data(), from, now);
        else
          std::memcpy(sum.data(), from, now);
        begun = true;
      };
      for (std::uint32_t host = 0; host < hosts; ++host)
        add(sum_of(host) + at);
      for (std::uint32_t k = 0; k < locals; ++k) {
        if (!inclusive && begun) std::memcpy(prefix_for(k) + at, sum.data(), now);
        add(source_of(w_.where->local(k)) + at);
        if (inclusive) std::memcpy(prefix_for(k) + at, sum.data(), now);
      }
      // Mine may lie where my vector does.
      if (end_of(w_.me) != 0)
        std::memcpy(w_.segment + w_.dst + at, prefix_for(w_.where->local_index(w_.me)) + at, now);
      w_.done += now;
      left -= std::min(left, now * (hosts + 2 * locals));
    }
    return w_.done == part.bytes;
  }
  bool combine_slices_of_twins() {
    const slice mine = own_slice();
    return combine(mine.bytes, w_.where->hosts(), result(), [&](std::uint32_t host) {
      const std::uint32_t twin = w_.where->twin(host);
      return twin == w_.me ? own(mine) : brought(twin);
    });
  }

  // Rounds of halving. Two twins whose hosts' numbers differ in bit k alone, of those from k on, keep one
  // half each of what is their part until then.
  std::uint32_t& rounds() const { // that are over
    return *reinterpret_cast<std::uint32_t*>(behind_table());
  }
  slice run_after(std::uint32_t halvings) const {
    std::uint32_t begin = first_of_part(), count = w_.where->hosts(), host = own_host();
    for (; halvings != 0; --halvings, host /= 2) {
      count /= 2;
      if (host % 2 != 0) begin += count;
    }
    return slices(begin, count);
  }
  slice run_apart_from(std::uint32_t twin) const {
    const graph::topology& g = *w_.where;
    return run_after(static_cast<std::uint32_t>(std::countr_zero(own_host() ^ g.host(twin))) + 1);
  }
  // The hosts of each of us follow each other, so the vectors stay in the order of the ranks.
  bool combine_half_of_twin() {
    const slice mine = run_after(rounds() + 1);
    const std::uint32_t behind = own_host() >> rounds() & 1;
    const auto halves = [&](std::uint32_t k) { return k == behind ? own(mine) : brought(0); };
    if (!combine(mine.bytes, 2, own(mine), halves)) return false;
    ++rounds();
    return true;
  }

  bool combine_whole() {
    const std::uint32_t end = end_of(w_.me);
    return end == 0 || combine(w_.block, end, w_.segment + w_.dst, [&](std::uint32_t member) {
             return member == w_.me ? w_.segment + w_.src : whole(member);
           });
  }

  // A little at a time: so it stays in the cache. The result may be the place of one of the sources.
  template <class Source>
  bool combine(std::uint64_t bytes, std::uint32_t sources, std::byte* into, Source&& source) {
    alignas(line) std::array<std::byte, largest_element> sum;
    const std::uint64_t most = sum.size() / r_.size * r_.size;
    for (std::uint64_t left = w_.budget; left != 0 && w_.done != bytes;) {
      const std::uint64_t now = std::min(most, bytes - w_.done);
      std::memcpy(sum.data(), source(0) + w_.done, now);
      for (std::uint32_t k = 1; k < sources; ++k)
        reductions::combine(r_, sum.data(), source(k) + w_.done, now);
      std::memcpy(into + w_.done, sum.data(), now);
      w_.done += now;
      left -= std::min(left, now * sources);
    }
    return w_.done == bytes;
  }

  const vector_reduction& r_;
  graph::work& w_;
};

bool run(const graph::task& t, graph::work& w) {
  return vector_stage(static_cast<const vector_reduction&>(t), w).run();
}
graph::part part_of(const graph::task& t, const graph::work& w, std::uint32_t peer) {
  graph::work copy = w;
  return vector_stage(static_cast<const vector_reduction&>(t), copy).part_of(peer);
}
} // namespace

void prepare(vector_reduction& r, std::uint64_t bytes, std::uint32_t members) {
  r.run = run;
  r.part_of = part_of;
  r.combine = combine;
  r.bytes = sizeof r;
  using form = vector_reduction::form;
  if (r.what == form::inclusive_prefix) r.gets = graph::task::share::up_to_own;
  if (r.what == form::exclusive_prefix) r.gets = graph::task::share::before_own;
  // These stages only copy, or do nothing.
  for (const std::uint32_t stage :
       {0u, 2u, 5u, std::uint32_t{own_run}, std::uint32_t{own_prefix}, std::uint32_t{run_is_there}})
    r.plain |= std::uint64_t{1} << stage;
  const std::uint64_t lines = std::lcm(line, std::uint64_t{r.size}); // no element is cut
  const std::uint64_t part =
      r.what == vector_reduction::form::own_block ? r.block_bytes : (bytes + members - 1) / members;
  r.slice = (part + lines - 1) / lines * lines;
  r.room = (members + 1u) * r.slice;
  r.room_alone = members * bytes;
}

} // namespace weft::reductions
