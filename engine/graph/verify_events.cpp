#include "engine/graph/verify_events.hpp"

#include "engine/graph/names.hpp"
#include "engine/graph/verify_signals.hpp"

#include <bit>

namespace weft::graph::checking {

std::string event_graph::text(event_id e) const {
  const event& at = events[e];
  switch (at.as) {
  case role::post:
    return fmt::format("rank {} entry", at.member);
  case role::exit:
    return fmt::format("rank {} exit", at.member);
  case role::join:
    return fmt::format("rank {} node {} (join)", at.member, at.node);
  case role::helpers:
    return "assisting members";
  case role::block:
    return fmt::format("block {}->{}", at.member, at.peer);
  case role::counter:
    return fmt::format("rank {} count of {}", at.member, name(at.about));
  case role::arrival:
    return fmt::format("rank {} any message of rank {}", at.member, at.peer);
  case role::assisted:
    return fmt::format("rank {} end of assistance", at.member);
  case role::never:
    return "nobody";
  case role::step:
    break;
  }
  const std::string node = describe(plans[at.member].nodes[at.node]);
  if (at.peer == nobody) return fmt::format("rank {} node {} ({})", at.member, at.node, node);
  return fmt::format("rank {} node {} ({}, peer {})", at.member, at.node, node, at.peer);
}

namespace {

// Unfolds one member after the other.
class unfolding {
public:
  unfolding(event_graph& g, report& out) : graph_(g), out_(out), signals_(g, out), with_peer_(g.members()) {}

  void run() {
    for (std::uint32_t r = 0; r < graph_.members(); ++r)
      graph_.posts.push_back(add(role::post, r));
    for (std::uint32_t r = 0; r < graph_.members(); ++r)
      member(r);
    signals_.match();
  }

private:
  // What a member does with one peer, as far as announcements and flushes are concerned.
  struct deed {
    event_id when;
    kind what;
    fact about;
    std::uint32_t access;
  };

  event_id add(role as, std::uint32_t member) {
    event made;
    made.as = as;
    made.member = member;
    graph_.events.push_back(made);
    return static_cast<event_id>(graph_.events.size() - 1);
  }
  void order(event_id from, event_id to) { graph_.edges.push_back({from, to}); }

  void member(std::uint32_t r) {
    me_ = r;
    plan_ = &graph_.plans[r];
    place_ = &graph_.places[r];
    for (auto& deeds : with_peer_)
      deeds.clear();
    const event_id exit = add(role::exit, r);
    order(graph_.posts[r], exit);
    for (unsigned n = 0; n < plan_->size; ++n) {
      if ((plan_->top >> n & 1) == 0) continue;
      top_ = static_cast<std::uint8_t>(n);
      const node& it = plan_->nodes[n];
      before_[n] = it.after;
      for (node_set rest = it.after; rest != 0; rest &= rest - 1)
        before_[n] |= before_[std::countr_zero(rest)];
      ends_[n] = it.what == kind::loop ? loop(it) : single(it);
      order(ends_[n], exit);
    }
    graph_.exits.push_back(exit);
    for (std::uint32_t peer = 0; peer < graph_.members(); ++peer)
      check_deeds(peer);
  }

  event_id single(const node& n) {
    const event_id e = step(top_, nobody, 0);
    if (n.after == 0) {
      order(graph_.posts[me_], e);
      if (n.what == kind::signal && n.about == fact::payload && n.peer == peer_rule::group) {
        graph_.at_post.push_back(e);
      }
    }
    for (node_set rest = n.after; rest != 0; rest &= rest - 1)
      order(ends_[std::countr_zero(rest)], e);
    return perform(n, e, n.after == 0);
  }

  event_id loop(const node& n) {
    const event_id begin = loop_begin(n);
    const event_id end = add(role::join, me_);
    graph_.events[end].node = top_;
    event_id previous = begin;
    for (std::uint32_t k = 0; k < n.count; ++k) {
      if (!n.ordered) previous = begin;
      for (unsigned s = n.body; s < unsigned{n.body} + n.body_size; ++s) {
        const node& it = plan_->nodes[s];
        const event_id e = step(static_cast<std::uint8_t>(s), peer(n, it, k), k);
        order(previous, e);
        previous = perform(it, e, previous == graph_.posts[me_]);
      }
      if (!n.ordered || k + 1 == n.count) order(previous, end);
    }
    return end;
  }

  event_id loop_begin(const node& n) {
    if (n.after == 0) return graph_.posts[me_];
    if (std::has_single_bit(n.after)) return ends_[std::countr_zero(n.after)];
    const event_id begin = add(role::join, me_);
    graph_.events[begin].node = top_;
    for (node_set rest = n.after; rest != 0; rest &= rest - 1)
      order(ends_[std::countr_zero(rest)], begin);
    return begin;
  }

  std::uint32_t peer(const node& loop, const node& it, std::uint32_t k) const {
    const std::uint32_t members = graph_.members();
    if (it.peer == peer_rule::self || it.peer == peer_rule::group) return nobody;
    switch (loop.over) {
    case range::root:
      return plan_->root;
    case range::near:
      return place_->near()[k];
    case range::far:
      return place_->far()[k];
    case range::others:
      return (me_ + 1 + k) % members;
    case range::rounds:
      break;
    }
    const std::uint32_t distance = (std::uint32_t{1} << k) % members;
    return it.peer == peer_rule::ahead ? (me_ + distance) % members : (me_ + members - distance) % members;
  }

  event_id step(std::uint8_t index, std::uint32_t peer, std::uint32_t iteration) {
    const event_id e = add(role::step, me_);
    event& made = graph_.events[e];
    made.node = index;
    made.top = top_;
    made.peer = peer;
    made.iteration = iteration;
    return e;
  }

  // Notes what the step does, after the entry alone if `at_once`; returns the event at which it is done.
  event_id perform(const node& n, event_id e, bool at_once) {
    const std::uint32_t peer = graph_.events[e].peer;
    switch (n.what) {
    case kind::copy:
      move(e, me_, me_, true, true);
      break;
    case kind::get:
      deed_with(peer, {e, n.what, n.about, move(e, peer, me_, true, true)});
      break;
    case kind::put:
      deed_with(peer, {e, n.what, n.about, move(e, me_, peer, true, true, place_->is_near(peer))});
      break;
    case kind::flush:
      deed_with(peer, {e, n.what, n.about, nobody});
      break;
    case kind::signal:
      if (n.about == fact::payload && !n.valued) read_payload(n, e);
      if (n.about == fact::landed || n.about == fact::taken) deed_with(peer, {e, n.what, n.about, nobody});
      signals_.send(n, e, at_once);
      break;
    case kind::await:
      signals_.receive(n, e);
      break;
    case kind::take:
      if (!n.valued) move(e, peer, me_, false, true);
      signals_.receive(n, e);
      break;
    case kind::claim:
      signals_.claim(e, n.way == direction::in ? peer : me_, n.way == direction::out ? peer : me_);
      break;
    case kind::assist:
      return signals_.assist(e);
    case kind::loop:
      break;
    }
    return e;
  }

  void deed_with(std::uint32_t peer, const deed& d) { with_peer_[peer].push_back(d); }

  // Bytes move from i to j. For data out of a payload the sender's rule says where they came from.
  std::uint32_t move(event_id e, std::uint32_t i, std::uint32_t j, bool reads, bool writes,
                     bool complete = true) {
    const block_rule& rule = plan_->rule;
    if (rule.bytes == 0) return nobody;
    const std::uint64_t from = reads ? rule.source(i, j) : graph_.plans[i].rule.source(i, j);
    const auto id = static_cast<std::uint32_t>(graph_.accesses.size());
    graph_.accesses.push_back({e, me_, i, j, from, rule.destination(i, j), rule.bytes, reads, writes});
    if (complete) graph_.completions.push_back({e, id});
    return id;
  }

  void read_payload(const node& n, event_id e) {
    if (n.peer == peer_rule::each) {
      move(e, me_, graph_.events[e].peer, true, false);
      return;
    }
    std::uint64_t readers = 0;
    for (const std::uint32_t j : place_->near()) {
      if (!plan_->sends(me_, j)) continue;
      ++readers;
      move(e, me_, j, true, false);
    }
    if (plan_->eager_slice == 0 && readers > 1 && plan_->rule.src_j != 0) {
      out_.add(fault::wrong_provenance, "{}: one slice for {} readers of different blocks", graph_.text(e),
               readers);
    }
    const std::uint64_t slices = plan_->eager_slice == 0 ? 1 : readers;
    const std::uint64_t needed = readers == 0 ? 0 : (slices - 1) * plan_->eager_slice + plan_->rule.bytes;
    if (plan_->eager_bytes < needed) {
      out_.add(fault::malformed, "{}: publishes {} bytes, its readers take {}", graph_.text(e),
               plan_->eager_bytes, needed);
    }
  }

  // Within a member: does a come before b in every run?
  bool precedes(event_id a, event_id b) const {
    const event &first = graph_.events[a], &second = graph_.events[b];
    if (first.top != second.top) return (before_[second.top] >> first.top & 1) != 0;
    if (first.iteration == second.iteration) return first.node < second.node;
    return plan_->nodes[first.top].ordered && first.iteration < second.iteration;
  }

  void check_deeds(std::uint32_t peer) {
    for (const deed& d : with_peer_[peer]) {
      if (d.what == kind::put && !place_->is_near(peer)) check_flush(peer, d);
      if (d.what == kind::signal) check_announcement(peer, d);
    }
  }

  // A put to another node is in place once a later flush to the same member is done.
  void check_flush(std::uint32_t peer, const deed& put) {
    bool flushed = false;
    for (const deed& d : with_peer_[peer]) {
      if (d.what != kind::flush || !precedes(put.when, d.when)) continue;
      flushed = true;
      if (put.access != nobody) graph_.completions.push_back({d.when, put.access});
    }
    if (!flushed) out_.add(fault::missing_flush, "{}: no flush follows", graph_.text(put.when));
  }

  // A count of landed announces my put, a count of taken my get.
  void check_announcement(std::uint32_t peer, const deed& signal) {
    const kind announced = signal.about == fact::landed ? kind::put : kind::get;
    bool done = false, in_place = false;
    for (const deed& d : with_peer_[peer]) {
      if (d.what != announced || !precedes(d.when, signal.when)) continue;
      done = true;
      in_place |=
          announced == kind::get || place_->is_near(peer) || flushed_between(peer, d.when, signal.when);
    }
    if (!done) {
      out_.add(fault::early_signal, "{}: no {} comes before it", graph_.text(signal.when), name(announced));
    } else if (!in_place) {
      out_.add(fault::missing_flush, "{}: the put before it may still be under way",
               graph_.text(signal.when));
    }
  }

  bool flushed_between(std::uint32_t peer, event_id put, event_id signal) const {
    for (const deed& d : with_peer_[peer]) {
      if (d.what == kind::flush && precedes(put, d.when) && precedes(d.when, signal)) return true;
    }
    return false;
  }

  event_graph& graph_;
  report& out_;
  signal_board signals_;
  std::uint32_t me_ = 0;
  const plan* plan_ = nullptr;
  const geometry* place_ = nullptr;
  std::uint8_t top_ = 0;
  std::array<event_id, max_nodes> ends_{};   // of top nodes
  std::array<node_set, max_nodes> before_{}; // top nodes that precede a top node, directly or not
  std::vector<std::vector<deed>> with_peer_;
};

} // namespace

event_graph unfold(std::span<const plan> plans, std::vector<geometry> places, report& out) {
  event_graph g;
  g.plans = plans;
  g.places = std::move(places);
  unfolding(g, out).run();
  return g;
}

} // namespace weft::graph::checking
