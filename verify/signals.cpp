// SPDX-License-Identifier: BSD-3-Clause
#include "verify/signals.hpp"

#include "engine/format.hpp"
#include "engine/plan/names.hpp"
#include "engine/topology/topology.hpp"

#include <algorithm>

namespace weft::graph::checking {

signal_board::signal_board(event_graph& g, messages& payloads, report& out)
    : graph_(g), contents_(payloads), out_(out), counts_(g, out), blocks_(g, counts_, out),
      first_message_(std::size_t{g.members()} * g.members(), no_rank) {}

// A payload and being ready are one word: the stamp of the slot.
signal_board::key signal_board::key_of(const cell& c, std::uint32_t reader) const {
  const bool in_shadow = !is_stage(c.what) && reader != host && !near(c.owner, reader);
  return {c.what == fact::ready ? fact::payload : c.what, c.phase, c.value, c.owner,
          in_shadow ? reader : host};
}

void signal_board::note_message(std::uint32_t from, std::uint32_t to, event_id e, bool at_once) {
  if (near(from, to)) return;
  messages_.push_back({e, at_once, first_message_[pair(from, to)]});
  first_message_[pair(from, to)] = static_cast<std::uint32_t>(messages_.size() - 1);
}

void signal_board::send(const node& n, event_id e, bool at_once) {
  const event at = graph_.events[e];
  const bool to_group = n.peer == peer_rule::group;
  const std::uint32_t to = n.peer == peer_rule::self ? at.member : at.peer;
  const cell c = cell_of(graph_.plans[at.member], n, to, at.iteration);
  const bool by_box = n.bundled && c.what == fact::payload;
  // What my task made another member of my host may send, from where I publish it.
  if (by_box && n.read.in == buffer::scratch) sent_on_.emplace_back(key_of(c, host), e);
  if (by_box) return bundle(c, to, e);
  if (!to_group && !n.bundled) note_message(at.member, to, e, at_once);
  if (is_counter(c.what)) return counts_.raise(n, c, e);
  if (!to_group && !is_stage(c.what) && near(at.member, to)) {
    out_.add(fault::surplus_signal, "{}: rank {} is on the same host and reads the mailbox", graph_.text(e),
             to);
    return;
  }
  // Whom a payload is for that a row names, all look at.
  const bool looked_at = to_group && c.what == fact::payload && graph_.plans[at.member].names != naming::none;
  raised_.push_back({key_of(c, to_group ? host : to), e, n.valued, looked_at});
  if (n.relayed) relay(c, to, e, at_once);
}

// What is sent to a relay comes to all below it, though their members do nothing: each is asked which is
// above it.
void signal_board::relay(const cell& c, std::uint32_t relay, event_id e, bool at_once) {
  const plan& p = graph_.plans[c.owner];
  const topology& g = graph_.places[c.owner];
  const relay_tree tree(g, p.root, p.radix);
  for (std::uint32_t member = 0; member < graph_.members(); ++member) {
    if (member == relay || g.is_near(member)) continue;
    std::uint32_t above = tree.above(member);
    while (above != relay && above != p.root)
      above = tree.above(above);
    if (above != relay) continue;
    note_message(c.owner, member, e, at_once);
    raised_.push_back({key_of(c, member), e, false, false});
  }
}

// What goes into a box comes to all members of its host. It tells none of them of the entry of a member whose
// blocks another one has sent.
void signal_board::bundle(const cell& c, std::uint32_t owner, event_id e) {
  const topology& g = graph_.places[c.owner];
  if (g.is_near(owner)) {
    out_.add(fault::surplus_signal, "{}: rank {} is on the same host", graph_.text(e), owner);
    return;
  }
  const bool to_root = graph_.plans[c.owner].pairs == pattern::to_root;
  for (std::uint32_t k = 0; k < g.members(g.host(owner)); ++k)
    if (const std::uint32_t reader = g.in_host_order(g.first(g.host(owner)) + k); !to_root || reader == owner)
      raised_.push_back({key_of(c, reader), e, false, false, true});
}

void signal_board::receive(const node& n, event_id e) {
  const event& at = graph_.events[e];
  const std::uint32_t from = n.peer == peer_rule::self ? at.member : at.peer;
  awaits_.push_back(
      {e, cell_of(graph_.plans[at.member], n, from, at.iteration), n.valued, false, n.stepwise, n.bundled});
}

void signal_board::receive(fact about, event_id e, std::uint32_t from, std::uint32_t count, bool by_rows) {
  awaits_.push_back({e, {about, 0, from, count}, false, by_rows, false, false});
}

void signal_board::sort_raised() {
  std::stable_sort(raised_.begin(), raised_.end(),
                   [](const raised& a, const raised& b) { return a.where < b.where; });
  const auto twice =
      std::unique(raised_.begin(), raised_.end(), [&](const raised& first, const raised& again) {
        if (first.where != again.where) return false;
        const std::uint32_t to = again.where.reader == host ? again.where.owner : again.where.reader;
        out_.add(fault::surplus_signal, "{}: sent to rank {} for the second time", graph_.text(again.when),
                 to);
        return true;
      });
  raised_.erase(twice, raised_.end());
}

signal_board::raised* signal_board::find(const key& where) {
  const auto it = std::lower_bound(raised_.begin(), raised_.end(), where,
                                   [](const raised& r, const key& k) { return r.where < k; });
  return it != raised_.end() && it->where == where ? &*it : nullptr;
}

void signal_board::missing(event_id e, std::string_view what) {
  out_.add(fault::missing_signal, "{}: {}", graph_.text(e), what);
  counts_.hang(e);
}

void signal_board::match_cell(raised* cell, const awaited& a) {
  if (cell == nullptr) {
    const fact about = a.wanted.what == fact::named ? fact::row : a.wanted.what;
    const std::string round = is_stage(about) ? engine::format(" of round {}", a.wanted.value - 1) : "";
    missing(a.when, engine::format("rank {} does not send it its {}{}", a.wanted.owner, name(about), round));
    return;
  }
  cell->read = true;
  if (cell->valued != a.valued) {
    out_.add(fault::mismatch, "{} and {}: only one of them carries a value", graph_.text(cell->when),
             graph_.text(a.when));
  }
  if (cell->bundled != a.bundled) {
    out_.add(fault::mismatch, "{} and {}: only one of them goes by a box", graph_.text(cell->when),
             graph_.text(a.when));
  }
  if (a.wanted.what == fact::payload) contents_.matched(a.when, cell->when);
  graph_.edges.push_back({graph_.heard(cell->when), a.when});
}

// A near member's row may be read once it has entered. A far member answers the one that has asked, when it
// has published its row; or it has sent it unasked.
void signal_board::match_row(const awaited& a, std::uint32_t me) {
  const std::uint32_t owner = a.wanted.owner;
  if (near(owner, me)) {
    if (graph_.plans[me].in == sync::my) graph_.edges.push_back({graph_.posts[owner], a.when});
    return;
  }
  raised* const question = find({fact::asked, 0, 0, me, owner});
  if (question == nullptr) return match_cell(find({fact::row, 0, 0, owner, me}), a);
  question->read = true;
  const raised* const row = find({fact::row, 0, 0, owner, host});
  if (row == nullptr) return missing(a.when, engine::format("rank {} does not publish its row", owner));
  const event_id answer = graph_.add(role::answer, owner, me);
  graph_.edges.push_back({question->when, answer});
  graph_.edges.push_back({row->when, answer});
  graph_.edges.push_back({answer, a.when});
}

// The entry word of a near member stands since its post, which wakes those that sleep until then. A far
// member's entry is known by whatever message of it comes first.
void signal_board::match_entry(const awaited& a, std::uint32_t me) {
  const std::uint32_t owner = a.wanted.owner;
  if (near(owner, me)) {
    graph_.edges.push_back({graph_.posts[owner], a.when});
    if (!graph_.plans[owner].awaited)
      out_.add(fault::late_entry, "{}: rank {} wakes no rank when it enters", graph_.text(a.when), owner);
    return;
  }
  if (raised* const said = find({fact::entry, 0, 0, owner, me})) said->read = true;
  std::uint32_t next = first_message_[pair(owner, me)];
  if (next == no_rank) return missing(a.when, engine::format("rank {} sends it no message", owner));
  const event_id arrival = graph_.add(role::arrival, me, owner);
  bool at_once = false;
  for (; next != no_rank; next = messages_[next].next) {
    graph_.edges.push_back({messages_[next].when, arrival});
    at_once |= messages_[next].at_once;
  }
  if (!at_once) {
    out_.add(fault::late_entry, "{}: every message of rank {} to it waits for something first",
             graph_.text(a.when), owner);
  }
  graph_.edges.push_back({arrival, a.when});
}

void signal_board::match_one(const awaited& a) {
  const std::uint32_t me = graph_.events[a.when].member;
  const cell& c = a.wanted;
  if (is_counter(c.what))
    return a.stepwise ? counts_.await_step(a.when, c) : counts_.await(a.when, c, a.by_rows);
  if (c.what == fact::entry) return match_entry(a, me);
  if (c.what == fact::row) return match_row(a, me);
  if (c.what != fact::named) return match_cell(find(key_of(c, me)), a);
  // Whose row names me: a near one's I look at, a far one sends it.
  if (c.owner == no_rank) return missing(a.when, "no row names it");
  near(c.owner, me) ? match_row(a, me) : match_cell(find({fact::row, 0, 0, c.owner, me}), a);
}

// With no other rank on the host, publishing is a store into one's own mailbox and no signal. What a member
// publishes of its row, and says there of its stages, is there for any rank that looks.
void signal_board::find_unread() {
  for (const raised& r : raised_) {
    const bool published = r.where.reader == host && !is_stage(r.where.what);
    const bool needs_no_reader =
        published && (r.where.what == fact::row || graph_.places[r.where.owner].near().empty());
    if (!r.read && !needs_no_reader)
      out_.add(fault::surplus_signal, "{}: no action reads it", graph_.text(r.when));
  }
}

void signal_board::match() {
  blocks_.feed_counters();
  sort_raised();
  for (const awaited& a : awaits_)
    match_one(a);
  for (const auto& [published, sent] : sent_on_) {
    if (raised* const it = find(published))
      it->read = true;
    else if (!graph_.places[published.owner].near().empty())
      missing(sent, "it is not published, and a neighbour may have to send it");
  }
  blocks_.match_assists();
  find_unread();
  counts_.find_unread();
}

} // namespace weft::graph::checking
