// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>
#include <string>

namespace weft::engine {

// Where the call of the library that a thread is in stands in its program: the return addresses of its stack
// outside of the library, innermost first. Several, for the innermost one may lie in a header of the library.
// Calls write nothing down for it: the stack is walked when something is to be reported, or in checked mode,
// which takes some microseconds, and the first time reads the program's table of symbols, which tells the
// library's functions in it from others: those of its headers that were not inlined, and where it is linked
// statically all. So in a stripped program a place may be in a header, and where the library is linked
// statically none is found.
class call_place {
public:
  static call_place here() noexcept;

  bool known() const { return count_ != 0; }
  // "[/path/program+0x1234 +0x5678]": the file that was loaded, and addresses as addr2line takes them; empty
  // if not known. boot::with_source_lines makes file and line of it.
  std::string text() const;

  // The innermost as one number that other ranks of the same program understand; 0: not known, or in a shared
  // library of the program.
  std::uint32_t in_program() const noexcept;
  static std::string text_of(std::uint32_t in_program);

private:
  std::array<const void*, 6> at_{};
  std::uint32_t count_ = 0;
};

} // namespace weft::engine
