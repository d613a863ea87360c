// SPDX-License-Identifier: BSD-3-Clause
// How a call is cut into pieces, and how these lie in the ring: on all members alike.
#include "mpi/shim/lane.hpp"

#include <algorithm>

namespace weft::mpi {

namespace {

// What a member gives and gets at most, the same on all, and which members have a block for themselves.
struct blocks_of_call {
  enum blocks : std::uint8_t { none, one, for_each } given, got;
  enum members : std::uint8_t { no_member, root, all } own;
  bool from_root; // else from each member
};
constexpr blocks_of_call blocks_of_calls[] = {
    {blocks_of_call::none, blocks_of_call::none, blocks_of_call::no_member, false},   // barrier
    {blocks_of_call::one, blocks_of_call::one, blocks_of_call::no_member, true},      // bcast
    {blocks_of_call::one, blocks_of_call::for_each, blocks_of_call::root, false},     // gather
    {blocks_of_call::for_each, blocks_of_call::one, blocks_of_call::root, true},      // scatter
    {blocks_of_call::one, blocks_of_call::for_each, blocks_of_call::all, false},      // allgather
    {blocks_of_call::for_each, blocks_of_call::for_each, blocks_of_call::all, false}, // alltoall
    {blocks_of_call::one, blocks_of_call::one, blocks_of_call::no_member, false},     // all that combine
};
// Of slots, where blocks have sizes of their own.
constexpr collective like(collective what) {
  switch (what) {
  case collective::allgatherv:
    return collective::allgather;
  case collective::gatherv:
    return collective::gather;
  case collective::scatterv:
    return collective::scatter;
  case collective::alltoallv:
  case collective::alltoallw:
    return collective::alltoall;
  default:
    return std::min(what, collective::reduce);
  }
}
const blocks_of_call& blocks_of(collective what) {
  return blocks_of_calls[static_cast<std::size_t>(like(what))];
}
std::uint64_t number(blocks_of_call::blocks b, std::uint64_t members) {
  return b == blocks_of_call::for_each ? members : std::uint64_t{b};
}

} // namespace

bool differ(collective what) {
  return blocks_of(what).given == blocks_of_call::for_each;
}
bool from_root(collective what) {
  return blocks_of(what).from_root;
}

std::optional<own_block> lane::own(const call& c) const {
  using b = blocks_of_call;
  const b& of = blocks_of(c.what);
  if (of.own == b::no_member || (of.own == b::root && rank_ != c.root)) return std::nullopt;
  const auto mine = static_cast<std::size_t>(rank_);
  return own_block{of.given == b::for_each ? mine : 0, of.got == b::for_each ? mine : 0,
                   of.given == b::one && of.own == b::all};
}

// What is smaller goes from ring to ring. A side of fewer bytes than `least_found_` the program has in small
// allocations, which others do not reach. A member's own block is not lent.
lane::layout lane::layout_of(const call& c) const {
  const auto members = static_cast<std::uint64_t>(size());
  const blocks_of_call& blocks = blocks_of(c.what);
  layout l{.given = number(blocks.given, members), .got = number(blocks.got, members)};
  if (c.bytes < least_lent || c.what > collective::alltoall) return l;
  if (on_one_host_)
    l.found = c.bytes * (c.what == collective::alltoall ? members : 1) >= least_found_;
  else
    l.found = c.bytes <= message_;
  l.shared = !on_one_host_ && !l.found && c.what != collective::alltoall;
  l.lent = on_one_host_ && !l.found;
  if (l.found) l.rows = whole_lines(2 * static_cast<std::uint64_t>(THREADS) * sizeof(upc_shared_ptr_t));
  if (l.lent && differ(c.what)) --l.given;
  return l;
}

std::uint64_t lane::length(const layout& l, std::size_t bytes) const {
  if (l.shared) return whole_lines(std::max(l.given, l.got) * bytes);
  const std::uint64_t of_members = whole_lines(static_cast<std::uint64_t>(size()) * sizeof(token));
  const std::uint64_t rest = l.lent ? line + 2 * of_members : whole_lines(l.got * bytes);
  return std::max(l.rows + whole_lines(l.given * bytes) + rest, line); // each has a place of its own
}

// What a member gives lies in front of what it gets; or in it, at the block of the root or its own.
void lane::place(const call& c, const layout& l, piece& p) const {
  p.at = p.in->place(p.begin);
  p.given = p.at + l.rows;
  p.got = p.given;
  if (!l.shared)
    p.got += whole_lines(l.given * p.bytes);
  else if (c.what == collective::scatter)
    p.got += static_cast<std::uint64_t>(c.root) * p.bytes;
  else if (c.what == collective::gather)
    p.given += static_cast<std::uint64_t>(c.root) * p.bytes;
  else if (c.what == collective::allgather)
    p.given += static_cast<std::uint64_t>(rank_) * p.bytes;
}

// Of what member `giver` gives, the one for member `taker`.
std::size_t lane::place_of_block(const call& c, const piece& p, int giver, int taker) {
  if (!differ(c.what)) return 0;
  return static_cast<std::size_t>(p.lent && taker > giver ? taker - 1 : taker);
}

void lane::cut(operation& op) {
  call& c = op.c;
  if (!op.pieces.empty()) {
    for (piece& p : op.pieces)
      p.begin_again();
    return;
  }
  if (by_blocks(c.what) && !has_slots()) { // staged elsewhere
    op.pieces.emplace_back();
    return;
  }
  if (by_blocks(c.what)) c.bytes = c.unit = sizeof(slot);
  const layout l = layout_of(c);
  const std::uint64_t whole = length(l, c.bytes);
  const auto of =
      std::ranges::find_if(rings_, [&](const ring& r) { return whole * pieces_of_a_ring <= r.size; });
  ring& r = of == rings_.end() ? rings_.back() : *of;
  std::size_t most = c.bytes;
  if (of == rings_.end()) {
    const std::uint64_t got = l.lent ? 0 : l.got;
    const std::uint64_t blocks = l.shared ? std::max(l.given, got) : l.given + got;
    const std::uint64_t rest = length(l, 0) + 2 * line;
    most = (r.size / pieces_of_a_ring - rest) / blocks / c.unit * c.unit;
  }
  // Pieces that the caches hold; so many at most that all are posted at once.
  if (on_one_host_ && !l.found && most == c.bytes) {
    constexpr std::size_t cached = 256 << 10;
    const std::size_t pieces = c.what == collective::scan || c.what == collective::exscan ? 4 : 16;
    const std::size_t wanted = std::max((c.bytes + pieces - 1) / pieces, cached);
    most = std::min(most, (wanted + c.unit - 1) / c.unit * c.unit);
  }
  // No more of the ring than a loop of such calls needs: what was touched before is cheaper than what was
  // not.
  constexpr std::uint64_t kept = 4; // of which others may read, while the next one is posted
  const std::uint64_t pieces = most == 0 ? 1 : (c.bytes + most - 1) / most;
  const std::uint64_t window = std::max(kept, pieces) * (most == c.bytes ? whole : length(l, most));
  std::size_t from = 0;
  do {
    const std::size_t bytes = std::min(most, c.bytes - from);
    piece& p = op.pieces.emplace_back(
        piece{.from = from, .bytes = bytes, .lent = l.lent, .found = l.found, .shared = l.shared, .in = &r});
    p.length = bytes == c.bytes ? whole : length(l, bytes);
    p.window = window;
    p.begin = r.take(p.length, window);
    place(c, l, p);
    from += bytes;
  } while (from < c.bytes);
}

} // namespace weft::mpi
