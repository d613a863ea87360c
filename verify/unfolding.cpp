// SPDX-License-Identifier: BSD-3-Clause
#include "verify/unfolding.hpp"

#include "engine/operations/all_kinds.hpp"
#include "engine/plan/resolve.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace weft::graph::checking {

unfolding::unfolding(event_graph& g, report& out)
    : graph_(g), out_(out), contents_(g, out), signals_(g, contents_, out), effects_(g, out) {}

void unfolding::run() {
  for (std::uint32_t r = 0; r < graph_.members(); ++r)
    graph_.posts.push_back(graph_.add(role::post, r));
  for (std::uint32_t r = 0; r < graph_.members(); ++r)
    member(r);
  signals_.match();
  contents_.trace();
}

void unfolding::member(std::uint32_t r) {
  me_ = r;
  plan_ = &graph_.plans[r];
  place_ = &graph_.places[r];
  effects_.of_member(r);
  looked_at_.clear();
  at_post_ = 0;
  rotated_ = has_rotation() && !cycle_of(r).empty();
  const event_id exit = graph_.add(role::exit, r);
  order(graph_.posts[r], exit);
  for (unsigned n = 0; n < plan_->size; ++n) {
    if ((plan_->top >> n & 1) == 0) continue;
    top_ = static_cast<std::uint8_t>(n);
    const node& it = plan_->nodes[n];
    effects_.top_node(top_);
    ends_[n] = it.what == kind::loop ? loop(it) : single(it);
    order(ends_[n], exit);
  }
  graph_.exits.push_back(exit);
  effects_.check();
}

// A payload that waits for nothing but what the poster itself computes is published by the post.
bool unfolding::happens_at_post(const node& n) const {
  if ((n.after & ~at_post_) != 0) return false;
  if (n.what == kind::compute) return n.quick;
  return n.what == kind::signal && n.about == fact::payload && n.peer == peer_rule::group;
}

event_id unfolding::single(const node& n) {
  const event_id e = step(top_, no_rank, 0);
  with_ = no_rank;
  if (n.after == 0) order(graph_.posts[me_], e);
  if (happens_at_post(n)) {
    graph_.at_post.push_back(e);
    at_post_ |= node_set{1} << top_;
  }
  for (node_set rest = n.after; rest != 0; rest &= rest - 1)
    order(ends_[std::countr_zero(rest)], e);
  return perform(n, e, n.after == 0);
}

event_id unfolding::loop(const node& n) {
  const event_id begin = loop_begin(n);
  if (n.searches || n.over->by_rows) read_row(begin, me_);
  if (n.searches) return search(n, begin);
  landed_before_ = no_event;
  if (n.ordered > 1) return groups(n, begin);
  const event_id end = join();
  std::vector<event_id> over; // by iteration
  event_id gone = begin, previous = begin;
  for (std::uint32_t k = 0; k < n.count; ++k) {
    if (n.ordered == 0 && k >= plan_->window) gone = moved_window(gone, over[k - plan_->window]);
    previous = iteration(n, k, n.ordered == 1 ? previous : gone);
    over.push_back(previous);
    if (n.ordered == 0 || k + 1 == n.count) order(previous, end);
  }
  return end;
}

// An iteration begins when the oldest of its window is over, and all before.
event_id unfolding::moved_window(event_id gone, event_id oldest) {
  const event_id made = join();
  order(gone, made);
  order(oldest, made);
  return made;
}

event_id unfolding::groups(const node& loop, event_id begin) {
  for (std::uint32_t k = 0; k < loop.count;) {
    const event_id end = join();
    for (const std::uint32_t last = std::min<std::uint32_t>(k + loop.ordered, loop.count); k < last; ++k)
      order(iteration(loop, k, begin), end);
    begin = end;
  }
  return begin;
}

event_id unfolding::join() {
  const event_id made = graph_.add(role::join, me_);
  graph_.events[made].node = graph_.events[made].top = top_;
  return made;
}

event_id unfolding::iteration(const node& loop, std::uint32_t k, event_id previous) {
  with_ = partner(loop, k);
  if (loop.over == &range::named && with_ == no_rank) return previous;
  if (loop.over == &range::naming && rotated_) return previous;
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
  if (landing_ != no_event) {
    out_.add(fault::malformed, "{}: orders, but the peer is told nothing", graph_.text(previous));
    landing_ = no_event;
  }
  if (loop.ordered != 1 && !loop.pipelined) landed_before_ = no_event;
  return previous;
}

// Over at once if my own row names another root, else as soon as a rank's does.
event_id unfolding::search(const node& loop, event_id begin) {
  const std::uint32_t mine = graph_.moved.named_by(me_);
  if (mine != no_rank && mine != me_) return begin;
  std::vector<event_id> last, found;
  for (std::uint32_t k = 0; k < loop.count; ++k) {
    last.push_back(iteration(loop, k, begin));
    const std::uint32_t other = graph_.moved.named_by(with_);
    if (other != no_rank && other != me_) found.push_back(last.back());
  }
  const event_id end = found.empty() ? join() : graph_.add(role::found, me_);
  graph_.events[end].top = top_;
  for (const event_id e : found.empty() ? last : found)
    order(e, end);
  return end;
}

// The rank that is meant by a loop's iteration; no rank if no row names one.
std::uint32_t unfolding::partner(const node& loop, std::uint32_t k) const {
  if (loop.over == &range::named) return graph_.moved.named_by(me_);
  if (loop.over == &range::naming) return naming(me_);
  return loop.over->in_rounds ? no_rank : peer_at(*plan_, *place_, loop.over, peer_rule::each, k);
}
event_id unfolding::loop_begin(const node& n) {
  if (n.after == 0) return graph_.posts[me_];
  if (std::has_single_bit(n.after)) return ends_[std::countr_zero(n.after)];
  const event_id begin = join();
  for (node_set rest = n.after; rest != 0; rest &= rest - 1)
    order(ends_[std::countr_zero(rest)], begin);
  return begin;
}

std::uint32_t unfolding::peer(const node& loop, const node& it, std::uint32_t k) const {
  if (it.peer == peer_rule::self || it.peer == peer_rule::group) return no_rank;
  if (loop.over->by_rows) return with_;
  return peer_at(*plan_, *place_, loop.over, it.peer, k);
}

event_id unfolding::step(std::uint8_t index, std::uint32_t peer, std::uint32_t iteration) {
  const event_id e = graph_.add(role::step, me_);
  event& made = graph_.events[e];
  made.node = index;
  made.top = top_;
  made.peer = peer;
  made.iteration = iteration;
  return e;
}

template <class Kind> std::size_t unfolding::moves(const node& n, event_id e) {
  const event at = graph_.events[e];
  const action a = resolve(*plan_, Kind::way(n), at.peer == no_rank ? me_ : at.peer, at.iteration);
  const bool transfer = Kind::what == kind::get || Kind::what == kind::put ||
                        (Kind::what == kind::reduce && n.peer == peer_rule::each);
  const bool complete = Kind::what != kind::put || place_->is_near(at.peer);
  if (Kind::what == kind::take && place_->is_near(at.peer)) check_payload(n, e, a);
  if (Kind::what == kind::signal && n.peer != peer_rule::group) check_message(n, e, a);
  std::size_t regions = 0;
  const auto note = [&](const region& r) {
    const bool stays = a.from == a.to && n.read.in == n.write.in && r.read == r.write;
    if (r.bytes == 0 || stays) return;
    ++regions;
    const std::uint32_t made = contents_.move(e, n, a, r, complete, effects_);
    if (transfer) did(n, e, made);
    if (n.peer == peer_rule::group) check_room(e, n.phase, r.write + r.bytes);
  };
  each_move(*plan_, *place_, n, a, visitor<const region&>(note));
  return regions;
}

// Notes what the step does; returns the event at which it is done.
event_id unfolding::perform(const node& n, event_id e, bool at_once) {
  static constexpr auto meanings = operations::all_kinds::table(
      []<class Kind>() -> event_id (*)(unfolding&, const node&, event_id) { return &Kind::means; });
  at_once_ = at_once;
  return meanings[static_cast<std::size_t>(n.what)](*this, n, e);
}

void unfolding::did(const node& n, event_id e, std::uint32_t access) {
  effects_.with(with_, {e, n.what, n.about, access, n.peer == peer_rule::self});
}

std::uint32_t unfolding::bounces(event_id e, bool reads, bool writes) {
  const std::uint32_t i = peer_of(e), j = me_;
  if (plan_->block() == 0) return no_rank;
  const auto id = static_cast<std::uint32_t>(graph_.accesses.size());
  graph_.accesses.push_back({e, me_, i, j, plan_->places[in_source].offset(i, j),
                             plan_->places[in_destination].offset(i, j), plan_->block(), reads, writes});
  graph_.completions.push_back({e, id});
  return id;
}

void unfolding::may_carry(event_id e, std::uint32_t source, std::uint32_t destination) {
  signals_.shared().claim(e, source, destination);
}

event_id unfolding::assists(event_id e) {
  if (plan_->names != naming::none) need_publications(e);
  return signals_.shared().assist(e);
}

// By any rank that is there: every pair of the host at once.
event_id unfolding::combines_host(event_id e) {
  std::vector<block_ends> all;
  for (std::uint32_t i = 0; i < place_->locals(); ++i)
    for (std::uint32_t j = 0; j < place_->locals(); ++j)
      if (plan_->sends(place_->local(i), place_->local(j)))
        all.push_back({place_->local(i), place_->local(j)});
  const event_id done = graph_.add(role::rotated, me_);
  graph_.events[done].top = top_;
  order(e, done);
  order(signals_.shared().together(e, all), done);
  return done;
}

void unfolding::needs(const node& n, event_id e) {
  if (n.needs == 0) return;
  const place& where = plan_->places[n.needs];
  const range& whose = n.over == nullptr ? range::others : *n.over;
  for (std::uint32_t k = 0; k < whose.count(*plan_, *place_); ++k) {
    const std::uint32_t member = peer_at(*plan_, *place_, &whose, peer_rule::each, k);
    contents_.need(e, me_, {where.offset(member, me_), 0, where.bytes}, effects_);
  }
}

void unfolding::reads_host(const node& n, event_id e) {
  for (std::uint32_t k = 0; k < place_->locals(); ++k) {
    const action a{me_, me_, place_->local(k), me_, 0};
    const auto note = [&](const region& r) {
      effects_.with(a.from, {e, n.what, n.about, contents_.move(e, n, a, r, true, effects_)});
    };
    each_move(*plan_, *place_, n, a, visitor<const region&>(note));
  }
}

// What orders says nothing to me, but to any rank that hears the signal behind it. Signals of iterations that
// keep their order come in order.
void unfolding::orders(const node& n, event_id e) {
  landing_ = graph_.add(role::landing, with_, me_);
  if (landed_before_ != no_event && graph_.events[landed_before_].member == with_)
    order(landed_before_, landing_);
  effects_.with(with_, {e, n.what, n.about, no_rank, false, landing_});
}

void unfolding::sends(const node& n, event_id e) {
  if (landing_ != no_event && n.peer == peer_rule::each) {
    order(e, landing_);
    graph_.events[e].landing = landed_before_ = std::exchange(landing_, no_event);
  }
  signals_.send(n, e, at_once_);
}

void unfolding::receives(const node& n, event_id e) {
  if (n.about == fact::row && place_->is_near(peer_of(e))) read_row(e, peer_of(e));
  signals_.receive(n, e);
}

// Where a published payload lies depends on its size: a rank that takes it must look for all of it.
void unfolding::check_payload(const node& n, event_id e, const action& a) {
  const std::uint64_t taken = payload_bytes(*plan_, *place_, n, a);
  const std::uint32_t published = graph_.plans[a.peer].eager_bytes[n.phase];
  if (published != 0 && taken != published)
    out_.add(fault::malformed, "{}: looks for a payload of {} bytes, {} are published", graph_.text(e), taken,
             published);
}

// A message of several blocks is put together where there is room for it, or they lie together already.
void unfolding::check_message(const node& n, event_id e, const action& a) {
  if (n.of == nullptr || operations::is_part(n) || n.bundled) return;
  std::size_t stretches = 0;
  std::uint64_t bytes = 0;
  const auto count = [&](const region& r) {
    ++stretches;
    bytes += r.bytes;
  };
  each_joined(*plan_, *place_, n, a, visitor<const region&>(count));
  if (plan_->packed == 0 ? stretches <= 1 : bytes <= plan_->packed) return;
  out_.add(fault::malformed, "{}: {} bytes in {} places, and room to put {} together", graph_.text(e), bytes,
           stretches, plan_->packed);
}

void unfolding::check_room(event_id e, std::uint8_t phase, std::uint64_t needed) {
  if (plan_->eager_bytes[phase] >= needed) return;
  out_.add(fault::malformed, "{}: publishes {} bytes, its readers take {}", graph_.text(e),
           plan_->eager_bytes[phase], needed);
}

event_graph unfold(std::span<const plan> plans, std::vector<topology> places, const movement& moved,
                   report& out) {
  event_graph g;
  g.plans = plans;
  g.places = std::move(places);
  g.moved = moved;
  unfolding(g, out).run();
  return g;
}

} // namespace weft::graph::checking
