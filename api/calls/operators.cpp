// SPDX-License-Identifier: BSD-3-Clause
#include "api/calls/operators.hpp"

#include "api/checks/failure.hpp"
#include "include/upc_collective_cray.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <mutex>
#include <new>
#include <string>

namespace weft::api {

namespace {

// Those that the type has, and those of functions where the call takes one.
std::string known_operators(reductions::element type, operators_with with) {
  std::string all;
  const char* last = nullptr;
  for (std::size_t k = 0; k < reductions::operations; ++k) {
    const auto op = static_cast<reductions::operation>(k);
    const bool function =
        op == reductions::operation::function || op == reductions::operation::ordered_function;
    if (function ? with != operators_with::functions : reductions::kernels_of(type, op) == nullptr) continue;
    if (last != nullptr) all.append(all.empty() ? "" : ", ").append(last);
    last = reductions::name_of(op);
  }
  return all + " or " + last;
}

} // namespace

reductions::operation operator_of(const char* call, upc_op_t op, reductions::element type,
                                  operators_with with) {
  using reductions::operation;
  if (std::has_single_bit(op) && op <= UPC_MAX) return static_cast<operation>(std::countr_zero(op));
  if (with == operators_with::pairs && op == CRAY_UPC_MINLOC) return operation::min_location;
  if (with == operators_with::pairs && op == CRAY_UPC_MAXLOC) return operation::max_location;
  if (with == operators_with::functions && op == UPC_FUNC) return operation::function;
  if (with == operators_with::functions && op == UPC_NONCOMM_FUNC) return operation::ordered_function;
  fail(call, "op", std::to_string(op), "is no operator of this call: pass " + known_operators(type, with));
}

const reductions::kernels& builtin_kernels(const char* call, reductions::element type,
                                           reductions::operation op, operators_with with) {
  const reductions::kernels* const known = reductions::kernels_of(type, op);
  if (known == nullptr)
    fail(call, "op", name_of(op), "is not defined for this type: pass " + known_operators(type, with));
  return *known;
}

} // namespace weft::api

// A handle is 1, a number that says how often its place was used, and the place. A place whose operator was
// freed is used again when no operation holds it any more; so an old handle is known as one.
//
// To hold one: count, then look at its handle. To free it: the handle is cleared, and the next that wants a
// place looks at the count behind. All of that is sequentially consistent: whichever comes second sees the
// other.
namespace weft {

namespace api {
namespace {

constexpr unsigned place_bits = 12, use_bits = 19;
constexpr std::size_t most = std::size_t{1} << place_bits, types = reductions::elements + 1;

struct made_operator;
struct of_type {
  made_operator* made;
  cray_upc_dtype_t type;
};

struct made_operator {
  cray_upc_user_fun_t function = nullptr; // or
  weft_user_function_t sized = nullptr;
  void* context = nullptr;
  std::size_t size = 0; // bytes of an element; 0: of the type that a call names
  bool commutes = false;
  std::array<of_type, types> by_type{}; // what the kernels get
  upc_op_t uses = 0;
  std::atomic<upc_op_t> handle{0}; // 0: freed
  std::atomic<std::uint32_t> holders{0};

  std::size_t size_of(cray_upc_dtype_t type) const {
    return size != 0 ? size : reductions::size_of(static_cast<reductions::element>(type));
  }
  std::size_t alignment_of(cray_upc_dtype_t type) const {
    constexpr std::size_t largest = alignof(std::max_align_t);
    return size != 0 ? std::min(size & -size, largest)
                     : reductions::alignment_of(static_cast<reductions::element>(type));
  }
  void call(const void* in, void* inout, std::size_t count, cray_upc_dtype_t type) const {
    if (sized != nullptr) return sized(in, inout, count, context);
    function(const_cast<void*>(in), inout, &count, &type); // the type of Cray's functions; they only read it
  }
};

constinit std::array<std::atomic<made_operator*>, most> places{};
constinit std::mutex making;

bool is_aligned(const void* p, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(p) % alignment == 0;
}

// into = into op from. The function leaves the result in its second operand.
void combine(void* into, const void* from, std::size_t count, const void* argument) {
  const auto& t = *static_cast<const of_type*>(argument);
  const made_operator& op = *t.made;
  const std::size_t size = op.size_of(t.type), alignment = op.alignment_of(t.type);
  const bool aligned = is_aligned(into, alignment) && is_aligned(from, alignment);
  if (op.commutes && aligned) return op.call(from, into, count, t.type);
  alignas(64) std::array<std::byte, reductions::largest_element> left, right;
  auto* to = static_cast<std::byte*>(into);
  const auto* next = static_cast<const std::byte*>(from);
  for (std::size_t now; count != 0; count -= now, to += now * size, next += now * size) {
    now = std::min(count, right.size() / size);
    std::memcpy(right.data(), next, now * size);
    if (!aligned) std::memcpy(left.data(), to, now * size);
    op.call(aligned ? to : left.data(), right.data(), now, t.type);
    std::memcpy(to, right.data(), now * size);
  }
}

// Of vectors nothing else is asked.
void fold(void* into, const void* from, std::size_t count, bool more, const void* argument) {
  const auto& t = *static_cast<const of_type*>(argument);
  const std::size_t size = t.made->size_of(t.type);
  const auto* next = static_cast<const std::byte*>(from);
  for (std::size_t k = 0; k != count; ++k, next += size)
    if (more || k != 0)
      combine(into, next, 1, argument);
    else
      std::memcpy(into, next, size);
}

made_operator* at_place(upc_op_t op) {
  return places[op & (most - 1)].load(std::memory_order_acquire);
}

[[noreturn]] void fail_operator(const char* call, upc_op_t op) {
  fail(call, "op", std::to_string(op),
       "was freed by cray_upc_op_free, or never made on this thread: pass what cray_upc_op_create or "
       "weft_op_create has stored");
}

[[noreturn]] void fail_type(const char* call, cray_upc_dtype_t dtype) {
  fail(call, "dtype", std::to_string(static_cast<int>(dtype)),
       "must be WEFT_OPAQUE with an operator that weft_op_create made, and with no other");
}

// A place that no operation holds. Null if all are taken.
made_operator* free_place(std::size_t& place) {
  for (place = 0; place != most; ++place) {
    made_operator* const old = places[place].load(std::memory_order_acquire);
    if (old == nullptr) return new (std::nothrow) made_operator;
    if (old->handle.load() == 0 && old->holders.load() == 0) return old;
  }
  return nullptr;
}

template <class Fill> cray_upc_return_t make(const char* call, int commute, upc_op_t* op, Fill&& fill) {
  if (op == nullptr) fail(call, "op", "null", "must be the address of an operator");
  const std::lock_guard lock(making);
  std::size_t place = 0;
  made_operator* const made = free_place(place);
  if (made == nullptr) return CRAY_UPC_ERROR;
  made->function = nullptr;
  made->sized = nullptr;
  made->size = 0;
  made->commutes = commute != 0;
  fill(*made);
  for (std::size_t k = 0; k != types; ++k)
    made->by_type[k] = {made, static_cast<cray_upc_dtype_t>(k)};
  made->uses = (made->uses + 1) & ((upc_op_t{1} << use_bits) - 1);
  *op = upc_op_t{1} << 31 | made->uses << place_bits | static_cast<upc_op_t>(place);
  made->handle.store(*op, std::memory_order_release);
  places[place].store(made, std::memory_order_release);
  return CRAY_UPC_SUCCESS;
}

} // namespace

used_operator hold_operator(const char* call, upc_op_t op, cray_upc_dtype_t dtype) {
  made_operator* const made = at_place(op);
  if (made == nullptr) fail_operator(call, op);
  made->holders.fetch_add(1);
  if (made->handle.load() != op) {
    made->holders.fetch_sub(1);
    fail_operator(call, op);
  }
  if ((made->size != 0) != (dtype == WEFT_OPAQUE)) {
    made->holders.fetch_sub(1);
    fail_type(call, dtype);
  }
  const of_type& t = made->by_type[static_cast<std::size_t>(dtype)];
  return {{combine, fold, nullptr}, &t, made->commutes};
}

void give_back_operator(const void* argument) {
  static_cast<const of_type*>(argument)->made->holders.fetch_sub(1);
}

std::size_t size_of_elements(const char* call, upc_op_t op) {
  const made_operator* const made = is_made(op) ? at_place(op) : nullptr;
  if (made == nullptr || made->handle.load() != op) fail_operator(call, op);
  if (made->size == 0) fail_type(call, WEFT_OPAQUE);
  return made->size;
}

} // namespace api

cray_upc_return_t cray_upc_op_create(cray_upc_user_fun_t func, int commute, upc_op_t* op) {
  constexpr const char* call = "cray_upc_op_create";
  if (func == nullptr) api::fail(call, "func", "null", "must be the function that combines two vectors");
  return api::make(call, commute, op, [=](api::made_operator& made) { made.function = func; });
}

cray_upc_return_t weft_op_create(weft_user_function_t func, void* context, size_t elem_size, int commute,
                                 upc_op_t* op) {
  constexpr const char* call = "weft_op_create";
  if (func == nullptr) api::fail(call, "func", "null", "must be the function that combines two vectors");
  if (elem_size == 0 || elem_size > reductions::largest_element)
    api::fail(call, "elem_size", std::to_string(elem_size),
              "must be 1 to " + std::to_string(reductions::largest_element) + " bytes");
  return api::make(call, commute, op, [=](api::made_operator& made) {
    made.sized = func;
    made.context = context;
    made.size = elem_size;
  });
}

void cray_upc_op_free(upc_op_t op) {
  constexpr const char* call = "cray_upc_op_free";
  if (!api::is_made(op)) api::fail(call, "op", std::to_string(op), "is an operator of the library");
  api::made_operator* const made = api::at_place(op);
  upc_op_t expected = op;
  if (made == nullptr || !made->handle.compare_exchange_strong(expected, 0)) api::fail_operator(call, op);
}

} // namespace weft
