// SPDX-License-Identifier: BSD-3-Clause
// What the collectives on spans need besides those of upc_collective.h.
#include "include/weft/spans.hpp"
#include "api/calls/collective_call.hpp"
#include "api/calls/operators.hpp"
#include "api/calls/vector_call.hpp"
#include "engine/plan/call_fields.hpp"
#include "engine/reductions/vector_reduction.hpp"

#include <cstdio>

namespace weft {
namespace api {
namespace {

[[noreturn, gnu::cold, gnu::noinline]] void fail_ordinary(const char* call, const char* argument,
                                                          const void* first) {
  char value[24];
  std::snprintf(value, sizeof value, "%p", first);
  fail(
      call, argument, value,
      "is ordinary memory: this call moves between places that are the same on all ranks, pass a weft::array "
      "or a part of one, or what upc_cast gave of memory from upc_all_alloc");
}

void release_function(const graph::task& t) {
  const auto& r = static_cast<const reductions::vector_reduction&>(t);
  r.release_argument(r.argument);
}

} // namespace
} // namespace api

namespace detail {

namespace {
own_process mine{};
} // namespace

const own_process& own() noexcept {
  return mine;
}

std::size_t place_of(const char* call, const char* argument, const void* first, std::size_t bytes) {
  api::runtime& rt = api::runtime::get(call);
  const std::uint64_t place = rt.private_offset(first);
  if (!rt.in_heap(place, bytes)) [[unlikely]]
    api::fail_ordinary(call, argument, first);
  return place;
}

upc_coll_handle_t reduce_spans(const char* call, upc_shared_ptr_t dst, upc_shared_ptr_t src,
                               std::size_t count, element_kind of, const user_operator* f, int root,
                               upc_team_t team) {
  const api::mode m{.in = graph::sync::my, .out = graph::sync::my, .async = true};
  const api::collective_call c = api::begin_collective(call, m, team);
  const std::size_t bytes = api::product(call, "bytes of src", count, of.size);
  for (const api::area& a : {api::area{"dst", dst, bytes}, {"src", src, bytes}})
    api::require_operand(c.rt, call, a.argument, a.at, a.bytes);
  if (upc_ptreq(dst, src) == 0 && api::overlap({"dst", dst, bytes}, {"src", src, bytes}))
    api::fail(call, "dst", std::to_string(count) + " elements",
              "overlap src: pass two spans that have no element in common, or the same one twice");
  using form = reductions::vector_reduction::form;
  using collectives::operation;
  const operation op = root < on_all ? operation::team_scan
                       : root < 0    ? operation::team_allreduce
                                     : operation::team_reduce;
  const auto elements = [&](std::size_t begin, std::size_t some) {
    api::checked_vectors made;
    reductions::vector_reduction& r = made.task;
    if (root == of_prefix) r.what = form::inclusive_prefix;
    if (root == of_exclusive_prefix) r.what = form::exclusive_prefix;
    r.size = of.size;
    r.how = api::kernels_of(*f);
    r.user = true;
    r.argument = f->keep(f->function);
    r.release_argument = f->release;
    r.release = api::release_function;
    prepare(r, some * of.size, c.threads);
    const auto type_and_op =
        graph::packed(static_cast<std::uint8_t>(of.number),
                      static_cast<std::uint8_t>(reductions::operation::ordered_function));
    const std::uint64_t first = begin * of.size;
    made.call =
        c.ready({.op = op,
                 .root = root < 0 ? 0 : static_cast<std::uint32_t>(root),
                 .bytes = some * of.size,
                 .by = root == of_exclusive_prefix ? collectives::caller::exclusive_scan
                                                   : collectives::caller::collective,
                 .apart = true,
                 .whole = true},
                {.dst = dst.addr + first, .src = src.addr + first, .sizes = some, .perm = type_and_op});
    return made;
  };
  const api::ordinary_vectors which{c.rank(c.rt.rank()), api::is_ordinary(dst), api::is_ordinary(src)};
  if (api::series_of_vectors series(api::series_of_vectors::cut_of(bytes, of.size));
      series.cut.pieces != 1 || api::series_of_vectors::is_copied_later(which, bytes)) {
    series.add_all(count, of.size, elements);
    return api::start(c, which, series);
  }
  api::checked_vectors made = elements(0, count);
  api::kept_function function(made.task, true);
  api::staging room(c.rt, call, true);
  api::stage(room, which, made.call.request, made.task, made.call.at);
  const upc_coll_handle_t h = api::start(call, c.rt, team, made);
  room.hand_on();
  function.hand_on();
  return h;
}

upc_coll_handle_t move_spans(const char* call, moved_spans what, upc_shared_ptr_t dst, upc_shared_ptr_t src,
                             std::size_t block, int root, upc_team_t team) {
  using collectives::operation;
  static constexpr operation operations[] = {operation::exchange, operation::gather_all, operation::broadcast,
                                             operation::scatter,  operation::gather,     operation::permute};
  return api::move_own(call, operations[static_cast<std::size_t>(what)], dst, src, block,
                       static_cast<std::uint32_t>(root), team);
}

} // namespace detail

void api::note_own_process(const runtime* rt) {
  if (rt == nullptr) {
    detail::mine = {};
    return;
  }
  const auto [begin, bytes] = rt->symmetric();
  detail::mine = {.segment = static_cast<std::uintptr_t>(0 - rt->private_offset(nullptr)),
                  .begin = begin,
                  .bytes = bytes,
                  .rank = rt->rank(),
                  .ranks = static_cast<int>(rt->size())};
}

} // namespace weft
