// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/shim/prepare.hpp"
#include "mpi/shim/check.hpp"
#include "mpi/shim/packing.hpp"
#include "mpi/shim/types.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

namespace weft::mpi {

namespace {

std::size_t bytes_of(const side& s) {
  return extent_of(s.count, s.type).bytes;
}

void* block(void* buffer, int number, int count, MPI_Datatype type) {
  return static_cast<char*>(buffer) + facts_of(type).span * count * number;
}

// The sides of a call, and what one rank gives another.
void set_sides(collective what, const arguments& a, carried& c) {
  const lane& way = *c.way;
  const bool root = way.rank() == a.root;
  side in{writable(a.src), a.scount, a.stype, 1}, out{a.dst, a.dcount, a.dtype, 1};
  bool by_out = false; // the bytes of a block are those of the other side
  switch (what) {
  case collective::barrier:
    in.blocks = out.blocks = 0;
    break;
  case collective::bcast:
    out = in;
    in.blocks = root;
    out.blocks = !root;
    break;
  case collective::gather:
    out.blocks = root ? way.size() : 0;
    if (a.src == MPI_IN_PLACE) in = {block(a.dst, a.root, a.dcount, a.dtype), a.dcount, a.dtype, 1};
    break;
  case collective::scatter:
    in.blocks = root ? way.size() : 0;
    if (a.dst == MPI_IN_PLACE) out.blocks = 0;
    by_out = !root;
    break;
  case collective::allgather:
    out.blocks = way.size();
    if (a.src != MPI_IN_PLACE) break;
    if (a.counts == nullptr)
      in = {block(a.dst, way.rank(), a.dcount, a.dtype), a.dcount, a.dtype, 1};
    else
      in = {block(a.dst, 1, a.places[way.rank()], a.dtype), a.counts[way.rank()], a.dtype, 1};
    break;
  case collective::alltoall:
    out.blocks = way.size();
    in.blocks = way.size();
    if (a.src == MPI_IN_PLACE) in = out;
    break;
  case collective::reduce_scatter_block:
  case collective::reduce_scatter: {
    in = {a.src == MPI_IN_PLACE ? a.dst : writable(a.src), 0, a.dtype, 1};
    out = {a.dst, static_cast<int>(c.elements[static_cast<std::size_t>(way.rank())]), a.dtype, 1};
    break;
  }
  default: // reduce, allreduce, scans
    if (a.src == MPI_IN_PLACE) in = {a.dst, a.dcount, a.dtype, 1};
    out = {a.dst, a.dcount, a.dtype,
           what == collective::reduce ? root : what != collective::exscan || way.rank() != 0};
  }
  c.in_side = in;
  c.out_side = out;
  c.op.c.bytes = what == collective::barrier ? 0 : bytes_of(by_out ? out : in);
}

// The largest of them, as all are; nothing if that would be too much for the others.
std::optional<std::size_t> block_of(const arguments& a, std::size_t members) {
  constexpr std::size_t small = 64 << 10; // of all together
  const std::size_t element = extent_of(1, a.dtype).bytes;
  std::size_t most = 0, sum = 0;
  for (std::size_t k = 0; k != members; ++k) {
    most = std::max(most, element * static_cast<std::size_t>(a.counts[k]));
    sum += element * static_cast<std::size_t>(a.counts[k]);
  }
  if (most * members > small && most * members > 2 * sum) return std::nullopt;
  return most;
}

// Whether they are as large as each other and lie as those of an allgather do.
bool lie_in_order(const arguments& a, int members) {
  for (int k = 0; k != members; ++k)
    if (a.counts[k] != a.counts[0] || a.places[k] != k * std::int64_t{a.counts[0]}) return false;
  return true;
}

// Elements that lie side by side, so that they may be combined where the library has no operator for them.
bool lie_together(MPI_Datatype type) {
  constexpr MPI_Aint largest = 4096;
  const facts of = facts_of(type);
  MPI_Aint lower = 0, span = 0, first = 0, filled = 0;
  MPI_Type_get_extent(type, &lower, &span);
  if (lower != 0 || span <= 0 || span > largest) return false;
  if (!of.of_program) return true;
  MPI_Type_get_true_extent(type, &first, &filled); // a resized one may lie elsewhere
  return first == 0 && filled == span && of.size == static_cast<std::size_t>(span);
}
bool by_library(const arguments& a) {
  const auto which = operator_of(a.op);
  const auto element = element_of(a.dtype);
  return which && element && go_together(*element, *which);
}

// `how` the library combines, if by no operator of its own.
reason why_not(collective what, const arguments& a, std::size_t members, combination& how) {
  if (!combines(what)) return reason::carried;
  const bool some = a.counts == nullptr
                        ? a.dcount != 0
                        : std::any_of(a.counts, a.counts + members, [](int n) { return n != 0; });
  if (!some) return reason::no_element;
  if (is_refused(a.dtype, a.op)) return reason::no_operator;
  if (by_library(a)) return reason::carried;
  if (!lie_together(a.dtype)) return reason::no_element;
  how = combination_of(a.op, a.dtype);
  return how.by != nullptr ? reason::carried : reason::no_operator;
}

} // namespace

carried* prepare(collective what, form f, const arguments& a) {
  if (!carries(f) || a.comm == MPI_COMM_NULL) return nullptr;
  if (carried* const same = prepared_call(what, f, a)) {
    count(same->op.c.what, same->op.c.what != what, f, reason::carried);
    return same;
  }
  lane* const way = lane_of(a.comm);
  if (way == nullptr) {
    int between = 0, ranks = 0;
    MPI_Comm_test_inter(a.comm, &between);
    MPI_Comm_size(a.comm, &ranks);
    count(what, false, f,
          between != 0 ? reason::between_groups
          : ranks == 1 ? reason::one_rank
                       : reason::no_lane);
    return nullptr;
  }
  const auto members = static_cast<std::size_t>(way->size());
  if (!are_right(what, a, way->rank(), way->size())) return nullptr;
  // Blocks that are about alike are an allgather of the largest.
  std::optional<std::size_t> unequal;
  const bool own_sizes =
      what == collective::allgatherv && a.dtype != MPI_DATATYPE_NULL && (unequal = block_of(a, members));
  if (own_sizes) what = collective::allgather;
  if (by_blocks(what)) return prepare_blocks(what, f, a, *way);
  combination how;
  if (const reason no = why_not(what, a, members, how); no != reason::carried) {
    count(what, false, f, no);
    return nullptr;
  }
  carried& c = new_call();
  c.op.set({.what = what, .root = a.root});
  const bool in_order = own_sizes && lie_in_order(a, way->size());
  c.counts.clear();
  c.places.clear();
  c.elements.clear();
  if (own_sizes && !in_order) {
    c.counts.assign(a.counts, a.counts + members);
    c.places.assign(a.places, a.places + members);
  }
  if (what == collective::reduce_scatter) c.elements.assign(a.counts, a.counts + members);
  if (what == collective::reduce_scatter_block)
    c.elements.assign(members, static_cast<std::size_t>(a.dcount));
  c.combines = how;
  c.way = way;
  c.as = f;
  set_sides(what, a, c);
  if (unequal) c.op.c.bytes = *unequal;
  if (in_order) c.out_side.count = a.counts[0];
  if (combines(what)) {
    // Pairs are combined where they are, with their gaps.
    c.op.c.unit = static_cast<std::size_t>(facts_of(a.dtype).span);
    c.op.c.bytes = c.op.c.unit * (is_scattered(what)
                                      ? std::accumulate(c.elements.begin(), c.elements.end(), std::size_t{0})
                                      : static_cast<std::size_t>(a.dcount));
    c.op.c.element = how.by == nullptr ? *element_of(a.dtype) : WEFT_OPAQUE;
    if (how.by == nullptr) c.op.c.op = *operator_of(a.op);
  }
  if (c.op.c.bytes > most_carried()) {
    count(what, own_sizes, f, reason::too_large);
    give_back(c);
    return nullptr;
  }
  for (side* const s : {&c.in_side, &c.out_side})
    s->packed = !c.counts.empty() ||
                (!combines(what) && s->blocks != 0 && s->count != 0 && extent_of(s->count, s->type).packed);
  count(what, own_sizes, f, reason::carried);
  remember(c, own_sizes ? collective::allgatherv : what, a);
  return &c;
}

void keep_types(carried& c, const side& s) {
  if (s.blocks == 0 || !facts_of(s.type).of_program) return;
  keep_type(s.type);
  c.kept.push_back(s.type);
}

void release_types(carried& c) {
  for (const MPI_Datatype type : c.kept)
    release_type(type);
  c.kept.clear();
}

void post(carried& c) {
  if (by_blocks(c.op.c.what)) return post_blocks(c);
  c.op.c.in_blocks = static_cast<std::size_t>(c.in_side.blocks);
  c.op.c.in = static_cast<const std::byte*>(c.in_side.buffer);
  c.op.c.out_blocks = static_cast<std::size_t>(c.out_side.blocks);
  c.op.c.out = static_cast<std::byte*>(c.out_side.buffer);
  c.op.c.elements = c.elements.data();
  const auto me = static_cast<std::size_t>(c.way->rank());
  c.op.c.out_bytes =
      is_scattered(c.op.c.what) ? c.elements[me] * c.op.c.unit : c.op.c.out_blocks * c.op.c.bytes;
  if (c.combines.by != nullptr) {
    if (!c.persistent) keep_types(c, c.in_side);
    c.combines.type = c.in_side.type;
    c.combines.fortran_type = MPI_Type_c2f(c.in_side.type);
    weft_op_create(c.combines.by, &c.combines, c.op.c.unit, c.combines.commutes, &c.op.c.op);
  }
  c.in.clear();
  c.out.clear();
  if (c.in_side.packed) {
    c.in.resize(std::max(c.op.c.in_blocks * bytes_of(c.in_side), c.op.c.bytes));
    pack(c.in_side, c.in.data(), false);
    c.op.c.in = c.in.data();
  }
  if (c.out_side.packed) {
    if (!c.persistent) keep_types(c, c.out_side);
    c.out.resize(c.op.c.out_blocks * c.op.c.bytes);
    c.op.c.out = c.out.data();
  }
  remember_buffers(c);
  c.way->post(c.op);
}

void conclude(carried& c) {
  c.way->forget(c.op);
  if (by_blocks(c.op.c.what)) return conclude_blocks(c);
  if (c.combines.by != nullptr) cray_upc_op_free(c.op.c.op);
  if (!c.out.empty() && c.counts.empty()) pack(c.out_side, c.out.data(), true);
  const MPI_Datatype type = c.out_side.type;
  for (std::size_t k = 0; k != c.counts.size(); ++k)
    pack({block(c.out_side.buffer, 1, c.places[k], type), c.counts[k], type, 1},
         c.out.data() + k * c.op.c.bytes, true);
  if (!c.persistent) release_types(c);
}

} // namespace weft::mpi
