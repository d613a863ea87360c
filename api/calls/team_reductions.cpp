// Reductions element by element, of vectors (Cray's) and of values.
#include "api/calls/collective_call.hpp"
#include "api/calls/operators.hpp"
#include "api/calls/relocation.hpp"
#include "api/calls/repeated_call.hpp"
#include "api/include/upc_collective_cray.h"
#include "api/include/weft/value.hpp"
#include "engine/plan/call_fields.hpp"
#include "engine/reductions/vector_reduction.hpp"

namespace weft {
namespace api {
namespace {

using collectives::operation;
using reductions::element;
using reductions::vector_reduction;

static_assert(static_cast<element>(CRAY_UPC_BOOL) == element::b);
static_assert(static_cast<element>(CRAY_UPC_SHORT_INT) == element::short_int);

// As the members compare it: see progress::call_record.
constexpr std::uint64_t type_and_op(element type, reductions::operation op) {
  return graph::packed(static_cast<std::uint8_t>(type), static_cast<std::uint8_t>(op));
}

struct vector_call {
  upc_shared_ptr_t dst{}, src{};
  std::size_t nelems = 0;
  upc_team_t team = 0;
  upc_op_t op = 0;
  cray_upc_dtype_t dtype{};
  int root = 0; // of a reduce
  bool async = false;

  bool operator==(const vector_call& other) const {
    return is_same(dst, other.dst) && is_same(src, other.src) && nelems == other.nelems &&
           team == other.team && op == other.op && dtype == other.dtype && root == other.root &&
           async == other.async;
  }
};

using checked_vectors = checked_computation<vector_reduction>;

void require_mine(const collective_call& c, const char* argument, upc_shared_ptr_t p, element type,
                  checked bytes) {
  if (p.thread != c.rt.rank())
    fail_pointer(c.name, argument, p,
                 "must have affinity to the calling thread: each thread passes its own vector");
  require_aligned(c.name, argument, p, reductions::alignment_of(type));
  require_range(c.rt, c.name, argument, p, bytes);
}

element type_of(const char* name, cray_upc_dtype_t dtype) {
  if (dtype < CRAY_UPC_CHAR || dtype > CRAY_UPC_SHORT_INT)
    fail(name, "dtype", std::to_string(static_cast<int>(dtype)),
         "is no type: pass CRAY_UPC_INT, CRAY_UPC_DOUBLE or another enumerator of cray_upc_dtype_t");
  return static_cast<element>(dtype);
}

checked_vectors check(const char* name, operation op, const vector_call& v) {
  const mode m{.in = graph::sync::my, .out = graph::sync::my, .async = v.async};
  const collective_call c = begin_collective(name, m, v.team);
  const element type = type_of(name, v.dtype);
  checked_vectors ready;
  vector_reduction& r = ready.task;
  const reductions::operation with = operator_of(name, v.op, type, operators_with::pairs);
  r.how = builtin_kernels(name, type, with, operators_with::pairs);
  r.size = static_cast<std::uint32_t>(reductions::size_of(type));
  if (v.root < 0 || static_cast<std::uint32_t>(v.root) >= c.threads)
    fail(name, "root", std::to_string(v.root),
         "must be a rank of the team, 0 to " + std::to_string(c.threads - 1));
  const std::size_t bytes = product(name, "nelems * size of dtype", v.nelems, r.size);
  require_not_null(name, "src", v.src);
  require_mine(c, "src", v.src, type, bytes);
  const bool in_place = upc_isnull(v.dst) != 0;
  if (!in_place) {
    require_mine(c, "dst", v.dst, type, bytes);
    if (overlap({"dst", v.dst, bytes}, {"src", v.src, bytes}))
      fail_pointer(name, "dst", v.dst,
                   "overlaps src: pass two areas that have no byte in common, or null for dst");
  }
  prepare(r, bytes, c.threads);
  ready.call = c.ready({.op = op, .root = static_cast<std::uint32_t>(v.root), .bytes = bytes, .apart = true},
                       {.dst = in_place ? v.src.addr : v.dst.addr,
                        .src = v.src.addr,
                        .sizes = v.nelems,
                        .perm = type_and_op(type, with)});
  return ready;
}

template <operation op>
cray_upc_return_t reduce(const char* name, const vector_call& v, upc_handle_t* handle) {
  const upc_handle_t h = start_checked<op, checked_vectors>(
      name, v, [&] { return check(name, op, v); },
      [&](runtime& rt, const checked_vectors& ready) { return start(name, rt, v.team, ready); });
  if (handle != nullptr) *handle = h;
  return CRAY_UPC_SUCCESS;
}

} // namespace
} // namespace api

cray_upc_return_t cray_upc_team_reduce(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nelems,
                                       cray_upc_dtype_t dtype, upc_op_t op, int root, cray_upc_team_t team,
                                       upc_handle_t* handle) {
  return api::reduce<api::operation::team_reduce>(
      "cray_upc_team_reduce", {dst, src, nelems, team, op, dtype, root, handle != nullptr}, handle);
}

cray_upc_return_t cray_upc_team_allreduce(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nelems,
                                          cray_upc_dtype_t dtype, upc_op_t op, cray_upc_team_t team,
                                          upc_handle_t* handle) {
  return api::reduce<api::operation::team_allreduce>(
      "cray_upc_team_allreduce", {dst, src, nelems, team, op, dtype, 0, handle != nullptr}, handle);
}

namespace detail {

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
