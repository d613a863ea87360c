// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <string>

namespace weft::tool {

// What a program file has of MPI.
struct mpi_of_program {
  bool open_mpi = false, mpich = false; // it loads that library
  bool built_in = false;                // it was linked statically
  bool weft = false;                    // it loads this library, too
};
// Nothing for what is no program of this machine, as a script.
std::optional<mpi_of_program> mpi_of(const std::string& path);

// It is linked to an MPI, and not to this library. Quick where it is not.
bool is_of_mpi_alone(const std::string& path);

// The file that a shell would start for this word; empty if there is none.
std::string program_file(const std::string& word);

// The file that a path leads to, past links.
std::string real_file(const std::string& path);

// A library of ours that is to be loaded into programs: in this folder beside the tool in a build, or where
// it was installed. Empty if there is none.
std::string library_beside(const std::string& folder, const std::string& name);
// With WEFT_MALLOC=1, libweft-malloc and `more`, as LD_PRELOAD has them, else `more`. Throws
// std::runtime_error if it is not there, or the setting is wrong.
std::string with_malloc(const std::string& more);

} // namespace weft::tool
