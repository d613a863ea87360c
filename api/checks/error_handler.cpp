#include "api/checks/error_handler.hpp"
#include "api/include/weft/error.hpp"
#include "api/runtime/runtime.hpp"

#include "pmix_boot/client/launch_environment.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cxxabi.h>
#include <exception>
#include <new>
#include <string>

namespace weft {
namespace api {
namespace {

struct kept_error {
  std::string message, call, argument, value, rule;
};
thread_local kept_error kept;

// "rank 3: ", also before the process has joined its job and after it has left it; nothing without others.
std::string own_name() {
  if (!runtime::initialised())
    return boot::announces_a_job() ? "rank " + boot::announced_number() + ": " : "";
  const runtime& rt = runtime::get("weft");
  return rt.size() > 1 ? "rank " + std::to_string(rt.rank()) + ": " : "";
}

void end_job(const char* message, const weft_error_info_t*) {
  // One write: lines of other ranks may come at the same time.
  std::fputs(("weft: " + own_name() + message + "\n").c_str(), stderr);
  std::fflush(nullptr);
  if (runtime::initialised()) {
    runtime& rt = runtime::get("weft");
    if (rt.size() > 1) rt.abort_job(EXIT_FAILURE, "a call failed on thread " + std::to_string(rt.rank()));
  }
  std::_Exit(EXIT_FAILURE);
}

std::atomic<weft_error_handler_t> installed{end_job};

// What is no error of the library is the program's, and ends it as it always does.
[[noreturn]] void end_of_uncaught() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const error& e) {
    end_job(e.what(), nullptr);
  } catch (...) {
  }
  __gnu_cxx::__verbose_terminate_handler();
  std::abort();
}

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

void end_well_if_uncaught() {
  static const bool done = [] {
    if (std::get_terminate() == __gnu_cxx::__verbose_terminate_handler) std::set_terminate(end_of_uncaught);
    return true;
  }();
  static_cast<void>(done);
}

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
