// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// The subcommands of the tool `weft`. Each adds itself to the command line; when it is chosen it does its
// work and leaves the exit status in `status`.

#include "engine/settings.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace weft::tool {

// More ranks than a user starts on one host, or looks at: a number beyond is a mistake, and is refused
// before any memory is taken for it.
inline constexpr std::uint32_t most_ranks_of_a_host = 4096, most_ranks_of_a_plan = 65536;

// The node of each rank, where the ranks fill one node after the other.
inline std::vector<std::uint32_t> node_by_node(std::uint32_t ranks, std::uint32_t each) {
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    nodes.push_back(rank / each);
  return nodes;
}

// weft info --ranks: what a rank of such a job takes of memory, by count. Nothing is started.
void print_memory(std::uint32_t ranks, std::uint32_t nodes);

void add_doctor_command(CLI::App& app, int& status);
void add_help_command(CLI::App& app, int& status);
void add_run_command(CLI::App& app, int& status);
void add_info_command(CLI::App& app, int& status);
void add_mpi_command(CLI::App& app, int& status);
void add_plan_command(CLI::App& app, int& status);

} // namespace weft::tool
