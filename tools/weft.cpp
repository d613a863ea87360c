// SPDX-License-Identifier: BSD-3-Clause
// The command-line tool `weft`.

#include "engine/settings.hpp"
#include "tools/command.hpp"
#include "weft/version.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <span>
#include <string>
#include <vector>

namespace {

const std::vector<std::string> subcommands{"run", "mpi", "info", "plan", "doctor", "help"};

// What a word that is no subcommand was meant to be, as part of the error: the nearest one, or all.
std::string hint_for(const std::string& word) {
  const std::string meant = weft::engine::nearest(word, subcommands);
  return word + " is no subcommand; " +
         (meant.empty() ? "there are run, mpi, info, plan, doctor and help" : "did you mean " + meant + "?");
}

// The first option of the command line that its subcommand does not have, and which was meant, as part of the
// error; nothing if it has all. What comes behind the program of `run` and `mpi` is the program's.
std::string hint_for_options(const CLI::App& app, std::span<char* const> words) {
  const auto all =
      app.get_subcommands([&](const CLI::App* one) { return !words.empty() && one->get_name() == words[0]; });
  if (all.empty()) return {};
  const CLI::App* const subcommand = all.front();
  std::vector<std::string> known;
  for (const CLI::Option* const one : subcommand->get_options())
    for (const std::string& name : one->get_lnames())
      known.push_back("--" + name);
  for (std::size_t k = 1; k < words.size(); ++k) {
    const std::string_view word = words[k];
    if (!word.starts_with('-') || word == "--") {
      if (subcommand->get_name() == "run" || subcommand->get_name() == "mpi") break;
      continue;
    }
    const std::string name(word.substr(0, word.find('=')));
    const CLI::Option* const option = subcommand->get_option_no_throw(name);
    if (option != nullptr && option->get_items_expected_max() > 0 && name == word) ++k; // its value
    if (option != nullptr || !name.starts_with("--")) continue;
    const std::string meant = weft::engine::nearest(name, known);
    return name + " is no option of weft " + subcommand->get_name() +
           (meant.empty() ? "; weft " + subcommand->get_name() + " --help lists them"
                          : "; did you mean " + meant + "?");
  }
  return {};
}

// Whether all that was printed has gone: a disk may be full, or the output closed.
constexpr int not_written = 1;
bool was_written() {
  std::cout.flush();
  if (std::cout.good() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  std::cerr << "weft: cannot write its output: " << std::strerror(errno) << "; send it to another place\n";
  return false;
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app{"weft: collectives that go on while you compute", "weft"};
  app.footer("Examples:\n"
             "  weft run -n 4 ./app              start four ranks of ./app on this host\n"
             "  weft mpi mpirun -n 4 ./program   an unchanged program of MPI, carried by Weft\n"
             "  weft info                        versions, cores, settings, algorithms\n"
             "  weft doctor                      what would go wrong here\n"
             "  weft help upc_all_exchange       what a call does\n"
             "  weft plan exchange --verify      check the plans of a collective\n"
             "  weft run --help                  options of a subcommand");
  app.set_version_flag("--version", "weft " WEFT_VERSION);
  app.require_subcommand(1);
  int status = 0;
  weft::tool::add_run_command(app, status);
#if !WEFT_TOOL_ONLY_RUNS // as builds with a sanitizer have it
  weft::tool::add_mpi_command(app, status);
  weft::tool::add_info_command(app, status);
  weft::tool::add_plan_command(app, status);
  weft::tool::add_doctor_command(app, status);
  weft::tool::add_help_command(app, status);
#endif
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and version are "errors" with status 0, and print themselves.
    if (error.get_exit_code() == 0) {
      const int shown = app.exit(error);
      return was_written() ? shown : not_written;
    }
    constexpr int bad_usage = 2;
    const std::string word = argc > 1 ? argv[1] : "-";
    const bool unknown = !word.starts_with('-') && std::ranges::find(subcommands, word) == subcommands.end();
    const std::string option = hint_for_options(app, {argv + 1, static_cast<std::size_t>(argc - 1)});
    std::cerr << "weft: "
              << (unknown          ? hint_for(word)
                  : option.empty() ? error.what()
                                   : option)
              << "; see weft --help\n";
    return bad_usage;
  }
  return was_written() ? status : not_written;
}
