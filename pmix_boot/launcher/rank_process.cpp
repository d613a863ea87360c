// SPDX-License-Identifier: BSD-3-Clause
#include "pmix_boot/launcher/rank_process.hpp"

#include "pmix_boot/client/pmix_info.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <set>
#include <sstream>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace weft::boot {

namespace {

// The first message to the launcher: one of these, and the directory or the reason why there is none.
constexpr char made = '+';
constexpr char not_made = '-';

std::string make_directory() {
  std::error_code error;
  std::string path = std::filesystem::temp_directory_path(error) / "weft-XXXXXX";
  if (error) {
    const char* const set = std::getenv("TMPDIR");
    return not_made + ("TMPDIR=" + std::string(set != nullptr ? set : "") +
                       ": is no directory: name one that the job may write to");
  }
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

namespace {

// Sets errno when it is not.
bool is_program(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return false;
  if (S_ISREG(status.st_mode)) return access(path.c_str(), X_OK) == 0;
  errno = EACCES;
  return false;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts)
    result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

// Above the three standard numbers, so that installing one of the three cannot overwrite another.
int lifted(int file) {
  return file > STDERR_FILENO ? file : fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

void install(const standard_files& files) {
  const int input = lifted(files.input), output = lifted(files.output), error = lifted(files.error);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(error, STDERR_FILENO);
}

// The child: nothing here may allocate or take a lock, the launcher has threads.
[[noreturn]] void become(const char* path, char* const* arguments, char* const* environment,
                         const standard_files& files, const inherited_state& inherited, pid_t launcher,
                         int guarded_by, int error_pipe) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The launcher may have died before the line above.
  if (getppid() != launcher) _exit(1);
  setpgid(0, 0);
  // Before the program can start anything that the launcher's death would leave.
  guardian::watch(guarded_by, getpid());
  install(files);
  inherited.restore();
  execve(path, arguments, environment);
  const int reason = errno;
  guardian::forget(guarded_by, getpid());
  static_cast<void>(!write(error_pipe, &reason, sizeof reason));
  _exit(127);
}

// Waits until the child has become the program (the pipe closes) or has written why it could not.
int exec_error(int pipe) {
  int reason = 0;
  ssize_t size;
  do
    size = read(pipe, &reason, sizeof reason);
  while (size < 0 && errno == EINTR);
  return size == sizeof reason ? reason : 0;
}

} // namespace

inherited_state inherited_state::save() {
  inherited_state state;
  sigprocmask(SIG_BLOCK, nullptr, &state.signal_mask);
  sigaction(SIGPIPE, nullptr, &state.sigpipe);
  getrlimit(RLIMIT_NOFILE, &state.open_files);
  return state;
}

void inherited_state::restore() const {
  sigaction(SIGPIPE, &sigpipe, nullptr);
  setrlimit(RLIMIT_NOFILE, &open_files);
  sigprocmask(SIG_SETMASK, &signal_mask, nullptr);
}

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return is_program(name) ? name : std::string();
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path);
  int reason = ENOENT;
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (is_program(candidate)) return candidate;
    if (errno == EACCES) reason = EACCES;
  }
  errno = reason;
  return {};
}

pid_t start_rank(const program& program, const std::vector<std::string>& environment,
                 const standard_files& files, const inherited_state& inherited, int guarded_by) {
  const std::vector<char*> arguments = pointers(program.arguments), variables = pointers(environment);
  int errors[2];
  if (pipe2(errors, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category());
  const pid_t launcher = getpid();
  const pid_t pid = fork();
  if (pid == 0)
    become(program.path.c_str(), arguments.data(), variables.data(), files, inherited, launcher, guarded_by,
           errors[1]);
  const int fork_error = errno;
  close(errors[1]);
  int reason = fork_error;
  if (pid > 0) reason = exec_error(errors[0]);
  close(errors[0]);
  if (pid > 0 && reason != 0) waitpid(pid, nullptr, 0);
  if (pid < 0 || reason != 0) throw std::system_error(reason, std::generic_category());
  return pid;
}

} // namespace weft::boot
