// SPDX-License-Identifier: BSD-3-Clause
#include "api/calls/vector_call.hpp"

#include "api/calls/operators.hpp"

#include <numeric>

namespace weft::api {

using reductions::element;
using reductions::vector_reduction;

namespace {

// Elements of a type, or of so many bytes each.
struct elements_of_call {
  element type;
  std::size_t size, alignment;
};

elements_of_call elements_of(const char* name, const vector_call& v) {
  if (v.dtype == WEFT_OPAQUE) {
    const std::size_t size = size_of_elements(name, v.op);
    return {static_cast<element>(v.dtype), size, std::min(size & -size, alignof(std::max_align_t))};
  }
  if (v.dtype < CRAY_UPC_CHAR || v.dtype > CRAY_UPC_SHORT_INT)
    fail(name, "dtype", std::to_string(static_cast<int>(v.dtype)),
         "is no type: pass CRAY_UPC_INT, CRAY_UPC_DOUBLE or another enumerator of cray_upc_dtype_t");
  const auto type = static_cast<element>(v.dtype);
  return {type, reductions::size_of(type), reductions::alignment_of(type)};
}

void require_mine(const collective_call& c, const char* argument, upc_shared_ptr_t p,
                  const elements_of_call& elements, checked bytes) {
  if (p.thread != c.rt.rank())
    fail_pointer(c.name, argument, p,
                 "must have affinity to the calling thread: each thread passes its own vector");
  require_aligned(c.name, argument, p, elements.alignment);
  require_operand(c.rt, c.name, argument, p, bytes);
}

// What a thread has of the result, in elements.
struct result_block {
  std::size_t begin = 0, count = 0, all = 0;
};
result_block block_of(const char* name, const collective_call& c, const vector_call& v) {
  const std::uint32_t me = c.rank(c.rt.rank());
  if (v.counts == nullptr) {
    const std::size_t all = product(name, "nelems * threads of the team", v.nelems, c.threads);
    return {me * v.nelems, v.nelems, all};
  }
  result_block b;
  for (std::uint32_t k = 0; k != c.threads; ++k) {
    if (k == me) b.begin = b.all;
    if (__builtin_add_overflow(b.all, v.counts[k], &b.all))
      fail(name, "counts", std::to_string(v.counts[k]), "adds up to more elements than there can be");
  }
  b.count = v.counts[me];
  return b;
}

// FNV-1a, of the words.
void say_counts(const graph::task& t, graph::call_fields& fields) {
  fields.say(graph::argument::counts, static_cast<const vector_reduction&>(t).digest);
}
std::uint64_t digest(std::span<const std::size_t> counts) {
  std::uint64_t all = 0xcbf29ce484222325;
  for (const std::size_t count : counts)
    all = (all ^ count) * 0x100000001b3;
  return all;
}

void give_back(const graph::task& t) {
  give_back_operator(static_cast<const vector_reduction&>(t).argument);
}

} // namespace

checked_vectors check(const vector_kind& kind, const vector_call& v) {
  const char* const name = kind.name;
  const mode m{.in = graph::sync::my, .out = graph::sync::my, .async = v.async};
  const collective_call c = begin_collective(name, m, v.team);
  checked_vectors ready;
  vector_reduction& r = ready.task;
  const bool made = is_made(v.op);
  reductions::operation with = reductions::operation::ordered_function;
  if (!made && v.dtype != WEFT_OPAQUE) {
    const element type = elements_of(name, v).type;
    with = operator_of(name, v.op, type, operators_with::pairs);
    r.how = builtin_kernels(name, type, with, operators_with::pairs);
  }
  const elements_of_call elements = elements_of(name, v);
  require_root_rank(c, v.root);
  r.size = static_cast<std::uint32_t>(elements.size);
  r.what = kind.what;
  const bool in_blocks = kind.what == vector_reduction::form::own_block;
  const result_block mine = in_blocks ? block_of(name, c, v) : result_block{0, v.nelems, v.nelems};
  const std::size_t bytes = product(name, "nelems * size of dtype", mine.all, r.size);
  r.block_at = mine.begin * r.size;
  r.block_bytes = mine.count * r.size;
  require_not_null(name, "src", v.src);
  require_mine(c, "src", v.src, elements, bytes);
  const bool in_place = upc_isnull(v.dst) != 0;
  if (!in_place) {
    require_mine(c, "dst", v.dst, elements, r.block_bytes);
    if (overlap({"dst", v.dst, r.block_bytes}, {"src", v.src, bytes}))
      fail_pointer(name, "dst", v.dst,
                   "overlaps src: pass two areas that have no byte in common, or null for dst");
  }
  if (made) {
    const used_operator by = hold_operator(name, v.op, v.dtype);
    if (by.commutes) with = reductions::operation::function;
    r.how = by.how;
    r.argument = by.argument;
    r.user = true;
    r.release = give_back;
  }
  if (v.counts != nullptr) {
    r.say = say_counts;
    r.digest = digest({v.counts, c.threads});
  }
  prepare(r, bytes, c.threads);
  ready.call = c.ready({.op = kind.op,
                        .root = static_cast<std::uint32_t>(v.root),
                        .bytes = bytes,
                        .by = kind.by,
                        .apart = true,
                        .whole = made},
                       {.dst = in_place ? v.src.addr : v.dst.addr,
                        .src = v.src.addr,
                        .sizes = mine.all,
                        .perm = type_and_op(elements.type, with)});
  return ready;
}

namespace {
std::uint64_t result_bytes(const collectives::request& call, const vector_reduction& r) {
  return r.what == vector_reduction::form::own_block ? r.block_bytes : call.bytes;
}
bool gets_result(const ordinary_vectors& which, const collectives::request& call, const vector_reduction& r) {
  return call.op == collectives::operation::team_reduce
             ? which.me == call.root
             : r.what != vector_reduction::form::exclusive_prefix || which.me != 0;
}
} // namespace

void stage(staging& room, const ordinary_vectors& which, const collectives::request& call,
           vector_reduction& r, graph::binding& at) {
  const bool in_place = at.dst == at.src, dst = which.dst && !in_place;
  const std::uint64_t bytes = call.bytes, result = result_bytes(call, r);
  room.reserve((which.src ? staging::lines(bytes) : 0) + (dst ? staging::lines(result) : 0));
  if (room.block() == nullptr) return;
  const std::uint64_t wanted = at.dst;
  if (which.src) at.src = room.copy_in(at.src, bytes);
  if (which.dst) at.dst = in_place ? at.src : room.place(result);
  if (which.dst && gets_result(which, call, r)) room.results(wanted, at.dst, result);
  r.aside = room.block();
}

series_of_vectors::~series_of_vectors() {
  for (const checked_vectors& one : made())
    if (!begun && one.task.release != nullptr) one.task.release(one.task);
}

upc_coll_handle_t start(const collective_call& c, const ordinary_vectors& which, series_of_vectors& series) {
  staged_series::held room;
  const std::span<checked_vectors> made = series.made();
  for (std::uint32_t k = 0; k != made.size() && (which.src || which.dst); ++k) {
    graph::binding& at = made[k].call.at;
    const bool in_place = at.dst == at.src, dst = which.dst && !in_place;
    const std::uint64_t bytes = made[k].call.request.bytes, before = which.src ? staging::lines(bytes) : 0;
    if (!room)
      room = staged_series::take(c.rt, c.name, series.cut,
                                 (which.src + dst) * staging::lines(made.front().call.request.bytes));
    staged_piece& p = room->piece(k);
    if (which.src) p.in = {c.rt.own_memory(at.src), 0, bytes, 1};
    if (which.dst && gets_result(which, made[k].call.request, made[k].task)) {
      p.results = c.rt.own_memory(at.dst);
      p.result_bytes = result_bytes(made[k].call.request, made[k].task);
    }
    if (which.src) at.src = room->place_of(p);
    if (which.dst) at.dst = in_place ? at.src : room->place_of(p) + before;
    p.made = c.rt.own_memory(at.dst);
    made[k].task.aside = &p;
  }
  const upc_coll_handle_t h = post_series(
      c, room, made, [](checked_vectors & one) -> auto& { return one; });
  series.begun = true;
  return h;
}

} // namespace weft::api
