// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace weft::progress {

// How many cores' worth of time this process may use: the cores of its affinity mask, or its cgroup's cpu
// quota where that is less (so it may be a fraction). Version 1 and 2 of cgroups, the tightest limit on the
// way from the process's group to the root. Whatever cannot be read limits nothing. `root` is where proc/ and
// sys/ are looked for.
double usable_cores(const std::filesystem::path& root = "/");

// The cores of the affinity mask, by number: {0} if it cannot be read.
std::vector<std::uint32_t> affinity_list();

// The two halves of it. A mask that cannot be read counts as one core, no quota as infinity.
double affinity_cores();
double quota_cores(const std::filesystem::path& root = "/");

// Which thread drives an engine while the application computes.
//   dedicated   a progress thread that stays awake while something is outstanding: fastest, and needs a core
//               that the computation does not use
//   helping     a progress thread that sleeps unless it is rung, and then sweeps once: the computation keeps
//               its core, and work that no other rank can do still gets done
//   caller      no thread: progress only inside the library's calls
//   automatic   one of the three, see resolve()
enum class mode { dedicated, helping, caller, automatic };

// What automatic means here; another request is returned as it is.
//   In a job of one rank no other rank waits, and each operation is finished when it was posted: caller.
//   Two cores or more for each rank of this host leave one beside the computation: dedicated.
//   Otherwise an awake thread would take time from a computation: helping.
// `cores` are those that the `local_ranks` ranks of this host share.
mode resolve(mode requested, double cores, unsigned local_ranks, unsigned job_ranks) noexcept;

} // namespace weft::progress
