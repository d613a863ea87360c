// SPDX-License-Identifier: BSD-3-Clause
#include "verify/unfolding.hpp"

#include <algorithm>

// What steps mean in operations whose rows in shared memory name the other end of a block, or say where it
// lies.
namespace weft::graph::checking {

namespace {

bool has_signal(const plan& p, fact about, peer_rule to) {
  return std::any_of(p.nodes.begin(), p.nodes.begin() + p.size, [&](const node& n) {
    return n.what == kind::signal && n.about == about && n.peer == to;
  });
}

std::uint32_t bit(descriptor which, direction way) {
  return 1u << (static_cast<unsigned>(which) + (way == direction::out ? 3 : 0));
}

} // namespace

std::uint32_t unfolding::naming(std::uint32_t member) const {
  for (std::uint32_t r = 0; r < graph_.members(); ++r)
    if (graph_.moved.named_by(r) == member) return r;
  return no_rank;
}

// Am I to carry what comes from the owner, or to wait until it is there? It is mine to do if the owner is near, or
// sends me its row. My own block is done by the loop over the member that I name.
bool unfolding::tells_me(std::uint32_t naming) const {
  if (naming == no_rank) return false;
  if (naming == me_) return plan_->eager;
  if (place_->is_near(naming)) return true;
  return has_signal(graph_.plans[naming], plan_->eager ? fact::payload : fact::row, peer_rule::each);
}

// Near members' rows are looked at, a far one sends its own. Or the block is here already.
void unfolding::receives_naming(event_id e) {
  need_publications(e);
  if (graph_.moved.named_by(me_) == me_) return;
  if (plan_->eager && with_ != no_rank) return; // a rank that takes the payload waits for it
  if (with_ == no_rank || plan_->in_place || tells_me(with_))
    signals_.receive(fact::named, e, with_, 0, false);
  else
    signals_.receive(fact::delivered, e, me_, plan_->chunks, false);
}

// Of my cycle, or of all of the node. A member that comes late reads the rows of those that have left.
event_id unfolding::rotates(const node& n, event_id e) {
  const event_id done = graph_.add(role::rotated, me_);
  graph_.events[done].top = top_;
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
    std::vector<block_ends> all;
    for (const std::uint32_t source : links)
      all.push_back({source, graph_.moved.named_by(source)});
    if (!all.empty()) order(signals_.shared().together(e, all), done);
  }
  return done;
}
bool unfolding::has_rotation() const {
  return std::any_of(plan_->nodes.begin(), plan_->nodes.begin() + plan_->size,
                     [](const node& n) { return n.what == kind::rotate; });
}
// The cycle of a near member, its lowest first; empty if it is not whole on this node.
std::vector<std::uint32_t> unfolding::cycle_of(std::uint32_t member) const {
  std::vector<std::uint32_t> links;
  std::uint32_t at = member;
  do {
    links.push_back(at);
    at = graph_.moved.named_by(at);
    if (at == no_rank || !place_->is_near(at) || (at != member && links.size() == place_->locals()))
      return {};
  } while (at != member);
  std::rotate(links.begin(), std::min_element(links.begin(), links.end()), links.end());
  return links;
}

// In place: what must be taken of my block, a piece here, before its place is free.
std::uint32_t unfolding::outgoing() const {
  if (rotated_) return 0;
  return graph_.moved.named_by(me_) == me_ || plan_->block() == 0 ? 0 : 1;
}

// Pieces that the rows that were looked at tell of.
std::uint32_t unfolding::told_by_rows() const {
  const std::uint32_t mine = graph_.moved.named_by(me_);
  std::uint32_t blocks = mine == me_ ? 1 : 0;
  if (mine != me_ && mine != no_rank) return 0;
  for (const std::uint32_t peer : looked_at_) {
    if (graph_.moved.named_by(peer) == me_) ++blocks;
  }
  return blocks * plan_->chunks;
}

void unfolding::read_row(event_id e, std::uint32_t owner) {
  const row_access how = publishes_row(owner) ? row_access::published : row_access::in_place;
  graph_.completions.push_back({e, static_cast<std::uint32_t>(graph_.accesses.size())});
  graph_.accesses.push_back({e, me_, owner, me_, 0, 0, 0, true, false, how});
}
// All near members' rows are looked at, some of them needlessly late.
void unfolding::need_publications(event_id e) {
  for (const std::uint32_t near : place_->near()) {
    if (plan_->out != sync::no && !publishes_row(near))
      out_.add(fault::early_exit, "rank {} may leave while {} reads its row", near, graph_.text(e));
  }
}
bool unfolding::publishes_row(std::uint32_t owner) const {
  const plan& theirs = graph_.plans[owner];
  return has_signal(theirs, fact::row, peer_rule::group) ||
         (theirs.names != naming::none && has_signal(theirs, fact::payload, peer_rule::group));
}
// What the far peer's rows say of the block must have been fetched before; one that names the other end
// describes the block as well, and has been sent.
void unfolding::needs_row(event_id e, direction way) {
  if (place_->is_near(with_)) return;
  const indirection of = plan_->indirect();
  const found theirs = way == direction::in ? found::at_source : found::at_destination;
  const bool described =
      plan_->names != naming::none && (way == direction::in) == (plan_->pairs == pattern::by_source);
  const auto need = [&](const row_element& where, descriptor which, direction of_block) {
    if (where.where == theirs && !described && (fetched_ & bit(which, of_block)) == 0)
      out_.add(fault::missing_row, "{}: the row of rank {} is not known", graph_.text(e), with_);
  };
  need(of.size, descriptor::size, way);
  need(of.src, descriptor::source, way);
  need(of.dst, descriptor::destination, way);
}

void unfolding::sent_as_published(event_id e) {
  for (unsigned n = 0; n < plan_->size; ++n) {
    const node& it = plan_->nodes[n];
    const bool publishes =
        it.what == kind::signal && it.about == fact::payload && it.peer == peer_rule::group;
    if (publishes && effects_.before(n, top_)) return;
  }
  out_.add(fault::early_signal, "{}: nothing was published before it", graph_.text(e));
}

// A row names the member that the block is for, which may be far.
void unfolding::publishes_named(const node& n, event_id e) {
  if (plan_->names == naming::none) return;
  if (n.peer == peer_rule::group) read_row(e, me_);
  if (n.peer == peer_rule::each) sent_as_published(e);
}

void unfolding::fetches(const node& n, event_id e) {
  const std::uint32_t peer = peer_of(e);
  if (place_->is_near(peer)) out_.add(fault::malformed, "{}: rank {} is near", graph_.text(e), peer);
  read_row(e, peer);
  fetched_ |= bit(n.which, n.way);
}

void unfolding::discovers(event_id e) {
  looked_at_.push_back(peer_of(e));
  if (place_->is_near(peer_of(e))) read_row(e, peer_of(e));
}

void unfolding::receives_what_rows_say(const node& n, event_id e) {
  read_row(e, me_);
  signals_.receive(n.about, e, me_, plan_->in_place ? outgoing() : told_by_rows(), true);
}

void unfolding::receives_what_goes_out(event_id e) {
  if (plan_->names != naming::none) signals_.receive(fact::consumed, e, me_, outgoing(), true);
}

} // namespace weft::graph::checking
