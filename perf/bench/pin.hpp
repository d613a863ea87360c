#pragma once

namespace perf {

// The number of cores that the process was given, before it was pinned.
int usable_cores();

// Pins the process, and every thread that it will start, to one of its cores: rank r to the core r mod n. The
// rank comes from the launcher's environment, because this must happen before the library under measurement
// starts. Returns the core's number, or -1 if no launcher says which rank this is (nothing is pinned then).
int pin_by_rank();

} // namespace perf
