// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/shim/prepare.hpp"

#include "mpi/shim/check.hpp"
#include "mpi/shim/packing.hpp"
#include "mpi/shim/types.hpp"

#include <upc_castable.h>

#include <algorithm>
#include <cstring>

namespace weft::mpi {

namespace {

// The blocks of one end: of each rank, or one.
void set_blocks(sided_blocks& s, void* buffer, int blocks, const int* counts, const int* places, int count,
                MPI_Datatype type, const MPI_Datatype* types) {
  s.buffer = buffer;
  // Places of blocks with a type each are bytes. Of a block without a place nothing is asked: where it is in
  // place MPI does not read its type.
  const bool elements = types == nullptr && places != nullptr && blocks != 0;
  const MPI_Aint span = elements ? facts_of(type).span : 1;
  s.each.resize(static_cast<std::size_t>(blocks));
  for (int k = 0; k != blocks; ++k)
    s.each[static_cast<std::size_t>(k)] = {counts != nullptr ? counts[k] : count,
                                           places == nullptr ? 0 : places[k] * span,
                                           types != nullptr ? types[k] : type};
}

bool set_ends(collective what, const arguments& a, carried& c) {
  const int members = c.way->size(), me = c.way->rank();
  const bool root = me == a.root, in_place = a.src == MPI_IN_PLACE;
  sided_blocks &in = c.in_blocks, &out = c.out_blocks;
  void* const src = writable(a.src);
  switch (what) {
  case collective::allgatherv:
    set_blocks(out, a.dst, members, a.counts, a.places, 0, a.dtype, nullptr);
    set_blocks(in, src, 1, nullptr, nullptr, a.scount, a.stype, nullptr);
    break;
  case collective::gatherv:
    set_blocks(out, a.dst, root ? members : 0, a.counts, a.places, 0, a.dtype, nullptr);
    set_blocks(in, src, 1, nullptr, nullptr, a.scount, a.stype, nullptr);
    break;
  case collective::scatterv:
    set_blocks(in, src, root ? members : 0, a.scounts, a.splaces, 0, a.stype, nullptr);
    set_blocks(out, a.dst, 1, nullptr, nullptr, a.dcount, a.dtype, nullptr);
    if (root && a.dst == MPI_IN_PLACE) out.each.clear(); // it stays
    break;
  default:
    set_blocks(out, a.dst, members, a.counts, a.places, 0, a.dtype, a.types);
    if (in_place)
      in = out;
    else
      set_blocks(in, src, members, a.scounts, a.splaces, 0, a.stype, a.stypes);
  }
  if (in_place && in.each.size() == 1 && out.each.size() > 1) { // its own block, where it is
    in.buffer = out.buffer;
    in.each[0] = out.each[static_cast<std::size_t>(me)];
  }
  return are_right(in) && are_right(out);
}

} // namespace

carried* prepare_blocks(collective what, form f, const arguments& a, lane& way) {
  carried& c = new_call();
  c.op.set({.what = what, .root = a.root});
  c.counts.clear();
  c.places.clear();
  c.way = &way;
  c.as = f;
  c.in_side = c.out_side = {};
  c.combines = {};
  if (!set_ends(what, a, c)) {
    give_back(c);
    return nullptr;
  }
  count(what, false, f, reason::carried);
  remember(c, what, a);
  return &c;
}

namespace {

char* address_of(const sided_blocks& s, const sided_blocks::block& b) {
  return static_cast<char*>(s.buffer) + b.place;
}

// One behind the other: those that arrive behind those that are given.
void lay_out(sided_blocks& s, std::size_t& end) {
  s.staged.bytes.clear();
  s.staged.places.clear();
  const std::size_t begin = end;
  for (const sided_blocks::block& b : s.each) {
    s.staged.places.push_back(static_cast<std::ptrdiff_t>(end - begin));
    s.staged.bytes.push_back(b.size.bytes);
    end += s.staged.bytes.back();
  }
}

// Those whose bytes lie together stay where the program has them.
bool is_plain(const sided_blocks& s) {
  return std::ranges::none_of(s.each, [](const sided_blocks::block& b) { return b.size.packed; });
}
void leave_in_place(sided_blocks& s) {
  s.staged.bytes.clear();
  s.staged.places.clear();
  for (const sided_blocks::block& b : s.each) {
    s.staged.bytes.push_back(b.size.bytes);
    s.staged.places.push_back(b.place);
  }
  s.staged.base = static_cast<std::byte*>(s.buffer);
}
// So that the library finds them, which copies what others cannot reach. False if the first of them lies in
// memory that others reach and the last elsewhere, for the library has one pointer to all.
bool leave_to_library(sided_blocks& s) {
  leave_in_place(s);
  char *first = nullptr, *last = nullptr;
  for (const sided_blocks::block& b : s.each) {
    if (b.size.bytes == 0) continue;
    first = first == nullptr ? address_of(s, b) : std::min(first, address_of(s, b));
    last = std::max(last, address_of(s, b) + b.size.bytes - 1);
  }
  for (std::size_t k = 0; k != s.each.size(); ++k)
    s.staged.places[k] = s.staged.bytes[k] == 0 ? 0 : address_of(s, s.each[k]) - first;
  s.staged.at = weft_lend(first);
  s.staged.base = reinterpret_cast<std::byte*>(first);
  return first == nullptr || s.staged.at.phase != 0 || weft_lend(last).phase == 0;
}

void move_block(const sided_blocks& s, std::size_t k, bool out) {
  const sided_blocks::block& b = s.each[k];
  if (s.staged.bytes[k] == 0) return;
  std::byte* const staged = s.staged.block(k);
  if (b.size.packed) return pack({address_of(s, b), b.count, b.type, 1}, staged, out);
  auto* const own = reinterpret_cast<std::byte*>(address_of(s, b));
  std::memcpy(out ? own : staged, out ? staged : own, b.size.bytes);
}

} // namespace

void keep_types(carried& c, const sided_blocks& s) {
  for (const sided_blocks::block& b : s.each) // the bytes of other types lie together
    if (b.size.packed && (c.kept.empty() || c.kept.back() != b.type)) keep_types(c, {nullptr, 0, b.type, 1});
}

namespace {

bool gives_in_place(const carried& c) {
  return c.in_blocks.buffer == c.out_blocks.buffer && c.in_blocks.each.size() > 1 &&
         c.out_blocks.each.size() > 1;
}

// What others read, and cannot reach, the library copies.
void count_bytes(const sided_blocks& s, bool given) {
  std::size_t bytes = 0;
  for (const std::size_t n : s.staged.bytes)
    bytes += n;
  const bool copied = !s.plain || (given && upc_isnull(s.staged.at) == 0 && s.staged.at.phase != 0);
  if (bytes >= least_lent)
    (copied ? bytes_copied : bytes_in_place).fetch_add(bytes, std::memory_order_relaxed);
}

// Where the library gets the blocks from, and where it puts them.
void stage(carried& c) {
  const bool by_library = !c.way->has_slots();
  // What is given in the place of what arrives is a copy.
  c.in_blocks.plain = !gives_in_place(c) && is_plain(c.in_blocks);
  c.out_blocks.plain = is_plain(c.out_blocks);
  std::size_t end = 0;
  for (sided_blocks* const s : {&c.in_blocks, &c.out_blocks}) {
    end = (end + 63) / 64 * 64;
    s->begin = end;
    if (s->plain && by_library)
      s->plain = leave_to_library(*s);
    else if (s->plain)
      leave_in_place(*s);
    if (!s->plain) lay_out(*s, end);
  }
  c.room = by_library && end != 0 ? upc_alloc(end) : UPC_SHARED_NULL;
  if (!by_library) c.in.resize(end);
  for (sided_blocks* const s : {&c.in_blocks, &c.out_blocks}) {
    if (s->plain) continue;
    if (by_library) {
      s->staged.at = c.room;
      if (end != 0) s->staged.at.addr += s->begin;
      s->staged.base = static_cast<std::byte*>(upc_cast(s->staged.at));
    } else {
      s->staged.base = c.in.data() + s->begin;
    }
  }
  for (std::size_t k = 0; !c.in_blocks.plain && k != c.in_blocks.each.size(); ++k)
    move_block(c.in_blocks, k, false);
  if (by_library) {
    count_bytes(c.in_blocks, true);
    count_bytes(c.out_blocks, false);
  } else {
    require_distinct(c);
  }
  c.op.c.given = &c.in_blocks.staged;
  c.op.c.taken = &c.out_blocks.staged;
}

} // namespace

// What is laid out already stays as it is.
void post_blocks(carried& c) {
  const bool again = c.way->has_slots() && !c.op.pieces.empty();
  if (!again || !c.in_blocks.plain || !c.out_blocks.plain) {
    if (!c.persistent) keep_types(c, c.out_blocks);
    stage(c);
  }
  remember_buffers(c);
  c.way->post(c.op);
}

void conclude_blocks(carried& c) {
  for (std::size_t k = 0; !c.out_blocks.plain && k != c.out_blocks.each.size(); ++k)
    move_block(c.out_blocks, k, true);
  if (!upc_isnull(c.room)) upc_free(c.room);
  if (!c.persistent) release_types(c);
}

} // namespace weft::mpi
