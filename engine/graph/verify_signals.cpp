#include "engine/graph/verify_signals.hpp"

#include "engine/graph/names.hpp"
#include "engine/graph/verify_structure.hpp"

#include <utility>

namespace weft::graph::checking {

signal_board::signal_board(event_graph& g, report& out)
    : graph_(g), out_(out), size_(g.members()), rounds_(range_size(g.places.front(), range::rounds)),
      stages_(std::size_t{2} * rounds_ * size_), published_(size_), payloads_(std::size_t{size_} * size_),
      entries_(std::size_t{size_} * size_), landed_(size_), taken_(size_),
      first_message_(std::size_t{size_} * size_, nobody), blocks_(std::size_t{size_} * size_, nobody) {}

event_id signal_board::add(role as, std::uint32_t member, std::uint32_t peer) {
  event made;
  made.as = as;
  made.member = member;
  made.peer = peer;
  graph_.events.push_back(made);
  return static_cast<event_id>(graph_.events.size() - 1);
}

void signal_board::note(sent& cell, const node& n, event_id e, std::uint32_t to) {
  if (cell.when != no_event) {
    out_.add(fault::surplus_signal, "{}: sent to rank {} for the second time", graph_.text(e), to);
    return;
  }
  cell.when = e;
  cell.valued = n.valued;
}

void signal_board::note_message(std::uint32_t from, std::uint32_t to, event_id e, bool at_once) {
  if (near(from, to)) return;
  messages_.push_back({e, at_once, first_message_[pair(from, to)]});
  first_message_[pair(from, to)] = static_cast<std::uint32_t>(messages_.size() - 1);
}

void signal_board::send(const node& n, event_id e, bool at_once) {
  const event at = graph_.events[e];
  if (n.about == fact::payload && n.peer == peer_rule::group) {
    note(published_[at.member], n, e, at.member);
    return;
  }
  note_message(at.member, at.peer, e, at_once);
  switch (n.about) {
  case fact::entry:
  case fact::payload:
    if (near(at.member, at.peer)) {
      out_.add(fault::surplus_signal, "{}: rank {} is on the same node and reads the board", graph_.text(e),
               at.peer);
      return;
    }
    note((n.about == fact::entry ? entries_ : payloads_)[pair(at.member, at.peer)], n, e, at.peer);
    return;
  case fact::landed:
  case fact::taken: {
    counter& c = counted(n.about, at.peer);
    c.signalled += n.count;
    c.fed_by.push_back(e);
    return;
  }
  case fact::stage_in:
  case fact::stage_out:
    note(stages_[stage(n.about, at.iteration, at.member)], n, e, at.peer);
    return;
  case fact::none:
    return;
  }
}

void signal_board::receive(const node& n, event_id e) {
  const event& at = graph_.events[e];
  const std::uint32_t from = n.peer == peer_rule::self ? at.member : at.peer;
  awaits_.push_back({e, n.about, from, n.count, n.valued});
}

std::uint32_t signal_board::block(std::uint32_t source, std::uint32_t destination) {
  std::uint32_t& known = blocks_[pair(source, destination)];
  if (known != nobody) return known;
  known = static_cast<std::uint32_t>(graph_.accesses.size());
  const event_id when = add(role::block, source, destination);
  const block_rule& rule = graph_.plans[destination].rule;
  graph_.accesses.push_back({when, nobody, source, destination, rule.source(source, destination),
                             rule.destination(source, destination), rule.bytes, true, true});
  graph_.completions.push_back({when, known});
  return known;
}

void signal_board::claim(event_id e, std::uint32_t source, std::uint32_t destination) {
  const event& at = graph_.events[e];
  if (!near(source, destination)) {
    out_.add(fault::malformed, "{}: rank {} is on another node", graph_.text(e), at.peer);
  }
  const std::uint32_t executor = at.member;
  const std::uint32_t id = block(source, destination);
  const access& a = graph_.accesses[id];
  const block_rule& mine = graph_.plans[executor].rule;
  if (mine.source(source, destination) != a.from || mine.destination(source, destination) != a.to ||
      mine.bytes != a.bytes) {
    out_.add(fault::wrong_provenance, "{}: carries other bytes of block {}->{} than its destination does",
             graph_.text(e), source, destination);
  }
  graph_.edges.push_back({e, a.begin});
  graph_.carriers.push_back({e, source, destination});
}

event_id signal_board::assist(event_id e) {
  assists_.emplace_back(e, add(role::assisted, graph_.events[e].member));
  graph_.edges.push_back({e, assists_.back().second});
  return assists_.back().second;
}

// Whoever assists may carry any block of the operation: one event for all of them, a carrier of every block.
void signal_board::add_helpers() {
  if (assists_.empty()) return;
  const std::uint32_t first = graph_.events[assists_.front().first].member;
  const event_id helpers = add(role::helpers, first);
  for (const auto& [begin, end] : assists_)
    graph_.edges.push_back({begin, helpers});
  for (std::uint32_t i = 0; i < size_; ++i) {
    for (std::uint32_t j = 0; j < size_; ++j) {
      if (graph_.plans[first].sends(i, j)) {
        const std::uint32_t id = block(i, j);
        graph_.edges.push_back({helpers, graph_.accesses[id].begin});
      }
    }
  }
}

void signal_board::feed_counters() {
  for (const std::uint32_t id : blocks_) {
    if (id == nobody) continue;
    const access& a = graph_.accesses[id];
    const std::uint32_t pieces = graph_.plans[a.destination].chunks;
    landed_[a.destination].carried += pieces;
    landed_[a.destination].fed_by.push_back(a.begin);
    taken_[a.source].carried += pieces;
    taken_[a.source].fed_by.push_back(a.begin);
  }
}

event_id signal_board::reached(fact which, std::uint32_t owner) {
  counter& c = counted(which, owner);
  if (c.reached == no_event) {
    c.reached = add(role::counter, owner);
    graph_.events[c.reached].about = which;
    for (const event_id e : c.fed_by)
      graph_.edges.push_back({e, c.reached});
  }
  return c.reached;
}

void signal_board::missing(event_id e, std::string_view what) {
  out_.add(fault::missing_signal, "{}: {}", graph_.text(e), what);
  hang(e);
}

void signal_board::hang(event_id e) {
  if (never_ == no_event) never_ = add(role::never, nobody);
  graph_.edges.push_back({never_, e});
}

void signal_board::match_signal(sent& cell, const awaited& a, std::string_view what) {
  if (cell.when == no_event) {
    missing(a.when, fmt::format("rank {} does not send it {}", a.from, what));
    return;
  }
  cell.read = true;
  if (cell.valued != a.valued) {
    out_.add(fault::mismatch, "{} and {}: only one of them carries a value", graph_.text(cell.when),
             graph_.text(a.when));
  }
  graph_.edges.push_back({cell.when, a.when});
}

// The entry word of a near member stands since its post. A far member's entry is known by whatever message of
// it comes first.
void signal_board::match_entry(const awaited& a) {
  const std::uint32_t me = graph_.events[a.when].member;
  if (near(a.from, me)) {
    graph_.edges.push_back({graph_.posts[a.from], a.when});
    return;
  }
  entries_[pair(a.from, me)].read = true;
  std::uint32_t next = first_message_[pair(a.from, me)];
  if (next == nobody) {
    missing(a.when, fmt::format("rank {} sends it no message", a.from));
    return;
  }
  const event_id arrival = add(role::arrival, me, a.from);
  bool at_once = false;
  for (; next != nobody; next = messages_[next].next) {
    graph_.edges.push_back({messages_[next].when, arrival});
    at_once |= messages_[next].at_once;
  }
  if (!at_once) {
    out_.add(fault::late_entry, "{}: every message of rank {} to it waits for something first",
             graph_.text(a.when), a.from);
  }
  graph_.edges.push_back({arrival, a.when});
}

void signal_board::match_count(const awaited& a) {
  if (a.count == 0) return;
  counter& c = counted(a.about, a.from);
  c.read = true;
  const std::uint64_t total = c.signalled + c.carried;
  if (total == 0) {
    missing(a.when, "nobody counts");
  } else if (total < a.count) {
    out_.add(fault::wrong_count, "{}: {} arrive", graph_.text(a.when), total);
    hang(a.when);
  } else if (total > a.count) {
    // Passes before all have come, so nothing is known behind it.
    out_.add(fault::wrong_count, "{}: {} arrive", graph_.text(a.when), total);
  } else {
    graph_.edges.push_back({reached(a.about, a.from), a.when});
  }
}

void signal_board::match_one(const awaited& a) {
  const event at = graph_.events[a.when];
  switch (a.about) {
  case fact::entry:
    match_entry(a);
    return;
  case fact::payload:
    match_signal(near(a.from, at.member) ? published_[a.from] : payloads_[pair(a.from, at.member)], a,
                 "its payload");
    return;
  case fact::landed:
  case fact::taken:
    match_count(a);
    return;
  case fact::stage_in:
  case fact::stage_out:
    match_signal(stages_[stage(a.about, at.iteration, a.from)], a, fmt::format("round {}", at.iteration));
    return;
  case fact::none:
    return;
  }
}

void signal_board::match_assists() {
  for (const auto& [begin, end] : assists_) {
    const plan& p = graph_.plans[graph_.events[begin].member];
    for (std::uint32_t j = 0; j < size_; ++j) {
      const std::uint32_t wanted = p.full(j);
      if (wanted == 0) continue;
      counter& c = landed_[j];
      c.read = true;
      const std::uint64_t total = c.signalled + c.carried;
      if (total == wanted) {
        graph_.edges.push_back({reached(fact::landed, j), end});
        continue;
      }
      if (total < wanted) hang(end);
      if (!std::exchange(c.reported, true)) {
        out_.add(fault::wrong_count, "{}: rank {} is full with {} pieces, {} arrive", graph_.text(begin), j,
                 wanted, total);
      }
    }
  }
}

void signal_board::find_unread() {
  const auto unread = [&](const sent& cell) {
    if (cell.when != no_event && !cell.read) {
      out_.add(fault::surplus_signal, "{}: nobody reads it", graph_.text(cell.when));
    }
  };
  for (const auto* cells : {&stages_, &payloads_, &entries_}) {
    for (const sent& cell : *cells)
      unread(cell);
  }
  // With nobody else on the node, publishing is a store into one's own board and no signal.
  for (std::uint32_t r = 0; r < size_; ++r) {
    if (!graph_.places[r].near().empty()) unread(published_[r]);
  }
  for (const fact which : {fact::landed, fact::taken}) {
    for (std::uint32_t r = 0; r < size_; ++r) {
      const counter& c = counted(which, r);
      if (c.signalled != 0 && !c.read) {
        out_.add(fault::surplus_signal, "{} are counted on rank {} ({}), which never awaits it", c.signalled,
                 r, name(which));
      }
    }
  }
}

void signal_board::match() {
  add_helpers();
  feed_counters();
  for (const awaited& a : awaits_)
    match_one(a);
  match_assists();
  find_unread();
}

} // namespace weft::graph::checking
