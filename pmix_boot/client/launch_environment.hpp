// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// What the environment says about how this process was started: by a launcher that speaks PMIx, by one that
// does not, by a rank of a job, or by no rank.

#include <cstdint>
#include <string>

namespace weft::boot {

// True if the environment names a PMIx job and a rank in it, of whatever age.
bool announces_a_job();

// Of a process that nothing announces: throws boot_error if a launcher that does not speak PMIx started it as
// one of several, for it would be one of many jobs of one rank instead of a rank of one job.
void refuse_other_launchers();

// Of a process that a job is announced to: throws boot_error if the variables are those of its parent, which
// is that rank itself.
void refuse_child_of_rank();

// Of a process that `weft run` started as one of several: throws boot_error if MPI_Init has made it a job of
// its own since, as Open MPI does under a launcher that is not its own.
void refuse_job_of_mpi();

// Of a rank of `ranks`: throws boot_error if MPI_Init was called and MPI's world is this process alone, as
// MPICH's is under a launcher that speaks PMIx only.
void refuse_world_of_one(std::uint32_t ranks);

// Makes refuse_child_of_rank() true in what this process starts from now on.
void mark_as_rank(const std::string& nspace, std::uint32_t rank);

// The rank alone, as text.
std::string announced_number();

// "rank 3 of the job prterun-..., as PMIX_RANK and PMIX_NAMESPACE say"
std::string announced_rank();

// The way out for variables that lead nowhere.
extern const char* const without_announcement;

} // namespace weft::boot
