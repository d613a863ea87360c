// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

namespace weft::boot {

// The text with file and line for each place in it, "[/path/program+0x1234 +0x5678]" (engine::call_place):
// the innermost one that is not in a header of the library. Where nothing tells them, because the program has
// no debug information or addr2line is not installed, the command that asks: "program+0x1234 [addr2line -e
// /path/program 0x1234]". Starts addr2line, and waits for it up to five seconds in all.
std::string with_source_lines(const std::string& text);

// The same for texts that may come often: addr2line is started once for a place, and for 16 places in all.
// What comes behind has the command.
std::string with_kept_source_lines(const std::string& text);

} // namespace weft::boot
