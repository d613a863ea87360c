// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "api/runtime/runtime.hpp"

namespace weft::api {

// The completion of handles under any of its names. 0 is complete. Errors: a handle that was never issued,
// and what the operation failed with.
void complete(const char* call, handle h);
bool try_complete(const char* call, handle h);

// `argument` is what the handle was passed as.
[[noreturn, gnu::cold, gnu::noinline]] void fail_never_issued(const char* call, const char* argument,
                                                              handle h);

} // namespace weft::api
