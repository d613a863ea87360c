// SPDX-License-Identifier: BSD-3-Clause
#include "tests/modes/trial.hpp"

namespace modes {
namespace {

const char* name_of(in_mode m) {
  return m == in_mode::no ? "IN_NO" : m == in_mode::my ? "IN_MY" : "IN_ALL";
}
const char* name_of(out_mode m) {
  return m == out_mode::no ? "OUT_NO" : m == out_mode::my ? "OUT_MY" : "OUT_ALL";
}

} // namespace

std::string trial::describe() const {
  std::string text = what.name;
  if (what.has_modes()) {
    text = text + " " + name_of(in) + "/" + name_of(out);
    if (hint != 0) text += hint == UPC_PUSH ? " push" : " pull";
  }
  text += how == form::posted ? ", posted" : ", blocking";
  if (behind) text += " behind an exchange";
  if (what.has_data()) text += ", " + std::to_string(bytes) + " bytes";
  if (what.has_root()) text += ", root " + std::to_string(root);
  constexpr const char* permutations[] = {", rotation", ", reversal", ", neighbours"};
  if (what.shape() == pattern::permuted) text += permutations[turn % 3];
  return text + ", late rank " + std::to_string(late) + " of " + std::to_string(threads);
}

} // namespace modes
