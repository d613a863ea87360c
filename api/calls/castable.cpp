#include "api/checks/checks.hpp"
#include "api/include/upc_castable.h"

namespace weft {

void* upc_cast(upc_shared_ptr_t ptr) {
  constexpr const char* call = "upc_cast";
  api::runtime& rt = api::runtime::get(call);
  if (void* const there = rt.cast(ptr.thread, ptr.addr, 1)) return there;
  if (void* const there = api::lent(ptr, 1)) return there;
  if (upc_isnull(ptr)) return nullptr;
  api::require_thread(rt, call, "ptr", ptr.thread);
  api::require_heap_range(rt, call, "ptr", ptr, 1); // it may point behind a block: that is no access
  return rt.direct(ptr.thread, ptr.addr);
}

upc_thread_info_t upc_thread_info(size_t thread) {
  constexpr const char* call = "upc_thread_info";
  api::runtime& rt = api::runtime::get(call);
  api::require_thread(rt, call, "thread", thread);
  // A whole segment is reached by loads and stores, or nothing of it.
  const int castable = rt.direct(static_cast<std::uint32_t>(thread), 0) != nullptr ? UPC_CASTABLE_ALL : 0;
  return {castable, castable};
}

} // namespace weft
