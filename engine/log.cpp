// SPDX-License-Identifier: BSD-3-Clause
#include "engine/log.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <unistd.h>

namespace weft::engine {

namespace {

struct level {
  std::string_view name; // a value of WEFT_LOG
  std::string_view shown;
  std::string_view color;
};
constexpr std::array<level, 4> levels{{{"debug", "debug", "\033[36m"},
                                       {"info", "info", "\033[32m"},
                                       {"warn", "warning", "\033[33m\033[1m"},
                                       {"error", "error", "\033[31m\033[1m"}}};

// One for the process, like stderr: the least that is written.
std::atomic<std::size_t> least_written{static_cast<std::size_t>(severity::warn)};

bool in_color() {
  const char* const terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

} // namespace

void open_log(const std::string& least) {
  std::size_t k = 0;
  while (k != levels.size() && levels[k].name != least)
    ++k;
  least_written.store(k, std::memory_order_relaxed); // none for "off"
}

bool logs(severity s) {
  return static_cast<std::size_t>(s) >= least_written.load(std::memory_order_relaxed);
}

void write_log(severity s, const std::string& text) {
  if (!logs(s)) return;
  const level& its = levels[static_cast<std::size_t>(s)];
  if (in_color())
    print(stderr, "weft: {}{}\033[m: {}\n", its.color, its.shown, text);
  else
    print(stderr, "weft: {}: {}\n", its.shown, text);
}

} // namespace weft::engine
