// SPDX-License-Identifier: BSD-3-Clause
// Copies of rows that do not lie one behind the other. weft_put_rows is beside weft_put_signal.
#include "include/weft/rows.h"

#include "api/calls/copies.hpp"
#include "api/checks/checks.hpp"
#include "api/checks/handle_record.hpp"

#include <cstdint>
#include <cstring>
#include <string>

namespace weft {
namespace api {
namespace {

// `end` is the argument that has these rows.
[[noreturn, gnu::cold, gnu::noinline]] void fail_stride(const char* call, const char* end, std::size_t apart,
                                                        const std::string& rule) {
  fail(call, (end + std::string("_stride")).c_str(), std::to_string(apart), rule);
}

std::size_t extent(const char* call, const char* end, std::size_t apart, const row_shape& shape) {
  std::size_t bytes = 0;
  if (shape.rows > 1 && apart < shape.bytes) [[unlikely]]
    fail_stride(call, end, apart,
                "must not be less than nbytes, " + std::to_string(shape.bytes) +
                    ": each row ends before the next begins");
  if (__builtin_mul_overflow(shape.rows - 1, apart, &bytes) ||
      __builtin_add_overflow(bytes, shape.bytes, &bytes)) [[unlikely]]
    fail_stride(call, end, apart,
                "is more bytes than a size_t counts, for " + std::to_string(shape.rows) + " rows");
  return bytes;
}

// Whether a row of one end has a byte of a row of the other. Columns of one array lie between one another, so
// it goes along the rows of both.
bool meet(std::uintptr_t there, std::uintptr_t here, const row_shape& shape) {
  for (std::size_t i = 0, k = 0; i != shape.rows && k != shape.rows;) {
    const std::uintptr_t a = there + i * shape.apart_there, b = here + k * shape.apart_here;
    if (a + shape.bytes <= b)
      ++i;
    else if (b + shape.bytes <= a)
      ++k;
    else
      return true;
  }
  return false;
}

} // namespace

runtime* check_rows(const char* call, const char* there, upc_shared_ptr_t shared, const char* here,
                    const void* own, const row_shape& shape) {
  runtime& rt = runtime::get(call);
  if (shape.bytes == 0 || shape.rows == 0) return nullptr;
  const std::size_t in_shared = extent(call, there, shape.apart_there, shape);
  const std::size_t in_own = extent(call, here, shape.apart_here, shape);
  require_memory(rt, call, there, shared, in_shared);
  if (own == nullptr) [[unlikely]]
    fail(call, here, "null", "must not be null: pass private memory of the rows");
  const auto a = reinterpret_cast<std::uintptr_t>(rt.direct(shared.thread, shared.addr));
  const auto b = reinterpret_cast<std::uintptr_t>(own);
  // Rows are only looked at one by one where the areas of all of them lie in one another.
  if (a != 0 && (a - b < in_own || b - a < in_shared))
    if (meet(a, b, shape)) [[unlikely]]
      fail_pointer(call, there, shared,
                   "has rows that overlap the private ones: pass two areas that have no byte in common");
  return &rt;
}

void put_rows(runtime& rt, upc_shared_ptr_t to, const void* from, const row_shape& shape) {
  for (std::size_t k = 0; k != shape.rows; ++k, to.addr += shape.apart_there)
    put(rt, to, static_cast<const std::byte*>(from) + k * shape.apart_here, shape.bytes);
}

void get_rows(runtime& rt, void* to, upc_shared_ptr_t from, const row_shape& shape) {
  for (std::size_t k = 0; k != shape.rows; ++k, from.addr += shape.apart_there)
    get(rt, static_cast<std::byte*>(to) + k * shape.apart_here, from, shape.bytes);
}

} // namespace api

upc_coll_handle_t weft_get_rows(void* dst, size_t dst_stride, upc_shared_ptr_t src, size_t src_stride,
                                size_t nbytes, size_t rows) {
  constexpr const char* call = "weft_get_rows";
  const api::row_shape shape{nbytes, rows, src_stride, dst_stride};
  api::require_outside_user_code(call);
  api::runtime* const rt = api::check_rows(call, "src", src, "dst", dst, shape);
  if (rt == nullptr) return UPC_HANDLE_COMPLETE;
  return api::naming(call, [&] {
    api::handle h = UPC_HANDLE_COMPLETE;
    if (rt->direct(src.thread, src.addr) == nullptr) {
      auto r = progress::one_sided_request::get(dst, src.thread, src.addr, shape.all());
      r.rows = rows, r.apart_here = dst_stride, r.apart_there = src_stride;
      h = rt->post_transfer(r);
    }
    // Of the own host, or as many as allowed are outstanding.
    if (h == UPC_HANDLE_COMPLETE) api::get_rows(*rt, dst, src, shape);
    return api::handle_record::issued(call, h);
  });
}

} // namespace weft
