#include "engine/graph/verify_forwarding.hpp"

#include <algorithm>

namespace weft::graph::checking {

namespace {

// The writes to each destination, by place. No byte has two writers: that is checked elsewhere.
std::vector<std::vector<std::uint32_t>> writes_by_destination(const event_graph& g) {
  std::vector<std::vector<std::uint32_t>> written(g.members());
  for (std::uint32_t a = 0; a < g.accesses.size(); ++a) {
    const access& it = g.accesses[a];
    if (it.writes && it.bytes != 0) written[it.destination].push_back(a);
  }
  for (auto& list : written) {
    std::sort(list.begin(), list.end(),
              [&](std::uint32_t a, std::uint32_t b) { return g.accesses[a].to < g.accesses[b].to; });
  }
  return written;
}

} // namespace

void check_forwarding(const event_graph& g, const knowledge& known, report& out) {
  const auto written = writes_by_destination(g);
  for (const access& reader : g.accesses) {
    if (!reader.forwards || !reader.reads || reader.bytes == 0) continue;
    const auto& list = written[reader.source];
    const auto ends_before = [&](std::uint32_t a, std::uint64_t at) {
      return g.accesses[a].to + g.accesses[a].bytes <= at;
    };
    for (auto w = std::lower_bound(list.begin(), list.end(), reader.from, ends_before);
         w != list.end() && g.accesses[*w].to < reader.from + reader.bytes; ++w) {
      if (known.complete(reader.begin, *w)) continue;
      out.add(fault::race, "{} hands on bytes of rank {} that {} may still write", g.text(reader.begin),
              reader.source, g.text(g.accesses[*w].begin));
    }
  }
}

} // namespace weft::graph::checking
