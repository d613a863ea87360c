#include "api/checks.hpp"
#include "api/weft/access.hpp"
#include "api/weft/heap.h"

#include <algorithm>
#include <cstring>
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

void copy_through(runtime& rt, upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t bytes) {
  std::vector<unsigned char> buffer(std::min(bytes, bounce_bytes));
  for (std::size_t piece = 0; bytes != 0; bytes -= piece, dst.addr += piece, src.addr += piece) {
    piece = std::min(bytes, buffer.size());
    rt.get(buffer.data(), src.thread, src.addr, piece);
    rt.put(dst.thread, dst.addr, buffer.data(), piece);
  }
}

void copy(runtime& rt, upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t bytes) {
  if (const void* from = rt.direct(src.thread, src.addr))
    put(rt, dst, from, bytes);
  else if (void* to = rt.direct(dst.thread, dst.addr))
    rt.get(to, src.thread, src.addr, bytes);
  else
    copy_through(rt, dst, src, bytes);
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

} // namespace
} // namespace api

void upc_memcpy(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes) {
  constexpr const char* call = "upc_memcpy";
  api::runtime& rt = api::runtime::get(call);
  if (nbytes == 0) return;
  api::require_memory(rt, call, "dst", dst, nbytes);
  api::require_memory(rt, call, "src", src, nbytes);
  api::naming(call, [&] { api::copy(rt, dst, src, nbytes); });
}

void upc_memget(void* dst, upc_shared_ptr_t src, size_t nbytes) {
  constexpr const char* call = "upc_memget";
  api::runtime& rt = api::runtime::get(call);
  if (nbytes == 0) return;
  api::require_private(call, "dst", dst);
  api::require_memory(rt, call, "src", src, nbytes);
  api::naming(call, [&] { api::get(rt, dst, src, nbytes); });
}

void upc_memput(upc_shared_ptr_t dst, const void* src, size_t nbytes) {
  constexpr const char* call = "upc_memput";
  api::runtime& rt = api::runtime::get(call);
  if (nbytes == 0) return;
  api::require_memory(rt, call, "dst", dst, nbytes);
  api::require_private(call, "src", src);
  api::naming(call, [&] { api::put(rt, dst, src, nbytes); });
}

void upc_memset(upc_shared_ptr_t dst, int c, size_t nbytes) {
  constexpr const char* call = "upc_memset";
  api::runtime& rt = api::runtime::get(call);
  if (nbytes == 0) return;
  api::require_memory(rt, call, "dst", dst, nbytes);
  api::naming(call, [&] { api::set(rt, dst, c, nbytes); });
}

namespace detail {

namespace {
constexpr const char* element = "element of shared memory";
}

void* reach(upc_shared_ptr_t p, std::size_t bytes) {
  api::runtime& rt = api::runtime::get(element);
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
