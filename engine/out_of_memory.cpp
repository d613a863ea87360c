// SPDX-License-Identifier: BSD-3-Clause
#include "engine/out_of_memory.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace weft::engine {

void end_out_of_memory(const char* wanted_for) noexcept {
  char line[256];
  std::snprintf(line, sizeof line, "weft: out of memory for %s; the job ends\n", wanted_for);
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, std::strlen(line));
  std::_Exit(EXIT_FAILURE);
}

} // namespace weft::engine
