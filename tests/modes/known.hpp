#pragma once
#include "tests/modes/trial.hpp"

namespace modes {

// Why this trial is known to fail in the library of today, so that it is left out; null if it is not.
const char* known_violation(const trial& t);

} // namespace modes
