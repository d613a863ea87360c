#include "api/runtime.hpp"

#include "api/runtime_process.hpp"
#include "api/weft/error.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <unistd.h>
#include <utility>

namespace weft::api {

namespace {

// Made by weft_init, gone with weft_finalize. Nobody else deletes it: who exits without weft_finalize must not
// wait for the others on the way out, its launcher sees it go and ends the job.
runtime* the_runtime = nullptr;

void open_log(const engine::settings& s) {
  auto log = spdlog::get("weft");
  if (!log) log = spdlog::stderr_color_mt("weft");
  log->set_pattern("%n: %^%l%$: %v");
  log->set_level(spdlog::level::from_str(s.log));
  spdlog::set_default_logger(log);
}

} // namespace

runtime& runtime::get(const char* call) {
  if (the_runtime) [[likely]]
    return *the_runtime;
  throw weft::error(call, "", "", "weft_init must be called first");
}

bool runtime::initialised() noexcept {
  return the_runtime != nullptr;
}

void runtime::init(int*, char***) {
  std::size_t count = 0;
  while (environ[count] != nullptr)
    ++count;
  std::vector<std::string> warnings;
  const engine::settings s = engine::read_settings(
      std::span<const char* const>(const_cast<const char* const*>(environ), count), warnings);
  open_log(s);
  auto made = std::make_unique<process_runtime>(s);
  if (made->rank() == 0)
    for (const std::string& warning : warnings)
      spdlog::warn("{}", warning);
  delete std::exchange(the_runtime, made.release());
}

void runtime::finalize() {
  delete std::exchange(the_runtime, nullptr);
}

} // namespace weft::api
