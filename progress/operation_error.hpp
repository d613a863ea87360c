#pragma once
#include "progress/operation.hpp"

#include <exception>
#include <stdexcept>

namespace weft::progress {

// What an operation failed with after it was started: the transport's status, or two values of one barrier.
struct operation_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Null if it went well.
std::exception_ptr error_of(const operation& op);

} // namespace weft::progress
