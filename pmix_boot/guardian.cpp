#include "pmix_boot/guardian.hpp"

#include "pmix_boot/pmix_info.hpp"

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weft::boot {

namespace {

constexpr pid_t good_order = 0;

// Reads until the launcher says that it ends, or is gone.
[[noreturn]] void guard(int pipe, const std::string& directory) {
  std::set<pid_t> groups;
  for (pid_t message; read(pipe, &message, sizeof message) == sizeof message;) {
    if (message == good_order) _exit(0);
    if (message > 0)
      groups.insert(message);
    else
      groups.erase(-message);
  }
  for (pid_t group : groups)
    kill(-group, SIGKILL);
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
  _exit(0);
}

// Out of the terminal's reach, and holding none of the launcher's files open.
void detach(int pipe) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  setsid();
  prctl(PR_SET_NAME, "weft-guardian");
  dup2(pipe, STDIN_FILENO);
  close_range(STDIN_FILENO + 1, ~0u, 0);
}

} // namespace

guardian::guardian(const std::string& session_directory) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw boot_error("cannot make a pipe");
  pipe_ = ends[1];
  pid_ = fork();
  if (pid_ == 0) {
    detach(ends[0]);
    guard(STDIN_FILENO, session_directory);
  }
  close(ends[0]);
  if (pid_ < 0) {
    close(pipe_);
    throw boot_error("cannot start a process; raise the limit of processes (ulimit -u)");
  }
}

guardian::~guardian() {
  send(good_order);
  close(pipe_);
  waitpid(pid_, nullptr, 0);
}

void guardian::send(pid_t message) {
  // Should the guardian be gone, the launcher goes on without it (SIGPIPE is blocked).
  static_cast<void>(!write(pipe_, &message, sizeof message));
}

} // namespace weft::boot
