#include "api/calls/allocation.hpp"
#include "api/calls/registry.hpp"
#include "api/calls/split_barrier.hpp"
#include "api/checks/failure.hpp"
#include "api/include/upc.h"
#include "engine/out_of_memory.hpp"

#include <exception>

namespace weft::detail {

namespace {
constexpr const char* call = "weft::shared_array";
}

shared_object::shared_object(const array_layout& layout)
    : layout_(layout), exceptions_(std::uncaught_exceptions()) {
  if (!api::runtime::initialised()) {
    api::register_array(&base_, layout_);
    return;
  }
  api::require_no_split_barrier(call);
  base_ = api::allocate_array(api::runtime::get(call), call, layout_);
  owner_ = true;
}

shared_object::~shared_object() {
  if (!owner_) {
    api::unregister_array(&base_);
    return;
  }
  if (!api::runtime::initialised() || std::uncaught_exceptions() != exceptions_) return;
  constexpr const char* freeing = "upc_all_free";
  engine::until_there_is_memory("the end of a shared array",
                                [&] { api::free_by_all(api::runtime::get(freeing), freeing, base_); });
}

std::size_t shared_object::size() const {
  const extent& e = layout_.elements;
  return e.threads == 0 ? e.n : api::resolve(call, e, api::runtime::get(call).size());
}

std::size_t shared_object::block() const {
  const extent& e = layout_.block;
  return e.threads == 0 ? e.n : api::resolve(call, e, api::runtime::get(call).size());
}

} // namespace weft::detail
