// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/settings.hpp"

#include <cstddef>
#include <cstdint>

namespace weft::api {

// WEFT_MALLOC=1: a part of the rank's segment in which libweft-malloc, if the process has it, places large
// allocations of the program. What the program has allocated there stays when the library ends.
class program_memory {
public:
  // Bytes of the segment for it.
  static std::uint64_t room(const engine::settings& s);
  // The memory has room() bytes, and none of them has been touched. `shared_for_good`: networks know its
  // pages, so none goes back to the system. Without libweft-malloc nothing happens, and a rank that `speaks`
  // says so.
  void begin(std::byte* memory, const engine::settings& s, bool shared_for_good, bool speaks);
  // Nothing more is placed there. False if the program still has some of it.
  bool end();
  // With WEFT_STATISTICS=1.
  void print(std::uint32_t rank) const;

private:
  std::byte* memory_ = nullptr;
};

} // namespace weft::api
