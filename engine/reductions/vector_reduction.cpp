#include "engine/reductions/vector_reduction.hpp"

#include "engine/topology/topology.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace weft::reductions {

namespace {

constexpr std::uint64_t line = 64;

// Of the vector, in whole lines, for each member.
struct slice {
  std::uint64_t begin, bytes;
};
std::uint64_t longest_slice(std::uint64_t bytes, std::uint32_t members) {
  return ((bytes + members - 1) / members + line - 1) / line * line;
}
slice slice_of(std::uint64_t bytes, std::uint32_t members, std::uint32_t member) {
  const std::uint64_t each = longest_slice(bytes, members);
  const std::uint64_t begin = std::min(bytes, member * each);
  return {begin, std::min(bytes - begin, each)};
}

void combine(const graph::task& t, void* into, const void* from, std::uint64_t bytes) {
  const auto& r = static_cast<const vector_reduction&>(t);
  r.how.combine(into, from, bytes / r.size, r.argument);
}

class vector_stage {
public:
  vector_stage(const vector_reduction& r, graph::work& w)
      : r_(r), w_(w), mine_(slice_of(w.block, w.members, number())), part_(part_of_twins()) {}

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
      return combine(mine_.bytes, w_.members, result(), [&](std::uint32_t member) {
        return member == w_.me ? w_.segment + w_.src + mine_.begin : brought(member);
      });
    case 6:
      return combine(part_.bytes, w_.where->locals(), w_.segment + w_.dst + part_.begin,
                     [&](std::uint32_t k) { return neighbour(w_.where->local(k)) + part_.begin; });
    case 7:
      return combine(mine_.bytes, w_.where->hosts(), result(), [&](std::uint32_t host) {
        const std::uint32_t twin = w_.where->twin(host);
        return twin == w_.me ? w_.segment + w_.dst + mine_.begin : brought(twin);
      });
    default:
      std::memcpy(w_.segment + w_.dst + mine_.begin, result(), mine_.bytes);
      return true;
    }
  }

  graph::part part_of(std::uint32_t peer) const {
    const addresses& there = table()[peer];
    if (w_.stage == 3) return {there.src + mine_.begin, brought(peer), mine_.bytes};
    if (w_.stage == 7) return {there.dst + mine_.begin, brought(peer), mine_.bytes};
    if (w_.stage == 8) return {there.dst + part_.begin, w_.segment + w_.dst + part_.begin, part_.bytes};
    return {there.dst + mine_.begin, result(), mine_.bytes};
  }

private:
  // Of my slice: those of a part follow each other.
  std::uint32_t number() const {
    if (!w_.where->equal_hosts()) return w_.me;
    return w_.where->local_index(w_.me) * w_.where->hosts() + w_.where->host(w_.me);
  }
  slice part_of_twins() const {
    if (!w_.where->equal_hosts()) return mine_;
    const std::uint32_t hosts = w_.where->hosts(), first = w_.where->local_index(w_.me) * hosts;
    const slice begin = slice_of(w_.block, w_.members, first);
    const slice last = slice_of(w_.block, w_.members, first + hosts - 1);
    return {begin.begin, last.begin + last.bytes - begin.begin};
  }

  addresses* table() const { return reinterpret_cast<addresses*>(w_.scratch); }
  const std::byte* neighbour(std::uint32_t member) const {
    const std::byte* const memory = member == w_.me ? w_.segment : w_.near(w_.threads[member]);
    return memory + table()[member].src;
  }
  // In the room: what each of the others has of my slice; the last place is for the result.
  std::byte* brought(std::uint32_t member) const {
    return w_.room + member * longest_slice(w_.block, w_.members);
  }
  std::byte* result() const { return brought(w_.members); }

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
  slice mine_, part_;
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
  r.room = (members + 1u) * longest_slice(bytes, members);
}

} // namespace weft::reductions
