// SPDX-License-Identifier: BSD-3-Clause
// weft run: start a job on this host.

#include "engine/transport/ucx/context.hpp"
#include "pmix_boot/launcher/launcher.hpp"
#include "tools/command.hpp"
#include "tools/mpi_program.hpp"

#include <cstdlib>
#include <iostream>
#include <memory>
#include <stdexcept>

namespace weft::tool {

void add_run_command(CLI::App& app, int& status) {
  auto options = std::make_shared<boot::launch_options>();
  CLI::App* run = app.add_subcommand("run", "Start the ranks of a program on this host and wait for them");
  run->add_option("-n,--ranks", options->ranks, "Number of ranks (processes)")
      ->required()
      ->check(CLI::Range(std::uint32_t{1}, most_ranks_of_a_host).description(""));
  run->add_option("--nodes", options->nodes, "Number of virtual nodes that the ranks are told to live on")
      ->capture_default_str();
  run->add_flag("-k,--keep-going", options->keep_going,
                "Let the other ranks go on when one dies, and tell them of it");
  run->add_flag("--tag", options->tag_output, "Begin every line of output with the rank that wrote it");
  run->add_option("program", options->command,
                  "The program and its arguments; options of weft come before it")
      ->required();
  // The first word that is no option of ours begins the program's own command line.
  run->positionals_at_end();
  run->footer(
      "The exit status is that of the first rank that fails, 128 + N if signal N killed it.\n"
      "Examples:\n"
      "  weft run -n 4 ./app --size 100   four ranks\n"
      "  weft run -n 4 --nodes 2 ./app    the same, as if on two nodes\n"
      "  weft run -n 4 -k --tag ./app     survive the death of a rank, tell the output of ranks apart");
  run->callback([options, &status] {
    // The tool's other subcommands bring UCX along; the launcher and the ranks find the signals as the user
    // left them.
    transport::ucx::give_back_signals();
    const std::string& program = options->command.front();
    if (options->ranks > 1 && is_of_mpi_alone(program_file(program))) {
      std::cerr << "weft run: " << program << " is a program of MPI, which would be " << options->ranks
                << " jobs of one rank here: start it by weft mpi mpirun -n " << options->ranks << " "
                << program << "\n";
      status = 2;
      return;
    }
    try {
      const char* const before = std::getenv("LD_PRELOAD");
      const std::string preload = with_malloc(before == nullptr ? "" : before);
      if (!preload.empty()) setenv("LD_PRELOAD", preload.c_str(), 1); // for the ranks
    } catch (const std::runtime_error& e) {
      std::cerr << "weft run: " << e.what() << "\n";
      status = 2;
      return;
    }
    status = boot::launch(*options);
  });
}

} // namespace weft::tool
