// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

// Texts of values, as std::format makes them, of which the compilers that the library is built with have
// none: so the library needs no other one for its messages. "{}" stands for the next value. Behind a colon
// may follow: < or > (to the left or to the right; numbers are to the right), # (0x in front of x), 0 (zeros
// in front), the width, .digits and f, x. "{{" and "}}" are braces. Another text does not compile.
namespace weft::engine {

// A value on its way into a text.
struct shown {
  enum class kind : std::uint8_t { text, integer, natural, real };
  kind of = kind::text;
  std::string_view text;
  union {
    std::int64_t integer = 0;
    std::uint64_t natural;
    double real;
  };
};

template <class T> shown show(const T& value) {
  shown s;
  if constexpr (std::is_same_v<T, bool>) {
    s.text = value ? "true" : "false";
  } else if constexpr (std::signed_integral<T> && !std::is_same_v<T, char>) {
    s.of = shown::kind::integer;
    s.integer = value;
  } else if constexpr (std::unsigned_integral<T> && !std::is_same_v<T, char>) {
    s.of = shown::kind::natural;
    s.natural = value;
  } else if constexpr (std::floating_point<T>) {
    s.of = shown::kind::real;
    s.real = static_cast<double>(value);
  } else if constexpr (std::is_same_v<T, char>) {
    s.text = {&value, 1};
  } else {
    static_assert(std::is_convertible_v<const T&, std::string_view>, "a number or a text");
    s.text = value;
  }
  return s;
}

// How a value is to be shown.
struct shape {
  bool left = false, right = false, base = false, zeros = false, hex = false;
  int width = 0, digits = -1;

  // Reads what stands between the braces; false if it is none of what is said above.
  constexpr bool read(std::string_view said) {
    if (said.empty()) return true;
    if (said[0] != ':') return false;
    std::size_t at = 1;
    const auto next = [&](char c) { return at != said.size() && said[at] == c && ++at != 0; };
    const auto number = [&] {
      int n = 0;
      for (; at != said.size() && said[at] >= '0' && said[at] <= '9'; ++at)
        n = n * 10 + (said[at] - '0');
      return n;
    };
    left = next('<');
    right = !left && next('>');
    base = next('#');
    zeros = next('0');
    width = number();
    if (next('.')) digits = number();
    hex = next('x');
    if (!hex) next('f');
    return at == said.size();
  }
};

// Calls plain(text) and value(shape), in their order; false where the text is none of what is said above.
template <class Plain, class Value>
constexpr bool each_part(std::string_view text, Plain&& plain, Value&& value) {
  for (std::size_t at = 0; at != text.size();) {
    const std::size_t brace = text.find_first_of("{}", at);
    plain(text.substr(at, brace - at));
    if (brace == std::string_view::npos) return true;
    if (brace + 1 != text.size() && text[brace + 1] == text[brace]) {
      plain(text.substr(brace, 1));
      at = brace + 2;
      continue;
    }
    const std::size_t end = text[brace] == '{' ? text.find('}', brace) : std::string_view::npos;
    shape as;
    if (end == std::string_view::npos || !as.read(text.substr(brace + 1, end - brace - 1))) return false;
    value(as);
    at = end + 1;
  }
  return true;
}

// A text with places for as many values.
template <class... Values> class format_text {
public:
  template <std::convertible_to<std::string_view> Text>
  consteval format_text(const Text& text) : text_(text) {
    std::size_t places = 0;
    if (!each_part(
            text_, [](std::string_view) {}, [&](const shape&) { ++places; }) ||
        places != sizeof...(Values))
      throw "the braces do not stand for the values"; // so that it does not compile
  }
  std::string_view text() const { return text_; }

private:
  std::string_view text_;
};

std::string format_shown(std::string_view text, std::span<const shown> values);

template <class... Values>
std::string format(format_text<std::type_identity_t<Values>...> text, const Values&... values) {
  const std::array<shown, sizeof...(Values)> all{show(values)...};
  return format_shown(text.text(), all);
}

// In one write: lines of other ranks may come at the same time.
template <class... Values>
void print(std::FILE* to, format_text<std::type_identity_t<Values>...> text, const Values&... values) {
  std::fputs(format(text, values...).c_str(), to);
}

// The texts or numbers of a list, in one.
template <class List> std::string joined(const List& list, std::string_view between) {
  std::string text;
  for (const auto& item : list)
    text += format("{}{}", text.empty() ? "" : between, item);
  return text;
}

} // namespace weft::engine
