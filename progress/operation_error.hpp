#pragma once
#include "progress/operation_pool.hpp"

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
  element_error(collectives::operation op, std::string argument, std::string value, std::string rule);

  collectives::operation op;
  std::string argument; // the array
  std::string value;    // the element
  std::string rule;     // what it must be, and what came of it
};

inline bool went_well(const posted& op) {
  return op.status >= 0 && !op.bad && op.value.known != 2;
}

// Null if it went well.
std::exception_ptr error_of(const posted& op);

} // namespace weft::progress
