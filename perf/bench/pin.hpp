// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace perf {

// The number of cores that the process was given, before it was pinned.
int usable_cores();

// Pins the process, and every thread that it will start, to one of its cores: rank r to the core r mod n. The
// rank is the value of an environment variable that the launcher sets, because this must happen before the
// library under measurement starts. Throws if the variable is not set or the system refuses.
void pin_by_rank(const char* rank_variable);

} // namespace perf
