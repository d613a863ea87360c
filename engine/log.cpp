// SPDX-License-Identifier: BSD-3-Clause
// The one source that compiles fmt and spdlog, which takes as long as ten others. All others include
// <fmt/core.h>, which only declares the functions below.
#define FMT_HEADER_ONLY
#define SPDLOG_FMT_EXTERNAL
#include "engine/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

namespace weft::engine {

namespace {

[[gnu::used]] std::string (*const format_is_here)(fmt::string_view, fmt::format_args) = fmt::vformat;
[[gnu::used]] void (*const print_is_here)(std::FILE*, fmt::string_view, fmt::format_args) = fmt::vprint;
[[gnu::used]] void (*const print_to_stdout_is_here)(fmt::string_view, fmt::format_args) = fmt::vprint;

spdlog::level::level_enum level_of(severity s) {
  switch (s) {
  case severity::debug:
    return spdlog::level::debug;
  case severity::info:
    return spdlog::level::info;
  case severity::warn:
    return spdlog::level::warn;
  default:
    return spdlog::level::err;
  }
}

} // namespace

void open_log(const std::string& least) {
  auto log = spdlog::get("weft");
  if (!log) log = spdlog::stderr_color_mt("weft");
  log->set_pattern("%n: %^%l%$: %v");
  log->set_level(spdlog::level::from_str(least));
  spdlog::set_default_logger(log);
}

bool logs(severity s) {
  return spdlog::should_log(level_of(s));
}

void write_log(severity s, const std::string& text) {
  spdlog::default_logger_raw()->log(level_of(s), spdlog::string_view_t(text));
}

} // namespace weft::engine
