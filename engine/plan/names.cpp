// SPDX-License-Identifier: BSD-3-Clause
#include "engine/plan/names.hpp"

#include <array>

namespace weft::graph {

namespace {
// In the order of the enumerators.
template <class Enum, std::size_t N>
std::string_view word(const std::array<std::string_view, N>& words, Enum which) {
  const auto k = static_cast<std::size_t>(which);
  return k < N ? words[k] : "?";
}
template <class... Word> constexpr auto words(Word... all) {
  return std::array{std::string_view(all)...};
}
} // namespace

std::string_view name(fact f) {
  static constexpr auto all = words("none", "entry", "payload", "delivered", "consumed", "stage_in",
                                    "stage_out", "asked", "row", "named", "call", "ready");
  return word(all, f);
}
std::string_view name(pattern p) {
  static constexpr auto all =
      words("none", "all pairs", "to later members", "from root", "to root", "by source", "by destination");
  return word(all, p);
}
std::string_view name(sync s) {
  static constexpr auto all = words("NO", "MY", "ALL");
  return word(all, s);
}
std::string_view name(buffer b) {
  static constexpr auto all = words("nothing", "source", "destination", "scratch", "mailbox");
  return word(all, b);
}
std::string_view name(peer_rule p) {
  static constexpr auto all = words("", "each", "ahead", "behind", "group", "self");
  return word(all, p);
}
std::string_view name(direction d) {
  static constexpr auto all = words("in", "out", "self", "swap");
  return word(all, d);
}
std::string_view name(descriptor d) {
  static constexpr auto all = words("source", "destination", "size");
  return word(all, d);
}

} // namespace weft::graph
