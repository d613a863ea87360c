// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/calls/dice.hpp"

#include <vector>

namespace calls {

using handles = std::vector<unsigned long long>;

// The functions that complete operations, each called in any way that is allowed, and what they answer
// judged. A handle whose operation is complete is 0 afterwards.
class completing {
public:
  explicit completing(dice& d) : d_(d) {}

  void one(unsigned long long& handle);
  // Several, with inactive ones between them, by one call.
  void several(handles& some);
  void all(handles& some, bool wait);
  // From now on `wrong` is the first thing that was not as it must be, or null.
  const char* wrong() const { return wrong_; }
  void expect(bool ok, const char* what) {
    if (!ok && wrong_ == nullptr) wrong_ = what;
  }

private:
  struct selection;
  void any(selection& some, bool wait);
  void all(selection& some, bool wait);
  void some(selection& some, bool wait, bool indices);
  void by_coroutines(selection& some);

  dice& d_;
  const char* wrong_ = nullptr;
};

} // namespace calls
