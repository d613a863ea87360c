#pragma once
// A small process beside the launcher that clears up if the launcher is killed: it ends the process groups of
// the ranks and removes the session directory. (The kernel's parent-death signal ends the ranks themselves at
// once, but not what they started, a shell script's program for instance.)

#include <string>
#include <sys/types.h>

namespace weft::boot {

class guardian {
public:
  // Forks: must be made while the process has one thread.
  explicit guardian(const std::string& session_directory);
  // The launcher ended in good order, nothing is left to do.
  ~guardian();
  guardian(const guardian&) = delete;
  guardian& operator=(const guardian&) = delete;

  void watch(pid_t group) { send(group); }
  // Must be called before the group's leader is reaped: its number may be given to others then.
  void forget(pid_t group) { send(-group); }

private:
  void send(pid_t message);

  int pipe_ = -1;
  pid_t pid_ = -1;
};

} // namespace weft::boot
