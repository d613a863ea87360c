#include "engine/verify/portions.hpp"

namespace weft::graph::checking {

std::uint32_t portion_events::move(event_id e, const transfer& t) {
  const auto id = static_cast<std::uint32_t>(graph_.accesses.size());
  access made;
  made.begin = e;
  made.executor = t.executor;
  made.source = t.source;
  made.destination = t.destination;
  made.from = made.to = t.part.offset;
  made.bytes = t.part.bytes;
  made.reads = t.reads;
  made.writes = t.writes;
  made.forwards = t.forwards;
  graph_.accesses.push_back(made);
  if (t.complete) graph_.completions.push_back({e, id});
  return id;
}

void portion_events::forward(event_id e, std::uint32_t from, std::uint32_t to, extent part, bool reads) {
  move(e, {graph_.events[e].member, from, to, part, reads, !reads});
}

// A block that travels through scratch: read in the source at the beginning, written where it belongs at the
// end.
void portion_events::direct(event_id e, std::uint32_t from, std::uint32_t to, bool reads) {
  const block_rule& rule = graph_.plans[graph_.events[e].member].rule;
  const std::uint32_t id =
      move(e, {graph_.events[e].member, from, to, {0, rule.bytes}, reads, !reads, false});
  graph_.accesses[id].from = rule.source(from, to);
  graph_.accesses[id].to = rule.destination(from, to);
}

extent portion_events::block_of(std::uint32_t me, std::uint32_t place_in_node_order) const {
  const block_rule& rule = graph_.plans[me].rule;
  const std::uint32_t owner = graph_.places[me].in_node_order(place_in_node_order % graph_.members());
  return {rule.destination(owner, me), rule.bytes};
}

void portion_events::send(event_id e, const node& n, bool in_order) {
  const event at = graph_.events[e];
  const std::uint32_t me = at.member, members = graph_.members();
  const geometry& place = graph_.places[me];
  if (n.of == portion::packed) {
    const member_run run = sent_in_round(place, place.node(me), at.iteration);
    for (std::uint32_t k = 0; k < run.count; ++k)
      forward(e, me, me, block_of(me, run.begin + k), true);
  } else if (n.of == portion::transit) {
    for (std::uint32_t d = 1; d < members; ++d) {
      if (!travels(d, at.iteration)) continue;
      if (starts(d, at.iteration))
        direct(e, me, (me + d) % members, true);
      else if (!in_order)
        out_.add(fault::race, "{}: hands on what an earlier round may not have brought", graph_.text(e));
    }
  } else {
    forward(e, me, me, extent_of(graph_.plans[me], place, n.of, at.iteration), true);
  }
}

void portion_events::take(event_id e, const node& n) {
  const event at = graph_.events[e];
  const std::uint32_t me = at.member, members = graph_.members();
  const geometry& place = graph_.places[me];
  if (n.of == portion::packed) {
    const member_run run = sent_in_round(place, place.node(at.peer), at.iteration);
    for (std::uint32_t k = 0; k < run.count; ++k)
      forward(e, at.peer, me, block_of(me, run.begin + k), false);
  } else if (n.of == portion::transit) {
    for (std::uint32_t d = 1; d < members; ++d)
      if (arrives(d, at.iteration)) direct(e, (me + members - d) % members, me, false);
  } else {
    forward(e, at.peer, me, extent_of(graph_.plans[me], place, n.of, at.iteration), false);
  }
}

} // namespace weft::graph::checking
