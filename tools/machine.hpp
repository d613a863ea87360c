// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/cost.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft::tool {

// A machine as its description says it: a file of lines `property = value`, whose comments begin with #.
// weft plan takes one in the place of the machine on which it runs.
struct machine {
  std::string name;
  std::uint32_t hosts = 0, cores = 0; // cores of a host: the most ranks that it is given
  std::uint32_t hosts_of_group = 0;   // that reach each other by the network's shortest ways
  bool reaches_memory = false;        // the network does by itself, without the processor at the other end
  collectives::cost_table within, between; // groups

  std::uint64_t ranks() const { return std::uint64_t{hosts} * cores; }
  std::uint32_t groups(std::uint32_t of_hosts) const {
    return (of_hosts + hosts_of_group - 1) / hosts_of_group;
  }
  // What transfers cost a team on so many hosts. One that is larger than a group pays for each message as if
  // it left the group: what is predicted is no less than what the longest chain of messages takes.
  const collectives::cost_table& costs(std::uint32_t of_hosts) const {
    return of_hosts > hosts_of_group ? between : within;
  }
};

// A description that is wrong: file, line, rule, and what to write.
struct machine_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A file if the word has a slash or a dot, else one of those that are installed.
machine machine_of(const std::string& file_or_name);
std::string installed_machines(); // their names, as they are told

} // namespace weft::tool
