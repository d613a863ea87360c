// SPDX-License-Identifier: BSD-3-Clause
// Reductions element by element, of vectors (Cray's) and of values.
#include "api/calls/collective_call.hpp"
#include "api/calls/operators.hpp"
#include "api/calls/vector_call.hpp"
#include "include/weft/span_operands.hpp"
#include "include/weft/value.hpp"

namespace weft {
namespace api {
namespace {

using collectives::caller;
using collectives::operation;
using form = reductions::vector_reduction::form;

static_assert(static_cast<reductions::element>(CRAY_UPC_BOOL) == reductions::element::b);
static_assert(static_cast<reductions::element>(CRAY_UPC_SHORT_INT) == reductions::element::short_int);
static_assert(WEFT_OPAQUE == reductions::elements);

// A call whose arguments are right, and how it goes.
struct ready_vectors {
  checked_vectors whole;
  std::uint64_t piece = 0;  // not 0: as a series, the most bytes of each
  bool touches_own = false; // no rank reaches the operands of another one
};
ready_vectors make_ready(const vector_kind& kind, const vector_call& v) {
  ready_vectors ready{check(kind, v)};
  collectives::request r = ready.whole.call.request;
  control::team_calls& teams = runtime::get(kind.name).teams();
  const std::uint64_t size = ready.whole.task.size;
  ready.piece = teams.piece_of_series(v.team, r) / size * size;
  if (r.bytes > series_cut::most * ready.piece) ready.piece = 0; // of elements that fill no message
  if (ready.piece != 0) r.bytes = ready.piece;
  ready.touches_own = !block_check::on && teams.touches_own(v.team, r);
  return ready;
}

// Which of them are to be copied.
ordinary_vectors to_be_staged(runtime& rt, const vector_call& v, bool touches_own) {
  const bool in_place = upc_isnull(v.dst) != 0, src = is_ordinary(v.src);
  const bool stays = touches_own && (in_place || is_lent(v.src));
  const bool dst = in_place ? src && !stays : is_ordinary(v.dst) && !touches_own;
  return {rt.teams().rank(v.team), dst, src && !stays};
}

upc_handle_t start_series(const vector_kind& kind, const vector_call& whole, const series_cut& cut,
                          std::size_t size, bool touches_own) {
  const mode m{.in = graph::sync::my, .out = graph::sync::my, .async = whole.async};
  const collective_call c = begin_collective(kind.name, m, whole.team);
  const bool in_place = upc_isnull(whole.dst) != 0;
  series_of_vectors series(cut);
  series.add_all(whole.nelems, size, [&](std::size_t begin, std::size_t some) {
    vector_call part = whole;
    part.nelems = some;
    part.src.addr += begin * size;
    if (!in_place) part.dst.addr += begin * size;
    return check(kind, part);
  });
  return c.posted(start(c, to_be_staged(c.rt, whole, touches_own), series));
}

// What holds an operator of the program is handed on to what begins, or given up.
upc_handle_t begin(const vector_kind& kind, const vector_call& v, ready_vectors ready) {
  runtime& rt = runtime::get(kind.name);
  const std::uint64_t bytes = ready.whole.call.request.bytes;
  if (ready.piece != 0) {
    const kept_function of_whole(ready.whole.task, false);
    const std::uint64_t pieces = (bytes + ready.piece - 1) / ready.piece;
    return start_series(kind, v, {static_cast<std::uint32_t>(pieces), ready.piece}, ready.whole.task.size,
                        ready.touches_own);
  }
  const ordinary_vectors which = to_be_staged(rt, v, ready.touches_own);
  if (v.async && series_of_vectors::is_copied_later(which, bytes)) {
    series_of_vectors of_one({1, bytes});
    of_one.add(ready.whole);
    return start(begin_collective(kind.name, mode{.async = true}, v.team), which, of_one);
  }
  checked_vectors& one = ready.whole;
  kept_function operator_of_program(one.task, v.async);
  staging room(rt, kind.name, v.async);
  stage(room, which, one.call.request, one.task, one.call.at);
  const upc_handle_t h = start(kind.name, rt, v.team, one);
  operator_of_program.hand_on();
  room.hand_on();
  return h;
}

// Operators that the program may free, and counts that it may change.
bool differs_each_time(const vector_call& v) {
  return is_made(v.op) || v.counts != nullptr;
}

constexpr vector_kind kinds[] = {
    {"cray_upc_team_reduce", operation::team_reduce},
    {"cray_upc_team_allreduce", operation::team_allreduce},
    {"cray_upc_team_scan", operation::team_scan, form::inclusive_prefix},
    {"cray_upc_team_exscan", operation::team_scan, form::exclusive_prefix, caller::exclusive_scan},
    {"cray_upc_team_reduce_scatter", operation::team_reduce_scatter, form::own_block},
    {"cray_upc_team_reduce_scatterv", operation::team_reduce_scatter, form::own_block,
     caller::unequal_blocks}};

template <std::size_t number> cray_upc_return_t combine(const vector_call& v, upc_handle_t* handle) {
  static constexpr const vector_kind& kind = kinds[number];
  const upc_handle_t h = differs_each_time(v)
                             ? begin(kind, v, make_ready(kind, v))
                             : start_checked<number, ready_vectors>(
                                   kind.name, v, [&] { return make_ready(kind, v); },
                                   [&](runtime& rt, const ready_vectors& ready) {
                                     const bool plain = !is_ordinary(v.src) && !is_ordinary(v.dst);
                                     return plain && ready.piece == 0
                                                ? start(kind.name, rt, v.team, ready.whole)
                                                : begin(kind, v, ready);
                                   });
  if (handle != nullptr) *handle = h;
  return CRAY_UPC_SUCCESS;
}

} // namespace
} // namespace api

cray_upc_return_t cray_upc_team_reduce(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nelems,
                                       cray_upc_dtype_t dtype, upc_op_t op, int root, cray_upc_team_t team,
                                       upc_handle_t* handle) {
  return api::combine<0>({dst, src, nelems, team, op, dtype, root, handle != nullptr}, handle);
}
cray_upc_return_t cray_upc_team_allreduce(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nelems,
                                          cray_upc_dtype_t dtype, upc_op_t op, cray_upc_team_t team,
                                          upc_handle_t* handle) {
  return api::combine<1>({dst, src, nelems, team, op, dtype, 0, handle != nullptr}, handle);
}
cray_upc_return_t cray_upc_team_scan(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nelems,
                                     cray_upc_dtype_t dtype, upc_op_t op, cray_upc_team_t team,
                                     upc_handle_t* handle) {
  return api::combine<2>({dst, src, nelems, team, op, dtype, 0, handle != nullptr}, handle);
}
cray_upc_return_t cray_upc_team_exscan(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nelems,
                                       cray_upc_dtype_t dtype, upc_op_t op, cray_upc_team_t team,
                                       upc_handle_t* handle) {
  return api::combine<3>({dst, src, nelems, team, op, dtype, 0, handle != nullptr}, handle);
}
cray_upc_return_t cray_upc_team_reduce_scatter(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nelems,
                                               cray_upc_dtype_t dtype, upc_op_t op, cray_upc_team_t team,
                                               upc_handle_t* handle) {
  return api::combine<4>({dst, src, nelems, team, op, dtype, 0, handle != nullptr}, handle);
}
cray_upc_return_t cray_upc_team_reduce_scatterv(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                const size_t* counts, cray_upc_dtype_t dtype, upc_op_t op,
                                                cray_upc_team_t team, upc_handle_t* handle) {
  if (counts == nullptr)
    api::fail("cray_upc_team_reduce_scatterv", "counts", "null",
              "must be the address of a number of elements for each thread of the team");
  return api::combine<5>({dst, src, 0, team, op, dtype, 0, handle != nullptr, counts}, handle);
}

namespace detail {

upc_coll_handle_t reduce_numbers(upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t count, int number,
                                 upc_op_t op, int root, bool of_arrays, upc_team_t team) {
  const std::size_t kind = root == on_all ? 1 : root == of_prefix ? 2 : root == of_exclusive_prefix ? 3 : 0;
  const char* const name = api::kinds[kind].name;
  const auto type = static_cast<cray_upc_dtype_t>(number);
  const api::vector_call whole{dst, src, count, team, op, type, root < 0 ? 0 : root, true};
  const std::size_t size = reductions::size_of(static_cast<reductions::element>(number));
  const std::size_t bytes = api::product(name, "nelems * size of dtype", count, size);
  if (const auto cut = api::series_of_vectors::cut_of(of_arrays ? 0 : bytes, size); cut.pieces != 1) {
    api::checked_vectors all = check(api::kinds[kind], whole); // its arguments
    const api::kept_function of_check(all.task, false);
    return api::start_series(api::kinds[kind], whole, cut, size, false);
  }
  upc_handle_t h = 0;
  static constexpr decltype(&api::combine<0>) calls[] = {api::combine<0>, api::combine<1>, api::combine<2>,
                                                         api::combine<3>};
  calls[kind](whole, &h);
  return h;
}

upc_coll_handle_t reduce_values(reduced_value what, element_kind kind_of_element, void* result,
                                const void* value, upc_op_t op, const user_operator* f, upc_team_t team) {
  static constexpr const char* names[] = {"weft::reduce_all", "weft::prefix_reduce",
                                          "weft::exclusive_prefix_reduce"};
  const char* const name = names[static_cast<std::size_t>(what)];
  const api::mode m{.in = graph::sync::my, .out = graph::sync::my, .async = true};
  const api::collective_call c = api::begin_collective(name, m, team);
  const auto of = static_cast<reductions::element>(kind_of_element.number);
  const auto with = f == nullptr ? api::operator_of(name, op, of, api::operators_with::nothing)
                                 : reductions::operation::ordered_function;
  reductions::vector_reduction r;
  r.what = static_cast<reductions::vector_reduction::form>(what);
  r.size = kind_of_element.size;
  if (f == nullptr) {
    r.how = api::builtin_kernels(name, of, with, api::operators_with::nothing);
  } else {
    r.how = api::kernels_of(*f);
    r.argument = f->function; // it lives as long as the result
    r.user = true;
  }
  prepare(r, r.size, c.threads);
  static constexpr struct {
    collectives::operation op;
    collectives::caller by;
  } kinds[] = {{collectives::operation::reduce_all, collectives::caller::reduce_values},
               {collectives::operation::prefix_reduce, collectives::caller::prefix_values},
               {collectives::operation::prefix_reduce, collectives::caller::exclusive_prefix_values}};
  const auto& kind = kinds[static_cast<std::size_t>(what)];
  return c.start({.op = kind.op, .bytes = r.size, .by = kind.by, .apart = true},
                 {.dst = c.rt.private_offset(result),
                  .src = c.rt.private_offset(value),
                  .sizes = 1,
                  .perm = api::type_and_op(of, with),
                  .task = &r});
}

} // namespace detail
} // namespace weft
