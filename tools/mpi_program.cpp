// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mpi_program.hpp"

#include "engine/settings.hpp"

#include <climits>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <fstream>
#include <glob.h>
#include <spawn.h>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace weft::tool {

namespace {

bool is_executable(const std::string& path) {
  struct stat s {};
  return stat(path.c_str(), &s) == 0 && S_ISREG(s.st_mode) && access(path.c_str(), X_OK) == 0;
}

// A part of a file, as it is in memory; zeros behind its end.
template <class T> std::vector<T> read(std::ifstream& file, std::uint64_t at, std::uint64_t count) {
  constexpr std::uint64_t most = 1 << 26;
  std::vector<T> all(std::min(count, most));
  file.clear();
  file.seekg(static_cast<std::streamoff>(at));
  file.read(reinterpret_cast<char*>(all.data()), static_cast<std::streamsize>(all.size() * sizeof(T)));
  return all;
}

using name_at = std::optional<std::uint64_t>;

// The names that entries of the tables of one kind have, section by section. Is one of them the one that is
// looked for? `name_of` says where the name of an entry is, or nothing if it does not count.
template <class Entry, class NameOf, class Wanted>
bool has_name(std::ifstream& file, const Elf64_Ehdr& header, std::uint32_t table, NameOf&& name_of,
              Wanted&& wanted) {
  const auto sections = read<Elf64_Shdr>(file, header.e_shoff, header.e_shnum);
  for (const Elf64_Shdr& s : sections) {
    if (s.sh_type != table || s.sh_link >= sections.size()) continue;
    auto names = read<char>(file, sections[s.sh_link].sh_offset, sections[s.sh_link].sh_size);
    names.push_back('\0');
    for (const Entry& entry : read<Entry>(file, s.sh_offset, s.sh_size / sizeof(Entry))) {
      const name_at at = name_of(entry);
      if (at && *at < names.size() && wanted(std::string_view(&names[*at]))) return true;
    }
  }
  return false;
}

// Is there a function of this name in the file itself?
bool defines(std::ifstream& file, const Elf64_Ehdr& header, std::string_view name) {
  return has_name<Elf64_Sym>(
      file, header, SHT_SYMTAB,
      [](const Elf64_Sym& s) { return s.st_shndx != SHN_UNDEF ? name_at(s.st_name) : name_at(); },
      [name](std::string_view found) { return found == name; });
}

// Does the file itself ask for a library whose name begins so?
bool asks_for(std::ifstream& file, const Elf64_Ehdr& header, std::string_view library) {
  return has_name<Elf64_Dyn>(
      file, header, SHT_DYNAMIC,
      [](const Elf64_Dyn& d) { return d.d_tag == DT_NEEDED ? name_at(d.d_un.d_val) : name_at(); },
      [library](std::string_view found) { return found.starts_with(library); });
}

bool is_program(const Elf64_Ehdr& header) {
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64;
}

// What the dynamic linker says that the program loads, a line for each.
std::string libraries_of(const std::string& path) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::string program = path, trace = "LD_TRACE_LOADED_OBJECTS=1";
  std::vector<char*> environment{trace.data()};
  for (char** e = environ; *e != nullptr; ++e)
    if (std::strncmp(*e, "LD_PRELOAD=", 11) != 0) environment.push_back(*e);
  environment.push_back(nullptr);
  char* arguments[] = {program.data(), nullptr};
  pid_t child = 0;
  const bool started =
      posix_spawn(&child, program.c_str(), &files, nullptr, arguments, environment.data()) == 0;
  posix_spawn_file_actions_destroy(&files);
  close(ends[1]);
  std::string all;
  char part[4096];
  for (ssize_t n = 0; started && (n = ::read(ends[0], part, sizeof part)) > 0;)
    all.append(part, static_cast<std::size_t>(n));
  close(ends[0]);
  if (started) waitpid(child, nullptr, 0);
  return all;
}

} // namespace

std::optional<mpi_of_program> mpi_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const Elf64_Ehdr header = read<Elf64_Ehdr>(file, 0, 1)[0];
  if (!is_program(header)) return {};
  bool dynamic = false;
  for (const Elf64_Phdr& part : read<Elf64_Phdr>(file, header.e_phoff, header.e_phnum))
    dynamic = dynamic || part.p_type == PT_INTERP;
  mpi_of_program result;
  if (dynamic) { // else the linker would not stop it before main
    const std::string all = libraries_of(path);
    result.open_mpi = all.find("\tlibmpi.so") != all.npos;
    result.mpich = all.find("\tlibmpich.so") != all.npos;
    result.weft = all.find("\tlibweft.so") != all.npos;
  }
  result.built_in = !result.open_mpi && !result.mpich && defines(file, header, "MPI_Init");
  return result;
}

bool is_of_mpi_alone(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const Elf64_Ehdr header = read<Elf64_Ehdr>(file, 0, 1)[0];
  if (!is_program(header) || (!asks_for(file, header, "libmpi.so") && !asks_for(file, header, "libmpich.so")))
    return false;
  return !mpi_of(path)->weft;
}

std::string program_file(const std::string& word) {
  if (word.find('/') != word.npos) return is_executable(word) ? word : "";
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const std::string file = folder + "/" + word; !word.empty() && is_executable(file)) return file;
  return {};
}

std::string real_file(const std::string& path) {
  char real[PATH_MAX];
  return realpath(path.c_str(), real) != nullptr ? real : path;
}

std::string library_beside(const std::string& folder, const std::string& name) {
  const std::string self = real_file("/proc/self/exe"), here = self.substr(0, self.rfind('/'));
  for (const std::string& place : {folder, std::string("lib"), std::string("lib64"), std::string("lib/*")}) {
    const std::string pattern = here + "/../" + place + "/lib" + name + ".so";
    glob_t found{};
    const bool any = glob(pattern.c_str(), 0, nullptr, &found) == 0;
    const std::string file = any ? real_file(found.gl_pathv[0]) : "";
    globfree(&found);
    if (any) return file;
  }
  return {};
}

std::string with_malloc(const std::string& more) {
  const char* const value = std::getenv("WEFT_MALLOC");
  if (value == nullptr) return more;
  std::vector<std::string> warnings;
  const std::string entry = std::string("WEFT_MALLOC=") + value;
  const char* const only[] = {entry.c_str()};
  if (!engine::read_settings(only, warnings).malloc) return more;
  const std::string library = library_beside("malloc", "weft-malloc");
  if (library.empty())
    throw std::runtime_error(
        "WEFT_MALLOC=1: libweft-malloc.so is not beside this tool: build Weft with shared "
        "libraries and without sanitizers, or leave out WEFT_MALLOC");
  return library + (more.empty() ? "" : ":" + more);
}

} // namespace weft::tool
