// SPDX-License-Identifier: BSD-3-Clause
#include "pmix_boot/launcher/guardian.hpp"

#include "pmix_boot/client/pmix_info.hpp"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <poll.h>
#include <set>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weft::boot {

namespace {

// The first message to the launcher: one of these, and the directory or the reason why there is none.
constexpr char made = '+';
constexpr char not_made = '-';

std::string make_directory() {
  std::error_code error;
  std::string path = std::filesystem::temp_directory_path(error) / "weft-XXXXXX";
  if (error) return not_made + std::string("TMPDIR is not a directory");
  // With mode 0700.
  if (mkdtemp(path.data()) == nullptr)
    return not_made + ("cannot make " + path + ": " + std::strerror(errno));
  return made + path;
}

void remove_directory(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

[[noreturn]] void guard(int socket) {
  const std::string answer = make_directory();
  // The launcher may be gone by now; the end of what it sends says so.
  static_cast<void>(!send(socket, answer.data(), answer.size(), MSG_NOSIGNAL));
  std::set<pid_t> groups;
  for (pid_t message; read(socket, &message, sizeof message) == sizeof message;) {
    if (message > 0)
      groups.insert(message);
    else
      groups.erase(-message);
  }
  for (pid_t group : groups)
    kill(-group, SIGKILL);
  if (answer.front() == made) remove_directory(answer.substr(1));
  _exit(0);
}

// Out of the terminal's reach, and holding none of the launcher's files open.
void detach(int socket) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  setsid();
  prctl(PR_SET_NAME, "weft-guardian");
  dup2(socket, STDIN_FILENO);
  close_range(STDIN_FILENO + 1, ~0u, 0);
}

std::string receive_text(int socket) {
  std::string text(PATH_MAX + 256, '\0');
  ssize_t size;
  do
    size = read(socket, text.data(), text.size());
  while (size < 0 && errno == EINTR);
  text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  return text;
}

} // namespace

guardian::guardian() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    throw boot_error("cannot make a socket");
  socket_ = ends[0];
  pid_ = fork();
  if (pid_ == 0) {
    detach(ends[1]);
    guard(STDIN_FILENO);
  }
  close(ends[1]);
  const std::string answer =
      pid_ < 0 ? "-cannot start a process; raise the limit of processes (ulimit -u)" : receive_text(socket_);
  if (!answer.empty() && answer.front() == made) {
    directory_ = answer.substr(1);
    return;
  }
  close(socket_);
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
  throw boot_error(answer.empty() ? "the guardian process died at its start" : answer.substr(1));
}

bool guardian::died() const {
  pollfd socket{socket_, 0, 0};
  return poll(&socket, 1, 0) == 1;
}

guardian::~guardian() {
  close(socket_);
  kill(pid_, SIGCONT); // a stopped one would be waited for in vain
  waitpid(pid_, nullptr, 0);
  // Should it have been killed.
  remove_directory(directory_);
}

void guardian::send(int socket, pid_t message) {
  // Should the guardian be gone, the launcher sees that by itself.
  static_cast<void>(!::send(socket, &message, sizeof message, MSG_NOSIGNAL));
}

} // namespace weft::boot
