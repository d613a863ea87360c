#include "api/checks/error_handler.hpp"
#include "api/include/weft/error.hpp"
#include "api/runtime/runtime.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

namespace weft {
namespace api {
namespace {

struct kept_error {
  std::string message, call, argument, value, rule;
};
thread_local kept_error kept;

void end_job(const char* message, const weft_error_info_t*) {
  std::fprintf(stderr, "weft: %s\n", message);
  std::fflush(nullptr);
  if (runtime::initialised()) {
    runtime& rt = runtime::get("weft");
    if (rt.size() > 1) rt.abort_job(EXIT_FAILURE, "a call failed on thread " + std::to_string(rt.rank()));
  }
  std::_Exit(EXIT_FAILURE);
}

std::atomic<weft_error_handler_t> installed{end_job};

} // namespace

namespace {

void keep_what_was_thrown() {
  try {
    throw;
  } catch (const error& e) {
    kept = {e.what(), e.call, e.argument, e.value, e.rule};
  } catch (const std::exception& e) {
    kept = {e.what(), "", "", "", e.what()};
  } catch (...) {
    kept = {"unknown error", "", "", "", "unknown error"};
  }
}

} // namespace

void keep_current_error() noexcept {
  try {
    keep_what_was_thrown();
  } catch (const std::bad_alloc&) {
    kept = {"out of memory", "", "", "", "out of memory"}; // short enough to need none
  }
}

void report_kept_error() {
  const weft_error_info_t info{kept.call.c_str(), kept.argument.c_str(), kept.value.c_str(),
                               kept.rule.c_str()};
  installed.load()(kept.message.c_str(), &info);
}

} // namespace api

weft_error_handler_t weft_set_error_handler(weft_error_handler_t handler) {
  return api::installed.exchange(handler != nullptr ? handler : api::end_job);
}

} // namespace weft
