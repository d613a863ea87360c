// SPDX-License-Identifier: BSD-3-Clause
// The sort of V1.0, and the forms of C++.
#include "include/weft/sort.hpp"
#include "api/calls/collective_call.hpp"
#include "api/calls/distributed_array.hpp"
#include "engine/sorting/sorting.hpp"
#include "include/upc_collective.h"

namespace weft {
namespace api {
namespace {

using sorting::sorting_task;

struct sort_call {
  const char* name;
  upc_shared_ptr_t array;
  std::size_t size, alignment, nelems, blk_size;
  sorting::shared_comparator function = nullptr;
  detail::number numbers = detail::number::none;
  const detail::user_order* order = nullptr;
  upc_flag_t flags;
  upc_team_t team;
};

// A member that has more is not done with it in one go.
constexpr std::uint64_t large_bytes = 16 * 1024;

void require_size(const char* call, std::size_t size) {
  if (size == 0) fail(call, "elem_size", "0", "must be the size of an element, in bytes: at least 1");
  if (size > 0xffffffff)
    fail(call, "elem_size", std::to_string(size),
         "must not exceed 2^32 - 1: sort pointers to elements, or their numbers, instead");
}

void choose_order(const collective_call& c, const sort_call& call, sorting_task& s) {
  s.user = call.numbers == detail::number::none;
  s.numbers = call.numbers;
  if (!s.user) {
    s.how = sorting::order_of_numbers(call.numbers, call.size);
  } else if (call.order != nullptr) {
    s.how = call.order->how;
    s.argument = call.order->function;
  } else {
    if (call.function == nullptr)
      fail(c.name, "func", "null", "must be the function that compares two elements");
    s.how = sorting::order_of_function(call.size);
    s.by_function = {.function = call.function,
                     .segment = static_cast<const std::byte*>(c.rt.direct(c.rt.rank(), 0)),
                     .thread = c.rt.rank(),
                     .size = static_cast<std::uint32_t>(call.size)};
  }
}

void release_argument(const graph::task& t) {
  const auto& s = static_cast<const sorting_task&>(t);
  s.release_argument(s.argument);
}

upc_coll_handle_t sort(const sort_call& call) {
  if ((call.flags & UPC_IN_PLACE) != 0)
    fail(call.name, "sync_mode", "UPC_IN_PLACE", "is not for a sort, which is always in place: leave it out");
  const collective_call c = begin_collective(call.name, read_mode(call.name, call.flags, 0), call.team);
  require_size(c.name, call.size);
  sorting_task s;
  s.of = distributed_array(c, {.bytes = "nelems * elem_size",
                               .size = static_cast<std::uint32_t>(call.size),
                               .alignment = call.alignment,
                               .elements = call.nelems,
                               .block = call.blk_size})
             .of("A", call.array);
  choose_order(c, call, s);
  sorting::prepare(s, c.threads);
  if (c.m.async && call.order != nullptr) {
    s.argument = call.order->keep(call.order->function);
    s.release_argument = call.order->release;
    s.release = release_argument;
  }
  kept_function function(s, c.m.async);
  const std::uint64_t on_a_thread = std::min(s.of.elements, s.of.most_rows() * s.of.block);
  const upc_coll_handle_t h =
      c.start({.op = collectives::operation::sort,
               .bytes = sorting::row_bytes(s, c.threads),
               .large = on_a_thread * s.of.size > large_bytes,
               .by_ranges = s.dealt && !s.whole,
               .whole = s.whole},
              {.dst = call.array.addr, .src = call.array.addr, .sizes = call.nelems, .task = &s});
  function.hand_on();
  return h;
}

upc_coll_handle_t sort_by_function(const char* name, upc_shared_ptr_t a, std::size_t elem_size,
                                   std::size_t nelems, std::size_t blk_size, sorting::shared_comparator func,
                                   upc_flag_t sync_mode, upc_team_t team) {
  return sort({.name = name,
               .array = a,
               .size = elem_size,
               .alignment = 1,
               .nelems = nelems,
               .blk_size = blk_size,
               .function = func,
               .flags = sync_mode,
               .team = team});
}

} // namespace
} // namespace api

upc_coll_handle_t upc_all_sort(upc_shared_ptr_t A, std::size_t elem_size, std::size_t nelems,
                               std::size_t blk_size, int (*func)(upc_shared_ptr_t, upc_shared_ptr_t),
                               upc_flag_t sync_mode) {
  return api::sort_by_function("upc_all_sort", A, elem_size, nelems, blk_size, func, sync_mode, UPC_TEAM_ALL);
}
upc_coll_handle_t upc_all_sort(upc_shared_ptr_t A, std::size_t elem_size, std::size_t nelems,
                               std::size_t blk_size, int (*func)(upc_shared_ptr_t, upc_shared_ptr_t),
                               upc_flag_t sync_mode, upc_team_t team) {
  return api::sort_by_function("upc_all_sort", A, elem_size, nelems, blk_size, func, sync_mode, team);
}
upc_coll_handle_t upc_all_sort_team(upc_shared_ptr_t A, std::size_t elem_size, std::size_t nelems,
                                    std::size_t blk_size, int (*func)(upc_shared_ptr_t, upc_shared_ptr_t),
                                    upc_flag_t sync_mode, upc_team_t team) {
  return api::sort_by_function("upc_all_sort_team", A, elem_size, nelems, blk_size, func, sync_mode, team);
}

namespace detail {

upc_coll_handle_t sort_elements(upc_shared_ptr_t a, std::size_t elem_size, std::size_t alignment,
                                std::size_t nelems, std::size_t blk_size, number numbers,
                                const user_order* order, upc_flag_t sync_mode, upc_team_t team) {
  return api::sort({.name = "upc_all_sort",
                    .array = a,
                    .size = elem_size,
                    .alignment = alignment,
                    .nelems = nelems,
                    .blk_size = blk_size,
                    .numbers = numbers,
                    .order = order,
                    .flags = sync_mode,
                    .team = team});
}

} // namespace detail
} // namespace weft
