// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/operations/operation_kind.hpp"

// Kinds that one rank carries alone; by progress/execution/transfers.hpp.
namespace weft::graph::operations {

// What get and put have in common: blocks between two members' buffers, carried by one of them alone. Where
// an operation has a task and my end is scratch, they are the part of the peer in my work on it, and the task
// says where that lies.
template <class Kind, direction Way> struct carried_alone : operation_kind {
  static constexpr bool moves_data = true;
  static constexpr bool by_regions = true;
  static constexpr flow way(const node&) { return Way == direction::in ? flow::in : flow::out; }

  static bool fits(const node& n) {
    const bool from = any_of(n.read.in, buffer::source, buffer::destination);
    const bool mine = Way == direction::in
                          ? n.write.in == buffer::scratch && from
                          : n.read.in == buffer::scratch && n.write.in == buffer::destination;
    const bool both = from && n.write.in == buffer::destination;
    if (n.bundled) return Way == direction::in && both && n.of == nullptr;
    return n.peer == peer_rule::each && (mine || both) && !travels_packed(n) && n.of != &blocks::readers;
  }

  template <class Meaning> static auto means(Meaning& m, const node& n, std::uint32_t e) {
    m.needs_row(e, Way);
    if (m.template moves<Kind>(n, e) == 0) m.did(n, e);
    return e;
  }
  template <class C, class Op, class Tag>
  static outcome run(C& c, Op& op, const node& n, std::uint32_t peer, Tag tag) {
    if (n.bundled) [[unlikely]]
      return c.bundles.bring(op, n, peer);
    return c.transfers.template carry<Kind>(op, n, peer, tag);
  }
  // A post leaves it to others, or to a later sweep.
  template <class L, class Op, class To>
  static void rung_for(L& l, Op& op, const node& n, std::uint32_t peer, std::uint32_t, To& to) {
    n.bundled ? l.list_asked(op, peer, to) : l.list_ready(to);
  }
};

// Blocks of the peer into my destination, carried by me alone: by loads and stores within the host, else by
// the transport. Bundled: from another host, by way of a box; the engine there packs it, and no rank of it
// need have entered.
struct get : carried_alone<get, direction::in> {
  static constexpr kind what = kind::get;
  static constexpr std::string_view name = "get";
  static std::string text(const node& n) {
    return words("get from ", graph::name(n.peer), n.bundled ? ", bundled" : "");
  }
};

// Blocks of mine into the peer's destination, carried by me alone. To another host it is complete at my side
// only; a flush says when it is in place.
struct put : carried_alone<put, direction::out> {
  static constexpr kind what = kind::put;
  static constexpr std::string_view name = "put";
  static std::string text(const node& n) { return words("put to ", graph::name(n.peer)); }
};

// Blocks from one buffer of mine to another.
struct copy : operation_kind {
  static constexpr kind what = kind::copy;
  static constexpr std::string_view name = "copy";
  static constexpr bool is_short = true;
  static constexpr bool serves_others = false;
  static constexpr bool moves_data = true;
  static constexpr bool by_regions = true;

  static bool fits(const node& n) {
    return n.peer == peer_rule::self &&
           any_of(n.read.in, buffer::source, buffer::destination, buffer::scratch) &&
           any_of(n.write.in, buffer::destination, buffer::scratch);
  }
  static std::string text(const node& n) { return n.of == nullptr ? "copy own block" : "copy"; }

  template <class Meaning> static auto means(Meaning& m, const node& n, std::uint32_t e) {
    m.template moves<copy>(n, e);
    return e;
  }
  template <class C, class Op, class Tag>
  static outcome run(C& c, Op& op, const node& n, std::uint32_t peer, Tag tag) {
    return c.transfers.copy_own(op, n, peer, tag);
  }
  template <class L, class Op, class To>
  static void rung_for(L& l, Op&, const node&, std::uint32_t, std::uint32_t, To& to) {
    l.list_ready(to);
  }
};

// Brings an element of the far peer's row: an operand of the block between us.
struct fetch : operation_kind {
  static constexpr kind what = kind::fetch;
  static constexpr std::string_view name = "fetch";
  static constexpr bool moves_data = true;

  static bool fits(const node& n) { return n.peer == peer_rule::each; }
  static std::string text(const node& n) {
    return words("fetch ", graph::name(n.which), " of block ", graph::name(n.way), " of ",
                 graph::name(n.peer));
  }

  template <class Meaning> static auto means(Meaning& m, const node& n, std::uint32_t e) {
    m.fetches(n, e);
    return e;
  }
  template <class C, class Op, class Tag>
  static outcome run(C& c, Op& op, const node& n, std::uint32_t peer, Tag tag) {
    return c.transfers.fetch(op, n, peer, tag);
  }
};

// All my puts to the peer are in place there; or, if it only orders, will be before it hears what I tell it
// next: that costs nothing where messages stay behind puts.
struct flush : operation_kind {
  static constexpr kind what = kind::flush;
  static constexpr std::string_view name = "flush";

  static bool fits(const node& n) { return n.peer == peer_rule::each; }
  static std::string text(const node& n) {
    return words(n.orders ? "order to " : "flush to ", graph::name(n.peer));
  }

  template <class Meaning> static auto means(Meaning& m, const node& n, std::uint32_t e) {
    n.orders ? m.orders(n, e) : m.did(n, e);
    return e;
  }
  template <class C, class Op, class Tag>
  static outcome run(C& c, Op& op, const node& n, std::uint32_t peer, Tag tag) {
    return c.transfers.flush(op, peer, tag, n.orders);
  }
  template <class L, class Op, class To>
  static void rung_for(L& l, Op&, const node&, std::uint32_t, std::uint32_t, To& to) {
    l.list_ready(to);
  }
};

} // namespace weft::graph::operations
