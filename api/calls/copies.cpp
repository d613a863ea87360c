// SPDX-License-Identifier: BSD-3-Clause
#include "api/calls/copies.hpp"

#include "api/checks/checks.hpp"
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
} // namespace weft
