// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <utility>

namespace weft::engine {

// What WEFT_LOG lets through goes to stderr, one line for each message. spdlog does the work, in log.cpp
// alone.
enum class severity : std::uint8_t { debug, info, warn, error };

// `least` is a value of WEFT_LOG.
void open_log(const std::string& least);
bool logs(severity s);
void write_log(severity s, const std::string& text);

template <class... Values> void log(severity s, fmt::format_string<Values...> text, Values&&... values) {
  if (logs(s)) write_log(s, fmt::format(text, std::forward<Values>(values)...));
}

} // namespace weft::engine
