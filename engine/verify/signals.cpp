#include "engine/verify/signals.hpp"

#include "engine/plan/names.hpp"
#include "engine/verify/structure.hpp"

#include <algorithm>
#include <utility>

namespace weft::graph::checking {

signal_board::signal_board(event_graph& g, messages& payloads, report& out)
    : graph_(g), contents_(payloads), out_(out), size_(g.members()),
      rounds_(dissemination_rounds(g.members())), stages_(std::size_t{2} * rounds_ * size_),
      published_(size_), payloads_(std::size_t{size_} * size_), entries_(std::size_t{size_} * size_),
      published_rows_(size_), rows_(std::size_t{size_} * size_), questions_(std::size_t{size_} * size_),
      landed_(std::size_t{max_phases} * size_), taken_(landed_.size()),
      first_message_(std::size_t{size_} * size_, nobody), blocks_(std::size_t{size_} * size_, nobody),
      cycles_(size_, nobody) {}

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

std::vector<signal_board::sent>& signal_board::cells(fact about) {
  switch (about) {
  case fact::entry:
    return entries_;
  case fact::row:
    return rows_;
  case fact::asked:
    return questions_;
  default:
    return payloads_;
  }
}

void signal_board::note_message(std::uint32_t from, std::uint32_t to, event_id e, bool at_once) {
  if (near(from, to)) return;
  messages_.push_back({e, at_once, first_message_[pair(from, to)]});
  first_message_[pair(from, to)] = static_cast<std::uint32_t>(messages_.size() - 1);
}

void signal_board::send(const node& n, event_id e, bool at_once) {
  const event at = graph_.events[e];
  if (n.peer == peer_rule::group && (n.about == fact::payload || n.about == fact::ready)) {
    note(published_[at.member], n, e, at.member);
    // Whom it is for, all look at.
    published_[at.member].read |= graph_.plans[at.member].names != naming::none;
    return;
  }
  if (n.about == fact::row && n.peer == peer_rule::group) {
    note(published_rows_[at.member], n, e, at.member);
    return;
  }
  const std::uint32_t to = n.peer == peer_rule::self ? at.member : at.peer;
  note_message(at.member, to, e, at_once);
  switch (n.about) {
  case fact::entry:
  case fact::payload:
  case fact::row:
  case fact::asked:
  case fact::ready:
    if (near(at.member, at.peer)) {
      out_.add(fault::surplus_signal, "{}: rank {} is on the same node and reads the board", graph_.text(e),
               at.peer);
      return;
    }
    note(cells(n.about)[pair(at.member, at.peer)], n, e, at.peer);
    return;
  case fact::landed:
  case fact::taken: {
    counter& c = counted(n.about, to, n.phase);
    c.signalled += n.count;
    c.fed_by.push_back(e);
    if (n.stepwise) c.owner_saw += n.count; // the owner counts himself
    return;
  }
  case fact::stage_in:
  case fact::stage_out:
    note(stages_[stage(n.about, at.iteration, at.member)], n, e, at.peer);
    return;
  case fact::named:
  case fact::call:
  case fact::none:
    return;
  }
}

void signal_board::receive(const node& n, event_id e) {
  const event& at = graph_.events[e];
  const std::uint32_t from = n.peer == peer_rule::self ? at.member : at.peer;
  awaits_.push_back({e, n.about, from, n.count, n.valued, false, n.stepwise, n.phase});
}

void signal_board::receive(fact about, event_id e, std::uint32_t from, std::uint32_t count, bool by_rows) {
  awaits_.push_back({e, about, from, count, false, by_rows, false, 0});
}

std::uint32_t signal_board::block(std::uint32_t source, std::uint32_t destination) {
  std::uint32_t& known = blocks_[pair(source, destination)];
  if (known != nobody) return known;
  const event_id when = add(role::block, source, destination);
  known = access_of(when, source, destination);
  if (graph_.plans[destination].in_place) access_of(when, destination, source); // they change places at once
  return known;
}

std::uint32_t signal_board::access_of(event_id when, std::uint32_t source, std::uint32_t destination) {
  const auto id = static_cast<std::uint32_t>(graph_.accesses.size());
  const plan& p = graph_.plans[destination];
  graph_.accesses.push_back({when, nobody, source, destination,
                             p.places[in_source].offset(source, destination),
                             p.places[in_destination].offset(source, destination), p.block(), true, true});
  graph_.completions.push_back({when, id});
  return id;
}

void signal_board::claim(event_id e, std::uint32_t source, std::uint32_t destination) {
  const event& at = graph_.events[e];
  if (!near(source, destination)) {
    out_.add(fault::malformed, "{}: rank {} is on another node", graph_.text(e), at.peer);
  }
  // A row that names somebody else leaves nothing to do.
  const plan& mine = graph_.plans[at.member];
  if (mine.names != naming::none && !graph_.moved.sends(source, destination)) return;
  const std::uint32_t id = block(source, destination);
  check_carried(e, id);
  if (mine.in_place) check_carried(e, id + 1);
  graph_.edges.push_back({e, graph_.accesses[id].begin});
  graph_.carriers.push_back({e, source, destination});
}

void signal_board::check_carried(event_id e, std::uint32_t which) {
  const access& a = graph_.accesses[which];
  const plan& mine = graph_.plans[graph_.events[e].member];
  if (mine.places[in_source].offset(a.source, a.destination) == a.from &&
      mine.places[in_destination].offset(a.source, a.destination) == a.to && mine.block() == a.bytes)
    return;
  out_.add(fault::wrong_provenance, "{}: carries other bytes of block {}->{} than its destination does",
           graph_.text(e), a.source, a.destination);
}

// All blocks of a cycle move at once, as the two of a pair do.
event_id signal_board::rotate(event_id e, std::span<const std::uint32_t> links) {
  std::uint32_t& first = cycles_[links.front()];
  if (first == nobody) {
    const event_id when = add(role::block, links.front(), graph_.moved.named_by(links.front()));
    first = static_cast<std::uint32_t>(graph_.accesses.size());
    for (const std::uint32_t source : links)
      access_of(when, source, graph_.moved.named_by(source));
  }
  for (std::uint32_t k = 0; k < links.size(); ++k) {
    check_carried(e, first + k);
    graph_.carriers.push_back({e, links[k], graph_.moved.named_by(links[k])});
  }
  const event_id when = graph_.accesses[first].begin;
  graph_.edges.push_back({e, when});
  return when;
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
  const plan& p = graph_.plans[first];
  for (std::uint32_t i = 0; i < size_; ++i) {
    for (std::uint32_t j = 0; j < size_; ++j) {
      const bool sent = p.names == naming::none ? p.sends(i, j) : graph_.moved.sends(i, j);
      if (!sent || (p.in_place && i >= j)) continue; // in place a pair is carried at once
      const std::uint32_t id = block(i, j);
      graph_.edges.push_back({helpers, graph_.accesses[id].begin});
    }
  }
}

void signal_board::feed_counters() {
  for (const std::uint32_t id : blocks_) {
    if (id == nobody) continue;
    const access& a = graph_.accesses[id];
    const plan& p = graph_.plans[a.destination];
    for (counter* c : {&landed_[a.destination], &(p.in_place ? landed_ : taken_)[a.source]}) {
      if (c == &taken_[a.source] && !p.counts_taken(a.source, a.destination)) continue;
      c->carried += p.chunks;
      c->fed_by.push_back(a.begin);
    }
  }
}

event_id signal_board::reached(counter& c, fact which, std::uint32_t owner) {
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
  if (a.about == fact::payload) contents_.matched(a.when, cell.when);
  graph_.edges.push_back({cell.when, a.when});
}

// A near member's row may be read once it has entered. A far member answers who has asked, when it has
// published its row; or it has sent it unasked.
void signal_board::match_row(const awaited& a) {
  const std::uint32_t me = graph_.events[a.when].member;
  if (near(a.from, me)) {
    if (graph_.plans[me].in == sync::my) graph_.edges.push_back({graph_.posts[a.from], a.when});
    return;
  }
  sent& question = questions_[pair(me, a.from)];
  if (question.when == no_event) {
    match_signal(rows_[pair(a.from, me)], a, "its row");
    return;
  }
  question.read = true;
  const sent& row = published_rows_[a.from];
  if (row.when == no_event) {
    missing(a.when, fmt::format("rank {} does not publish its row", a.from));
    return;
  }
  const event_id answer = add(role::answer, a.from, me);
  graph_.edges.push_back({question.when, answer});
  graph_.edges.push_back({row.when, answer});
  graph_.edges.push_back({answer, a.when});
}

void signal_board::match_naming(const awaited& a) {
  const std::uint32_t me = graph_.events[a.when].member;
  if (a.from == nobody)
    missing(a.when, "nobody's row names it");
  else if (near(a.from, me))
    match_row(a);
  else
    match_signal(rows_[pair(a.from, me)], a, "its row");
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
  counter& c = counted(a.about, a.from, a.phase);
  c.read = true;
  c.owner_saw = std::max<std::uint64_t>(c.owner_saw, a.count);
  const std::uint64_t total = c.signalled + c.carried;
  if (total == a.count && total == 0) return;
  // In place, what takes an empty block aside counts it all the same.
  if (a.by_rows && graph_.plans[a.from].block() == 0) return;
  if (total == 0) {
    missing(a.when, "nobody counts");
  } else if (total < a.count) {
    out_.add(fault::wrong_count, "{}: {} arrive", graph_.text(a.when), total);
    hang(a.when);
  } else if (total > a.count) {
    // Passes before all have come, so nothing is known behind it.
    out_.add(fault::wrong_count, "{}: {} arrive", graph_.text(a.when), total);
  } else {
    graph_.edges.push_back({reached(c, a.about, a.from), a.when});
  }
}

// So many landings have been counted on the owner: which ones, is known if one sender counts them in order.
void signal_board::match_step(const awaited& a) {
  const std::uint32_t iteration = graph_.events[a.when].iteration;
  if (iteration + 1 <= a.count) return;
  const std::uint32_t wanted = iteration + 1 - a.count;
  counter& c = counted(a.about, a.from, a.phase);
  c.read = true;
  if (a.from == graph_.events[a.when].member)
    c.owner_saw = std::max<std::uint64_t>(c.owner_saw, wanted);
  else
    c.watched = a.when;
  if (c.signalled < wanted) {
    out_.add(fault::wrong_count, "{}: {} of {} arrive", graph_.text(a.when), c.signalled, wanted);
    hang(a.when);
  } else if (c.carried != 0 || !count_in_order(c, wanted)) {
    out_.add(fault::wrong_count, "{}: those before it are counted in no order", graph_.text(a.when));
  } else {
    graph_.edges.push_back({c.fed_by[wanted - 1], a.when});
  }
}

bool signal_board::count_in_order(const counter& c, std::uint32_t steps) const {
  const event& first = graph_.events[c.fed_by.front()];
  const plan& p = graph_.plans[first.member];
  const node& loop = p.nodes[first.top];
  if (steps > 1 && !loop.ordered && !loop.pipelined) return false;
  return std::all_of(c.fed_by.begin(), c.fed_by.begin() + steps, [&](event_id e) {
    const event& at = graph_.events[e];
    return at.member == first.member && at.node == first.node && p.nodes[at.node].count == 1;
  });
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
  case fact::ready:
    match_signal(near(a.from, at.member) ? published_[a.from] : payloads_[pair(a.from, at.member)], a,
                 "that it is ready");
    return;
  case fact::landed:
  case fact::taken:
    a.stepwise ? match_step(a) : match_count(a);
    return;
  case fact::stage_in:
  case fact::stage_out:
    match_signal(stages_[stage(a.about, at.iteration, a.from)], a, fmt::format("round {}", at.iteration));
    return;
  case fact::row:
    match_row(a);
    return;
  case fact::named:
    match_naming(a);
    return;
  case fact::asked:
  case fact::call:
  case fact::none:
    return;
  }
}

void signal_board::match_assists() {
  for (const auto& [begin, end] : assists_) {
    const plan& p = graph_.plans[graph_.events[begin].member];
    for (std::uint32_t j = 0; j < size_; ++j) {
      if (p.names == naming::none) {
        match_full(begin, end, fact::landed, j, p.full(j));
        continue;
      }
      const bool empty = graph_.moved.named_by(j) == nobody;
      match_full(begin, end, p.pairs == pattern::by_source ? fact::taken : fact::landed, j,
                 empty ? 0 : p.chunks);
      if (empty && p.in == sync::my) graph_.edges.push_back({graph_.posts[j], end}); // its row says so
    }
  }
}

void signal_board::match_full(event_id begin, event_id end, fact which, std::uint32_t owner,
                              std::uint32_t wanted) {
  if (wanted == 0) return;
  counter& c = counted(which, owner);
  c.read = true;
  const std::uint64_t total = c.signalled + c.carried;
  if (total == wanted) {
    graph_.edges.push_back({reached(c, which, owner), end});
    return;
  }
  if (total < wanted) hang(end);
  if (!std::exchange(c.reported, true)) {
    out_.add(fault::wrong_count, "{}: rank {} is full with {} pieces, {} arrive", graph_.text(begin), owner,
             wanted, total);
  }
}

void signal_board::find_unread() {
  const auto unread = [&](const sent& cell) {
    if (cell.when != no_event && !cell.read) {
      out_.add(fault::surplus_signal, "{}: nobody reads it", graph_.text(cell.when));
    }
  };
  for (const auto* cells : {&stages_, &payloads_, &entries_, &rows_, &questions_}) {
    for (const sent& cell : *cells)
      unread(cell);
  }
  // With nobody else on the node, publishing is a store into one's own board and no signal.
  for (std::uint32_t r = 0; r < size_; ++r) {
    if (!graph_.places[r].near().empty()) unread(published_[r]);
  }
  for (const fact which : {fact::landed, fact::taken}) {
    for (std::uint32_t k = 0; k < landed_.size(); ++k) {
      const counter& c = counted(which, k % size_, k / size_);
      if (c.signalled != 0 && !c.read) {
        out_.add(fault::surplus_signal, "{} are counted on rank {} ({}), which never awaits it", c.signalled,
                 k % size_, name(which));
      }
    }
  }
}

// A counter that others watch must be full before its owner leaves: a later operation may count on it then.
void signal_board::find_abandoned() {
  for (std::uint32_t k = 0; k < landed_.size(); ++k) {
    const counter& c = landed_[k];
    if (c.watched == no_event || c.owner_saw == c.signalled) continue;
    out_.add(fault::early_exit, "{}: rank {} may leave before its count is full", graph_.text(c.watched),
             k % size_);
  }
}

void signal_board::match() {
  add_helpers();
  feed_counters();
  for (const awaited& a : awaits_)
    match_one(a);
  match_assists();
  find_unread();
  find_abandoned();
}

} // namespace weft::graph::checking
