// SPDX-License-Identifier: BSD-3-Clause
// Reductions of distributed arrays: UPC collectives V1.0, 4.3.2 and 4.3.3; V0.3, 5.5.1.
//
// A member combines the elements that it has, as far as their order allows: one partial result, or one of
// each of its blocks. Those of all members make a table of n bytes each, from which each rank that needs the
// result computes it, in the same order: so it is the same in every bit. A prefix reduction is the same: what
// is in front of a member's blocks is in the table, too. P members on N hosts, L on each.
//
// flat           Every member publishes its part once; P-L messages of n bytes, or one to the root. One step.
// dissemination  The leader of a host takes its neighbours' parts, then tells those of other hosts what it
//                knows: ceil(log2 N) messages, P*n bytes in all, after which it has the table and publishes
//                it to its neighbours. No exclusive scan needs fewer rounds, for a part must come from host 0
//                to host N-1, and with the parts themselves on the way no rank computes anything between
//                rounds.
// bundled        For a root: the members of a host publish their parts, and the host sends them in one
// message,
//                those that are published by then; what comes later goes in the next. N-1 messages.
//
// With vectors of n bytes, element by element, it is the same: Cray's team reductions of small ones.
//
// Where members work on ranges of the elements all of them wait for a late one. So the root of a reduce that
// is small works on all elements itself (`whole`): it brings them, and combines them alone. Of a larger one
// it chooses: the members work on ranges when all enter in time, and when one is late the root brings all
// elements, of each member as soon as it has entered. Behind IN_ALL, or in front of OUT_ALL, all wait for all
// anyway; and with IN_NO and OUT_NO, or of two members, ranges hold up no member but the root.
//
// The parts travel as eager payloads, from scratch to scratch, which need no entry of the rank that takes
// them. So late members hold up those that need their elements; only where parts are handed on for a root all
// must be there.
#include "engine/collectives/algorithm.hpp"
#include "engine/collectives/operations.hpp"
#include "engine/collectives/relocate.hpp"
#include "engine/collectives/sync_modes.hpp"
#include "engine/memory/mailbox.hpp"
#include "engine/plan/resolve.hpp"
#include "engine/reductions/reduction.hpp"

#include <bit>

namespace weft::collectives {
using namespace graph;

namespace {

static_assert(most_partials == engine::mailbox::body_bytes);

bool has_results(const request& r) {
  return r.op == operation::prefix_reduce && r.by_ranges;
}

bool by_root_alone(const request& r) {
  return r.op == operation::reduce && r.whole;
}

bool root_chooses(const request& r, const topology& g) {
  const bool waits_for_all = r.in == sync::all || r.out == sync::all;
  const bool waits_for_none = r.in == sync::no && r.out == sync::no;
  return r.op == operation::reduce && r.by_ranges && !r.whole && !waits_for_all && !waits_for_none &&
         g.size() > 2;
}

class table_reduction {
public:
  table_reduction(const request& r, const topology& g, bool bundled = false)
      : request_(r), g_(g), bundled_(bundled), chooses_(root_chooses(r, g)), b_(g.me(), g.size(), r.root),
        modes_(b_, g, chooses_ ? sync::my : r.in, chooses_ ? sync::my : r.out) {
    plan& p = b_.draft();
    p.patience = chooses_ ? least_patience : 0;
    p.pairs = rooted(r.op) ? pattern::to_root : pattern::all_pairs;
    b_.blocks_of({.bytes = r.bytes, .dst_i = r.bytes});
    p.chunk = r.bytes;
    p.chunks = 1;
    p.eager = p.computes = true;
    if (r.bytes > engine::mailbox::body_bytes) p.credit = engine::mailbox::large_places;
    p.parts = r.by_ranges;
    p.large = r.large;
    p.far = !g.one_host();
    p.scratch = g.size() * r.bytes + reductions::state_bytes;
    of_peer_ = b_.add_place({.from = r.bytes, .bytes = r.bytes});
    of_member_ = b_.add_place({.owner = r.bytes, .bytes = r.bytes});
  }

  plan flat() {
    if (by_root_alone(request_)) return needs_result() ? of_whole() : for_whole();
    const node_set own = compute_own(!chooses_ ? modes_.gate() : needs_result() ? choose() : hear());
    if (is_scan()) return scan(own);
    const node_set sent =
        rooted(request_.op) ? send_to_root(own) : publish_own(own) | send_to(range::far, own);
    if (!needs_result()) return finish(sent | own);
    return finish(sent | compute_result(own | take_from(range::others, others())));
  }

  plan handed_on() {
    b_.draft().radix = 2; // of the rounds
    const bool leader = leads(b_.draft(), g_);
    return leader ? for_others() : by_leader();
  }

private:
  bool needs_result() const { return !rooted(request_.op) || g_.me() == request_.root; }
  std::uint32_t near() const { return static_cast<std::uint32_t>(g_.near().size()); }

  std::uint32_t others() const { return g_.size() - 1; }
  // Of vectors: only a later member needs what a member has.
  bool is_scan() const { return prefixes(request_.op) && of_vectors(request_.op); }
  std::uint32_t count(const range& over) { return over.count(b_.draft(), g_); }

  plan scan(node_set own) {
    b_.draft().pairs = pattern::to_later;
    const node_set sent = (g_.last_of_host() ? 0 : publish_own(own)) | send_to(range::far_later, own);
    const node_set came = take_from(range::earlier, count(range::earlier));
    return finish(sent | compute_result(own | came, blocks::earlier));
  }

  node_set compute_own() { return compute_own(modes_.gate()); }
  node_set compute_own(node_set gate) {
    node n = writing(compute(0, !request_.large && !request_.by_ranges), buffer::scratch, of_peer_);
    if (!request_.by_ranges) return b_.add(n, gate);
    n.needs = b_.add_place({.base = behind_table(), .from = request_.bytes, .bytes = request_.bytes});
    if (!chooses_) modes_.announce({&range::far, static_cast<std::uint32_t>(g_.far().size())});
    return b_.add(n, gate | bring(n.needs, gate));
  }
  // What others have of my range. It has room of its own: these places of scratch only stand for it.
  node_set bring(std::uint8_t brought, node_set gate, std::uint8_t phase = 0) {
    builder::step_list steps;
    steps.then_if(modes_.each_waits(), await_entry());
    steps.then(writing(get_from_each(), buffer::scratch, brought));
    steps.then_if(modes_.tells_ends(), in_phase(phase, count_for_each(fact::consumed, 1)));
    return b_.loop(range::others, others(), steps, gate);
  }
  // The root, of all elements. Those of the others lie where their partial results would, to the verifier.
  node_set compute_whole(node_set gate, std::uint8_t phase = 0) {
    node n = writing(compute(0), buffer::scratch, of_peer_);
    n.needs = of_peer_;
    return compute_result(b_.add(n, gate | bring(of_peer_, gate, phase)));
  }

  plan of_whole() {
    modes_.leave(compute_whole(modes_.gate()));
    return b_.finish();
  }
  // And the others'. What the root counts on one host says that all have entered.
  plan for_whole() {
    if (!g_.one_host() || !modes_.leaves_quiet()) modes_.gate();
    if (!g_.is_near(request_.root)) modes_.announce({&range::root, 1});
    if (modes_.tells_ends()) b_.add(await_count(fact::consumed, 1));
    modes_.leave(0);
    return b_.finish();
  }

  // Together: the root says so. Until then a member tells the others no more than that it has entered.
  node_set choose() {
    const node_set chosen = b_.add(choose_when_all(fact::entry));
    b_.begin_branch(branch::alone);
    compute_whole(chosen, alone);
    b_.begin_branch(branch::together);
    if (near() != 0) b_.add(publish_ready(), chosen);
    const auto far = static_cast<std::uint32_t>(g_.far().size());
    b_.loop(range::far, far, builder::step_list().then(announce_puts()), chosen);
    return chosen;
  }
  node_set hear() {
    if (!g_.is_near(request_.root)) modes_.announce({&range::root, 1});
    const node_set chosen = b_.add(in_phase(alone, hear_choice()));
    b_.begin_branch(branch::together);
    modes_.announce({&range::far_but_root, count(range::far_but_root)});
    return chosen | b_.loop(range::root, 1, builder::step_list().then(await_ready()));
  }

  node_set compute_result(node_set after, const blocks& of = blocks::members) {
    if (has_results(request_)) return compute_results(after);
    const node n = of_blocks(reading(compute(1), buffer::scratch, of_member_), of);
    return b_.add(writing(n, buffer::destination, of_member_), after);
  }
  // Of my range, for any rank that is to have them: the others', and then my own.
  node_set compute_results(node_set after) {
    const std::uint8_t at = b_.add_place({.base = behind_table() + g_.size() * request_.bytes,
                                          .from = request_.bytes,
                                          .bytes = request_.bytes});
    node n = writing(reading(compute(1), buffer::scratch, of_peer_), buffer::scratch, at);
    n.needs = of_peer_;
    const node_set made = b_.add(n, after);
    builder::step_list steps;
    steps.then(at_stage(1, reading(put_to_each(), buffer::scratch, at)))
        .then_if(!g_.one_host(), far_only(flush_each()));
    steps.then_if(modes_.tells_ends(), count_for_each(fact::delivered, 1));
    const node_set put = b_.loop(range::others, others(), steps, made);
    return put | b_.add(reading(compute(2), buffer::scratch, at), made);
  }
  std::uint64_t behind_table() const { return g_.size() * request_.bytes + reductions::state_bytes; }
  node mine(node n) const { return reading(n, buffer::scratch, of_peer_); }

  node_set publish_own(node_set own) {
    if (near() == 0) return 0;
    b_.draft().eager_bytes[0] = static_cast<std::uint32_t>(request_.bytes);
    return b_.add(mine(publish()), own);
  }
  node_set send_to(const range& far, node_set own) {
    return b_.loop(far, count(far), builder::step_list().then(mine(send_payload())), own);
  }
  node_set send_to_root(node_set own) {
    if (needs_result()) return 0;
    if (g_.is_near(request_.root)) return publish_own(own);
    // A neighbour may send it, from where it is published.
    const node_set told = bundled_ ? own | publish_own(own) : own;
    const node send = mine(bundled_ ? send_bundled() : send_payload());
    return b_.loop(range::root, 1, builder::step_list().then(send), told);
  }
  node_set take_from(const range& over, std::uint32_t count) {
    const node take = writing(take_payload(), buffer::scratch, of_peer_);
    if (!bundled_) return b_.loop(over, count, builder::step_list().then(take));
    builder::step_list steps;
    steps.then_if(near() != 0, near_only(take)).then(far_only(by_boxes(take)));
    return b_.loop(over, count, steps);
  }

  // A leader's part: it has the whole table in the end.
  plan for_others() {
    node_set known = compute_own() | take_from(range::near, near());
    b_.begin_phase(1);
    const std::uint8_t message = b_.add_place({.turn = request_.bytes, .bytes = request_.bytes});
    b_.draft().packed = g_.size() * request_.bytes;
    builder::step_list round;
    round.then(send_packed(blocks::known, buffer::scratch, of_member_, message));
    round.then(take_packed(blocks::known, buffer::scratch, of_member_, message));
    known |= b_.loop(range::host_rounds, count(range::host_rounds), round, known, 1);
    node_set data = known;
    if (near() != 0 && !rooted(request_.op)) {
      b_.draft().eager_bytes[1] = static_cast<std::uint32_t>(g_.size() * request_.bytes);
      const node table = of_blocks(reading(publish(), buffer::scratch, of_member_), blocks::members);
      data |= b_.add(writing(table, buffer::mailbox, of_member_), known);
    }
    b_.begin_phase(0);
    if (needs_result()) data |= compute_result(known);
    return finish(data);
  }
  // Its neighbours' part.
  plan by_leader() {
    const node_set own = compute_own();
    node_set data = own | publish_own(own);
    if (!needs_result()) return finish(data);
    b_.begin_phase(1);
    const node table = of_blocks(reading(take_payload(), buffer::mailbox, of_member_), blocks::members);
    builder::step_list take;
    take.then(writing(table, buffer::scratch, of_member_));
    const node_set known = b_.loop(range::leader, 1, take);
    b_.begin_phase(0);
    return finish(data | compute_result(own | known));
  }

  // A rank that has taken all parts knows of all of them: the rounds of OUT_ALL need not wait for more.
  plan finish(node_set data) {
    if (request_.by_ranges && modes_.tells_ends() && others() != 0) {
      data |= b_.add(await_count(fact::consumed, others()));
      if (has_results(request_)) data |= b_.add(await_count(fact::delivered, others()));
    }
    modes_.leave(needs_result() ? data : 0);
    return b_.finish();
  }

  const request& request_;
  const topology& g_;
  bool bundled_; // to a root, by way of boxes
  bool chooses_;
  static constexpr std::uint8_t alone = 1; // the phase of what a root counts that works alone
  builder b_;
  sync_modes modes_;
  std::uint8_t of_peer_ = 0, of_member_ = 0; // the part of a step's peer, of whomever
};

} // namespace

plan compile_flat_reduction(const request& r, const topology& g, const tuning&) {
  return table_reduction(r, g).flat();
}

plan compile_handed_on_reduction(const request& r, const topology& g, const tuning&) {
  return table_reduction(r, g).handed_on();
}

plan compile_bundled_reduction(const request& r, const topology& g, const tuning&) {
  return table_reduction(r, g, true).flat();
}
// Behind IN_ALL they are combined on their way.
bool fits_bundled_reduction(const request& r, const topology& g, const tuning& t) {
  const bool table = !by_root_alone(r) && !r.by_ranges && r.bytes <= most_partials;
  return table && r.in != sync::all && fits_bundled(r, true, g, t);
}
std::uint64_t cost_of_bundled_reduction(const request& r, const topology& g, const tuning& t) {
  return cost_of_bundled(r, true, g, t);
}

// Partial results always fit. Members of one host read each other's mailbox; a message may have more.
bool fits_flat_reduction(const request& r, const topology& g, const tuning& t) {
  if (!of_vectors(r.op) || r.bytes <= most_partials) return true;
  return g.largest_host() == 1 && r.bytes <= far_payload(t, g);
}

std::uint64_t cost_of_flat_reduction(const request& r, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  const std::uint64_t locals = g.largest_host(), far = g.size() - locals;
  const std::uint64_t transfers = rooted(r.op) ? far : locals * far; // into a host
  return c.copies(g.size(), r.bytes) + (far == 0 ? 0 : c.message() + c.wire(transfers, r.bytes));
}

bool fits_handed_on_reduction(const request& r, const topology& g, const tuning&) {
  if (g.one_host() || by_root_alone(r) || (rooted(r.op) && r.in != sync::all)) return false;
  return g.size() * r.bytes <= most_partials;
}

std::uint64_t cost_of_handed_on_reduction(const request& r, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  const auto rounds = static_cast<std::uint64_t>(std::bit_width(g.hosts() - 1));
  const std::uint64_t table = c.copies(g.size(), r.bytes);
  return rounds * (c.message() + c.wire(1, 0)) + c.of_bytes(g.size() * r.bytes) +
         (g.largest_host() == 1 ? table : 3 * table);
}

} // namespace weft::collectives
