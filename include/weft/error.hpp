// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "declare.h"

#include <memory>
#include <stdexcept>
#include <string>

namespace weft {

namespace detail {
struct place_of_error;
} // namespace detail

// A call that cannot be carried out. What is known to be wrong locally is thrown before anything was started;
// what an operation failed with is thrown by the call that completes it. what() is one line:
// "<call>: <argument> = <value>: <rule>", without the parts that are empty, and the place in the program:
// "(heat.cpp:42)". Calls on spans, and the wait of a weft::pending, know it from the compiler; of others the
// first what() of a place asks addr2line, which takes some milliseconds, and so does no throw. Of a program
// without debug information, and from its 17th place on, it is what addr2line would be asked.
class WEFT_EXPORT error : public std::runtime_error {
public:
  error(std::string call, std::string argument, std::string value, std::string rule);
  ~error() override;
  const char* what() const noexcept override;

  std::string call;     // the function that was called
  std::string argument; // the argument that was wrong
  std::string value;    // what was given
  std::string rule;     // what is asked for, and the way out

private:
  friend struct detail::place_of_error;
  std::shared_ptr<detail::place_of_error> place_; // none: the line is in the text, or not known
};

// Where a call stands in the program: the last parameter of calls that say so in their errors, which is left
// to its default. (What std::source_location is, for all compilers.)
struct line_of_call {
  const char* file = "";
  unsigned line = 0; // 0: not known
  static constexpr line_of_call here(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
    return {file, line};
  }
};

namespace detail {

// The call of the program that this thread is in, for the lines of errors. Four instructions a call.
extern WEFT_EXPORT constinit thread_local const line_of_call* site;

class at_site {
public:
  explicit at_site(const line_of_call& where) noexcept { site = &where; }
  at_site(const at_site&) = delete;
  at_site& operator=(const at_site&) = delete;
  ~at_site() { site = nullptr; }
};

} // namespace detail
} // namespace weft
