#include "api/failure.hpp"

#include "progress/operation_error.hpp"

#include <cstdio>

namespace weft::api {

namespace {

// The collective that has such arrays.
const char* name_of(collectives::operation op) {
  using collectives::operation;
  switch (op) {
  case operation::permute:
    return "upc_all_permute";
  case operation::broadcast_x:
    return "upc_all_broadcast_x";
  case operation::gather_all_x:
    return "upc_all_gather_all_x";
  case operation::exchange_x:
    return "upc_all_exchange_x";
  case operation::scatter_x:
    return "upc_all_scatter_x";
  case operation::gather_x:
    return "upc_all_gather_x";
  case operation::permute_x:
    return "upc_all_permute_x";
  default:
    return "upc_wait";
  }
}

} // namespace

void fail(const char* call, const char* argument, std::string value, std::string rule) {
  throw error(call, argument, std::move(value), std::move(rule));
}

void fail_pointer(const char* call, const char* argument, upc_shared_ptr_t p, const char* rule) {
  fail(call, argument, "(" + describe(p) + ")", rule);
}

std::string describe(upc_shared_ptr_t p) {
  if (p.addr == 0 && p.thread == 0 && p.phase == 0) return "null";
  char text[96];
  std::snprintf(text, sizeof text, "thread %u, offset 0x%llx, phase %u", static_cast<unsigned>(p.thread),
                static_cast<unsigned long long>(p.addr), static_cast<unsigned>(p.phase));
  return text;
}

void fail_with_current_exception(const char* call) {
  try {
    throw;
  } catch (const error& e) {
    if (!e.call.empty()) throw;
    fail(call, e.argument.c_str(), e.value, e.rule);
  } catch (const progress::element_error& e) {
    fail(name_of(e.op), e.argument.c_str(), e.value, e.rule); // not the call that completes it
  } catch (const std::exception& e) {
    fail(call, "", "", e.what());
  }
}

} // namespace weft::api
