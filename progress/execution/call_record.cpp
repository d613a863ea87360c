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

// A call that is made of an operation: its name, if that does not follow from the operation, and what it says
// besides what all say alike in any case; null: what the operation's own call does.
struct caller_facts {
  caller by;
  const char* name = nullptr;
  void (*say)(graph::call_fields& call, const collectives::request& r, const graph::binding& at) = nullptr;
};
void say_nothing(graph::call_fields&, const collectives::request&, const graph::binding&) {}
void say_block(graph::call_fields& call, const collectives::request& r, const graph::binding& at) {
  call.say(argument::block, at.sizes);
  call.say(argument::home, r.root);
}
// In the order of their enumerators.
constexpr caller_facts all_callers[] = {
    {caller::collective},
    {caller::cray},
    {caller::cray_nb},
    {caller::all_alloc, "upc_all_alloc",
     [](graph::call_fields& call, const collectives::request&, const graph::binding& at) {
       call.say(argument::bytes_a_thread, at.sizes);
     }},
    {caller::all_free, "upc_all_free", say_block},
    {caller::split, "cray_upc_team_split", say_nothing},
    {caller::from_threads, "weft_team_from_threads", say_nothing},
    {caller::init, "weft_init", say_nothing},
    {caller::finalize, "weft_finalize", say_nothing},
    {caller::lock_alloc, "upc_all_lock_alloc", say_nothing},
    {caller::lock_free, "upc_all_lock_free",
     [](graph::call_fields& call, const collectives::request& r, const graph::binding& at) {
       call.say(argument::serial, at.perm);
       say_block(call, r, at);
     }},
    {caller::domain_alloc, "upc_all_atomicdomain_alloc",
     [](graph::call_fields& call, const collectives::request&, const graph::binding& at) {
       call.say(argument::type_of_domain, graph::high_of(at.sizes));
       call.say(argument::ops_of_domain, graph::low_of(at.sizes));
       call.say(argument::hints, at.perm);
     }},
    {caller::domain_free, "upc_all_atomicdomain_free",
     [](graph::call_fields& call, const collectives::request&, const graph::binding& at) {
       call.say(argument::domain, at.sizes);
     }},
    {caller::reduce_values, "weft::reduce_all"},
    {caller::prefix_values, "weft::prefix_reduce"},
    {caller::exclusive_prefix_values, "weft::exclusive_prefix_reduce"},
    {caller::exclusive_scan, "cray_upc_team_exscan"},
    {caller::unequal_blocks, "cray_upc_team_reduce_scatterv"},
    {caller::allgatherv, "cray_upc_team_allgatherv"},
};
static_assert(graph::in_order(all_callers, [](const caller_facts& f) { return f.by; }));
static_assert(std::size(all_callers) == static_cast<std::size_t>(caller::allgatherv) + 1);

// Null of one that no rank of this version has written.
const caller_facts* facts_of(caller by) {
  const auto at = static_cast<std::size_t>(by);
  return at < std::size(all_callers) ? &all_callers[at] : nullptr;
}

} // namespace

// Everything that is compared, and therefore printed.
call_record::call_record(const collectives::request& r, const graph::binding& at) : from_(at.from) {
  of_ = {static_cast<std::uint8_t>(r.op), static_cast<std::uint8_t>(r.by), r.wide_perm};
  const caller_facts& made = *facts_of(r.by);
  if (made.say != nullptr) made.say(*this, r, at);
  if (made.say != nullptr || r.op == operation::barrier) return;
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
    say(collectives::sized_by_rows(r.op) ? argument::sizes : argument::nbytes,
        collectives::sized_by_rows(r.op) ? at.sizes : r.bytes + at.sizes); // so far, if it goes in several
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
  const caller_facts* const made = facts_of(by);
  if (made == nullptr) return "?";
  if (made->name != nullptr) return made->name;
  const collectives::operation_facts& of = collectives::facts_of(op);
  if (by == caller::collective)
    return std::string(of.call) + (op == operation::permute_x && !wide_perm ? "i" : "");
  return std::string(of.cray) + (by == caller::cray_nb && !of.of_vectors ? "_nb" : "");
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
