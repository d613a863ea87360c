// SPDX-License-Identifier: BSD-3-Clause
#include "api/calls/copies.hpp"

#include "api/checks/checks.hpp"
#include "api/checks/handle_record.hpp"
#include "api/completion/completion.hpp"
#include "include/upc_nb.h"
#include "include/weft/access.hpp"
#include "include/weft/heap.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>
#include <vector>

namespace weft {
namespace api {
namespace {

// What goes through this process on its way between two threads whose memory it cannot reach.
constexpr std::size_t bounce_bytes = 256 * 1024;

void require_private(const char* call, const char* argument, const void* p) {
  if (p == nullptr) [[unlikely]]
    fail(call, argument, "null", "must not be null: pass private memory of nbytes bytes");
}

[[noreturn, gnu::cold, gnu::noinline]] void fail_ends(const char* call, upc_shared_ptr_t dst,
                                                      std::size_t bytes) {
  fail(call, "dst", "(" + describe(dst) + ")",
       "the " + std::to_string(bytes) +
           " bytes there overlap src: pass two areas that have no byte in common, or copy by way of a third");
}

// Whether there is anything to copy: old programs copy areas to themselves. Otherwise what one copy reads and
// writes has no byte in common; both ends are in the heap.
bool apart(const char* call, upc_shared_ptr_t dst, upc_shared_ptr_t src, checked bytes) {
  if (dst.thread != src.thread || dst.addr + bytes <= src.addr || src.addr + bytes <= dst.addr) [[likely]]
    return true;
  if (dst.addr != src.addr) fail_ends(call, dst, bytes.plain());
  return false;
}

// The private end may be the address that upc_cast gave for the shared one.
bool apart(runtime& rt, const char* call, const char* argument, upc_shared_ptr_t shared, const void* own,
           checked bytes) {
  const auto there = reinterpret_cast<std::uintptr_t>(rt.direct(shared.thread, shared.addr));
  const auto here = reinterpret_cast<std::uintptr_t>(own);
  if (there == 0 || there + bytes <= here || here + bytes <= there) [[likely]]
    return true;
  if (there != here)
    fail_pointer(call, argument, shared,
                 "overlaps the private end of the copy: pass two areas that have no byte in common");
  return false;
}

} // namespace

runtime* check_memcpy(const char* call, upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t bytes) {
  runtime& rt = runtime::get(call);
  if (bytes == 0) return nullptr;
  require_memory(rt, call, "dst", dst, bytes);
  require_memory(rt, call, "src", src, bytes);
  return apart(call, dst, src, bytes) ? &rt : nullptr;
}

runtime* check_memget(const char* call, void* dst, upc_shared_ptr_t src, std::size_t bytes) {
  runtime& rt = runtime::get(call);
  if (bytes == 0) return nullptr;
  require_private(call, "dst", dst);
  require_memory(rt, call, "src", src, bytes);
  return apart(rt, call, "src", src, dst, bytes) ? &rt : nullptr;
}

runtime* check_memput(const char* call, upc_shared_ptr_t dst, const void* src, std::size_t bytes) {
  runtime& rt = runtime::get(call);
  if (bytes == 0) return nullptr;
  require_memory(rt, call, "dst", dst, bytes);
  require_private(call, "src", src);
  return apart(rt, call, "dst", dst, src, bytes) ? &rt : nullptr;
}

runtime* check_memset(const char* call, upc_shared_ptr_t dst, std::size_t bytes) {
  runtime& rt = runtime::get(call);
  if (bytes == 0) return nullptr;
  require_memory(rt, call, "dst", dst, bytes);
  return &rt;
}

void put(runtime& rt, upc_shared_ptr_t to, const void* from, std::size_t bytes) {
  if (void* place = rt.direct(to.thread, to.addr))
    std::memcpy(place, from, bytes);
  else
    rt.put(to.thread, to.addr, from, bytes);
}

void get(runtime& rt, void* to, upc_shared_ptr_t from, std::size_t bytes) {
  if (const void* place = rt.direct(from.thread, from.addr))
    std::memcpy(to, place, bytes);
  else
    rt.get(to, from.thread, from.addr, bytes);
}

namespace {

void copy_through(runtime& rt, upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t bytes) {
  std::vector<unsigned char> buffer(std::min(bytes, bounce_bytes));
  for (std::size_t piece = 0; bytes != 0; bytes -= piece, dst.addr += piece, src.addr += piece) {
    piece = std::min(bytes, buffer.size());
    rt.get(buffer.data(), src.thread, src.addr, piece);
    rt.put(dst.thread, dst.addr, buffer.data(), piece);
  }
}

} // namespace

void copy(runtime& rt, upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t bytes) {
  if (const void* from = rt.direct(src.thread, src.addr))
    put(rt, dst, from, bytes);
  else if (void* to = rt.direct(dst.thread, dst.addr))
    rt.get(to, src.thread, src.addr, bytes);
  else
    copy_through(rt, dst, src, bytes);
}

void complete_all(runtime& rt, std::span<const handle> begun) {
  std::exception_ptr failed;
  for (const handle h : begun) {
    try {
      rt.wait(h);
    } catch (...) {
      failed = std::current_exception();
    }
  }
  if (failed) std::rethrow_exception(failed);
}

void set(runtime& rt, upc_shared_ptr_t dst, int c, std::size_t bytes) {
  if (void* place = rt.direct(dst.thread, dst.addr)) {
    std::memset(place, c, bytes);
    return;
  }
  const std::vector<unsigned char> buffer(std::min(bytes, bounce_bytes), static_cast<unsigned char>(c));
  for (std::size_t piece = 0; bytes != 0; bytes -= piece, dst.addr += piece) {
    piece = std::min(bytes, buffer.size());
    rt.put(dst.thread, dst.addr, buffer.data(), piece);
  }
}

} // namespace api

void upc_memcpy(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes) {
  constexpr const char* call = "upc_memcpy";
  if (api::runtime* const rt = api::check_memcpy(call, dst, src, nbytes))
    api::naming(call, [&] { api::copy(*rt, dst, src, nbytes); });
}

void upc_memget(void* dst, upc_shared_ptr_t src, size_t nbytes) {
  constexpr const char* call = "upc_memget";
  if (api::runtime* const rt = api::check_memget(call, dst, src, nbytes))
    api::naming(call, [&] { api::get(*rt, dst, src, nbytes); });
}

void upc_memput(upc_shared_ptr_t dst, const void* src, size_t nbytes) {
  constexpr const char* call = "upc_memput";
  if (api::runtime* const rt = api::check_memput(call, dst, src, nbytes))
    api::naming(call, [&] { api::put(*rt, dst, src, nbytes); });
}

void upc_memset(upc_shared_ptr_t dst, int c, size_t nbytes) {
  constexpr const char* call = "upc_memset";
  if (api::runtime* const rt = api::check_memset(call, dst, nbytes))
    api::naming(call, [&] { api::set(*rt, dst, c, nbytes); });
}

namespace detail {

namespace {
constexpr const char* element = "element of shared memory";
}

void* reach(upc_shared_ptr_t p, std::size_t bytes) {
  api::runtime& rt = api::runtime::get(element);
  if (void* const there = rt.cast(p.thread, p.addr, bytes)) return there;
  if (void* const there = api::lent(p, bytes)) return there;
  api::require_memory(rt, element, "pointer", p, bytes);
  return rt.direct(p.thread, p.addr);
}

void get(void* to, upc_shared_ptr_t from, std::size_t bytes) {
  api::naming(element, [&] { api::runtime::get(element).get(to, from.thread, from.addr, bytes); });
}

void put(upc_shared_ptr_t to, const void* from, std::size_t bytes) {
  api::naming(element, [&] { api::runtime::get(element).put(to.thread, to.addr, from, bytes); });
}

} // namespace detail

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

namespace {

// What loads and stores do not reach is begun, and complete with the handle; what they do is copied at once,
// and so is what no handle is left for.
template <class Blocking>
handle begin(runtime& rt, const char* call, const progress::one_sided_request& r, Blocking&& copy) {
  require_outside_user_code(call);
  return naming(call, [&] {
    const handle h = rt.post_transfer(r);
    if (h == UPC_COMPLETE_HANDLE) [[unlikely]]
      copy();
    return h;
  });
}

handle begin_memget(const char* call, void* dst, upc_shared_ptr_t src, std::size_t bytes) {
  runtime* const rt = check_memget(call, dst, src, bytes);
  return rt == nullptr ? UPC_COMPLETE_HANDLE : begin_get(*rt, call, dst, src, bytes);
}

handle begin_memput(const char* call, upc_shared_ptr_t dst, const void* src, std::size_t bytes) {
  runtime* const rt = check_memput(call, dst, src, bytes);
  if (rt == nullptr) return UPC_COMPLETE_HANDLE;
  if (void* const to = rt->direct(dst.thread, dst.addr)) {
    std::memcpy(to, src, bytes);
    return UPC_COMPLETE_HANDLE;
  }
  return begin(*rt, call, progress::one_sided_request::put(dst.thread, dst.addr, src, bytes),
               [&] { put(*rt, dst, src, bytes); });
}

handle begin_memset(const char* call, upc_shared_ptr_t dst, int c, std::size_t bytes) {
  runtime* const rt = check_memset(call, dst, bytes);
  if (rt == nullptr) return UPC_COMPLETE_HANDLE;
  if (void* const to = rt->direct(dst.thread, dst.addr)) {
    std::memset(to, c, bytes);
    return UPC_COMPLETE_HANDLE;
  }
  const auto value = static_cast<unsigned char>(c);
  return begin(*rt, call, progress::one_sided_request::set(dst.thread, dst.addr, value, bytes),
               [&] { set(*rt, dst, c, bytes); });
}

// One request that fits: of the two ends, those count that loads and stores do not reach.
progress::one_sided_request request_of(upc_shared_ptr_t dst, void* to, upc_shared_ptr_t src, const void* from,
                                       std::size_t bytes) {
  using request = progress::one_sided_request;
  if (from != nullptr) return request::put(dst.thread, dst.addr, from, bytes);
  if (to != nullptr) return request::get(to, src.thread, src.addr, bytes);
  return {.what = request::kind::copy,
          .from_rank = src.thread,
          .to_rank = dst.thread,
          .from = src.addr,
          .to = dst.addr,
          .bytes = bytes};
}

handle begin_memcpy(const char* call, upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t bytes) {
  runtime* const rt = check_memcpy(call, dst, src, bytes);
  return rt == nullptr ? UPC_COMPLETE_HANDLE : begin_copy(*rt, call, dst, src, bytes);
}

template <auto Begin, class... Arguments> void implicitly(const char* call, Arguments... arguments) {
  naming(call, expect_implicit);
  if (const handle h = Begin(call, arguments...); h != UPC_COMPLETE_HANDLE)
    begin_implicit(handle_record::issued(call, h));
}

} // namespace

handle begin_get(runtime& rt, const char* call, void* dst, upc_shared_ptr_t src, std::size_t bytes) {
  if (const void* const from = rt.direct(src.thread, src.addr)) {
    std::memcpy(dst, from, bytes);
    return UPC_COMPLETE_HANDLE;
  }
  return begin(rt, call, progress::one_sided_request::get(dst, src.thread, src.addr, bytes),
               [&] { get(rt, dst, src, bytes); });
}

handle begin_copy(runtime& rt, const char* call, upc_shared_ptr_t dst, upc_shared_ptr_t src,
                  std::size_t bytes) {
  void* const to = rt.direct(dst.thread, dst.addr);
  const void* const from = rt.direct(src.thread, src.addr);
  if (to != nullptr && from != nullptr) {
    std::memcpy(to, from, bytes);
    return UPC_COMPLETE_HANDLE;
  }
  return begin(rt, call, request_of(dst, to, src, from, bytes), [&] { copy(rt, dst, src, bytes); });
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
  constexpr const char* call = "upc_memcpy_nb";
  return api::handle_record::issued(call, api::begin_memcpy(call, dst, src, nbytes));
}

upc_handle_t upc_memget_nb(void* dst, upc_shared_ptr_t src, size_t nbytes) {
  constexpr const char* call = "upc_memget_nb";
  return api::handle_record::issued(call, api::begin_memget(call, dst, src, nbytes));
}

upc_handle_t upc_memput_nb(upc_shared_ptr_t dst, const void* src, size_t nbytes) {
  constexpr const char* call = "upc_memput_nb";
  return api::handle_record::issued(call, api::begin_memput(call, dst, src, nbytes));
}

upc_handle_t upc_memset_nb(upc_shared_ptr_t dst, int c, size_t nbytes) {
  constexpr const char* call = "upc_memset_nb";
  return api::handle_record::issued(call, api::begin_memset(call, dst, c, nbytes));
}

void upc_memcpy_nbi(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes) {
  api::implicitly<api::begin_memcpy>("upc_memcpy_nbi", dst, src, nbytes);
}

void upc_memget_nbi(void* dst, upc_shared_ptr_t src, size_t nbytes) {
  api::implicitly<api::begin_memget>("upc_memget_nbi", dst, src, nbytes);
}

void upc_memput_nbi(upc_shared_ptr_t dst, const void* src, size_t nbytes) {
  api::implicitly<api::begin_memput>("upc_memput_nbi", dst, src, nbytes);
}

void upc_memset_nbi(upc_shared_ptr_t dst, int c, size_t nbytes) {
  api::implicitly<api::begin_memset>("upc_memset_nbi", dst, c, nbytes);
}

} // namespace weft
