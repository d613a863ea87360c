#pragma once
#include "tests/modes/trial.hpp"

namespace modes {

// What the library of today is known to do wrong, and which trials therefore do not ask for it. Each entry
// names one promise; all others are held to in these trials as in any. Null: no trial is excused.

// Blocks between ranks that have entered are not in place while another one is out. `far`: some ranks reach
// each other by the UCP lane.
const char* known_to_delay_blocks(const trial& t, bool far);

} // namespace modes
