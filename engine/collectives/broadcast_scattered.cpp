// SPDX-License-Identifier: BSD-3-Clause
// Broadcast, large and over many hosts: the root scatters the block, then everybody has the pieces of all.
//
// A member's piece is n/P bytes. The root puts the pieces of each host's members to its leader, n bytes out
// of the root's host; then the leaders gather all: by doubling if the hosts are a power of two, n bytes out
// of every host in log2(N) hops, else around a ring in N-1. The neighbours copy when their leader has all,
// the root's own ones at once. Twice the bytes of a chain, and few of its hops; a tree's hops, and few of its
// bytes.
#include "engine/collectives/between_leaders.hpp"

#include <bit>

namespace weft::collectives {
using namespace graph;

namespace {

// Whole lines, so that no two ranks write to one.
std::uint64_t piece_of_member(std::uint64_t bytes, std::uint32_t members) {
  constexpr std::uint64_t line = 64;
  return ((bytes + members - 1) / members + line - 1) / line * line;
}

bool doubles(const topology& g) {
  return std::has_single_bit(g.hosts());
}

} // namespace

bool fits_scattered(const request& r, const topology& g, const tuning& t) {
  return may_relay(r, g) && r.bytes > t.eager_bytes;
}

std::uint64_t cost_of_scattered(const request& r, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  const std::uint64_t piece = piece_of_member(r.bytes, g.size());
  const std::uint64_t gathered =
      doubles(g) ? cost_of_doubling_of_leaders(piece, g, c) : cost_of_ring_of_leaders(piece, g, c);
  return cost_of_scatter_to_leaders(piece, g, c) + gathered + c.copies(2, r.bytes);
}

plan compile_scattered(const request& r, const topology& g, const tuning& t) {
  hierarchical s(r, pattern::from_root, {.bytes = r.bytes}, g, t);
  if (!s.leader && s.at_roots_node()) return s.finish(s.read_from_root(), 0);
  if (!s.leader) {
    const node_set ready = s.each(range::leader, 1, await_ready());
    const node_set copied = s.each(range::follow, 1, get_handed_on(in_destination), ready);
    return s.finish(copied | s.tell_leader(copied), 0);
  }
  const std::uint64_t bytes = piece_of_member(r.bytes, g.size());
  const std::uint8_t piece = s.b.add_place({.owner = bytes, .bytes = bytes, .end = r.bytes});
  s.stream(bytes, t);
  const node_set scattered = scatter_to_leaders(s, piece, s.root ? s.gate : 0);
  node_set here = scattered;
  if (s.root) { // the pieces of my own host
    const node own = writing(reading(copy_own(), buffer::source, piece), buffer::destination, piece);
    here = s.b.add(of_blocks(own, blocks::of_host), s.gate);
  }
  const bool read = s.near() != 0 && !s.root; // the root's neighbours read its source
  s.b.begin_phase(1);
  const node_set all =
      doubles(g) ? doubling_of_leaders(s, piece, false, here) : ring_of_leaders(s, piece, here);
  s.b.begin_phase(0);
  node_set data = scattered | all;
  if (read) data |= s.b.add(publish_ready(), all);
  return s.finish(data, s.near());
}

} // namespace weft::collectives
