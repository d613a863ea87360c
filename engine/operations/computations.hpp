#pragma once
#include "engine/operations/operation_kind.hpp"

// Kinds that work on an operation's task; by progress/execution/computations.hpp and reductions.hpp.
namespace weft::graph::operations {

// A stage of the operation's task, on this rank: a pass does as much of it as a pass may. Code of users is
// run by a thread that drives, piece by piece, with nothing held: other operations go on meanwhile if there
// is anybody to drive them. What it throws fails the operation.
//
// To the verifier the result is what it is made of, side by side: a reduction is a gather. Of the group, it
// reads the sources of all members of my host.
struct compute : operation_kind {
  static constexpr kind what = kind::compute;
  static constexpr std::string_view name = "compute";
  static constexpr bool moves_data = true;

  static bool fits(const node& n) {
    if (n.peer == peer_rule::group)
      return n.of == blocks::one && n.read.in == buffer::source && n.write.in == buffer::scratch;
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
};

// Combines the sources of all members of my host, element by element in the order of their ranks, into all
// their destinations, or the root's, in pieces that whoever is there takes his share of. It is done when all
// pieces are. Where the vectors lie, the table of addresses says in the first bytes of scratch.
struct reduce : operation_kind {
  static constexpr kind what = kind::reduce;
  static constexpr std::string_view name = "reduce";
  static constexpr bool moves_data = true;

  static bool fits(const node& n) {
    return n.of == blocks::one && n.peer == peer_rule::group && n.read.in == buffer::source &&
           n.write.in == buffer::destination;
  }
  static std::string text(const node&) { return "combine the blocks of my host"; }

  template <class Meaning> static auto means(Meaning& m, const node& n, std::uint32_t e) {
    m.needs(n, e);
    return m.combines_host(e);
  }
  template <class C, class Op, class Tag> static outcome run(C& c, Op& op, const node&, std::uint32_t, Tag) {
    return c.reductions.share_host(op);
  }
};

} // namespace weft::graph::operations
