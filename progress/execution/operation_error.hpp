// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "progress/execution/channel.hpp"
#include "progress/execution/operation_pool.hpp"

#include <exception>
#include <stdexcept>
#include <string>

namespace weft::progress {

// What an operation failed with after it was started: the transport's status, or two values of one barrier.
struct operation_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// An element of one of its arrays was wrong.
struct element_error : operation_error {
  element_error(collectives::operation op, std::string argument, std::string value, std::string rule,
                collectives::caller by = collectives::caller::collective);

  collectives::operation op;
  collectives::caller by;
  std::string argument; // the array
  std::string value;    // the element
  std::string rule;     // what it must be, and what came of it
};

// Two members made different calls of one operation: of this one, or of an earlier one of its team.
struct mismatch_error : operation_error {
  mismatch_error(std::string call, const std::string& text) : operation_error(text), call(std::move(call)) {}

  std::string call; // that failed
};

// What code of a user threw here, for the call that completes its operation to throw on.
struct user_code_error {
  std::exception_ptr thrown;
};

inline bool went_well(const posted& op) {
  return op.status >= 0 && !op.bad && op.value.known != 2;
}

// What it failed with, if it did not go well. `why` is op.status in words. For want of memory: that.
std::exception_ptr error_of(const posted& op, const char* why) noexcept;

// Of an operation that cannot be finished: for what has become of a member; for the failure of a transfer.
std::exception_ptr member_lost(std::uint32_t rank, const fate& f) noexcept;
std::exception_ptr unfinished(std::uint64_t number, std::uint32_t told_by, std::uint32_t unreachable,
                              const char* why) noexcept;

// A request of the caller's own that the transport could not carry out.
std::exception_ptr transfer_error(std::uint32_t rank, const char* why) noexcept;
[[noreturn, gnu::cold, gnu::noinline]] void fail_transfer(std::uint32_t rank, const char* why);

} // namespace weft::progress
