// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// The PMIx server in a process of its own. It can be ended at any moment, whatever its threads are doing:
// PMIx 4.2 uses freed memory when two ranks inside one fence are lost at nearly the same time, which is how
// most jobs that fail end, and its orderly shut-down is not meant for such moments either. The launcher stays
// free of threads.

#include "pmix_boot/launcher/rank_layout.hpp"
#include "pmix_boot/launcher/server_event.hpp"

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace weft::boot {

class server_process {
public:
  // Forks. Throws boot_error if the server does not come up.
  server_process(const rank_layout& layout, const std::string& directory);
  ~server_process();
  server_process(const server_process&) = delete;
  server_process& operator=(const server_process&) = delete;

  // The environment in which `rank` must be started, as "NAME=value".
  std::vector<std::string> environment(std::uint32_t rank) const;
  // Readable while events are waiting; negative when the server is gone.
  int event_fd() const { return socket_; }
  // What a rank told the server before it went on is here before anything else of that rank can be seen.
  std::vector<server_event> take_events();
  // Tells the other ranks that this one died.
  void report_death(std::uint32_t rank);

private:
  int socket_ = -1;
  pid_t pid_ = -1;
  // Of each rank, what the server adds to the environment.
  std::vector<std::vector<std::string>> additions_;
};

} // namespace weft::boot
