#include "engine/reductions/vector_reduction.hpp"

#include "engine/reductions/runs.hpp"
#include "engine/topology/topology.hpp"

#include <algorithm>
#include <array>
#include <cstring>

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
      return combine_part();
    case 7:
      return combine_slices_of_twins();
    case 10:
      return combine_whole();
    case own_run:
      own_run_of(combined());
      return true;
    case combined_result:
      combine_runs(combined());
      return true;
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
    if (w_.stage >= own_run) return combined().part(w_.stage, peer);
    const addresses& there = table()[peer];
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
    return slices(g.equal_hosts() ? first_of_part() + g.host(w_.me) : w_.me, 1);
  }
  slice own_part() const { return slices(first_of_part(), w_.where->hosts()); }
  std::byte* own(slice s) const { return w_.segment + w_.dst + s.begin; }

  addresses* table() const { return reinterpret_cast<addresses*>(w_.scratch); }
  // In the room: what each of the others has of my slice; the last place is for the result.
  std::byte* brought(std::uint32_t member) const { return w_.room + member * r_.slice; }
  std::byte* result() const { return brought(w_.members); }
  // In the scratch, behind the table: all that each of the others has.
  std::byte* whole(std::uint32_t member) const {
    return w_.scratch + w_.members * sizeof(addresses) + member * w_.block;
  }

  void combine_table() const {
    using form = vector_reduction::form;
    const std::uint32_t end =
        r_.what == form::all ? w_.members : w_.me + (r_.what == form::inclusive_prefix ? 1 : 0);
    if (end == 0) return; // nothing is in front of me
    std::byte* const into = w_.segment + w_.dst;
    std::memcpy(into, w_.scratch, w_.block);
    for (std::uint32_t m = 1; m < end; ++m)
      reductions::combine(r_, into, w_.scratch + m * w_.block, w_.block);
  }

  combined_runs combined() const { return {w_, r_.what != vector_reduction::form::all}; }
  void own_run_of(const combined_runs& all) const {
    const run_row mine = all.given();
    const std::uint32_t k = w_.where->local_index(w_.me);
    mine[k] = {w_.me, w_.me + 1, 1};
    std::memcpy(mine.value(k), w_.segment + w_.src, w_.block);
  }
  // All of them; of a prefix those that end with me, or before me.
  void combine_runs(const combined_runs& all) const {
    using form = vector_reduction::form;
    const std::uint32_t end =
        r_.what == form::all ? w_.members : w_.me + (r_.what == form::inclusive_prefix ? 1 : 0);
    bool more = false;
    all.each([&](const rank_run& one, const std::byte* value) {
      if (one.begin >= end) return false;
      std::byte* const into = w_.segment + w_.dst;
      if (more)
        reductions::combine(r_, into, value, w_.block);
      else
        std::memcpy(into, value, w_.block);
      return more = true;
    });
  }

  bool combine_slice() {
    const slice mine = own_slice();
    return combine(mine.bytes, w_.members, result(), [&](std::uint32_t member) {
      return member == w_.me ? w_.segment + w_.src + mine.begin : brought(member);
    });
  }
  bool combine_part() {
    const slice part = own_part();
    return combine(part.bytes, w_.where->locals(), own(part), [&](std::uint32_t k) {
      const std::uint32_t member = w_.where->local(k);
      std::byte* const memory = member == w_.me ? w_.segment : w_.near(w_.threads[member]);
      return memory + table()[member].src + part.begin;
    });
  }
  bool combine_slices_of_twins() {
    const slice mine = own_slice();
    return combine(mine.bytes, w_.where->hosts(), result(), [&](std::uint32_t host) {
      const std::uint32_t twin = w_.where->twin(host);
      return twin == w_.me ? own(mine) : brought(twin);
    });
  }

  bool combine_whole() {
    return combine(w_.block, w_.members, w_.segment + w_.dst, [&](std::uint32_t member) {
      return member == w_.me ? w_.segment + w_.src : whole(member);
    });
  }

  // A little at a time: so it stays in the cache. The result may be the place of one of the sources.
  template <class Source>
  bool combine(std::uint64_t bytes, std::uint32_t sources, std::byte* into, Source&& source) {
    alignas(line) std::array<std::byte, 4096> sum;
    for (std::uint64_t left = w_.budget; left != 0 && w_.done != bytes;) {
      const std::uint64_t now = std::min(sum.size(), bytes - w_.done);
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
  r.slice = ((bytes + members - 1) / members + line - 1) / line * line;
  r.room = (members + 1u) * r.slice;
}

} // namespace weft::reductions
