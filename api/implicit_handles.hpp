#pragma once
#include "api/runtime.hpp"

namespace weft::api {

// Adds an operation to those that the calling application thread began with the implicit handle.
void begin_implicit(handle h);

} // namespace weft::api
