// SPDX-License-Identifier: BSD-3-Clause
#include "pmix_boot/launcher/launcher.hpp"

#include "pmix_boot/launcher/rank_process.hpp"
#include "pmix_boot/launcher/supervisor.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <unistd.h>

namespace weft::boot {

namespace {

constexpr int failure = 1;
constexpr int bad_usage = 2;
constexpr int not_executable = 126;
constexpr int not_found = 127;

int refuse(int status, const std::string& reason) {
  std::fprintf(stderr, "weft run: %s\n", reason.c_str());
  return status;
}

// A file opened later must not become one of the three standard ones.
void open_standard_files() {
  int file = open("/dev/null", O_RDWR);
  while (file >= 0 && file <= STDERR_FILENO)
    file = open("/dev/null", O_RDWR);
  if (file > STDERR_FILENO) close(file);
}

} // namespace

int launch(const launch_options& options) {
  if (options.ranks == 0) return refuse(bad_usage, "the number of ranks must be at least 1; give it with -n");
  if (options.nodes == 0) return refuse(bad_usage, "the number of nodes must be at least 1");
  if (options.nodes > options.ranks)
    return refuse(bad_usage, "more nodes (" + std::to_string(options.nodes) + ") than ranks (" +
                                 std::to_string(options.ranks) + "); every node needs a rank");
  if (options.command.empty()) return refuse(bad_usage, "no program given");
  const std::string path = find_program(options.command.front());
  if (path.empty())
    return refuse(errno == ENOENT ? not_found : not_executable,
                  "cannot run " + options.command.front() + ": " + std::strerror(errno));
  open_standard_files();
  try {
    return supervisor(options, path).run();
  } catch (const std::exception& error) {
    return refuse(failure, error.what());
  }
}

} // namespace weft::boot
