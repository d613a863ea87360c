#include "engine/reductions/vector_reduction.hpp"

#include <algorithm>
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
      : r_(r), w_(w), mine_(slice_of(w.block, w.members, w.me)) {}

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
    default:
      std::memcpy(w_.segment + w_.dst + mine_.begin, result(), mine_.bytes);
      return true;
    }
  }

  graph::part part_of(std::uint32_t peer) const {
    const addresses& there = table()[peer];
    if (w_.stage == 3) return {there.src + mine_.begin, brought(peer), mine_.bytes};
    return {there.dst + mine_.begin, result(), mine_.bytes};
  }

private:
  addresses* table() const { return reinterpret_cast<addresses*>(w_.scratch); }
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
      combine(r_, into, w_.scratch + m * w_.block, w_.block);
  }

  // A little at a time: so it stays in the cache.
  bool combine_slice() {
    constexpr std::uint64_t at_once = 4096;
    for (std::uint64_t left = w_.budget; left != 0 && w_.done != mine_.bytes;) {
      const std::uint64_t now = std::min(at_once, mine_.bytes - w_.done);
      for (std::uint32_t m = 0; m < w_.members; ++m) {
        const std::byte* const theirs = m == w_.me ? w_.segment + w_.src + mine_.begin : brought(m);
        if (m == 0)
          std::memcpy(result() + w_.done, theirs + w_.done, now);
        else
          combine(r_, result() + w_.done, theirs + w_.done, now);
      }
      w_.done += now;
      left -= std::min(left, now * w_.members);
    }
    return w_.done == mine_.bytes;
  }

  const vector_reduction& r_;
  graph::work& w_;
  slice mine_;
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
