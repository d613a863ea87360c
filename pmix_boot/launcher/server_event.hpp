// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// What the PMIx server learns from the ranks and the launcher must know.

#include <cstdint>
#include <string>

namespace weft::boot {

struct server_event {
  // `gone`: the server itself ended, for no reason that it could tell.
  enum class kind : std::uint32_t { joined, left, abort, gone };
  kind what;
  std::uint32_t rank;
  // Of an abort: the status that the job shall end with, and why.
  std::int32_t status = 0;
  std::string text;
};

} // namespace weft::boot
