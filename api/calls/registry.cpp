// SPDX-License-Identifier: BSD-3-Clause
#include "api/calls/allocation.hpp"

#include "api/checks/checks.hpp"
#include "api/checks/failure.hpp"
#include "engine/out_of_memory.hpp"
#include "include/upc.h"
#include "include/weft/arithmetic.hpp"
#include "include/weft/heap.h"

#include <cstring>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

namespace weft {
namespace api {
namespace {

struct registered {
  upc_shared_ptr_t* where;
  layout l;
};

// Made by the first registration, which may be part of the program's static initialisation, and so destroyed
// after the objects that it points to.
std::vector<registered>& registry() {
  static std::vector<registered> arrays;
  return arrays;
}

std::size_t array_bytes(runtime& rt, const char* call, const layout& l) {
  const std::size_t elements = resolve(call, l.elements, rt.size());
  const std::size_t block = resolve(call, l.block, rt.size());
  if (elements == 0) fail(call, "elements", "0", "must be positive");
  detail::require_block(call, block);
  if (block == 0)
    return product(call, "elements * element size", elements, l.element_bytes); // all on thread 0
  const std::size_t blocks = elements / block + (elements % block != 0 ? 1 : 0);
  return bytes_per_thread(call, blocks, product(call, "block * element size", block, l.element_bytes),
                          rt.size());
}

void fill_with_zeros(runtime& rt, upc_shared_ptr_t array, std::size_t bytes) {
  std::memset(rt.direct(rt.rank(), array.addr), 0, bytes);
}

} // namespace

std::size_t resolve(const char* call, extent e, std::uint32_t threads) {
  std::size_t n = e.n;
  for (unsigned factor = 0; factor != e.threads; ++factor)
    n = product(call, "elements * THREADS", n, threads);
  return n;
}

upc_shared_ptr_t allocate_array(runtime& rt, const char* call, const layout& l) {
  const std::size_t bytes = array_bytes(rt, call, l);
  const std::uint64_t offset = naming(call, [&] { return rt.allocate_all(bytes); });
  const auto words = [=] { return std::to_string(bytes) + " bytes per thread"; };
  return allocated(rt, call, "shared array", words, bytes, offset, 0);
}

// So that the next registration needs none.
void reserve_registration() {
  registry().reserve(registry().size() + 1);
}

void register_array(upc_shared_ptr_t* where, const layout& l) {
  registry().push_back({where, l});
}

void unregister_array(const upc_shared_ptr_t* where) {
  std::erase_if(registry(), [where](const registered& r) { return r.where == where; });
}

// Its place in the order of registrations stays.
void move_registration(const upc_shared_ptr_t* from, upc_shared_ptr_t* to) noexcept {
  for (registered& r : registry())
    if (r.where == from) r.where = to;
}

void allocate_registered(runtime& rt) {
  constexpr const char* call = "weft_init";
  if (registry().empty()) return;
  for (const registered& r : registry()) {
    *r.where = allocate_array(rt, call, r.l);
    fill_with_zeros(rt, *r.where, array_bytes(rt, call, r.l));
  }
  rt.run_barrier(std::nullopt); // no rank writes into an array that its owner still fills
}

void forget_registered() {
  for (const registered& r : registry())
    *r.where = UPC_SHARED_NULL;
}

} // namespace api

void weft_register_shared(upc_shared_ptr_t* where, size_t block_elems, size_t elem_size, size_t elems,
                          int per_thread) {
  constexpr const char* call = "weft_register_shared";
  if (where == nullptr) api::fail(call, "where", "null", "must be the address of a pointer-to-shared");
  if (elem_size == 0) api::fail(call, "elem_size", "0", "must be the size of an element in bytes");
  if (elems == 0) api::fail(call, "elems", "0", "must be positive");
  detail::require_block(call, block_elems);
  const api::layout l{extent(elems, per_thread != 0 ? 1 : 0), block_elems, elem_size};
  api::naming(call, api::reserve_registration); // before anything has begun with the others
  if (api::runtime::initialised()) {
    api::runtime& rt = api::runtime::get(call);
    api::require_no_split_barrier(call);
    *where = api::allocate_array(rt, call, l);
    api::fill_with_zeros(rt, *where, api::array_bytes(rt, call, l));
    api::naming(call, [&] {
      engine::until_there_is_memory("a registered array", [&] { rt.run_barrier(std::nullopt); });
    });
  }
  api::register_array(where, l);
}

} // namespace weft

namespace weft::detail {

shared_object::shared_object(const array_layout& layout)
    : layout_(layout), exceptions_(std::uncaught_exceptions()) {
  if (!api::runtime::initialised()) {
    api::register_array(&base_, layout_);
    return;
  }
  api::require_no_split_barrier(layout_.name);
  base_ = api::allocate_array(api::runtime::get(layout_.name), layout_.name, layout_);
  owner_ = true;
}

shared_object::~shared_object() {
  if (!owner_) {
    api::unregister_array(&base_);
    return;
  }
  if (!api::runtime::initialised() || std::uncaught_exceptions() != exceptions_) return;
  constexpr const char* freeing = "upc_all_free";
  try {
    api::naming(freeing, [&] {
      engine::until_there_is_memory("the end of a shared array",
                                    [&] { api::free_by_all(api::runtime::get(freeing), freeing, base_); });
    });
  } catch (const error& e) { // a destructor throws nothing
    api::end_with_line(e.what());
  }
}

void shared_object::take(shared_object& other) noexcept {
  layout_ = other.layout_;
  base_ = std::exchange(other.base_, {});
  exceptions_ = other.exceptions_;
  owner_ = std::exchange(other.owner_, false);
  if (!owner_) api::move_registration(&other.base_, &base_);
}

shared_object::shared_object(shared_object&& other) noexcept : layout_(other.layout_) {
  take(other);
}

shared_object& shared_object::operator=(shared_object&& other) noexcept {
  if (this == &other) return *this;
  const shared_object before(std::move(*this));
  take(other);
  return *this;
}

std::size_t shared_object::size() const {
  const extent& e = layout_.elements;
  return e.threads == 0 ? e.n : api::resolve(layout_.name, e, api::runtime::get(layout_.name).size());
}

std::size_t shared_object::block() const {
  const extent& e = layout_.block;
  return e.threads == 0 ? e.n : api::resolve(layout_.name, e, api::runtime::get(layout_.name).size());
}

} // namespace weft::detail
