// SPDX-License-Identifier: BSD-3-Clause
#include "api/completion/completion.hpp"
#include "api/checks/checks.hpp"
#include "api/checks/handle_record.hpp"
#include "include/weft/synchronization.h"

#include <cstdio>

namespace weft {
namespace api {

void fail_never_issued(const char* call, const char* argument, handle h) {
  char value[24];
  std::snprintf(value, sizeof value, "0x%llx", static_cast<unsigned long long>(h));
  fail(call, argument, value, "was never issued: pass what an asynchronous call returned on this thread");
}

void complete(const char* call, handle h) {
  if (h == UPC_HANDLE_COMPLETE) return;
  require_outside_user_code(call);
  runtime& rt = runtime::get(call);
  if (rt.query(h) == runtime::state::never_issued) [[unlikely]]
    fail_never_issued(call, "handle", h);
  const handle_record::completing noted(call, h);
  naming(call, [&] { rt.wait(h); });
}

bool try_complete(const char* call, handle h) {
  if (h == UPC_HANDLE_COMPLETE) return true;
  require_outside_user_code(call);
  runtime& rt = runtime::get(call);
  handle_record::completing noted(call, h);
  const runtime::state s = naming(call, [&] { return rt.test(h); });
  if (s != runtime::state::complete) noted.still_pending();
  if (s == runtime::state::never_issued) [[unlikely]]
    fail_never_issued(call, "handle", h);
  return s == runtime::state::complete;
}

namespace {

void require_handle(const char* call, const upc_coll_handle_t* handle) {
  if (handle == nullptr) fail(call, "handle", "null", "must be the address of a handle");
}

// A handle that is waited for is complete whether its operation went well or not; one that was never issued
// stays.
bool issued(const char* call, handle h) {
  return h != UPC_HANDLE_COMPLETE && runtime::get(call).query(h) != runtime::state::never_issued;
}

} // namespace
} // namespace api

void weft_wait_handle(upc_coll_handle_t* handle) {
  constexpr const char* call = "upc_wait";
  api::require_handle(call, handle);
  const upc_coll_handle_t h = *handle;
  if (api::issued(call, h)) *handle = UPC_HANDLE_COMPLETE;
  api::complete(call, h);
}

void upc_wait_value(upc_coll_handle_t handle) {
  api::complete("upc_wait", handle);
}

int weft_test_handle(upc_coll_handle_t* handle) {
  constexpr const char* call = "upc_test";
  api::require_handle(call, handle);
  if (*handle == UPC_HANDLE_COMPLETE) return 1;
  const upc_coll_handle_t h = *handle;
  // Cleared first: an operation that failed is complete, too.
  if (api::issued(call, h)) *handle = UPC_HANDLE_COMPLETE;
  if (api::try_complete(call, h)) return 1;
  *handle = h;
  return -1;
}

int upc_test_value(upc_coll_handle_t handle) {
  return api::try_complete("upc_test", handle) ? 1 : -1;
}

// Moves things on like a test: two threads that only ask would otherwise wait for each other.
int upc_get_status(upc_coll_handle_t handle) {
  constexpr const char* call = "upc_get_status";
  if (handle == UPC_HANDLE_COMPLETE) return 1;
  api::runtime& rt = api::runtime::get(call);
  if (rt.query(handle) == api::runtime::state::pending) api::naming(call, [&] { rt.progress(); });
  const api::runtime::state now = rt.query(handle);
  if (now == api::runtime::state::never_issued) api::fail_never_issued(call, "handle", handle);
  return now == api::runtime::state::complete ? 1 : -1;
}

} // namespace weft
