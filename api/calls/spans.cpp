// What the collectives on spans need besides those of upc_collective.h.
#include "api/include/weft/spans.hpp"
#include "api/calls/collective_call.hpp"
#include "api/calls/operators.hpp"
#include "api/calls/relocation.hpp"
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
  fail(call, argument, value,
       "is ordinary memory, which no other rank reaches: pass a weft::array or a part of one, or what "
       "upc_cast gave of memory from upc_all_alloc");
}

void release_function(const graph::task& t) {
  const auto& r = static_cast<const reductions::vector_reduction&>(t);
  r.release_argument(r.argument);
}

} // namespace
} // namespace api

namespace detail {

std::size_t place_of(const char* call, const char* argument, const void* first, std::size_t bytes) {
  api::runtime& rt = api::runtime::get(call);
  const std::uint64_t place = rt.private_offset(first);
  if (!rt.in_heap(place, bytes)) [[unlikely]]
    api::fail_ordinary(call, argument, first);
  return place;
}

upc_coll_handle_t reduce_spans(const char* call, void* dst, const void* src, std::size_t count,
                               element_kind of, upc_op_t op, const user_operator* f, int root,
                               upc_team_t team) {
  using reductions::element;
  const api::mode m{.in = graph::sync::my, .out = graph::sync::my, .async = true};
  const api::collective_call c = api::begin_collective(call, m, team);
  const std::size_t bytes = api::product(call, "bytes of src", count, of.size);
  const std::size_t to = place_of(call, "dst", dst, bytes), from = place_of(call, "src", src, bytes);
  if (to != from && to < from + bytes && from < to + bytes)
    api::fail(call, "dst", std::to_string(count) + " elements",
              "overlap src: pass two spans that have no element in common, or the same one twice");
  auto with = reductions::operation::ordered_function;
  reductions::vector_reduction r;
  r.size = of.size;
  if (f == nullptr) {
    const auto type = static_cast<element>(of.number);
    with = api::operator_of(call, op, type, api::operators_with::nothing);
    r.how = api::builtin_kernels(call, type, with, api::operators_with::nothing);
  } else {
    r.how = api::kernels_of(*f);
    r.user = true;
    r.argument = f->keep(f->function);
    r.release_argument = f->release;
    r.release = api::release_function;
  }
  prepare(r, bytes, c.threads);
  api::kept_function function(r);
  const auto type_and_op =
      graph::packed(static_cast<std::uint8_t>(of.number), static_cast<std::uint8_t>(with));
  const upc_coll_handle_t h =
      c.start({.op = root < 0 ? collectives::operation::team_allreduce : collectives::operation::team_reduce,
               .root = root < 0 ? 0 : static_cast<std::uint32_t>(root),
               .bytes = bytes,
               .apart = true},
              {.dst = to, .src = from, .sizes = count, .perm = type_and_op, .task = &r});
  function.hand_on();
  return h;
}

} // namespace detail
} // namespace weft
