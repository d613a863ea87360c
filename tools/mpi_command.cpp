// SPDX-License-Identifier: BSD-3-Clause
// weft mpi: start an unchanged program of MPI with libweft-mpi, by the launcher of its MPI.

#include "tools/command.hpp"
#include "tools/mpi_program.hpp"

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <unistd.h>

namespace weft::tool {

namespace {

struct mpi_options {
  std::string with;
  bool print = false;
  std::vector<std::string> command;
};

// How a launcher hands a variable on to its ranks.
enum class launcher { none, open_mpi, hydra, slurm };

std::string name_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

launcher launcher_of(const std::string& word) {
  const std::string name = name_of(real_file(program_file(word)));
  for (const char* const one : {"orterun", "mpirun.openmpi", "mpiexec.openmpi", "prterun"})
    if (name == one) return launcher::open_mpi;
  for (const char* const one : {"mpiexec.hydra", "mpirun.hydra", "mpiexec.mpich", "mpirun.mpich"})
    if (name == one) return launcher::hydra;
  return name == "srun" ? launcher::slurm : launcher::none;
}

// The program among the words behind a launcher: the first that names one.
std::string program_of(const mpi_options& o, launcher by) {
  for (std::size_t k = by == launcher::none ? 0 : 1; k != o.command.size(); ++k)
    if (o.command[k][0] != '-')
      if (const std::string file = program_file(o.command[k]); !file.empty()) return file;
  throw std::runtime_error("there is no program among the words " + o.command.front() +
                           " ...: put it behind the launcher, as in weft mpi mpirun -n 4 ./program");
}

std::string mpi_for(const mpi_options& o, launcher by) {
  const std::string program = program_of(o, by);
  const mpi_of_program of = mpi_of(program).value_or(mpi_of_program{});
  if (of.built_in)
    throw std::runtime_error(program +
                             " was linked to its MPI statically, and nothing can come between: link it to "
                             "the shared library of its MPI");
  if (of.open_mpi && of.mpich)
    throw std::runtime_error(program +
                             " loads two MPIs, Open MPI and MPICH: link it to one of them (ldd shows which "
                             "library needs the other)");
  const std::string linked = of.open_mpi ? "openmpi" : of.mpich ? "mpich" : "";
  const std::string launched = by == launcher::open_mpi ? "openmpi" : by == launcher::hydra ? "mpich" : "";
  const std::string& mpi = !o.with.empty() ? o.with : !linked.empty() ? linked : launched;
  if (!linked.empty() && mpi != linked)
    throw std::runtime_error(program + " is linked to " + linked + ", not to " + mpi + ": leave out --with");
  if (!mpi.empty() && !launched.empty() && mpi != launched)
    throw std::runtime_error(o.command.front() + " starts programs of " + launched + ", and " + program +
                             " is one of " + mpi + ": use the launcher of that MPI (" +
                             (mpi == "mpich" ? "mpiexec.hydra" : "mpirun.openmpi") + ")");
  if (mpi.empty())
    throw std::runtime_error("which MPI " + program +
                             " uses is not to be seen, from it or from the launcher: say "
                             "--with openmpi or --with mpich");
  return mpi;
}

std::vector<std::string> with_preload(const mpi_options& o, launcher by, const std::string& library) {
  const char* const before = std::getenv("LD_PRELOAD");
  const std::string value =
      with_malloc(library) + (before == nullptr || *before == '\0' ? "" : ":" + std::string(before));
  std::vector<std::string> words = o.command, more;
  switch (by) {
  case launcher::none:
    if (o.print) return words.insert(words.begin(), {"env", "LD_PRELOAD=" + value}), words;
    setenv("LD_PRELOAD", value.c_str(), 1);
    return words;
  case launcher::open_mpi: // it hands nothing on to other hosts by itself
    more = {"-x", "LD_PRELOAD=" + value};
    for (char** e = environ; *e != nullptr; ++e)
      if (std::strncmp(*e, "WEFT_", 5) == 0)
        more.insert(more.end(), {"-x", std::string(*e, std::strcspn(*e, "="))});
    break;
  case launcher::hydra:
    more = {"-genv", "LD_PRELOAD", value};
    break;
  case launcher::slurm:
    for (std::string& word : words)
      if (word.starts_with("--export=")) return word += ",LD_PRELOAD=" + value, words;
    more = {"--export=ALL,LD_PRELOAD=" + value};
  }
  words.insert(words.begin() + 1, more.begin(), more.end());
  return words;
}

int start(const mpi_options& o) {
  try {
    const launcher by = launcher_of(o.command.front());
    const std::string mpi = mpi_for(o, by), library = library_beside("mpi", "weft-mpi-" + mpi);
    if (library.empty())
      throw std::runtime_error("libweft-mpi-" + mpi +
                               ".so is not beside this tool: build Weft where mpicxx." + mpi +
                               " is installed");
    std::vector<std::string> words = with_preload(o, by, library);
    if (o.print) {
      for (const std::string& word : words)
        std::cout << word << (&word == &words.back() ? "\n" : " ");
      return 0;
    }
    std::vector<char*> arguments;
    for (std::string& word : words)
      arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    throw std::runtime_error(words.front() + " cannot be started: " + std::strerror(errno));
  } catch (const std::runtime_error& e) {
    std::cerr << "weft mpi: " << e.what() << "\n";
    return 2;
  }
}

} // namespace

void add_mpi_command(CLI::App& app, int& status) {
  auto options = std::make_shared<mpi_options>();
  CLI::App* mpi =
      app.add_subcommand("mpi", "Start an unchanged program of MPI, its collectives carried by Weft");
  mpi->add_option("--with", options->with,
                  "The MPI of the program; else it is seen from the program or the launcher")
      ->check(CLI::IsMember({"openmpi", "mpich"}));
  mpi->add_flag("--print", options->print, "Print the command in the place of starting it");
  mpi->add_option("command", options->command,
                  "The launcher of that MPI (mpirun, mpiexec, mpiexec.hydra, srun) and all that follows it")
      ->required();
  mpi->positionals_at_end();
  mpi->footer(
      "Non-blocking collectives of the program go on while it computes. The exit status is the launcher's.\n"
      "Examples:\n"
      "  weft mpi mpirun -n 4 ./program\n"
      "  weft mpi srun --mpi=pmix -n 64 ./program\n"
      "  weft mpi --with openmpi srun --mpi=pmix -n 4 python3 program.py\n"
      "  WEFT_STATISTICS=1 weft mpi mpirun -n 4 ./program     what was carried, and what was not");
  mpi->callback([options, &status] { status = start(*options); });
}

} // namespace weft::tool
