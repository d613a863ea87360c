// SPDX-License-Identifier: BSD-3-Clause
#include "api/checks/checks.hpp"
#include "engine/memory/full_fence.hpp"
#include "engine/plan/call_fields.hpp"
#include "engine/reductions/names.hpp"
#include "include/weft/atomic.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <mutex>
#include <optional>

namespace weft {
namespace api {
namespace {

using control::atomic_kind;
using control::atomic_operation;
using control::atomic_type;
using control::atomic_value;

std::optional<atomic_type> type_of(upc_type_t t) {
  switch (t) {
  case UPC_INT:
  case UPC_INT32:
    return atomic_type::i32;
  case UPC_UINT:
  case UPC_UINT32:
    return atomic_type::u32;
  case UPC_LONG:
    return sizeof(long) == 8 ? atomic_type::i64 : atomic_type::i32;
  case UPC_ULONG:
    return sizeof(long) == 8 ? atomic_type::u64 : atomic_type::u32;
  case UPC_INT64:
    return atomic_type::i64;
  case UPC_UINT64:
    return atomic_type::u64;
  case UPC_FLOAT:
    return atomic_type::f32;
  case UPC_DOUBLE:
    return atomic_type::f64;
  case UPC_PTS:
    return atomic_type::pointer;
  default:
    return std::nullopt;
  }
}

struct operation_entry {
  upc_op_t op;
  atomic_kind kind;
  unsigned operands;
};
constexpr operation_entry operations[] = {
    {UPC_GET, atomic_kind::get, 0},  {UPC_SET, atomic_kind::set, 1},  {UPC_CSWAP, atomic_kind::cswap, 2},
    {UPC_ADD, atomic_kind::add, 1},  {UPC_SUB, atomic_kind::sub, 1},  {UPC_MULT, atomic_kind::mult, 1},
    {UPC_MIN, atomic_kind::min, 1},  {UPC_MAX, atomic_kind::max, 1},  {UPC_INC, atomic_kind::inc, 0},
    {UPC_DEC, atomic_kind::dec, 0},  {UPC_AND, atomic_kind::and_, 1}, {UPC_OR, atomic_kind::or_, 1},
    {UPC_XOR, atomic_kind::xor_, 1},
};
// By the number of its bit.
constexpr auto by_bit = [] {
  std::array<const operation_entry*, 16> all{};
  for (const operation_entry& e : operations)
    all[static_cast<std::size_t>(std::countr_zero(e.op))] = &e;
  return all;
}();

// A domain is its own description, {generation:24, type:4, ops:15, place:16}. The table of those that live is
// each thread's own; all make and free the same ones in the same order, so they agree on the places.
constexpr unsigned place_bits = 16, ops_bits = 15, type_bits = 4, generation_bits = 24;
constexpr std::size_t most_domains = std::size_t{1} << place_bits;
std::array<std::atomic<upc_atomicdomain_t>, most_domains> living;
std::mutex making;
std::size_t lowest_free = 0;
std::uint64_t generation = 0;

upc_op_t ops_of(upc_atomicdomain_t d) {
  return static_cast<upc_op_t>(d >> place_bits) & ((1u << ops_bits) - 1);
}
atomic_type type_in(upc_atomicdomain_t d) {
  return static_cast<atomic_type>(d >> (place_bits + ops_bits) & ((1u << type_bits) - 1));
}
std::atomic<upc_atomicdomain_t>& place_of(upc_atomicdomain_t d) {
  return living[d & (most_domains - 1)];
}

upc_atomicdomain_t make(const char* call, atomic_type t, upc_op_t ops) {
  const std::lock_guard lock(making);
  while (lowest_free != most_domains && living[lowest_free].load(std::memory_order_relaxed) != 0)
    ++lowest_free;
  if (lowest_free == most_domains)
    fail(call, "", "", "there are " + std::to_string(most_domains) + " domains: free some first");
  const std::uint64_t serial = ++generation & ((std::uint64_t{1} << generation_bits) - 1);
  const upc_atomicdomain_t d = serial << (place_bits + ops_bits + type_bits) |
                               std::uint64_t{static_cast<std::uint8_t>(t)} << (place_bits + ops_bits) |
                               std::uint64_t{ops} << place_bits | lowest_free;
  living[lowest_free].store(d, std::memory_order_release);
  return d;
}

// Nothing of it passes from one thread to another, so only checked mode tells the others; it waits for none.
void compare_with_others(runtime& rt, const char* call, collectives::caller by, std::uint64_t what,
                         std::uint64_t more) {
  if (!rt.checks_calls()) return;
  naming(call, [&] {
    rt.teams().run(
        team_calls::all,
        {.op = collectives::operation::gather_all, .in = graph::sync::no, .out = graph::sync::no, .by = by},
        {.sizes = what, .perm = more});
  });
}

void release(upc_atomicdomain_t d) {
  const std::lock_guard lock(making);
  place_of(d).store(0, std::memory_order_release);
  lowest_free = std::min(lowest_free, static_cast<std::size_t>(d & (most_domains - 1)));
}

[[noreturn, gnu::cold, gnu::noinline]] void fail_domain(const char* call, upc_atomicdomain_t d) {
  fail(call, "domain", std::to_string(d),
       "unknown or freed domain: pass what upc_all_atomicdomain_alloc returned");
}
void require_domain(const char* call, upc_atomicdomain_t d) {
  if (d == 0 || place_of(d).load(std::memory_order_relaxed) != d) [[unlikely]]
    fail_domain(call, d);
}

atomic_type require_type(const char* call, upc_type_t type, upc_op_t ops) {
  const std::optional<atomic_type> t = type_of(type);
  if (!t)
    fail(call, "type", reductions::name_of_type(type),
         "has no atomic operations: pass UPC_INT, UPC_UINT, UPC_LONG, UPC_ULONG, UPC_INT32, UPC_UINT32, "
         "UPC_INT64, UPC_UINT64, UPC_FLOAT, UPC_DOUBLE or UPC_PTS");
  upc_op_t known = 0;
  for (const operation_entry& e : operations)
    if (is_defined(e.kind, *t)) known |= e.op;
  if (ops == 0 || (ops & ~known) != 0)
    fail(call, "ops", reductions::names_of_operators(ops),
         ops == 0 ? "no operation: pass those of the domain, joined by |"
                  : reductions::names_of_operators(ops & ~known) + " is no operation of " +
                        reductions::name_of_type(type) +
                        ": UPC_GET, UPC_SET and "
                        "UPC_CSWAP all types have, UPC_AND, UPC_OR and UPC_XOR integers, the rest numbers");
  return *t;
}

const operation_entry& require_operation(const char* call, upc_atomicdomain_t d, upc_op_t op) {
  if (!std::has_single_bit(op) || (op & ops_of(d)) == 0) [[unlikely]]
    fail(call, "op", reductions::names_of_operators(op),
         "is not one of the operations of the domain: pass one that upc_all_atomicdomain_alloc got");
  return *by_bit[static_cast<std::size_t>(std::countr_zero(op))];
}

void require_given(const char* call, const char* argument, const void* p, const char* rule) {
  if (p == nullptr) [[unlikely]]
    fail(call, argument, "null", rule);
}

void perform(const char* call, upc_atomicdomain_t domain, void* fetch_ptr, upc_op_t op,
             upc_shared_ptr_t target, const void* operand1, const void* operand2) {
  runtime& rt = runtime::get(call);
  require_outside_user_code(call);
  require_domain(call, domain);
  const operation_entry& e = require_operation(call, domain, op);
  const atomic_type t = type_in(domain);
  const std::size_t bytes = size_of(t);
  require_memory(rt, call, "target", target, bytes);
  require_aligned(call, "target", target, is_word(t) ? bytes : alignof(upc_shared_ptr_t));
  if (e.kind == atomic_kind::get)
    require_given(call, "fetch_ptr", fetch_ptr, "must not be null: UPC_GET stores the value there");
  atomic_operation what{.type = t, .kind = e.kind};
  if (e.operands > 0) {
    require_given(call, "operand1", operand1, "must not be null: this operation needs it");
    std::memcpy(&what.operand1, operand1, bytes);
  }
  if (e.operands > 1) {
    require_given(call, "operand2", operand2, "must not be null: this operation needs it");
    std::memcpy(&what.operand2, operand2, bytes);
  }
  void* const here = is_word(t) ? rt.direct(target.thread, target.addr) : nullptr;
  const atomic_value before =
      here != nullptr ? control::apply(static_cast<std::byte*>(here), what)
                      : naming(call, [&] { return rt.apply_by_owner(target.thread, target.addr, what); });
  if (fetch_ptr != nullptr) std::memcpy(fetch_ptr, &before, bytes);
}

// Of what an operation has lent to a function of the user's, too.
void update_element(upc_shared_ptr_t target, atomic_operation what, void* before) {
  constexpr const char* element = "element of shared memory";
  runtime& rt = runtime::get(element);
  const std::size_t bytes = size_of(what.type);
  std::byte* here = rt.cast(target.thread, target.addr, bytes);
  if (here == nullptr) here = lent(target, bytes);
  if (here == nullptr) {
    require_memory(rt, element, "pointer", target, bytes);
    here = static_cast<std::byte*>(rt.direct(target.thread, target.addr));
  }
  if (here == nullptr) require_outside_user_code(element);
  const atomic_value was =
      here != nullptr ? control::apply(here, what)
                      : naming(element, [&] { return rt.apply_by_owner(target.thread, target.addr, what); });
  if (before != nullptr) std::memcpy(before, &was, bytes);
}

int speed(const char* call, upc_type_t type, upc_op_t ops, upc_shared_ptr_t addr) {
  runtime& rt = runtime::get(call);
  const atomic_type t = require_type(call, type, ops);
  require_thread(rt, call, "addr", addr.thread);
  bool fast = is_word(t);
  const std::uint32_t first = upc_isnull(addr) ? 0 : addr.thread;
  const std::uint32_t last = upc_isnull(addr) ? rt.size() - 1 : addr.thread;
  for (std::uint32_t thread = first; thread <= last; ++thread)
    fast = fast && rt.direct(thread, 0) != nullptr;
  return fast ? UPC_ATOMIC_PERFORMANCE_FAST : UPC_ATOMIC_PERFORMANCE_NOT_FAST;
}

} // namespace
} // namespace api

upc_atomicdomain_t upc_all_atomicdomain_alloc(upc_type_t type, upc_op_t ops, upc_atomichint_t hints) {
  constexpr const char* call = "upc_all_atomicdomain_alloc";
  api::runtime& rt = api::runtime::get(call);
  api::require_no_split_barrier(call);
  const api::atomic_type t = api::require_type(call, type, ops);
  if (hints < UPC_ATOMIC_HINT_DEFAULT || hints > UPC_ATOMIC_HINT_THROUGHPUT)
    api::fail(call, "hints", std::to_string(hints),
              "is no hint: pass UPC_ATOMIC_HINT_DEFAULT, _LATENCY or _THROUGHPUT");
  api::compare_with_others(rt, call, collectives::caller::domain_alloc,
                           graph::packed(static_cast<std::uint32_t>(type), ops),
                           static_cast<std::uint64_t>(hints));
  return api::make(call, t, ops);
}

void upc_all_atomicdomain_free(upc_atomicdomain_t domain) {
  constexpr const char* call = "upc_all_atomicdomain_free";
  api::runtime& rt = api::runtime::get(call);
  api::require_no_split_barrier(call);
  if (domain != 0) api::require_domain(call, domain);
  api::compare_with_others(rt, call, collectives::caller::domain_free, domain, 0);
  if (domain == 0) return;
  api::release(domain);
}

void upc_atomic_relaxed(upc_atomicdomain_t domain, void* fetch_ptr, upc_op_t op, upc_shared_ptr_t target,
                        const void* operand1, const void* operand2) {
  api::perform("upc_atomic_relaxed", domain, fetch_ptr, op, target, operand1, operand2);
}

// What was accessed before is complete, as all copies are; only stores of the processor may still be on their
// way.
void upc_atomic_strict(upc_atomicdomain_t domain, void* fetch_ptr, upc_op_t op, upc_shared_ptr_t target,
                       const void* operand1, const void* operand2) {
  engine::full_fence();
  api::perform("upc_atomic_strict", domain, fetch_ptr, op, target, operand1, operand2);
  engine::full_fence();
}

namespace detail {

void free_domain(upc_atomicdomain_t domain) noexcept {
  api::in_destructor([&] { upc_all_atomicdomain_free(domain); });
}

void update(upc_shared_ptr_t target, upc_type_t type, upc_op_t op, void* before, const void* operand) {
  api::atomic_operation what{.type = *api::type_of(type),
                             .kind = api::by_bit[static_cast<std::size_t>(std::countr_zero(op))]->kind};
  std::memcpy(&what.operand1, operand, size_of(what.type));
  api::update_element(target, what, before);
}

} // namespace detail

int upc_atomic_isfast(upc_type_t type, upc_op_t ops, upc_shared_ptr_t addr) {
  return api::speed("upc_atomic_isfast", type, ops, addr);
}

int upc_atomic_query(upc_type_t type, upc_op_t ops, upc_shared_ptr_t addr) {
  return api::speed("upc_atomic_query", type, ops, addr);
}

} // namespace weft
