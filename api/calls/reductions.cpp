// SPDX-License-Identifier: BSD-3-Clause
// The reductions of V1.0 and V0.3 for each of their types: upc_all_reduceC ... upc_all_prefix_reduceB_team.
#include "api/calls/reduction_call.hpp"
#include "include/upc_collective.h"

namespace weft {
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
  struct form {
    const char* name;
    operation op;
  };
  static constexpr form forms[] = {{"upc_all_reduce", operation::reduce},
                                   {"upc_all_reduce_all", operation::reduce_all},
                                   {"upc_all_prefix_reduce", operation::prefix_reduce}};
  const form& it = forms[static_cast<std::size_t>(what)];
  return api::reduce({.name = it.name,
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
