#include "engine/sorting/sorting.hpp"

#include "engine/sorting/bucket.hpp"
#include "engine/sorting/cuts.hpp"
#include "engine/sorting/own_elements.hpp"

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

bool run(const graph::task& t, graph::work& w) {
  const auto& s = static_cast<const sorting_task&>(t);
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

std::uint64_t row_bytes(const sorting_task& s, std::uint32_t members) {
  constexpr std::uint64_t alignment = 16;
  const std::uint64_t most =
      std::max<std::uint64_t>(most_samples(s) * s.of.size, buckets(members) * sizeof(std::uint64_t));
  return (most + alignment - 1) / alignment * alignment;
}

void prepare(sorting_task& s, std::uint32_t members) {
  s.run = run;
  s.part_of = part_of;
  s.bytes = sizeof(sorting_task);
  s.dealt = s.of.most_rows() > 1;
  s.slack = slack(s);
  std::uint64_t most = 0;
  for (std::uint32_t t = 0; t < s.of.threads; ++t)
    most = std::max(most, s.of.of_thread(t).elements);
  if (buckets(members) < members) most = std::max(most, s.of.elements / buckets(members) + 1);
  s.most = most + s.slack;
  s.room = room(s, members, nullptr).bytes();
}

} // namespace weft::sorting
