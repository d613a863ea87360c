// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/modes/rules.hpp"

#include <cstdint>
#include <string>

namespace modes {

// How the ranks call.
enum class form { posted, blocking };

// One call of all ranks, of which one comes late.
struct trial : situation {
  std::uint32_t number = 0; // from 1; no two are alike
  std::size_t bytes = 0;    // of a block
  // Blocks up to this size may be sent ahead to ranks of other hosts, and small ones to all.
  static constexpr std::size_t small_bytes = 2048;
  std::size_t sent_ahead = small_bytes;
  form how = form::posted;
  bool behind = false; // behind an exchange under way, for which the late rank is late too

  // For people: function, modes, hint, late rank, root, size.
  std::string describe() const;
};

} // namespace modes
