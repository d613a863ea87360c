#include "api/checks/failure.hpp"

#include "engine/collectives/algorithm.hpp"
#include "progress/execution/operation_error.hpp"

#include <cstdio>

namespace weft::api {

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
  } catch (const progress::user_code_error& e) {
    std::rethrow_exception(e.thrown);
  } catch (const progress::element_error& e) {
    // The collective that has the array, not the call that completes it.
    const std::string collective = "upc_all_" + std::string(collectives::name(e.op));
    fail(collective.c_str(), e.argument.c_str(), e.value, e.rule);
  } catch (const progress::mismatch_error& e) {
    fail(e.call.c_str(), "", "", e.what());
  } catch (const std::exception& e) {
    fail(call, "", "", e.what());
  }
}

} // namespace weft::api
