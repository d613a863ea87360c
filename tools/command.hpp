#pragma once
// The subcommands of the tool `weft`. Each adds itself to the command line; when it is chosen it does its
// work and leaves the exit status in `status`.

#include <CLI/CLI.hpp>

namespace weft::tool {

void add_run_command(CLI::App& app, int& status);
void add_info_command(CLI::App& app, int& status);
void add_plan_command(CLI::App& app, int& status);

} // namespace weft::tool
