// SPDX-License-Identifier: BSD-3-Clause
#include "engine/collectives/relocate.hpp"

#include "engine/bundle_box.hpp"
#include "engine/collectives/sync_modes.hpp"
#include "engine/memory/mailbox.hpp"
#include "engine/plan/resolve.hpp"
#include "engine/special_paths.hpp"
#include "engine/topology/topology.hpp"

#include <algorithm>
#include <bit>

namespace weft::collectives {
using namespace graph;

void cut_blocks(plan& p, const tuning& t) {
  p.whole_block = t.whole_block;
  if (p.places[in_source].size) {
    p.chunks = indirect_chunks;
    return;
  }
  p.chunk = chunk_size(p.block(), t.whole_block);
  p.chunks = p.chunk == 0 ? 1 : static_cast<std::uint32_t>((p.block() + p.chunk - 1) / p.chunk);
}

std::uint64_t payload_from(std::uint64_t senders, const tuning& t) {
  constexpr std::uint64_t memory = std::uint64_t{64} << 20;
  const std::uint64_t share = memory / (engine::mailbox::large_places * senders);
  return std::min<std::uint64_t>(engine::mailbox::large_bytes, std::max<std::uint64_t>(share, t.eager_bytes));
}

std::uint64_t far_payload(const tuning& t, const topology& g) {
  return std::min<std::uint64_t>(t.far_payload, payload_from(g.size(), t));
}

bool sent_ahead(const request& r, const topology& g, const tuning& t) {
  return r.in != sync::no && r.bytes <= far_payload(t, g);
}

namespace {

bool fits_payloads(const request& r, std::uint64_t bytes, bool one_slice, const topology& g,
                   const tuning& t) {
  const std::uint64_t readers = one_slice ? 1 : std::max<std::uint64_t>(1, g.largest_host() - 1);
  const bool fits = bytes <= t.eager_bytes && readers * bytes <= t.eager_bytes;
  return r.in == sync::my && r.out != sync::all && fits;
}

} // namespace

bool travels_as_payloads(const request& r, const topology& g, const tuning& t) {
  const bool slices = r.op == operation::exchange || r.op == operation::scatter;
  const bool alone = g.largest_host() == 1 && r.in == sync::my && r.out != sync::all && sent_ahead(r, g, t);
  return !t.check && !r.in_place && (alone || fits_payloads(r, r.bytes, !slices, g, t));
}

namespace {

// The blocks that a member has for another host.
std::uint64_t part_bytes(const request& r, bool one_slice, const topology& g) {
  return (one_slice ? 1 : std::uint64_t{g.largest_host()}) * r.bytes;
}

// Have those of all members of a host no room in a slot of their box?
bool in_places(const request& r, bool one_slice, const topology& g) {
  return g.largest_host() * part_bytes(r, one_slice, g) > engine::bundle_box::room(g);
}

// The members of the hosts below mine in the tree, if I lead my own; largest subtree first.
constexpr range hosts_below{
    .name = "below",
    .count = [](const plan& p,
                const topology& g) { return p.radix >= 2 ? relay_tree(g, p.root, p.radix).below(p.me) : 0; },
    .peer = [](const plan& p, const topology& g, peer_rule,
               std::uint32_t k) { return relay_tree(g, p.root, p.radix).child(p.me, k); }};

class relocation {
public:
  relocation(const request& r, pattern pairs, const block_rule& rule, const topology& g, const tuning& t,
             const indirection& indirect, std::uint32_t radix, bool bundled = false)
      : request_(r), pairs_(pairs), rule_(rule), g_(g), builder_(g.me(), g.size(), r.root),
        modes_(builder_, g, r.in, r.out), push_(r.direction == hint::push && !indirect), bundled_(bundled),
        pulls_(bundled && r.in == sync::no),
        push_far_(!pulls_ && (push_ || (t.far_push && modes_.tells_ends() && !indirect))) {
    plan& p = builder_.draft();
    p.pairs = pairs;
    builder_.blocks_of(rule, 0, rule.src_j == 0 ? 0 : rule.bytes);
    p.find(indirect);
    cut_blocks(p, t);
    p.window = static_cast<std::uint8_t>(t.window);
    p.radix = radix;
    p.in_places = bundled && in_places(r, rule.src_j == 0, g);
    find_peers();
    decide_eager(t);
    decide_far(t);
  }

  plan compile() {
    p().eager ? eager() : direct();
    p().far = in_far_.count + out_far_.count != 0 || !g_.one_host();
    return builder_.finish();
  }

private:
  plan& p() { return builder_.draft(); }

  void find_peers() {
    const peers near{&range::near, static_cast<std::uint32_t>(g_.near().size())};
    const peers far{&range::far, static_cast<std::uint32_t>(g_.far().size())};
    const bool at_root = g_.me() == request_.root;
    const bool root_near = g_.is_near(request_.root);
    const peers root{&range::root, 1};
    const bool many_in = pairs_ == pattern::all_pairs || (pairs_ == pattern::to_root && at_root);
    const bool many_out = pairs_ == pattern::all_pairs || (pairs_ == pattern::from_root && at_root);
    const bool one_in = pairs_ == pattern::from_root && !at_root;
    const bool one_out = pairs_ == pattern::to_root && !at_root;
    if (many_in) in_near_ = near, in_far_ = far;
    if (many_out) out_near_ = near, out_far_ = p().radix == 0 ? far : below();
    if (one_in) (root_near ? in_near_ : in_far_) = root;
    if (one_out) (root_near ? out_near_ : out_far_) = root;
    own_ = pairs_ == pattern::all_pairs || at_root;
  }

  peers below() { return {&hosts_below, hosts_below.count(p(), g_)}; }

  // Scratch is not user data, so a payload may travel before its reader has entered; but a reader copies it
  // out itself, so no other rank could finish an OUT_ALL operation for it, and the looser IN_NO needs no
  // token anyway.
  void decide_eager(const tuning& t) {
    const bool one_slice = rule_.src_j == 0;
    p().eager = !p().indirect() && fits_payloads(request_, rule_.bytes, one_slice, g_, t);
    if (!p().eager) return;
    const std::uint64_t mine = one_slice ? 1 : out_near_.count;
    p().eager_bytes[0] = static_cast<std::uint32_t>(mine * rule_.bytes);
  }

  // A block that waits for its reader in its mailbox. Where each end says by its own row where it lies there,
  // no rank needs the row of another host.
  void decide_far(const tuning& t) {
    const bool known = !p().indirect() || p().indirect().by_own_ends();
    sends_far_ = !p().eager && known && !pulls_ && (bundled_ || sent_ahead(request_, g_, t));
    if (sends_far_ && !bundled_ && rule_.bytes > engine::mailbox::body_bytes)
      p().credit = engine::mailbox::large_places;
  }

  void eager() {
    if (out_near_.count != 0) builder_.add(rule_.src_j == 0 ? publish() : publish_slices());
    send_far();
    if (own_) builder_.add(copy_own());
    each(in_near_, take_payload());
    take_far();
  }

  void direct() {
    const node_set gate = modes_.gate();
    if (!sends_far_) modes_.announce(push_far_ ? in_far_ : out_far_);
    // First what no other rank may do for me: a pass carries no more than a piece, of what comes first.
    const node_set data = far(gate) | own_block(gate);
    const node_set near = modes_.claims() ? near_claimed(gate) : near_alone(gate);
    const std::uint32_t claimed = modes_.claims() ? p().chunks : 0;
    const bool tell = modes_.tells_ends(), count_far = tell && !sends_far_;
    const std::uint32_t own = own_ && modes_.shares_own() ? 1 : 0;
    const std::uint32_t delivered =
        (own + in_near_.count) * claimed + (count_far && push_far_ ? in_far_.count : 0);
    const std::uint32_t taken = out_near_.count * claimed + (count_far && !push_far_ ? out_far_.count : 0);
    modes_.exit(data, near, delivered, tell ? taken : 0, pulls_ && out_far_.count != 0);
  }

  node_set own_block(node_set gate) {
    if (!own_) return 0;
    return builder_.add(modes_.shares_own() ? claim_block(direction::self) : copy_own(), gate);
  }

  // Within the host, when no rank needs to know: the destination reads (or the source writes, if asked to).
  node_set near_alone(node_set gate) {
    builder::step_list steps;
    steps.then_if(modes_.each_waits(), await_entry()).then(push_ ? put_to_each() : get_from_each());
    const peers& side = push_ ? out_near_ : in_near_;
    return builder_.loop(*side.over, side.count, steps, gate);
  }

  // Within the host, when both ends must be known quiet: either end carries.
  node_set near_claimed(node_set gate) {
    const bool in = in_near_.count != 0, out = out_near_.count != 0;
    builder::step_list steps;
    steps.then_if(modes_.each_waits(), await_entry());
    if (push_) {
      steps.then_if(out, claim_block(direction::out)).then_if(in, claim_block(direction::in));
    } else {
      steps.then_if(in, claim_block(direction::in)).then_if(out, claim_block(direction::out));
    }
    const peers& side = in ? in_near_ : out_near_;
    return builder_.loop(*side.over, side.count, steps, gate);
  }

  // Any rank that has taken what I sent knows that I did, and that I had waited for all if there was a gate.
  node_set exchange_payloads(node_set gate) {
    send_far(gate);
    return take_far();
  }

  node_set far(node_set gate) {
    if (sends_far_) return exchange_payloads(gate);
    const bool tell = modes_.tells_ends();
    builder::step_list steps;
    if (pulls_) {
      steps.then(by_boxes(get_from_each()));
      steps.then_if(tell, by_boxes(count_for_each(fact::consumed, 1)));
      return builder_.loop(*in_far_.over, in_far_.count, steps, gate);
    }
    steps.then_if(modes_.each_waits(), await_entry());
    if (push_far_) {
      steps.then(put_to_each()).then(tell ? order_each() : flush_each());
      steps.then_if(tell, count_for_each(fact::delivered, 1));
      return builder_.loop(*out_far_.over, out_far_.count, steps, gate);
    }
    fetch_rows(steps, p().indirect(), direction::in);
    steps.then(get_from_each()).then_if(tell, count_for_each(fact::consumed, 1));
    return builder_.loop(*in_far_.over, in_far_.count, steps, gate);
  }

  void send_far(node_set gate = 0) {
    if (bundled_ && out_far_.count != 0) {
      const peers hosts{&range::hosts, g_.hosts() - 1};
      const node n = rule_.src_j == 0 ? send_bundled() : of_blocks(send_bundled(), blocks::to_host);
      each(out_far_.over == &range::far ? hosts : out_far_, n, gate);
      return;
    }
    node n = send_payload();
    n.relayed = p().radix != 0;
    each(out_far_, n, gate);
  }
  node_set take_far() { return each(in_far_, bundled_ ? take_bundled() : take_payload()); }

  node_set each(const peers& side, node step, node_set after = 0) {
    builder::step_list steps;
    steps.then(step);
    return builder_.loop(*side.over, side.count, steps, after);
  }

  const request& request_;
  pattern pairs_;
  const block_rule& rule_;
  const topology& g_;
  builder builder_;
  sync_modes modes_;
  bool push_;              // within the host
  bool bundled_;           // to other hosts by way of boxes
  bool pulls_;             // a host asks for what is in them
  bool push_far_;          // to others
  bool sends_far_ = false; // blocks travel with their signals
  bool own_ = false;
  peers in_near_, in_far_, out_near_, out_far_;
};

} // namespace

void fetch_rows(builder::step_list& steps, const indirection& of, direction way) {
  const found theirs = way == direction::in ? found::at_source : found::at_destination;
  steps.then_if(of.size.where == theirs, far_only(fetch_operand(descriptor::size, way)));
  steps.then_if(of.src.where == theirs, far_only(fetch_operand(descriptor::source, way)));
  steps.then_if(of.dst.where == theirs, far_only(fetch_operand(descriptor::destination, way)));
}

plan relocate(const request& r, pattern pairs, const block_rule& rule, const topology& g, const tuning& t,
              const indirection& indirect, std::uint32_t radix) {
  return relocation(r, pairs, rule, g, t, indirect, radix).compile();
}

plan relocate_bundled(const request& r, pattern pairs, const block_rule& rule, const topology& g,
                      const tuning& t) {
  return relocation(r, pairs, rule, g, t, {}, 0, true).compile();
}

// Equal blocks between places that each member says for itself, in its row.
plan compile_apart(const request& r, const topology& g, const tuning& t) {
  const bool many_dst =
      r.op == operation::gather || r.op == operation::gather_all || r.op == operation::exchange;
  const bool many_src = r.op == operation::scatter || r.op == operation::exchange;
  const indirection rows{.src = {found::at_source, many_src ? column::other : column::only},
                         .dst = {found::at_destination, many_dst ? column::other : column::only},
                         .size = {}};
  const pattern pairs = !rooted(r.op)               ? pattern::all_pairs
                        : r.op == operation::gather ? pattern::to_root
                                                    : pattern::from_root;
  block_rule rule{.bytes = r.bytes};
  if (many_src) rule.src_j = r.bytes;
  if (many_dst) rule.dst_i = r.bytes;
  return relocate(r, pairs, rule, g, t, rows);
}

bool has_boxes(const topology& g, const tuning& t) {
  return special::bundles && t.bundles && t.relays && !t.check && !g.one_host() && g.largest_host() > 1;
}

namespace {

bool has_room(const request& r, bool one_slice, const topology& g) {
  using box = engine::bundle_box;
  if (!in_places(r, one_slice, g)) return true;
  const std::uint64_t part = part_bytes(r, one_slice, g);
  return !rooted(r.op) && !computes(r.op) && r.in == sync::my && part <= box::most_of_message &&
         box::places(g, part) <= box::most_places;
}

} // namespace

bool fits_bundled(const request& r, bool one_slice, const topology& g, const tuning& t) {
  // The member that has the turn packs the blocks of its neighbours from where they lie, so none lies apart,
  // but for the partial results of reductions.
  const bool alone = rooted(r.op) || r.in != sync::all; // else blocks are handed on
  return has_boxes(g, t) && (!r.apart || computes(r.op)) && alone && r.bytes != 0 && !r.in_place &&
         has_room(r, one_slice, g);
}

// The model has all members of a host come together: the member that has the turn packs for all of them. Of a
// root's blocks there are as many messages, on its host.
std::uint64_t cost_of_bundled(const request& r, bool one_slice, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  const bool from_root = r.op == operation::broadcast || r.op == operation::scatter;
  const std::uint64_t locals = g.largest_host(), hosts = g.hosts() - 1, senders = from_root ? 1 : locals;
  const std::uint64_t part = part_bytes(r, one_slice, g);
  const std::uint64_t stretches = senders * (one_slice || g.ranks_follow_hosts() ? 1 : locals);
  const bool asks = r.in == sync::no && !computes(r.op), to_root = rooted(r.op) && !from_root;
  const std::uint64_t asked = asks ? wake + c.messages(hosts, 0) : 0;
  const std::uint64_t messages = hosts * engine::bundle_box::messages(g, senders, part);
  return asked + (asks || to_root ? wake : 0) + c.messages(messages, hosts * senders * part / messages) +
         c.packs(hosts * stretches, senders * part / stretches) + c.packs(most_led(g) * senders, part) +
         c.copies(from_root ? locals : g.size(), r.bytes);
}

} // namespace weft::collectives
