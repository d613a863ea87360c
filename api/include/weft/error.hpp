#pragma once
#include "declare.h"

#include <stdexcept>
#include <string>

namespace weft {

// A call that cannot be carried out. What is known to be wrong locally is thrown before anything was started;
// what an operation failed with is thrown by the call that completes it. what() is one line:
// "<call>: <argument> = <value>: <rule>", without the parts that are empty.
class WEFT_EXPORT error : public std::runtime_error {
public:
  error(std::string call, std::string argument, std::string value, std::string rule);
  ~error() override;

  std::string call;     // the function that was called
  std::string argument; // the argument that was wrong
  std::string value;    // what was given
  std::string rule;     // what is asked for, and the way out
};

} // namespace weft
