#pragma once
#include "api/include/weft/error.hpp"
#include "api/include/weft/types.h"

#include <exception>
#include <string>
#include <utility>

// How a call fails. All of it is off the path of calls that succeed: nothing is formatted before something is
// wrong.
namespace weft::api {

[[noreturn, gnu::cold, gnu::noinline]] void fail(const char* call, const char* argument, std::string value,
                                                 std::string rule);
[[noreturn, gnu::cold, gnu::noinline]] void fail_pointer(const char* call, const char* argument,
                                                         upc_shared_ptr_t p, const char* rule);

// "thread 2, offset 0x1040, phase 3", or "null".
std::string describe(upc_shared_ptr_t p);

// What was thrown below the API as an error of this call: what an operation failed with, or why it cannot
// start.
[[noreturn, gnu::cold, gnu::noinline]] void fail_with_current_exception(const char* call);

template <class F> decltype(auto) naming(const char* call, F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (...) {
    fail_with_current_exception(call);
  }
}

} // namespace weft::api
