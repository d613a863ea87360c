// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "include/weft/error.hpp"
#include "include/weft/job.h"
#include "include/weft/types.h"

#include <cstdint>
#include <exception>
#include <string>
#include <type_traits>
#include <utility>

// How a call fails. All of it is off the path of calls that succeed: nothing is formatted before something is
// wrong.
namespace weft::api {

[[noreturn, gnu::cold, gnu::noinline]] void fail(const char* call, const char* argument, std::string value,
                                                 std::string rule);
[[noreturn, gnu::cold, gnu::noinline]] void fail_pointer(const char* call, const char* argument,
                                                         upc_shared_ptr_t p, const char* rule);

// A pointer-to-shared that leads to ordinary memory of the calling process, see weft_pointer_to and
// weft_lend: no other has such a phase.
inline constexpr std::uint32_t phase_of_ordinary = ~std::uint32_t{0}, phase_of_lent = phase_of_ordinary - 1;
inline bool is_ordinary(upc_shared_ptr_t p) {
  return p.phase >= phase_of_lent && p.addr != ~std::uint64_t{0};
}
inline bool is_lent(upc_shared_ptr_t p) {
  return p.phase == phase_of_lent && p.addr != ~std::uint64_t{0};
}

// "thread 2, offset 0x1040, phase 3", or "ordinary memory at 0x7f0012a4", or "null".
std::string describe(upc_shared_ptr_t p);

// What was thrown below the API as an error of this call: what an operation failed with, or why it cannot
// start.
[[noreturn, gnu::cold, gnu::noinline]] void fail_with_current_exception(const char* call);

template <class F> [[gnu::always_inline]] inline decltype(auto) naming(const char* call, F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (...) {
    fail_with_current_exception(call);
  }
}

} // namespace weft::api

// Where the exceptions of the library end that a C program cannot catch.
namespace weft::api {

// From now on an error that a C++ program does not catch ends the job with its line and status 1, and an
// exception of the program with a line of the rank and abort(), unless the program has a terminate handler of
// its own.
void end_well_if_uncaught();

// Ends the job with this line of the calling rank and status 1: for errors in destructors.
[[noreturn]] void end_with_line(const char* message);
bool library_lives() noexcept;

// What a destructor calls: an error ends the job so; behind the end of the library nothing is called.
template <class F> void in_destructor(F&& f) noexcept {
  if (!library_lives()) return;
  try {
    std::forward<F>(f)();
  } catch (const std::exception& e) {
    end_with_line(e.what());
  }
}

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
