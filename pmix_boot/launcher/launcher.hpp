// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Starts a job of several ranks on this host and stays until it has ended.

#include <cstdint>
#include <string>
#include <vector>

namespace weft::boot {

struct launch_options {
  std::uint32_t ranks = 1;
  // Virtual nodes: the ranks are told that they live on so many nodes, in contiguous blocks.
  std::uint32_t nodes = 1;
  // The death of a rank does not end the others; they are told of it instead.
  bool keep_going = false;
  // Every line of output begins with the rank that wrote it.
  bool tag_output = false;
  std::vector<std::string> command;
};

// Returns the exit status of the job: 0, or the status of the first rank that failed (128 + the signal that
// killed it), or 2 for options that make no sense and 127 or 126 for a program that is missing or cannot be
// run. To be called by the one thread of the process.
int launch(const launch_options& options);

} // namespace weft::boot
