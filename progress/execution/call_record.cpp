// SPDX-License-Identifier: BSD-3-Clause
#include "progress/execution/call_record.hpp"

#include "engine/call_place.hpp"
#include "engine/format.hpp"
#include "engine/plan/names.hpp"
#include "engine/reductions/names.hpp"

#include <iterator>

namespace weft::progress {

using collectives::caller;
using collectives::operation;

namespace {

using graph::argument;

// By caller, in its order; the first three depend on the operation.
constexpr const char* names_of_callers[] = {"",
                                            "",
                                            "",
                                            "upc_all_alloc",
                                            "upc_all_free",
                                            "cray_upc_team_split",
                                            "weft_team_from_threads",
                                            "weft_init",
                                            "weft_finalize",
                                            "upc_all_lock_alloc",
                                            "upc_all_lock_free",
                                            "upc_all_atomicdomain_alloc",
                                            "upc_all_atomicdomain_free",
                                            "weft::reduce_all",
                                            "weft::prefix_reduce",
                                            "weft::exclusive_prefix_reduce",
                                            "cray_upc_team_exscan",
                                            "cray_upc_team_reduce_scatterv",
                                            "cray_upc_team_allgatherv"};
static_assert(std::size(names_of_callers) == static_cast<std::size_t>(caller::allgatherv) + 1);

constexpr bool has_arrays(operation op) {
  return op > operation::broadcast_x && !collectives::computes(op);
}

std::uint64_t packed_mode(const collectives::request& r) {
  const auto byte = [](auto value, unsigned at) {
    return std::uint64_t{static_cast<std::uint8_t>(value)} << 8 * at;
  };
  return byte(r.in, 0) | byte(r.out, 1) | byte(r.direction, 2) | byte(r.in_place, 3);
}
std::string mode_text(std::uint64_t packed) {
  const auto byte = [packed](unsigned at) { return static_cast<std::uint8_t>(packed >> 8 * at); };
  const auto direction = static_cast<graph::hint>(byte(2));
  std::string text = weft::engine::format("{}/{}", graph::name(static_cast<graph::sync>(byte(0))),
                                          graph::name(static_cast<graph::sync>(byte(1))));
  if (direction != graph::hint::none) text += direction == graph::hint::push ? ", push" : ", pull";
  if (byte(3) != 0) text += ", in place";
  return text;
}

std::string place_text(std::uint64_t place) {
  return weft::engine::format("thread {} phase {}", graph::high_of(place), graph::low_of(place));
}
std::string order_text(std::uint64_t order) {
  static constexpr const char* orders[] = {"a function", "unsigned integers", "signed integers",
                                           "floating numbers"};
  return order < std::size(orders) ? orders[order] : "?";
}
std::string form_text(std::uint64_t form) {
  static constexpr const char* forms[] = {"inclusive", "exclusive", "reproducible",
                                          "exclusive, reproducible"};
  return forms[form % std::size(forms)];
}
std::string hex(std::uint64_t value) {
  return weft::engine::format("{:#x}", value);
}
std::string number(std::uint64_t value) {
  return std::to_string(value);
}

// What a call says that a user knows by this name, in the order of the enumerators.
struct argument_facts {
  argument what;
  const char* name;
  std::string (*show)(std::uint64_t);
};
constexpr argument_facts all_arguments[] = {
    {argument::dst, "dst ", hex},
    {argument::dst_place, "dst on ", place_text},
    {argument::src, "src ", hex},
    {argument::src_place, "src on ", place_text},
    {argument::array, "A ", hex},
    {argument::array_place, "A on ", place_text},
    {argument::perm, "perm ", hex},
    {argument::nbytes, "nbytes ", number},
    {argument::sizes, "nbytes ", hex},
    {argument::nelems, "nelems ", number},
    {argument::blk_size, "blk_size ", number},
    {argument::elem_size, "elem_size ", number},
    {argument::type, "type ",
     [](std::uint64_t v) -> std::string { return name_of(static_cast<reductions::element>(v)); }},
    {argument::op, "op ",
     [](std::uint64_t v) -> std::string { return name_of(static_cast<reductions::operation>(v)); }},
    {argument::order, "by ", order_text},
    {argument::root, "root ", number},
    {argument::mode, "", mode_text},
    {argument::form, "", form_text},
    {argument::bytes_a_thread, "", [](std::uint64_t v) { return number(v) + " bytes a thread"; }},
    {argument::block, "offset ", hex},
    {argument::home, "of thread ", number},
    {argument::serial, "number ", number},
    {argument::type_of_domain, "type ",
     [](std::uint64_t v) { return reductions::name_of_type(static_cast<int>(v)); }},
    {argument::ops_of_domain, "ops ",
     [](std::uint64_t v) { return reductions::names_of_operators(static_cast<upc_op_t>(v)); }},
    {argument::hints, "hints ", number},
    {argument::domain, "domain ", number},
    {argument::counts, "digest of counts ", hex},
};
static_assert(graph::in_order(all_arguments, [](const argument_facts& f) { return f.what; }));

// The calls that are made of operations on memory of the library's own.
bool say_arguments_of_caller(graph::call_fields& call, const collectives::request& r,
                             const graph::binding& at) {
  switch (r.by) {
  case caller::all_alloc:
    call.say(argument::bytes_a_thread, at.sizes);
    return true;
  case caller::lock_free:
    call.say(argument::serial, at.perm);
    [[fallthrough]];
  case caller::all_free:
    call.say(argument::block, at.sizes);
    call.say(argument::home, r.root);
    return true;
  case caller::domain_alloc:
    call.say(argument::type_of_domain, graph::high_of(at.sizes));
    call.say(argument::ops_of_domain, graph::low_of(at.sizes));
    call.say(argument::hints, at.perm);
    return true;
  case caller::domain_free:
    call.say(argument::domain, at.sizes);
    return true;
  case caller::reduce_values:
  case caller::prefix_values:
  case caller::exclusive_prefix_values:
  case caller::exclusive_scan:
  case caller::unequal_blocks:
  case caller::allgatherv:
  case caller::collective:
  case caller::cray:
  case caller::cray_nb:
    return r.op == operation::barrier;
  default:
    return true; // what all say alike in any case
  }
}

} // namespace

// Everything that is compared, and therefore printed.
call_record::call_record(const collectives::request& r, const graph::binding& at) : from_(at.from) {
  of_ = {static_cast<std::uint8_t>(r.op), static_cast<std::uint8_t>(r.by), r.wide_perm};
  if (say_arguments_of_caller(*this, r, at)) return;
  if (r.op == operation::sort) {
    say(argument::array, at.dst);
  } else if (!r.apart) {
    say(argument::dst, at.dst);
    say(argument::src, at.src);
  }
  if (permutes()) say(argument::perm, at.perm);
  const bool told = !collectives::sized_by_members(r.op); // all members know the sizes
  if (told && collectives::computes(r.op))
    say(argument::nelems, at.sizes);
  else if (told)
    say(has_arrays(r.op) ? argument::sizes : argument::nbytes, has_arrays(r.op) ? at.sizes : r.bytes);
  if (told && r.apart && collectives::computes(r.op)) {
    say(argument::type, graph::high_of(at.perm));
    say(argument::op, graph::low_of(at.perm));
  }
  if (at.task != nullptr && at.task->say != nullptr) {
    at.task->say(*at.task, *this);
  }
  if (collectives::rooted(r.op)) say(argument::root, r.root);
  say(argument::mode, packed_mode(r));
}

std::string call_name(operation op, caller by, bool wide_perm) {
  if (by > caller::cray_nb) {
    const auto at = static_cast<std::size_t>(by);
    return at < std::size(names_of_callers) ? names_of_callers[at] : "?";
  }
  const bool barrier = op == operation::barrier;
  if (collectives::of_vectors(op)) return weft::engine::format("cray_upc_{}", collectives::name(op));
  if (by == caller::collective)
    return barrier ? "upc_barrier"
                   : weft::engine::format("upc_all_{}{}", collectives::name(op),
                                          op == operation::permute_x && !wide_perm ? "i" : "");
  return std::string(barrier ? "cray_upc_team_barrier" : "cray_upc_team_alltoall") +
         (by == caller::cray_nb ? "_nb" : "");
}

std::string call_name(const collectives::request& r) {
  return call_name(r.op, r.by, r.wide_perm);
}

std::string text_of(const call_record& call) {
  std::string arguments;
  call.each([&](argument what, std::uint64_t value) {
    if (static_cast<std::size_t>(what) >= std::size(all_arguments)) return;
    const argument_facts& facts = all_arguments[static_cast<std::size_t>(what)];
    arguments += (arguments.empty() ? "" : ", ") + std::string(facts.name) + facts.show(value);
  });
  std::string text =
      weft::engine::format("{}({})", call_name(call.op(), call.by(), call.wide_perm()), arguments);
  if (call.from() != 0) text += " at " + engine::call_place::text_of(call.from());
  return text;
}

namespace {

// Calls that are the same, and rows in shared memory that do not fit together.
std::string names_of(const call_dispute& d) {
  if (d.rank == d.other_rank)
    return weft::engine::format("the element of perm of thread {} names no thread of the team", d.rank);
  if (d.call.permutes())
    return weft::engine::format(
        "the elements of perm of threads {} and {} both name thread {}: a permutation names every "
        "thread of the team once",
        d.rank, d.other_rank, d.call.named());
  return weft::engine::format(
      "the elements of thread {} name thread {} as the root, those of thread {} name thread {}: all "
      "must name the same",
      d.rank, d.call.named(), d.other_rank, d.other_call.named());
}

} // namespace

std::string text_of(const call_dispute& d, engine::sequence now) {
  if (d.call.same_call(d.other_call))
    return weft::engine::format("operation {} of team {}, {}: {}{}", d.seq, d.team, text_of(d.call),
                                names_of(d),
                                now == d.seq ? "" : "; nothing else can be done on this team since then");
  return weft::engine::format(
      "operation {} of team {}: thread {} called {}, thread {} called {}: all threads must make "
      "the same calls in the same order{}",
      d.seq, d.team, d.rank, text_of(d.call), d.other_rank, text_of(d.other_call),
      now == d.seq ? "" : "; nothing else can be done on this team since then");
}

} // namespace weft::progress
