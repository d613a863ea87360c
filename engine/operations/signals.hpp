// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/operations/operation_kind.hpp"

// Kinds by which ranks tell each other something; by progress/execution/signals.hpp, transfers.hpp,
// root_discovery.hpp and call_check.hpp.
namespace weft::graph::operations {

// Makes a fact known: to all members of my host by a store into my own mailbox (peer: group), or to one
// member. Some facts bring blocks along: those of an eager payload are written into the mailbox first.
struct signal : operation_kind {
  static constexpr kind what = kind::signal;
  static constexpr std::string_view name = "signal";
  static constexpr bool is_short = true;
  static constexpr bool by_regions = true; // those of its payload, if it has one
  static constexpr flow way(const node& n) {
    return n.peer == peer_rule::group || n.peer == peer_rule::self ? flow::own : flow::out;
  }

  static bool fits(const node& n) {
    const bool brings_blocks = n.about == fact::payload && !n.valued;
    if (!brings_blocks && n.read.in != buffer::none) return false;
    if (brings_blocks && (!any_of(n.read.in, buffer::source, buffer::destination, buffer::scratch) ||
                          n.write.in != buffer::mailbox))
      return false;
    const bool to_each = n.peer == peer_rule::each, to_group = n.peer == peer_rule::group;
    if (n.bundled && n.about == fact::consumed) return to_each && n.count == 1;
    if (n.bundled) return brings_blocks && to_each && (n.of == nullptr || n.of == &blocks::to_host);
    if (n.relayed) return brings_blocks && to_each && !travels_packed(n);
    if (n.about == fact::payload && travels_packed(n)) return n.peer == peer_rule::ahead;
    if (n.about == fact::payload || n.about == fact::row || n.about == fact::ready)
      return to_each || to_group;
    if (is_stage(n.about)) return n.peer == peer_rule::ahead || (to_group && !n.valued);
    if (n.stepwise) return n.about == fact::delivered && n.peer == peer_rule::self && n.count == 1;
    if (is_counter(n.about)) return (to_each || n.peer == peer_rule::self) && n.count != 0;
    return (n.about == fact::entry || n.about == fact::asked) && to_each;
  }
  static std::string text(const node& n) {
    return words("signal ", graph::name(n.about), count_word(n), valued_word(n), " to ", graph::name(n.peer),
                 n.relayed   ? ", handed on"
                 : n.bundled ? ", bundled"
                             : "");
  }

  template <class Meaning> static auto means(Meaning& m, const node& n, std::uint32_t e) {
    m.needs(n, e);
    if (n.about == fact::payload && !n.valued) {
      m.publishes_named(n, e);
      m.template moves<signal>(n, e);
    }
    const bool announces = is_counter(n.about) || (n.about == fact::ready && n.peer != peer_rule::group);
    if (announces && !n.stepwise) m.did(n, e);
    if (n.about == fact::row) m.reads_own_row(e);
    m.sends(n, e);
    return e;
  }
  template <class C, class Op, class Tag>
  static outcome run(C& c, Op& op, const node& n, std::uint32_t peer, Tag tag) {
    return c.signals.raise(op, n, peer, tag);
  }
  // Without credit; a message wakes this rank when there is some.
  template <class L, class Op, class To>
  static void rung_for(L& l, Op& op, const node& n, std::uint32_t peer, std::uint32_t, To& to) {
    n.bundled && n.about == fact::payload ? l.list_bundle(op, peer, to) : l.list_credit(op, n, peer, to);
  }
};

// Waits for a fact. Counted ones: until so many have been counted, the number of the plan, or what rows tell;
// stepwise, in step k for k + 1 - count of them.
struct await : operation_kind {
  static constexpr kind what = kind::await;
  static constexpr std::string_view name = "await";
  static constexpr bool looks = true, is_short = true;
  static constexpr bool serves_others = false;

  static bool fits(const node& n) {
    const bool of_each = n.peer == peer_rule::each, of_mine = n.peer == peer_rule::self;
    if (is_stage(n.about)) return n.peer == peer_rule::behind || (of_each && !n.valued);
    if (n.stepwise) return n.about == fact::delivered && (of_each || of_mine);
    if (is_counter(n.about)) return of_mine;
    return of_each && (n.about == fact::entry || n.about == fact::row || n.about == fact::named ||
                       n.about == fact::ready);
  }
  static std::string text(const node& n) {
    const std::string_view about = graph::name(n.about), peer = graph::name(n.peer);
    if (n.stepwise)
      return words("await steps' ", about, " of ", peer, ", ", std::to_string(n.count), " behind");
    const bool rows_tell = is_counter(n.about) && n.count == 0;
    const std::string count = rows_tell ? " what the rows say" : count_word(n);
    if (n.peer == peer_rule::self)
      return words("await ", about, count, valued_word(n), n.bundled ? ", bundled" : "");
    return words("await ", about, count_word(n), valued_word(n), " from ", peer);
  }

  template <class Meaning> static auto means(Meaning& m, const node& n, std::uint32_t e) {
    if (is_counter(n.about) && !n.stepwise && n.count == 0)
      m.receives_what_rows_say(n, e);
    else if (n.about == fact::named)
      m.receives_naming(e);
    else
      m.receives(n, e);
    return e;
  }
  template <class C, class Op, class Tag>
  static outcome run(C& c, Op& op, const node& n, std::uint32_t peer, Tag tag) {
    return c.signals.await(op, n, peer, tag);
  }
  template <class L, class Op, class To>
  static void rung_for(L& l, Op& op, const node& n, std::uint32_t peer, std::uint32_t iteration, To& to) {
    if (n.bundled) return l.list_readers(op, n, to);
    l.list_await(op, n, cell_of(*op.program, n, peer, iteration), to);
  }
};

// Waits for the peer's eager payload, then copies my part of it out of its mailbox; or takes in the value of
// a barrier.
struct take : operation_kind {
  static constexpr kind what = kind::take;
  static constexpr std::string_view name = "take";
  static constexpr bool looks = true, is_short = true;
  static constexpr bool serves_others = false;
  static constexpr bool moves_data = true;
  static constexpr bool by_regions = true;
  static constexpr flow way(const node&) { return flow::in; }

  static bool fits(const node& n) {
    const bool takes_blocks =
        n.read.in == buffer::mailbox && any_of(n.write.in, buffer::destination, buffer::scratch);
    return n.about == fact::payload && (n.valued || takes_blocks) &&
           n.peer == (travels_packed(n) ? peer_rule::behind : peer_rule::each);
  }
  static std::string text(const node& n) {
    return words("take", valued_word(n), " from ", graph::name(n.peer), n.bundled ? ", bundled" : "");
  }

  template <class Meaning> static auto means(Meaning& m, const node& n, std::uint32_t e) {
    if (!n.valued) m.template moves<take>(n, e);
    m.receives(n, e);
    return e;
  }
  template <class C, class Op, class Tag>
  static outcome run(C& c, Op& op, const node& n, std::uint32_t peer, Tag tag) {
    if (!c.signals.has_payload(op, n, peer)) return outcome::blocked;
    return c.payloads.take(op, n, peer, tag.iteration);
  }
  template <class L, class Op, class To>
  static void rung_for(L& l, Op& op, const node& n, std::uint32_t peer, std::uint32_t, To& to) {
    if (n.bundled) return l.list_box(op, peer, to);
    l.list_cell(op, {fact::payload, n.phase, peer, 0}, to);
  }
};

// Chooses between the two ways of the operation. The root: that all work together, as soon as all others have
// entered, as the fact says; and when that takes longer than the plan's patience, that it works alone. It
// says so by what it does next: a payload to all others, or that it is ready, which is the same word; or that
// it has read what they have (in, out of here: the other members wait for either).
//
// No step of the one way is made where another member makes one of the other. A member makes none before it
// has chosen, but what the root would not take: to tell others where its vector is, or that it has entered.
// The root chooses once, and another member goes the way of the one signal that it has got, for the root
// gives but one of the two. To the verifier there are two operations, one of each way: see decided().
struct choose : operation_kind {
  static constexpr kind what = kind::choose;
  static constexpr std::string_view name = "choose";

  static bool hears(const node& n) { return n.way == direction::out; }
  static bool fits(const node&) { return false; }
  static std::string text(const node& n) {
    return hears(n)
               ? "hear which way the root has chosen"
               : words("choose: together, when all others' ", graph::name(n.about), " has come; or alone");
  }

  template <class Meaning> static auto means(Meaning&, const node&, std::uint32_t e) { return e; }
  template <class C, class Op, class Tag>
  static outcome run(C& c, Op& op, const node& n, std::uint32_t, Tag) {
    return hears(n) ? c.signals.hear_choice(op, n) : c.signals.choose(op, n);
  }
  // Of the root no word tells when its time is over.
  template <class L, class Op, class To>
  static void rung_for(L& l, Op& op, const node& n, std::uint32_t, std::uint32_t, To& to) {
    if (!hears(n)) return to.give_up();
    l.list_cell(op, {fact::payload, 0, op.program->root, 0}, to);
    to.end_group();
    l.list_cell(op, {n.about, n.phase, op.program->me, n.count}, to);
  }
};

// Takes in what the peer's row says: whether it names me as the root, how much I must expect from it.
struct discover : operation_kind {
  static constexpr kind what = kind::discover;
  static constexpr std::string_view name = "discover";

  static bool fits(const node& n) { return n.peer == peer_rule::each; }
  static std::string text(const node& n) { return words("discover row of ", graph::name(n.peer)); }

  template <class Meaning> static auto means(Meaning& m, const node&, std::uint32_t e) {
    m.discovers(e);
    return e;
  }
  template <class C, class Op, class Tag>
  static outcome run(C& c, Op& op, const node&, std::uint32_t peer, Tag) {
    return c.roots.look_at(op, peer);
  }
};

// Checked mode: the other members' calls with mine; done when all else is. It moves nothing, and is added
// only to plans that were verified without it.
struct compare : operation_kind {
  static constexpr kind what = kind::compare;
  static constexpr std::string_view name = "compare";

  static bool fits(const node&) { return false; }
  static std::string text(const node&) { return "compare the calls of all"; }

  template <class Meaning> static auto means(Meaning&, const node&, std::uint32_t e) { return e; }
  template <class C, class Op, class Tag>
  static outcome run(C& c, Op& op, const node& n, std::uint32_t, Tag) {
    return c.calls.compare(op, n);
  }
};

} // namespace weft::graph::operations
