// SPDX-License-Identifier: BSD-3-Clause
#include "engine/format.hpp"

#include <charconv>

namespace weft::engine {

namespace {

std::string text_of(const shown& s, const shape& as) {
  std::array<char, 400> text{}; // the longest is a double of 309 digits with some behind the point
  char* const end = text.data() + text.size();
  std::to_chars_result done{text.data(), {}};
  switch (s.of) {
  case shown::kind::text:
    return std::string(s.text);
  case shown::kind::integer:
    done = std::to_chars(text.data(), end, s.integer, as.hex ? 16 : 10);
    break;
  case shown::kind::natural:
    done = std::to_chars(text.data(), end, s.natural, as.hex ? 16 : 10);
    break;
  case shown::kind::real:
    done = as.digits < 0 ? std::to_chars(text.data(), end, s.real)
                         : std::to_chars(text.data(), end, s.real, std::chars_format::fixed, as.digits);
  }
  std::string found(text.data(), done.ptr);
  return as.base && as.hex ? "0x" + found : found;
}

void append(std::string& all, const shown& s, const shape& as) {
  const std::string text = text_of(s, as);
  const auto width = static_cast<std::size_t>(as.width);
  const std::size_t missing = width > text.size() ? width - text.size() : 0;
  const bool left = as.left || (!as.right && s.of == shown::kind::text);
  if (!left) all.append(missing, as.zeros ? '0' : ' ');
  all += text;
  if (left) all.append(missing, ' ');
}

} // namespace

std::string format_shown(std::string_view text, std::span<const shown> values) {
  std::string all;
  std::size_t next = 0;
  each_part(
      text, [&](std::string_view plain) { all += plain; },
      [&](const shape& as) { append(all, values[next++], as); });
  return all;
}

} // namespace weft::engine
