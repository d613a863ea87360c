// SPDX-License-Identifier: BSD-3-Clause
#include "api/calls/reduction_call.hpp"

#include "api/calls/collective_call.hpp"
#include "api/calls/distributed_array.hpp"
#include "api/calls/operators.hpp"
#include "engine/collectives/operations.hpp"
#include "include/upc_collective.h"

namespace weft::api {

namespace {

using reductions::layout;
using reductions::reduction;

// A member that has more is not done with it in one go.
constexpr std::uint64_t large_bytes = 16 * 1024;
// So many bytes of elements the root of a reduce brings and combines itself, where else members would work on
// ranges; of more it chooses. Between hosts to work together takes a few messages more, which few members
// only gain by with much.
std::uint64_t most_of_root(const collective_call& c) {
  constexpr std::uint32_t few = 4;
  return c.threads <= few && !c.rt.all_near() ? 2 << 20 : 256 << 10;
}

upc_flag_t flags_of(collectives::operation op) {
  const upc_flag_t all = UPC_IN_PLACE | WEFT_REPRODUCIBLE;
  return op == collectives::operation::prefix_reduce ? all | UPC_EXCLUSIVE_PREFIX_REDUCE : all;
}

// The kernels of the operator, which may be code of the user.
void choose_kernels(const array_reduction_call& call, reduction& r) {
  constexpr auto with = operators_with::functions;
  const reductions::operation op = operator_of(call.name, call.with, call.type, with);
  r.type = call.type;
  r.op = op;
  if (op < reductions::operation::function) {
    r.how = builtin_kernels(call.name, call.type, op, with);
    return;
  }
  r.user = true;
  if (call.callable != nullptr) {
    r.how = kernels_of(*call.callable);
    r.argument = call.callable->function;
    return;
  }
  if (call.function == nullptr)
    fail(call.name, "func", "null", std::string("must be the function that ") + name_of(op) + " is to use");
  r.how = *reductions::kernels_of_c_function(call.type);
  r.function = call.function;
}

// One element on any thread: the rank that has it.
std::uint32_t one_element(const collective_call& c, const char* argument, const array_reduction_call& call) {
  const std::size_t size = reductions::size_of(call.type);
  require_not_null(c.name, argument, call.dst);
  const std::uint32_t root = require_root(c, {argument, call.dst, size});
  require_aligned(c.name, argument, call.dst, reductions::alignment_of(call.type));
  require_range(c.rt, c.name, argument, call.dst, size);
  return root;
}
// One on each thread of the team.
void one_on_each(const collective_call& c, const char* argument, const array_reduction_call& call) {
  require_first(c, argument, call.dst);
  require_aligned(c.name, argument, call.dst, reductions::alignment_of(call.type));
  require_on_all(c, {argument, call.dst, reductions::size_of(call.type)});
}

// The operands of a prefix reduction: where the results go.
void place_results(const collective_call& c, const distributed_array& check, upc_shared_ptr_t dst,
                   bool in_place, reduction& r) {
  r.what = c.m.exclusive ? reduction::form::exclusive_prefix : reduction::form::inclusive_prefix;
  r.in_order = true;
  r.to = check.of("dst", dst);
  const layout &from = r.from, &to = r.to;
  r.by_ranges = !alike(from, to);
  if (from.elements == 0 || (from.at == to.at && !r.by_ranges && in_place)) return;
  if (distributed_array::overlap(from, to))
    fail_pointer(c.name, "dst", dst,
                 "overlaps src: pass two areas that have no byte in common, or UPC_IN_PLACE in sync_mode and "
                 "dst for src");
}

// Otherwise the blocks of a row lie on the ranks of the team one after the other.
bool in_other_order(const collective_call& c, const reduction& r) {
  if (r.begins_elsewhere()) return true;
  if (!r.in_order || c.of_all()) return false;
  std::uint32_t before = 0;
  for (std::uint32_t t = 0; t < r.from.threads; ++t) {
    const std::uint32_t rank = c.rank(t);
    if (rank >= c.threads) continue;
    if (rank < before) return true;
    before = rank;
  }
  return false;
}

void release_argument(const graph::task& t) {
  const auto& r = static_cast<const reduction&>(t);
  r.release_argument(r.argument);
}

} // namespace

void prepare(reduction& r, std::uint32_t threads, collectives::request& wanted) {
  const std::uint64_t size = r.from.size;
  if (r.partials() * size > collectives::most_partials) r.by_ranges = true;
  reductions::prepare(r, threads);
  if (r.from.elements * size > collectives::most_at_root) r.room_alone = 0;
  wanted.bytes = r.partials() * size;
  wanted.by_ranges = r.by_ranges;
  wanted.whole = r.by_ranges && r.alone;
  const bool by_root = r.by_ranges && wanted.op == collectives::operation::reduce; // it may choose so
  const std::uint64_t most =
      by_root ? r.from.elements : std::min(r.from.elements, r.from.most_rows() * r.from.block);
  wanted.large = most * size > large_bytes;
}

namespace {

using checked_array = checked_computation<reduction>;

checked_array check(const array_reduction_call& call) {
  const collective_call c =
      begin_collective(call.name, read_mode(call.name, call.flags, flags_of(call.op)), call.team);
  const distributed_array check(c, {.bytes = "nelems * sizeof(TYPE)",
                                    .size = static_cast<std::uint32_t>(reductions::size_of(call.type)),
                                    .alignment = reductions::alignment_of(call.type),
                                    .elements = call.nelems,
                                    .block = call.blk_size});
  const bool prefix = call.op == collectives::operation::prefix_reduce;
  checked_array ready;
  reduction& r = ready.task;
  choose_kernels(call, r);
  const bool own = in_place(c, call.dst, call.src);
  const upc_shared_ptr_t src = own ? call.dst : call.src;
  r.from = check.of("src", src);
  r.in_order = call.with == UPC_NONCOMM_FUNC;
  collectives::request wanted{.op = call.op};
  if (call.op == collectives::operation::reduce) {
    wanted.root = one_element(c, "dst", call);
    r.alone = r.from.elements * r.from.size <= most_of_root(c);
  }
  if (call.op == collectives::operation::reduce_all) one_on_each(c, "dst", call);
  if (prefix) place_results(c, check, call.dst, own, r);
  r.reproducible = c.m.reproducible;
  if (r.reproducible) r.by_ranges = true;
  wanted.other_order = in_other_order(c, r);
  prepare(r, c.threads, wanted);
  ready.call = c.ready(wanted, {.dst = call.dst.addr, .src = src.addr, .sizes = call.nelems});
  return ready;
}

// With a function of the user: what it is called with may be another object each time, and may be kept.
upc_coll_handle_t reduce_by_user(const array_reduction_call& call) {
  checked_array ready = check(call);
  reduction& r = ready.task;
  if (ready.call.async && call.callable != nullptr && r.user) {
    r.argument = call.callable->keep(call.callable->function);
    r.release_argument = call.callable->release;
    r.release = release_argument;
  }
  kept_function function(r, ready.call.async);
  const upc_coll_handle_t h = start(call.name, runtime::get(call.name), call.team, ready);
  function.hand_on();
  return h;
}

template <collectives::operation op> upc_coll_handle_t reduce_as(const array_reduction_call& call) {
  return start_checked<op, checked_array>(
      call.name, call, [&] { return check(call); },
      [&](runtime& rt, const checked_array& ready) { return start(call.name, rt, call.team, ready); });
}

} // namespace

upc_coll_handle_t reduce(const array_reduction_call& call) {
  if (call.function != nullptr || call.callable != nullptr) return reduce_by_user(call);
  switch (call.op) {
  case collectives::operation::reduce:
    return reduce_as<collectives::operation::reduce>(call);
  case collectives::operation::reduce_all:
    return reduce_as<collectives::operation::reduce_all>(call);
  default:
    return reduce_as<collectives::operation::prefix_reduce>(call);
  }
}

} // namespace weft::api

namespace weft {
// The reductions of V1.0 and V0.3 for each of their types: upc_all_reduceC ... upc_all_prefix_reduceB_team.

namespace {

using collectives::operation;
using reductions::element;

template <class Type> using c_function = Type (*)(Type, Type);

template <class Type>
upc_coll_handle_t call(const char* name, operation op, element type, upc_shared_ptr_t dst,
                       upc_shared_ptr_t src, upc_op_t with, std::size_t nelems, std::size_t blk_size,
                       c_function<Type> func, upc_flag_t flags, upc_team_t team) {
  return api::reduce({.name = name,
                      .op = op,
                      .type = type,
                      .dst = dst,
                      .src = src,
                      .with = with,
                      .nelems = nelems,
                      .blk_size = blk_size,
                      .function = reinterpret_cast<void (*)()>(func),
                      .flags = flags,
                      .team = team});
}

// In the order in which WEFT_REDUCTION_TYPES has them, which is that of their enumerators.
enum class number : std::uint8_t {
#define WEFT_NUMBER(T, type) T,
  WEFT_REDUCTION_TYPES(WEFT_NUMBER)
#undef WEFT_NUMBER
};
static_assert(static_cast<element>(number::UC) == element::uc &&
              static_cast<element>(number::B) == element::b);

} // namespace

#define WEFT_DEFINE_REDUCTION(name, operation, T, type)                                                      \
  upc_coll_handle_t name(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_op_t op, size_t nelems,             \
                         size_t blk_size, type (*func)(type, type), upc_flag_t sync_mode) {                  \
    return call<type>(#name, operation, static_cast<element>(number::T), dst, src, op, nelems, blk_size,     \
                      func, sync_mode, UPC_TEAM_ALL);                                                        \
  }                                                                                                          \
  upc_coll_handle_t name(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_op_t op, size_t nelems,             \
                         size_t blk_size, type (*func)(type, type), upc_flag_t sync_mode, upc_team_t team) { \
    return call<type>(#name, operation, static_cast<element>(number::T), dst, src, op, nelems, blk_size,     \
                      func, sync_mode, team);                                                                \
  }                                                                                                          \
  upc_coll_handle_t name##_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_op_t op, size_t nelems,      \
                                size_t blk_size, type (*func)(type, type), upc_flag_t sync_mode,             \
                                upc_team_t team) {                                                           \
    return call<type>(#name "_team", operation, static_cast<element>(number::T), dst, src, op, nelems,       \
                      blk_size, func, sync_mode, team);                                                      \
  }
#define WEFT_DEFINE_REDUCTIONS(T, type)                                                                      \
  WEFT_DEFINE_REDUCTION(upc_all_reduce##T, operation::reduce, T, type)                                       \
  WEFT_DEFINE_REDUCTION(upc_all_reduce_all##T, operation::reduce_all, T, type)                               \
  WEFT_DEFINE_REDUCTION(upc_all_prefix_reduce##T, operation::prefix_reduce, T, type)
WEFT_REDUCTION_TYPES(WEFT_DEFINE_REDUCTIONS)

namespace detail {

upc_coll_handle_t reduce_elements(reduced what, int type, upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                  upc_op_t op, std::size_t nelems, std::size_t blk_size,
                                  const user_operator* f, upc_flag_t sync_mode, upc_team_t team) {
  static constexpr operation forms[] = {operation::reduce, operation::reduce_all, operation::prefix_reduce};
  const collectives::operation_facts& it = collectives::facts_of(forms[static_cast<std::size_t>(what)]);
  return api::reduce({.name = it.call.data(),
                      .op = it.op,
                      .type = static_cast<element>(type),
                      .dst = dst,
                      .src = src,
                      .with = op,
                      .nelems = nelems,
                      .blk_size = blk_size,
                      .callable = f,
                      .flags = sync_mode,
                      .team = team});
}

} // namespace detail
} // namespace weft
