// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace weft::mpi {

class lane;

// A thread that posts for calls that are held up, while the program is elsewhere. It begins with the first
// one and sleeps unless there is one.
namespace carrier {
void look_after(lane& l);
// Returns when the thread is not busy with it.
void forget(lane& l);
// Ends the thread, before the library ends.
void stop();
} // namespace carrier

} // namespace weft::mpi
