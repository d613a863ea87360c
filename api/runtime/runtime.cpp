// SPDX-License-Identifier: BSD-3-Clause
#include "api/runtime/runtime.hpp"

#include "api/runtime/process.hpp"
#include "engine/log.hpp"
#include "include/weft/error.hpp"

#include <memory>
#include <pthread.h>
#include <unistd.h>
#include <utility>

namespace weft::api {

namespace {

// Made by weft_init, gone with weft_finalize. No other thread deletes it: a thread that exits without
// weft_finalize must not wait for the others on the way out, its launcher sees it go and ends the job.
process_runtime* the_runtime = nullptr;

// Why there is none. A child of fork() has the parent's memory but neither its threads nor its place in the
// job: all that it calls is an error, at no cost elsewhere, since for the child there is no runtime any more.
enum class absence { not_started, ended, forked };
absence why_none = absence::not_started;

void refuse_in_child() {
  if (the_runtime == nullptr) return;
  the_runtime = nullptr; // the parent's: its memory stays
  why_none = absence::forked;
}

[[noreturn, gnu::cold]] void fail_absent(const char* call) {
  switch (why_none) {
  case absence::not_started:
    break;
  case absence::ended:
    throw weft::error(call, "", "", "weft_finalize has ended the library for good: make this call before it");
  case absence::forked:
    throw weft::error(
        call, "", "",
        "this process was forked by a thread of the job and is none itself: call the library in "
        "the parent, or start another program here");
  }
  throw weft::error(call, "", "", "weft_init must be called first");
}

} // namespace

runtime& runtime::get(const char* call) {
  if (the_runtime) [[likely]]
    return *the_runtime;
  fail_absent(call);
}

bool runtime::initialised() noexcept {
  return the_runtime != nullptr;
}

void runtime::init(const boot::exchange* brought) {
  if (why_none != absence::not_started) fail_absent("weft_init");
  std::vector<std::string> warnings;
  const engine::settings s = engine::present_settings(warnings);
  engine::open_log(s.log);
  auto made = std::make_unique<process_runtime>(s, brought);
  if (made->rank() == 0)
    for (const std::string& warning : warnings)
      engine::log(engine::severity::warn, "{}", warning);
  static const int handled = pthread_atfork(nullptr, nullptr, refuse_in_child);
  static_cast<void>(handled);
  the_runtime = made.release();
  ++begun;
}

void runtime::finalize() {
  why_none = absence::ended;
  const std::unique_ptr<process_runtime> last(std::exchange(the_runtime, nullptr));
  last->close();
}

} // namespace weft::api
