// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <csignal>
#include <cstdint>
#include <string>
#include <sys/resource.h>
#include <sys/types.h>
#include <vector>

namespace weft::boot {

// A small process beside the launcher that clears up when the launcher is gone, in good order or killed: it
// makes and removes the directory of the job, and ends the process groups of the ranks. (The kernel's
// parent-death signal ends the ranks themselves at once, but not what they started, a shell script's program
// for instance.)
//
// It sees the end by a socket: the other side is open in the launcher and in its PMIx server, which writes to
// the directory, and closed when the last of them is gone. It is there before anything that it clears up: the
// directory is its own, and a rank makes itself known before it becomes the user's program.

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

// Starting one rank as a process, in a process group of its own, that cannot outlive the launcher.

// What the launcher changes for itself and a rank must find as the user left it.
struct inherited_state {
  sigset_t signal_mask;
  struct sigaction sigpipe;
  rlimit open_files;

  static inherited_state save();
  // In a child between fork and exec: async-signal-safe.
  void restore() const;
};

struct program {
  std::string path;
  std::vector<std::string> arguments;
};

struct standard_files {
  int input;
  int output;
  int error;
};

// The file that the shell would run for `name`, or nothing with errno set.
std::string find_program(const std::string& name);

// Returns the process, which has reached the program and is known to the guardian at the other side of
// `guarded_by`, or throws std::system_error with the reason why it did not.
pid_t start_rank(const program& program, const std::vector<std::string>& environment,
                 const standard_files& files, const inherited_state& inherited, int guarded_by);

} // namespace weft::boot
