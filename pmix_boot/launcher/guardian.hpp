// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// A small process beside the launcher that clears up when the launcher is gone, in good order or killed: it
// makes and removes the directory of the job, and ends the process groups of the ranks. (The kernel's
// parent-death signal ends the ranks themselves at once, but not what they started, a shell script's program
// for instance.)
//
// It sees the end by a socket: the other side is open in the launcher and in its PMIx server, which writes to
// the directory, and closed when the last of them is gone. It is there before anything that it clears up: the
// directory is its own, and a rank makes itself known before it becomes the user's program.

#include <string>
#include <sys/types.h>

namespace weft::boot {

class guardian {
public:
  // Forks: must be made while the process has one thread, and before the server.
  guardian();
  // The server must be gone.
  ~guardian();
  guardian(const guardian&) = delete;
  guardian& operator=(const guardian&) = delete;

  // Readable by the user alone.
  const std::string& directory() const { return directory_; }
  // Hangs up when the guardian is gone.
  int socket() const { return socket_; }
  bool died() const;
  // Must be called before the group's leader is reaped: its number may be given to others then.
  void forget(pid_t group) { forget(socket_, group); }

  // By a child of the launcher too, between fork and exec: async-signal-safe.
  static void watch(int socket, pid_t group) { send(socket, group); }
  static void forget(int socket, pid_t group) { send(socket, -group); }

private:
  static void send(int socket, pid_t message);

  int socket_ = -1;
  pid_t pid_ = -1;
  std::string directory_;
};

} // namespace weft::boot
