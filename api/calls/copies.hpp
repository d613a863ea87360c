// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "api/runtime/runtime.hpp"
#include "include/weft/types.h"

#include <cstddef>

// What the copies by one thread share, blocking or not.
namespace weft::api {

// The runtime, or null if there is nothing to copy. Errors: an end that is not shared memory, or null; ends
// that overlap.
runtime* check_memcpy(const char* call, upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t bytes);
runtime* check_memget(const char* call, void* dst, upc_shared_ptr_t src, std::size_t bytes);
runtime* check_memput(const char* call, upc_shared_ptr_t dst, const void* src, std::size_t bytes);
runtime* check_memset(const char* call, upc_shared_ptr_t dst, std::size_t bytes);

// Rows of so many bytes: how far apart they begin at either end.
struct row_shape {
  std::size_t bytes = 0, rows = 1, apart_there = 0, apart_here = 0;
  std::size_t all() const { return bytes * rows; }
};
// The runtime, or null if there is nothing to copy; `there` names the end in shared memory. Errors: as above;
// a row that reaches into the next one.
runtime* check_rows(const char* call, const char* there, upc_shared_ptr_t shared, const char* here,
                    const void* own, const row_shape& shape);

// They are complete, in place, on return.
void put_rows(runtime& rt, upc_shared_ptr_t to, const void* from, const row_shape& shape);
void get_rows(runtime& rt, void* to, upc_shared_ptr_t from, const row_shape& shape);
void copy(runtime& rt, upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t bytes);
void get(runtime& rt, void* to, upc_shared_ptr_t from, std::size_t bytes);
void put(runtime& rt, upc_shared_ptr_t to, const void* from, std::size_t bytes);
void set(runtime& rt, upc_shared_ptr_t dst, int c, std::size_t bytes);

// Begun: complete with the handle, or at once (0). Ends that loads and stores reach are copied at once.
handle begin_copy(runtime& rt, const char* call, upc_shared_ptr_t dst, upc_shared_ptr_t src,
                  std::size_t bytes);
void complete_all(runtime& rt, std::span<const handle> begun); // throws, after all, what one failed with
handle begin_get(runtime& rt, const char* call, void* dst, upc_shared_ptr_t src, std::size_t bytes);

// Before the operation is posted: makes room for it, or throws.
void expect_implicit();
// Adds an operation to those that the calling application thread began with the implicit handle.
void begin_implicit(handle h) noexcept;

} // namespace weft::api
