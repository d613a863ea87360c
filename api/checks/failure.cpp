// SPDX-License-Identifier: BSD-3-Clause
#include "api/checks/failure.hpp"

#include "api/runtime/runtime.hpp"
#include "engine/call_place.hpp"
#include "engine/collectives/algorithm.hpp"
#include "include/weft/error.hpp"
#include "include/weft/job.hpp"
#include "include/weft/team.hpp"
#include "pmix_boot/client/launch_environment.hpp"
#include "pmix_boot/client/source_lines.hpp"
#include "progress/execution/call_record.hpp"
#include "progress/execution/operation_error.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cxxabi.h>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <utility>

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
  if (is_ordinary(p))
    std::snprintf(text, sizeof text, "ordinary memory at 0x%llx",
                  static_cast<unsigned long long>(detail::own().segment + p.addr));
  else
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
    const std::string collective = progress::call_name(e.op, e.by, true);
    fail(collective.c_str(), e.argument.c_str(), e.value, e.rule);
  } catch (const progress::mismatch_error& e) {
    fail(e.call.c_str(), "", "", e.what());
  } catch (const std::exception& e) {
    fail(call, "", "", e.what());
  }
}

} // namespace weft::api

namespace weft {
namespace {

std::string one_line(const std::string& call, const std::string& argument, const std::string& value,
                     const std::string& rule) {
  std::string line = call;
  const auto append = [&line](const char* separator, const std::string& part) {
    if (part.empty()) return;
    if (!line.empty()) line += separator;
    line += part;
  };
  append(": ", argument);
  append(argument.empty() ? ": " : " = ", value);
  append(": ", rule);
  if (const line_of_call* const at = detail::site; at != nullptr && at->line != 0) {
    const std::string file = at->file;
    line += " (" + file.substr(file.rfind('/') + 1) + ":" + std::to_string(at->line) + ")";
  }
  return line;
}

// The last one of this thread that was made and lives: while the stack is unwound, the one that is on its
// way.
thread_local const error* latest = nullptr;

} // namespace

constinit thread_local const line_of_call* detail::site = nullptr;

// Where the call stands that made an error, and the error's text with its line, from the first what() on.
struct detail::place_of_error {
  explicit place_of_error(const engine::call_place& p) : place(p) {}
  const engine::call_place place;
  std::once_flag once;
  std::string text;

  static engine::call_place of(const error& e) {
    return e.place_ == nullptr ? engine::call_place() : e.place_->place;
  }
};

error::error(std::string call_, std::string argument_, std::string value_, std::string rule_)
    : std::runtime_error(one_line(call_, argument_, value_, rule_)), call(std::move(call_)),
      argument(std::move(argument_)), value(std::move(value_)), rule(std::move(rule_)) {
  api::end_well_if_uncaught();
  latest = this;
  const bool has_line = detail::site != nullptr && detail::site->line != 0;
  const engine::call_place place = has_line ? engine::call_place() : engine::call_place::here();
  if (place.known()) place_ = std::make_shared<detail::place_of_error>(place);
}

error::~error() {
  if (latest == this) latest = nullptr;
}

const char* error::what() const noexcept {
  const char* const without = std::runtime_error::what();
  if (place_ == nullptr) return without;
  try {
    std::call_once(place_->once, [&] {
      place_->text = boot::with_kept_source_lines(without + (" (" + place_->place.text()) + ")");
    });
    return place_->text.c_str();
  } catch (...) { // for want of memory
    return without;
  }
}

namespace api {
namespace {

struct kept_error {
  std::string message, call, argument, value, rule;
  engine::call_place place = {};
};
thread_local kept_error kept;

// "rank 3: ", also before the process has joined its job and after it has left it; nothing without others.
std::string own_name() {
  if (!runtime::initialised())
    return boot::announces_a_job() ? "rank " + boot::announced_number() + ": " : "";
  const runtime& rt = runtime::get("weft");
  return rt.size() > 1 ? "rank " + std::to_string(rt.rank()) + ": " : "";
}

// Spans know their place themselves.
bool names_a_line(const std::string& message) {
  return message.ends_with(')') &&
         message.find_first_not_of("0123456789", message.rfind(':') + 1) == message.size() - 1;
}

// With the place of the call, and files and lines for all places in it.
std::string line_of(const char* message, const engine::call_place& place) {
  std::string line = "weft: " + own_name() + message;
  if (place.known() && !names_a_line(line)) line += " (" + place.text() + ")";
  return boot::with_source_lines(line);
}

[[noreturn]] void end_with(const char* message, const engine::call_place& place) {
  // One write: lines of other ranks may come at the same time.
  try {
    std::fputs((line_of(message, place) + "\n").c_str(), stderr);
  } catch (const std::exception&) { // for want of memory
    std::fprintf(stderr, "weft: %s\n", message);
  }
  std::fflush(nullptr);
  if (runtime::initialised()) {
    runtime& rt = runtime::get("weft");
    if (rt.size() > 1) rt.abort_job(EXIT_FAILURE, "a call failed on thread " + std::to_string(rt.rank()));
  }
  std::_Exit(EXIT_FAILURE);
}

void end_job(const char* message, const weft_error_info_t*) {
  end_with(message, kept.place);
}

std::atomic<weft_error_handler_t> installed{end_job};

// Inside of a catch block. While the library lives: which rank it was, and what was thrown.
void tell_of_current_exception(const std::string& what) {
  if (!runtime::initialised()) return __gnu_cxx::__verbose_terminate_handler();
  int failed = 0;
  char* const type =
      abi::__cxa_demangle(abi::__cxa_current_exception_type()->name(), nullptr, nullptr, &failed);
  const std::string line = "weft: " + own_name() + "nothing catches the exception of the program " +
                           (type != nullptr ? type : "of unknown type") + (what.empty() ? "" : ": " + what);
  std::fputs((line + "\n").c_str(), stderr);
}

// What is no error of the library ends the program as it always does, by abort(), behind one line.
[[noreturn]] void end_of_uncaught() {
  try {
    const std::exception_ptr thrown = std::current_exception();
    if (thrown == nullptr) __gnu_cxx::__verbose_terminate_handler();
    std::rethrow_exception(thrown);
  } catch (const error& e) {
    end_with_line(e.what());
  } catch (const std::exception& e) {
    tell_of_current_exception(e.what());
  } catch (...) {
    tell_of_current_exception("");
  }
  std::abort();
}

void keep_what_was_thrown() {
  try {
    throw;
  } catch (const error& e) {
    kept = {e.std::runtime_error::what(), e.call, e.argument, e.value, e.rule, detail::place_of_error::of(e)};
  } catch (const std::exception& e) {
    kept = {e.what(), "", "", "", e.what()};
  } catch (...) {
    kept = {"unknown error", "", "", "", "unknown error"};
  }
}

} // namespace

void end_with_line(const char* message) {
  end_with(message, {});
}

bool library_lives() noexcept {
  return runtime::initialised();
}

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

namespace detail {

void end_by_exception() noexcept {
  if (latest != nullptr) api::end_with_line(latest->what());
  api::end_with_line("an exception of the program leaves the scope of weft::job: catch it inside");
}

void end_of_scope() noexcept {
  api::in_destructor([] { weft_finalize(); }); // unless the program has called it
}

} // namespace detail

weft_error_handler_t weft_set_error_handler(weft_error_handler_t handler) {
  return api::installed.exchange(handler != nullptr ? handler : api::end_job);
}

} // namespace weft
