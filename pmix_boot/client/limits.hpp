// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// What a process needs of the limits that its user has set (ulimit), tried before it is needed: PMIx and UCX
// hang or crash for want of it, and say nothing.

#include <cstddef>
#include <string>

namespace weft::boot {

// Throws boot_error, in one line with the limit and the way out, unless this process can open so many files
// more. `needed_by` is the subject of the sentence, as in "the start of a rank".
void require_files(std::size_t files, const std::string& needed_by);

// The same of addresses that can be mapped (ulimit -v), and of a way to need fewer of them.
void require_addresses(std::size_t bytes, const std::string& needed_by, const std::string& or_else);

// The same of memory that a process shares with no other (ulimit -d), as its stacks.
void require_data(std::size_t bytes, const std::string& needed_by);

// The same of threads that can run, which count with the processes of the user (ulimit -u). Where the threads
// of the system, all together, leave room below the limit none is begun.
void require_threads(std::size_t threads, const std::string& needed_by);

} // namespace weft::boot
