// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/operations/operation_kind.hpp"

// Kinds that work on an operation's task; by progress/execution/computations.hpp.
namespace weft::graph::operations {

// A stage of the operation's task, on this rank: a pass does as much of it as a pass may. Code of users is
// run by a thread that drives, piece by piece, with nothing held: other operations go on meanwhile if there
// is any rank to drive them. What it throws fails the operation.
//
// To the verifier the result is what it is made of, side by side: a reduction is a gather. Of the group, it
// reads the sources of all members of my host.
struct compute : operation_kind {
  static constexpr kind what = kind::compute;
  static constexpr std::string_view name = "compute";
  static constexpr bool is_short = true;
  static constexpr bool moves_data = true;

  static bool fits(const node& n) {
    if (n.peer == peer_rule::group)
      return n.of == nullptr && n.read.in == buffer::source && n.write.in == buffer::scratch;
    return n.peer == peer_rule::self && any_of(n.read.in, buffer::source, buffer::scratch) &&
           any_of(n.write.in, buffer::scratch, buffer::destination) && !travels_packed(n);
  }
  static std::string text(const node& n) { return words("compute stage ", std::to_string(n.count)); }

  template <class Meaning> static auto means(Meaning& m, const node& n, std::uint32_t e) {
    m.needs(n, e);
    if (n.rewrites) m.rewrites(e);
    if (n.peer == peer_rule::group)
      m.reads_host(n, e);
    else
      m.template moves<compute>(n, e);
    return e;
  }
  template <class C, class Op, class Tag>
  static outcome run(C& c, Op& op, const node& n, std::uint32_t, Tag tag) {
    return c.computations.step(op, n, tag);
  }
  template <class L, class Op, class To>
  static void rung_for(L& l, Op&, const node&, std::uint32_t, std::uint32_t, To& to) {
    l.list_ready(to);
  }
};

// Combines the sources of all members of my host, element by element in the order of their ranks, in pieces
// of which any member that is there takes its share, as soon as all have entered. Where the vectors lie, the
// members tell each other in payloads; a table in the first bytes of scratch has it.
//   group       into all destinations. It is done when all pieces are.
//   each        of a root: its share, into its destination. While a member is missing the root keeps pieces
//   of
//               the peer's vector aside, in the task's room: done when the peer's vector is not needed any
//               more.
//   self, out   of another member than the root: its share. Done when the root has read its vector, or all is
//               combined.
//   self, in    of the root, behind the others' vectors: what it has kept aside is combined, too.
// To the verifier the root brings the others' vectors and combines them alone.
struct reduce : operation_kind {
  static constexpr kind what = kind::reduce;
  static constexpr std::string_view name = "reduce";
  static constexpr bool moves_data = true;
  static flow way(const node& n) { return n.peer == peer_rule::each ? flow::in : flow::own; }

  // The member whose words say what is claimed and what is done. Others may leave before a root does: so no
  // later operation has its words before all is combined.
  static std::uint32_t lender(const plan& p, const topology& g) {
    return p.pairs == pattern::to_root ? p.root : g.local(0);
  }

  static bool leaves(const node& n) { return n.peer == peer_rule::self && n.way == direction::out; }
  static bool fits(const node& n) {
    if (n.peer == peer_rule::self)
      return leaves(n) ? n.about == fact::consumed && n.count != 0
                       : n.read.in == buffer::scratch && n.write.in == buffer::destination;
    const bool from_sources = n.of == nullptr && n.read.in == buffer::source;
    return (n.peer == peer_rule::group && from_sources && n.write.in == buffer::destination) ||
           (n.peer == peer_rule::each && from_sources && n.write.in == buffer::scratch);
  }
  static std::string text(const node& n) {
    if (n.peer == peer_rule::group) return "combine the blocks of my host";
    if (n.peer == peer_rule::each) return words("combine or keep the block of ", graph::name(n.peer));
    return leaves(n) ? "combine blocks of my host until mine is read" : "combine what is kept";
  }

  template <class Meaning> static auto means(Meaning& m, const node& n, std::uint32_t e) {
    if (leaves(n)) {
      m.receives(n, e);
      return e;
    }
    m.needs(n, e);
    if (n.peer == peer_rule::group) return m.combines_host(e);
    if (m.template moves<reduce>(n, e) == 0 && n.peer == peer_rule::each) m.did(n, e);
    return e;
  }
  template <class C, class Op, class Tag>
  static outcome run(C& c, Op& op, const node& n, std::uint32_t peer, Tag) {
    if (n.peer == peer_rule::group) return c.reductions.share_host(op);
    if (n.peer == peer_rule::each) return c.reductions.share_or_keep(op, peer);
    return leaves(n) ? c.reductions.share_until_read(op, n) : c.reductions.share_rest(op);
  }
  template <class L, class Op, class To>
  static void rung_for(L& l, Op& op, const node& n, std::uint32_t, std::uint32_t, To& to) {
    l.list_reduce(op, n, to);
  }
};

} // namespace weft::graph::operations
