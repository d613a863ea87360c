// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "api/runtime/runtime.hpp"

namespace weft::api {

// Before the operation is posted: makes room for it, or throws.
void expect_implicit();
// Adds an operation to those that the calling application thread began with the implicit handle.
void begin_implicit(handle h) noexcept;

} // namespace weft::api
