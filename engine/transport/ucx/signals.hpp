#pragma once

namespace weft::transport::ucx {

// UCX takes signals for itself when it is loaded: SIGHUP, after which the end of a terminal ends nothing, and
// those of errors, for which it prints a backtrace by means that can hang in a handler. Gives back what was
// there before, unless the user's own settings of UCX ask for them or the program has handlers by now.
void give_back_signals();

} // namespace weft::transport::ucx
