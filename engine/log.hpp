// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/format.hpp"

#include <cstdint>
#include <string>

namespace weft::engine {

// What WEFT_LOG lets through goes to stderr, one line for each message: "weft: warning: ...", the severity in
// color on a terminal.
enum class severity : std::uint8_t { debug, info, warn, error };

// `least` is a value of WEFT_LOG.
void open_log(const std::string& least);
bool logs(severity s);
void write_log(severity s, const std::string& text);

template <class... Values>
void log(severity s, format_text<std::type_identity_t<Values>...> text, const Values&... values) {
  if (logs(s)) write_log(s, format(text, values...));
}

} // namespace weft::engine
