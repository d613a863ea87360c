#include "engine/verify/events.hpp"

#include "engine/plan/names.hpp"
#include "engine/plan/peers.hpp"
#include "engine/verify/deeds.hpp"
#include "engine/verify/messages.hpp"
#include "engine/verify/signals.hpp"

#include <algorithm>
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
  case role::answer:
    return fmt::format("rank {} answer to rank {}", at.member, at.peer);
  case role::hunted:
    return fmt::format("rank {} end of the hunt for the root", at.member);
  case role::assisted:
    return fmt::format("rank {} end of assistance", at.member);
  case role::rotated:
    return fmt::format("rank {} end of rotation", at.member);
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
  unfolding(event_graph& g, report& out)
      : graph_(g), out_(out), contents_(g, out), signals_(g, contents_, out), deeds_(g, out) {}

  void run() {
    for (std::uint32_t r = 0; r < graph_.members(); ++r)
      graph_.posts.push_back(add(role::post, r));
    for (std::uint32_t r = 0; r < graph_.members(); ++r)
      member(r);
    signals_.match();
    contents_.trace();
  }

private:
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
    deeds_.of_member(r);
    surveyed_.clear();
    rotated_ = has_rotation() && !cycle_of(r).empty();
    const event_id exit = add(role::exit, r);
    order(graph_.posts[r], exit);
    for (unsigned n = 0; n < plan_->size; ++n) {
      if ((plan_->top >> n & 1) == 0) continue;
      top_ = static_cast<std::uint8_t>(n);
      const node& it = plan_->nodes[n];
      deeds_.top_node(top_);
      ends_[n] = it.what == kind::loop ? loop(it) : single(it);
      order(ends_[n], exit);
    }
    graph_.exits.push_back(exit);
    deeds_.check();
  }

  event_id single(const node& n) {
    const event_id e = step(top_, nobody, 0);
    with_ = nobody;
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
    if (n.hunts || n.over == range::named || n.over == range::naming) read_row(begin, me_);
    if (n.hunts) return hunt(n, begin);
    const event_id end = join();
    event_id previous = begin;
    for (std::uint32_t k = 0; k < n.count; ++k) {
      previous = iteration(n, k, n.ordered ? previous : begin);
      if (!n.ordered || k + 1 == n.count) order(previous, end);
    }
    return end;
  }

  event_id join() {
    const event_id made = add(role::join, me_);
    graph_.events[made].node = top_;
    return made;
  }

  event_id iteration(const node& loop, std::uint32_t k, event_id previous) {
    with_ = partner(loop, k);
    if (loop.over == range::named && with_ == nobody) return previous;
    if (loop.over == range::naming && rotated_) return previous;
    fetched_ = 0;
    for (unsigned s = loop.body; s < unsigned{loop.body} + loop.body_size; ++s) {
      const node& it = plan_->nodes[s];
      if (it.only != lane::any && (it.only == lane::near) != place_->is_near(with_)) continue;
      const event_id e = step(static_cast<std::uint8_t>(s), peer(loop, it, k), k);
      order(previous, e);
      if (loop.pipelined && k != 0) order(last_[s], e);
      previous = last_[s] = perform(it, e, previous == graph_.posts[me_]);
      if (it.what == kind::await && it.about == fact::named && !tells_me(with_)) break;
    }
    return previous;
  }

  // Over at once if my own row names another root, else as soon as somebody's does.
  event_id hunt(const node& loop, event_id begin) {
    const std::uint32_t mine = graph_.moved.named_by(me_);
    if (mine != nobody && mine != me_) return begin;
    std::vector<event_id> last, found;
    for (std::uint32_t k = 0; k < loop.count; ++k) {
      last.push_back(iteration(loop, k, begin));
      const std::uint32_t other = graph_.moved.named_by(with_);
      if (other != nobody && other != me_) found.push_back(last.back());
    }
    const event_id end = found.empty() ? join() : add(role::hunted, me_);
    for (const event_id e : found.empty() ? last : found)
      order(e, end);
    return end;
  }

  // Who is meant by a loop's iteration; nobody if no row names him.
  std::uint32_t partner(const node& loop, std::uint32_t k) const {
    if (loop.over == range::named) return graph_.moved.named_by(me_);
    if (loop.over == range::naming) return naming(me_);
    const bool round = loop.over == range::rounds || loop.over == range::node_rounds;
    return round ? nobody : peer_at(*plan_, *place_, loop.over, peer_rule::each, k);
  }
  std::uint32_t naming(std::uint32_t member) const {
    for (std::uint32_t r = 0; r < graph_.members(); ++r)
      if (graph_.moved.named_by(r) == member) return r;
    return nobody;
  }

  // Am I to carry what comes from him, or to wait until it is there? It is mine to do if he is near, or if he
  // sends me his row. My own block is done by the loop over whom I name.
  bool tells_me(std::uint32_t naming) const {
    if (naming == nobody) return false;
    if (naming == me_) return plan_->eager;
    if (place_->is_near(naming)) return true;
    return has_signal(graph_.plans[naming], plan_->eager ? fact::payload : fact::row, peer_rule::each);
  }

  event_id loop_begin(const node& n) {
    if (n.after == 0) return graph_.posts[me_];
    if (std::has_single_bit(n.after)) return ends_[std::countr_zero(n.after)];
    const event_id begin = join();
    for (node_set rest = n.after; rest != 0; rest &= rest - 1)
      order(ends_[std::countr_zero(rest)], begin);
    return begin;
  }

  std::uint32_t peer(const node& loop, const node& it, std::uint32_t k) const {
    if (it.peer == peer_rule::self || it.peer == peer_rule::group) return nobody;
    if (loop.over == range::named || loop.over == range::naming) return with_;
    return peer_at(*plan_, *place_, loop.over, it.peer, k);
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
      moves(n, e);
      break;
    case kind::get:
    case kind::put:
      need_row(e, n.what == kind::get ? direction::in : direction::out);
      if (moves(n, e) == 0) deeds_.with(peer, {e, n.what, n.about, nobody});
      break;
    case kind::flush:
      deeds_.with(peer, {e, n.what, n.about, nobody});
      break;
    case kind::signal:
      if (n.about == fact::payload && !n.valued) read_payload(n, e);
      if (n.stepwise) {
        signals_.send(n, e, at_once);
        break;
      }
      if (n.about == fact::landed || n.about == fact::taken || (n.about == fact::ready && peer != nobody))
        deeds_.with(with_, {e, n.what, n.about, nobody, n.peer == peer_rule::self});
      if (n.about == fact::row) read_row(e, me_);
      signals_.send(n, e, at_once);
      break;
    case kind::await:
      await(n, e);
      break;
    case kind::take:
      if (!n.valued) moves(n, e);
      signals_.receive(n, e);
      break;
    case kind::claim:
      claim(n, e);
      break;
    case kind::fetch:
      if (place_->is_near(peer)) out_.add(fault::malformed, "{}: rank {} is near", graph_.text(e), peer);
      read_row(e, peer);
      fetched_ |= bit(n.which, n.way);
      break;
    case kind::survey:
      surveyed_.push_back(peer);
      if (place_->is_near(peer)) read_row(e, peer);
      break;
    case kind::aside:
      need_row(e, direction::in);
      deeds_.with(peer, {e, n.what, n.about, move(e, peer, me_, true, false)});
      break;
    case kind::restore:
      if (plan_->names != naming::none) signals_.receive(fact::taken, e, me_, outgoing(), true);
      move(e, peer, me_, false, true);
      break;
    case kind::assist:
      if (plan_->names != naming::none) need_publications(e);
      return signals_.assist(e);
    case kind::rotate:
      return rotate(n, e);
    case kind::compare:
    case kind::loop:
      break;
    }
    return e;
  }

  void await(const node& n, event_id e) {
    const std::uint32_t peer = graph_.events[e].peer;
    const bool counter = !n.stepwise && (n.about == fact::landed || n.about == fact::taken);
    if (counter && n.count == 0) {
      read_row(e, me_);
      signals_.receive(n.about, e, me_, plan_->in_place ? outgoing() : surveyed(), true);
    } else if (n.about == fact::row) {
      if (place_->is_near(peer)) read_row(e, peer);
      signals_.receive(n, e);
    } else if (n.about == fact::named) {
      await_naming(e);
    } else {
      signals_.receive(n, e);
    }
  }

  // Near members' rows are looked at, a far one sends his. Or the block is here already.
  void await_naming(event_id e) {
    need_publications(e);
    if (graph_.moved.named_by(me_) == me_) return;
    if (plan_->eager && with_ != nobody) return; // who takes the payload waits for it
    if (with_ == nobody || plan_->in_place || tells_me(with_))
      signals_.receive(fact::named, e, with_, 0, false);
    else
      signals_.receive(fact::landed, e, me_, plan_->chunks, false);
  }

  // Of my cycle, or of all of the node. A member that comes late reads the rows of those who have left.
  event_id rotate(const node& n, event_id e) {
    const event_id done = add(role::rotated, me_);
    order(e, done);
    std::vector<bool> seen(graph_.members());
    for (std::uint32_t k = 0; k < place_->locals(); ++k) {
      const std::uint32_t member = n.peer == peer_rule::group ? place_->local(k) : me_;
      if (seen[member]) continue;
      const std::vector<std::uint32_t> links = cycle_of(member);
      seen[member] = true;
      for (const std::uint32_t owner : links) {
        seen[owner] = true;
        read_row(e, owner);
        if (owner != me_ && !publishes_row(owner))
          out_.add(fault::early_exit, "rank {} may leave while {} reads its row", owner, graph_.text(e));
      }
      if (!links.empty()) order(signals_.rotate(e, links), done);
    }
    return done;
  }
  bool has_rotation() const {
    return std::any_of(plan_->nodes.begin(), plan_->nodes.begin() + plan_->size,
                       [](const node& n) { return n.what == kind::rotate; });
  }
  // The cycle of a near member, its lowest first; empty if it is not whole on this node.
  std::vector<std::uint32_t> cycle_of(std::uint32_t member) const {
    std::vector<std::uint32_t> links;
    std::uint32_t at = member;
    do {
      links.push_back(at);
      at = graph_.moved.named_by(at);
      if (at == nobody || !place_->is_near(at) || (at != member && links.size() == place_->locals()))
        return {};
    } while (at != member);
    std::rotate(links.begin(), std::min_element(links.begin(), links.end()), links.end());
    return links;
  }

  // In place: what must be taken of my block, a piece here, before its place is free.
  std::uint32_t outgoing() const {
    if (rotated_) return 0;
    return graph_.moved.named_by(me_) == me_ || plan_->block() == 0 ? 0 : 1;
  }

  // Pieces that the surveyed rows tell of.
  std::uint32_t surveyed() const {
    const std::uint32_t mine = graph_.moved.named_by(me_);
    std::uint32_t blocks = mine == me_ ? 1 : 0;
    if (mine != me_ && mine != nobody) return 0;
    for (const std::uint32_t peer : surveyed_) {
      if (graph_.moved.named_by(peer) == me_) ++blocks;
    }
    return blocks * plan_->chunks;
  }

  void claim(const node& n, event_id e) {
    const std::uint32_t peer = n.way == direction::self ? me_ : graph_.events[e].peer;
    switch (n.way) {
    case direction::in:
      signals_.claim(e, peer, me_);
      break;
    case direction::out:
    case direction::self:
      signals_.claim(e, me_, peer);
      break;
    case direction::swap:
      signals_.claim(e, std::min(me_, peer), std::max(me_, peer));
      break;
    }
  }

  void read_row(event_id e, std::uint32_t owner) {
    const row_access how = publishes_row(owner) ? row_access::published : row_access::in_place;
    graph_.completions.push_back({e, static_cast<std::uint32_t>(graph_.accesses.size())});
    graph_.accesses.push_back({e, me_, owner, me_, 0, 0, 0, true, false, how});
  }
  // All near members' rows are looked at, some of them needlessly late.
  void need_publications(event_id e) {
    for (const std::uint32_t near : place_->near()) {
      if (plan_->out != sync::no && !publishes_row(near))
        out_.add(fault::early_exit, "rank {} may leave while {} reads its row", near, graph_.text(e));
    }
  }
  bool publishes_row(std::uint32_t owner) const {
    const plan& theirs = graph_.plans[owner];
    return has_signal(theirs, fact::row, peer_rule::group) ||
           (theirs.names != naming::none && has_signal(theirs, fact::payload, peer_rule::group));
  }
  static bool has_signal(const plan& p, fact about, peer_rule to) {
    return std::any_of(p.nodes.begin(), p.nodes.begin() + p.size, [&](const node& n) {
      return n.what == kind::signal && n.about == about && n.peer == to;
    });
  }

  static std::uint32_t bit(descriptor which, direction way) {
    return 1u << (static_cast<unsigned>(which) + (way == direction::out ? 3 : 0));
  }

  // What the far peer's rows say of the block must have been fetched before; one that names the other end
  // describes the block as well, and has been sent.
  void need_row(event_id e, direction way) {
    if (place_->is_near(with_)) return;
    const indirection& of = plan_->indirect;
    const found theirs = way == direction::in ? found::at_source : found::at_destination;
    const bool described =
        plan_->names != naming::none && (way == direction::in) == (plan_->pairs == pattern::by_source);
    const auto need = [&](const indirection::place& where, descriptor which, direction of_block) {
      if (where.where == theirs && !described && (fetched_ & bit(which, of_block)) == 0)
        out_.add(fault::missing_row, "{}: the row of rank {} is not known", graph_.text(e), with_);
    };
    need(of.size, descriptor::size, way);
    need(of.src, descriptor::source, way);
    need(of.dst, descriptor::destination, way);
  }

  // Notes what a node moves at a step; returns how many regions.
  std::size_t moves(const node& n, event_id e) {
    const event at = graph_.events[e];
    const action a = resolve(*plan_, n, at.peer == nobody ? me_ : at.peer, at.iteration);
    const bool transfer = n.what == kind::get || n.what == kind::put;
    const bool complete = n.what != kind::put || place_->is_near(at.peer);
    std::size_t regions = 0;
    const auto note = [&](const region& r) {
      if (r.bytes == 0) return;
      ++regions;
      const std::uint32_t made = contents_.move(e, n, a, r, complete, deeds_);
      if (transfer) deeds_.with(at.peer, {e, n.what, n.about, made});
      if (n.peer == peer_rule::group) check_room(e, r.write + r.bytes);
    };
    each_move(*plan_, *place_, n, a, visitor<const region&>(note));
    return regions;
  }

  // In place: one half of a move by way of a bounce buffer.
  std::uint32_t move(event_id e, std::uint32_t i, std::uint32_t j, bool reads, bool writes) {
    if (plan_->block() == 0) return nobody;
    const auto id = static_cast<std::uint32_t>(graph_.accesses.size());
    graph_.accesses.push_back({e, me_, i, j, plan_->places[in_source].offset(i, j),
                               plan_->places[in_destination].offset(i, j), plan_->block(), reads, writes});
    graph_.completions.push_back({e, id});
    return id;
  }

  void sent_as_published(event_id e) {
    for (unsigned n = 0; n < plan_->size; ++n) {
      const node& it = plan_->nodes[n];
      const bool publishes =
          it.what == kind::signal && it.about == fact::payload && it.peer == peer_rule::group;
      if (publishes && deeds_.before(n, top_)) return;
    }
    out_.add(fault::early_signal, "{}: nothing was published before it", graph_.text(e));
  }

  void check_room(event_id e, std::uint64_t needed) {
    if (plan_->eager_bytes >= needed) return;
    out_.add(fault::malformed, "{}: publishes {} bytes, its readers take {}", graph_.text(e),
             plan_->eager_bytes, needed);
  }

  // A row names whom the block is for, who may be far.
  void read_payload(const node& n, event_id e) {
    const bool named = plan_->names != naming::none;
    if (named && n.peer == peer_rule::group) read_row(e, me_);
    if (named && n.peer == peer_rule::each) sent_as_published(e);
    moves(n, e);
  }

  event_graph& graph_;
  report& out_;
  messages contents_;
  signal_board signals_;
  deeds deeds_;
  std::uint32_t me_ = 0;
  const plan* plan_ = nullptr;
  const geometry* place_ = nullptr;
  std::uint8_t top_ = 0;
  // Whose rows the hunt looks at; check_rows has seen that it comes first.
  std::vector<std::uint32_t> surveyed_;
  bool rotated_ = false;                   // my cycle is rotated as a whole
  std::uint32_t with_ = nobody;            // the peer of the iteration
  std::uint32_t fetched_ = 0;              // operands that the iteration has fetched
  std::array<event_id, max_nodes> last_{}; // of a pipeline: each step of the iteration before
  std::array<event_id, max_nodes> ends_{}; // of top nodes
};

} // namespace

event_graph unfold(std::span<const plan> plans, std::vector<geometry> places, const movement& moved,
                   report& out) {
  event_graph g;
  g.plans = plans;
  g.places = std::move(places);
  g.moved = moved;
  unfolding(g, out).run();
  return g;
}

} // namespace weft::graph::checking
