// SPDX-License-Identifier: BSD-3-Clause
#include "pmix_boot/launcher/rank_process.hpp"

#include "pmix_boot/launcher/guardian.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace weft::boot {

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
