// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/format.hpp"

#include <string>
#include <string_view>

namespace weft::engine {

// The texts or numbers of a list, in one.
template <class List> std::string joined(const List& list, std::string_view between) {
  std::string text;
  for (const auto& item : list)
    text += format("{}{}", text.empty() ? "" : between, item);
  return text;
}

} // namespace weft::engine
