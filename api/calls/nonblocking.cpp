#include "api/calls/implicit_handles.hpp"
#include "api/completion/completion.hpp"
#include "api/include/upc_nb.h"

#include <exception>
#include <utility>
#include <vector>

namespace weft {
namespace api {
namespace {

// Handles of the calling application thread; some of them may be complete.
thread_local std::vector<handle> implicit_handles;

} // namespace

void expect_implicit() {
  if (implicit_handles.size() == implicit_handles.capacity())
    implicit_handles.reserve(2 * implicit_handles.size() + 16);
}

void begin_implicit(handle h) noexcept {
  implicit_handles.push_back(h);
}

} // namespace api

void upc_sync(upc_handle_t handle) {
  api::complete("upc_sync", handle);
}

int upc_sync_attempt(upc_handle_t handle) {
  return api::try_complete("upc_sync_attempt", handle) ? 1 : 0;
}

void upc_synci() {
  std::exception_ptr first_error;
  for (const api::handle h : std::exchange(api::implicit_handles, {})) {
    try {
      api::complete("upc_synci", h);
    } catch (...) {
      if (!first_error) first_error = std::current_exception();
    }
  }
  if (first_error) std::rethrow_exception(first_error);
}

int upc_synci_attempt() {
  std::vector<api::handle>& handles = api::implicit_handles;
  while (!handles.empty()) {
    const api::handle last = handles.back();
    handles.pop_back(); // an operation that failed is over, too
    if (api::try_complete("upc_synci_attempt", last)) continue;
    handles.push_back(last);
    return 0;
  }
  return 1;
}

upc_handle_t upc_memcpy_nb(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes) {
  upc_memcpy(dst, src, nbytes);
  return UPC_COMPLETE_HANDLE;
}

upc_handle_t upc_memget_nb(void* dst, upc_shared_ptr_t src, size_t nbytes) {
  upc_memget(dst, src, nbytes);
  return UPC_COMPLETE_HANDLE;
}

upc_handle_t upc_memput_nb(upc_shared_ptr_t dst, const void* src, size_t nbytes) {
  upc_memput(dst, src, nbytes);
  return UPC_COMPLETE_HANDLE;
}

upc_handle_t upc_memset_nb(upc_shared_ptr_t dst, int c, size_t nbytes) {
  upc_memset(dst, c, nbytes);
  return UPC_COMPLETE_HANDLE;
}

void upc_memcpy_nbi(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes) {
  upc_memcpy(dst, src, nbytes);
}

void upc_memget_nbi(void* dst, upc_shared_ptr_t src, size_t nbytes) {
  upc_memget(dst, src, nbytes);
}

void upc_memput_nbi(upc_shared_ptr_t dst, const void* src, size_t nbytes) {
  upc_memput(dst, src, nbytes);
}

void upc_memset_nbi(upc_shared_ptr_t dst, int c, size_t nbytes) {
  upc_memset(dst, c, nbytes);
}

} // namespace weft
