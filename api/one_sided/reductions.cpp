// SPDX-License-Identifier: BSD-3-Clause
// The one-sided reductions. Which rank computes is decided as in relocalization.cpp: the caller, or, between
// hosts and behind the caller's back, the engines of those that have the elements.
#include "api/calls/collective_call.hpp"
#include "api/calls/distributed_array.hpp"
#include "api/calls/operators.hpp"
#include "api/calls/reduction_call.hpp"
#include "api/checks/phase_record.hpp"
#include "api/one_sided/by_caller.hpp"
#include "include/weft/one_sided.hpp"

namespace weft {
namespace api {
namespace {

using reductions::element;

element element_of(const char* call, upc_type_t type) {
  static constexpr element all[] = {
      element::c,  element::uc, element::s,   element::us, element::i,  element::ui, element::l,
      element::ul, element::ll, element::ull, element::c,  element::uc, element::s,  element::us,
      element::i,  element::ui, element::l,   element::ul, element::f,  element::d,  element::ld,
      element{},   element::b,  element::cx,  element::dx, element::ldx};
  if (type < UPC_CHAR || type > WEFT_TYPE_CLDOUBLE || type == UPC_PTS)
    fail(call, "type", std::to_string(type),
         "is no type of elements that can be combined: pass UPC_INT, UPC_DOUBLE or another enumerator of "
         "upc_types.h but UPC_PTS");
  return all[type - UPC_CHAR];
}

struct one_sided_reduction {
  const char* name;
  enum : std::uint8_t { value, prefix, exclusive_prefix } what;
  upc_shared_ptr_t dst, src;
  upc_type_t type;
  upc_op_t op;
  std::size_t nelems, block;
  upc_flag_t flags;
};

class reduction_check {
public:
  reduction_check(const one_sided_reduction& r, runtime& rt, const subset& ranks)
      : r_(r), rt_(rt), ranks_(ranks),
        type_(element_of(r.name, r.type)), c_{r.name, rt, team_calls::all, {}, rt.size()},
        arrays_(c_, {.bytes = "nelems * size of the type",
                     .size = static_cast<std::uint32_t>(reductions::size_of(type_)),
                     .alignment = reductions::alignment_of(type_),
                     .elements = r.nelems,
                     .block = r.block}) {}

  one_sided_elements operands() const {
    one_sided_elements it;
    it.type = type_;
    refuse_functions();
    it.op = operator_of(r_.name, r_.op, type_, operators_with::nothing);
    it.how = builtin_kernels(r_.name, type_, it.op, operators_with::nothing);
    it.from = array("src", r_.src);
    it.dst = r_.dst;
    if (r_.what == one_sided_reduction::value)
      check_result();
    else
      it.to = array("dst", r_.dst);
    if (r_.what != one_sided_reduction::value && !upc_ptreq(r_.dst, r_.src)) check_apart(it);
    return it;
  }

private:
  void refuse_functions() const {
    if (r_.op != UPC_FUNC && r_.op != UPC_NONCOMM_FUNC) return;
    fail(r_.name, "op", r_.op == UPC_FUNC ? "UPC_FUNC" : "UPC_NONCOMM_FUNC",
         "is a function of this thread, which no other can call: pass an operator of the library, or use a "
         "collective reduction");
  }
  reductions::layout array(const char* argument, upc_shared_ptr_t p) const {
    require_not_null(r_.name, argument, p);
    require_thread(rt_, r_.name, argument, p.thread);
    if (is_ordinary(p)) fail_ordinary_pointer(r_.name, argument, p);
    const std::uint32_t first = ranks_.place_of(p.thread);
    if (first == ranks_.size())
      fail_pointer(r_.name, argument, p, "must have affinity to one of the threads that take part");
    return arrays_.over(argument, p, first, ranks_.size());
  }
  void check_result() const {
    const std::size_t size = reductions::size_of(type_);
    require_memory(rt_, r_.name, "dst", r_.dst, size);
    require_aligned(r_.name, "dst", r_.dst, reductions::alignment_of(type_));
  }
  void check_apart(const one_sided_elements& it) const {
    if (it.from.elements != 0 && distributed_array::overlap(it.from, it.to))
      fail_pointer(r_.name, "dst", r_.dst,
                   "overlaps src: pass two areas that have no byte in common, or the same pointer for both");
  }

  const one_sided_reduction& r_;
  runtime& rt_;
  const subset& ranks_;
  element type_;
  collective_call c_;
  distributed_array arrays_;
};

void note(const one_sided_reduction& call, runtime& rt, const subset& ranks, const one_sided_elements& it) {
  for (std::uint32_t k = 0; k < ranks.size(); ++k) {
    const reductions::layout::span from = it.from.of_thread(k);
    phase_record::note(rt, call.name, {ranks[k], from.at, from.elements * it.from.size, false});
    if (call.what == one_sided_reduction::value) continue;
    const reductions::layout::span to = it.to.of_thread(k);
    phase_record::note(rt, call.name, {ranks[k], to.at, to.elements * it.to.size, true});
  }
  if (call.what == one_sided_reduction::value && it.from.elements != 0)
    phase_record::note(rt, call.name, {it.dst.thread, it.dst.addr, it.from.size, true});
}

// By the engines, where the elements are. The result of a reduction is on one of them.
std::optional<collective_call> engines_for(const one_sided_reduction& call, runtime& rt, const subset& ranks,
                                           const one_sided_elements& it) {
  const bool async = (call.flags & UPC_ASYNC) != 0;
  if (call.what == one_sided_reduction::value && ranks.place_of(it.dst.thread) == ranks.size())
    return std::nullopt;
  if (!worth_engines(rt, ranks, checked(it.from.elements) * it.from.size, async)) return std::nullopt;
  return by_engines(call.name, rt, ranks, async);
}

upc_coll_handle_t post(const one_sided_reduction& call, const collective_call& engines, const subset& ranks,
                       const one_sided_elements& it) {
  reductions::reduction r;
  r.type = it.type;
  r.op = it.op;
  r.how = it.how;
  r.from = it.from;
  r.by_place = true;
  collectives::request wanted{.op = collectives::operation::reduce, .root = ranks.place_of(it.dst.thread)};
  if (call.what != one_sided_reduction::value) {
    using form = reductions::reduction::form;
    r.what = call.what == one_sided_reduction::prefix ? form::inclusive_prefix : form::exclusive_prefix;
    r.to = it.to;
    r.in_order = true;
    r.by_ranges = !alike(r.from, r.to);
    wanted = {.op = collectives::operation::prefix_reduce};
  }
  wanted.other_order = r.begins_elsewhere();
  prepare(r, ranks.size(), wanted);
  return engines.start(wanted, {.dst = it.dst.addr, .src = call.src.addr, .task = &r});
}

template <class Ranks> upc_coll_handle_t start(const one_sided_reduction& r, Ranks&& ranks) {
  runtime& rt = runtime::get(r.name);
  require_outside_user_code(r.name);
  require_known_flags(r.name, r.flags);
  const subset threads = ranks(rt);
  const one_sided_elements it = reduction_check(r, rt, threads).operands();
  if (phase_record::on) note(r, rt, threads, it);
  if (const auto engines = engines_for(r, rt, threads, it)) return post(r, *engines, threads, it);
  naming(r.name, [&] {
    const computed_by_caller work(r.name, rt, threads, it);
    if (r.what == one_sided_reduction::value)
      work.reduce();
    else
      work.scan(r.what == one_sided_reduction::exclusive_prefix);
  });
  return UPC_HANDLE_COMPLETE;
}

upc_coll_handle_t of_team(const one_sided_reduction& r, upc_team_t team) {
  return start(r, [&](runtime& rt) { return subset::of_team(rt, r.name, team); });
}
upc_coll_handle_t of_threads(const one_sided_reduction& r, const int* threads, std::size_t count) {
  return start(r, [&](runtime& rt) { return subset::of_list(rt, r.name, threads, count); });
}
// One element of each thread.
void of_all(one_sided_reduction r) {
  r.nelems = runtime::get(r.name).size();
  r.block = 1;
  r.src.phase = 0;
  if (r.what != one_sided_reduction::value) r.dst.phase = 0;
  of_team(r, UPC_TEAM_ALL);
}

} // namespace
} // namespace api

using api::one_sided_reduction;

void upc_reduce(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_type_t type, upc_op_t op) {
  api::of_all({"upc_reduce", one_sided_reduction::value, dst, src, type, op, 0, 0, 0});
}
upc_coll_handle_t upc_reduce_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_type_t type, upc_op_t op,
                                  size_t nelems, size_t blk_size, upc_flag_t flags, upc_team_t team) {
  return api::of_team({"upc_reduce", one_sided_reduction::value, dst, src, type, op, nelems, blk_size, flags},
                      team);
}
upc_coll_handle_t upc_reduce_threads(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_type_t type, upc_op_t op,
                                     size_t nelems, size_t blk_size, upc_flag_t flags, const int* threads,
                                     size_t count) {
  return api::of_threads(
      {"upc_reduce", one_sided_reduction::value, dst, src, type, op, nelems, blk_size, flags}, threads,
      count);
}
void upc_prefix_reduce(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_type_t type, upc_op_t op) {
  api::of_all({"upc_prefix_reduce", one_sided_reduction::prefix, dst, src, type, op, 0, 0, 0});
}
upc_coll_handle_t upc_prefix_reduce_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_type_t type,
                                         upc_op_t op, size_t nelems, size_t blk_size, upc_flag_t flags,
                                         upc_team_t team) {
  return api::of_team(
      {"upc_prefix_reduce", one_sided_reduction::prefix, dst, src, type, op, nelems, blk_size, flags}, team);
}
upc_coll_handle_t upc_prefix_reduce_threads(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_type_t type,
                                            upc_op_t op, size_t nelems, size_t blk_size, upc_flag_t flags,
                                            const int* threads, size_t count) {
  return api::of_threads(
      {"upc_prefix_reduce", one_sided_reduction::prefix, dst, src, type, op, nelems, blk_size, flags},
      threads, count);
}
void upc_xprefix_reduce(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_type_t type, upc_op_t op) {
  api::of_all({"upc_xprefix_reduce", one_sided_reduction::exclusive_prefix, dst, src, type, op, 0, 0, 0});
}
upc_coll_handle_t upc_xprefix_reduce_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_type_t type,
                                          upc_op_t op, size_t nelems, size_t blk_size, upc_flag_t flags,
                                          upc_team_t team) {
  return api::of_team({"upc_xprefix_reduce", one_sided_reduction::exclusive_prefix, dst, src, type, op,
                       nelems, blk_size, flags},
                      team);
}
upc_coll_handle_t upc_xprefix_reduce_threads(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_type_t type,
                                             upc_op_t op, size_t nelems, size_t blk_size, upc_flag_t flags,
                                             const int* threads, size_t count) {
  return api::of_threads({"upc_xprefix_reduce", one_sided_reduction::exclusive_prefix, dst, src, type, op,
                          nelems, blk_size, flags},
                         threads, count);
}

} // namespace weft
