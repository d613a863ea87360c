#pragma once
#include "api/include/weft/job.h"

#include <type_traits>

// Where the exceptions of the library end that a C program cannot catch.
namespace weft::api {

// From now on an error that a C++ program does not catch ends the job with its line and status 1, unless the
// program has a terminate handler of its own.
void end_well_if_uncaught();

// Inside of a catch block: keeps what was thrown for the handler.
void keep_current_error() noexcept;
// Outside of it, so that the handler may leave by longjmp: calls the installed handler with what was kept.
void report_kept_error();

// The C form of a function. If it fails and the handler returns, the result is Failed, or zero.
template <auto Function, int Failed = 0, class... Arguments> auto guard(Arguments... arguments) {
  using result = decltype(Function(arguments...));
  try {
    return Function(arguments...);
  } catch (...) {
    keep_current_error();
  }
  report_kept_error();
  if constexpr (std::is_arithmetic_v<result> || std::is_enum_v<result>)
    return static_cast<result>(Failed);
  else if constexpr (!std::is_void_v<result>)
    return result{};
}

} // namespace weft::api
