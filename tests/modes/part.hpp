// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/modes/arena.hpp"
#include "tests/modes/stage.hpp"

namespace modes {

// Plays this rank's part in a trial: all others call, those who must not be held up leave, those who must be
// are seen waiting; only then does the late rank call.
void play(stage& s, const arena& a, const trial& t);

} // namespace modes
