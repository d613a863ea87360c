#pragma once
#include "verify/verifier.hpp"

#include <fmt/core.h>

#include <utility>

namespace weft::graph::checking {

// Collects findings. One mistake in a compiler shows on every member, so it stops at a number that a person
// reads.
class report {
public:
  static constexpr std::size_t limit = 64;

  template <class... Values> void add(fault what, fmt::format_string<Values...> text, Values&&... values) {
    if (!full()) {
      found_.findings.push_back({what, fmt::format(text, std::forward<Values>(values)...)});
    }
  }
  bool full() const { return found_.findings.size() >= limit; }
  bool empty() const { return found_.findings.empty(); }
  verdict take() { return std::move(found_); }

private:
  verdict found_;
};

} // namespace weft::graph::checking
