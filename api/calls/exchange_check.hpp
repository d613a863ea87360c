// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "api/checks/failure.hpp"
#include "include/weft/job.h"

namespace weft::api {

// Errors: the exchange or one of its functions is null; its rank is none of its size.
inline void require_exchange(const char* call, const weft_exchange_t* e) {
  if (e == nullptr) fail(call, "exchange", "null", "must be the address of an exchange");
  const auto require = [call](bool there, const char* what) {
    if (!there) fail(call, what, "null", "must be a function: weft/job.h says what it does");
  };
  require(e->allgather != nullptr, "exchange->allgather");
  require(e->barrier != nullptr, "exchange->barrier");
  require(e->abort != nullptr, "exchange->abort");
  if (e->size < 1) fail(call, "exchange->size", std::to_string(e->size), "must be at least 1");
  if (e->rank < 0 || e->rank >= e->size)
    fail(call, "exchange->rank", std::to_string(e->rank),
         "must be from 0 to " + std::to_string(e->size - 1) + ", one for each process");
}

inline std::string exchange_failure(const char* function, int status) {
  return "the exchange of the program failed: " + std::string(function) + " returned " +
         std::to_string(status);
}

} // namespace weft::api
