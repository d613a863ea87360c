// SPDX-License-Identifier: BSD-3-Clause
#include "pmix_boot/launcher/server_process.hpp"

#include "pmix_boot/launcher/pmix_server.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <optional>
#include <string_view>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace weft::boot {

namespace {

constexpr std::size_t longest_text = 60 * 1024;
// Before the first event the server sends one message for each rank's environment, or one why it failed.
constexpr std::int32_t started = 0;
constexpr std::int32_t failed = 1;

// One packet of the socket is one event: this, and the text.
struct event_header {
  server_event::kind what;
  std::uint32_t rank;
  std::int32_t status;
};

void send_event(int socket, const server_event& event) {
  event_header header{event.what, event.rank, event.status};
  std::string text = event.text.substr(0, longest_text);
  std::array<iovec, 2> parts{{{&header, sizeof header}, {text.data(), text.size()}}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  // A launcher that is gone takes this process with it.
  static_cast<void>(!sendmsg(socket, &message, MSG_NOSIGNAL));
}

enum class wait_mode { block, poll };

// Nothing when there is none yet; `gone` at the end of the server.
std::optional<server_event> receive_event(int socket, wait_mode mode) {
  event_header header{};
  std::string text(longest_text, '\0');
  std::array<iovec, 2> parts{{{&header, sizeof header}, {text.data(), text.size()}}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  ssize_t size;
  do
    size = recvmsg(socket, &message, mode == wait_mode::poll ? MSG_DONTWAIT : 0);
  while (size < 0 && errno == EINTR);
  if (size < 0 && errno == EAGAIN) return std::nullopt;
  if (size < static_cast<ssize_t>(sizeof header)) return server_event{server_event::kind::gone, 0, 0, {}};
  text.resize(static_cast<std::size_t>(size) - sizeof header);
  return server_event{header.what, header.rank, header.status, std::move(text)};
}

// Texts of an environment in one, each ended by a zero.
std::string join(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts)
    joined.append(text).push_back('\0');
  return joined;
}

std::vector<std::string> split(std::string_view joined) {
  std::vector<std::string> texts;
  while (!joined.empty()) {
    texts.emplace_back(joined.substr(0, joined.find('\0')));
    joined.remove_prefix(texts.back().size() + 1);
  }
  return texts;
}

// Once the server is up, what PMIx prints is about broken connections to ranks that ended; the launcher says
// it better.
void silence() {
  const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(null, STDOUT_FILENO);
  dup2(null, STDERR_FILENO);
}

// The child. It ends with the socket, or is killed; nothing of PMIx needs to be shut down.
[[noreturn]] void serve(int socket, const rank_layout& layout, const std::string& directory) {
  try {
    pmix_server server(layout, directory, [socket](const server_event& event) { send_event(socket, event); });
    for (std::uint32_t rank = 0; rank < layout.ranks(); ++rank)
      send_event(socket, {server_event::kind::joined, rank, started, join(server.added_environment(rank))});
    silence();
    for (std::uint32_t rank; read(socket, &rank, sizeof rank) == sizeof rank;)
      server.report_death(rank);
  } catch (const std::exception& error) {
    send_event(socket, {server_event::kind::gone, 0, failed, error.what()});
  }
  _exit(0);
}

bool sets_same_name(const std::string& one, const char* other) {
  return one.compare(0, one.find('=') + 1, other, std::strcspn(other, "=") + 1) == 0;
}

} // namespace

server_process::server_process(const rank_layout& layout, const std::string& directory) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    throw boot_error("cannot make a socket");
  socket_ = ends[0];
  const pid_t launcher = getpid();
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != launcher) _exit(1);
    prctl(PR_SET_NAME, "weft-pmix");
    close(ends[0]);
    serve(ends[1], layout, directory);
  }
  close(ends[1]);
  if (pid_ < 0) {
    close(socket_);
    throw boot_error("cannot start a process; raise the limit of processes (ulimit -u)");
  }
  while (additions_.size() < layout.ranks()) {
    const server_event event = *receive_event(socket_, wait_mode::block);
    if (event.what == server_event::kind::gone) {
      waitpid(pid_, nullptr, 0);
      close(socket_);
      throw boot_error(event.text.empty() ? "the PMIx server died at its start" : event.text);
    }
    additions_.push_back(split(event.text));
  }
}

server_process::~server_process() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  if (socket_ >= 0) close(socket_);
}

std::vector<std::string> server_process::environment(std::uint32_t rank) const {
  std::vector<std::string> result = additions_[rank];
  const std::size_t added = result.size();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    bool replaced = belongs_to_a_job(*entry);
    for (std::size_t i = 0; i < added && !replaced; ++i)
      replaced = sets_same_name(result[i], *entry);
    if (!replaced) result.emplace_back(*entry);
  }
  return result;
}

std::vector<server_event> server_process::take_events() {
  std::vector<server_event> events;
  while (socket_ >= 0) {
    auto event = receive_event(socket_, wait_mode::poll);
    if (!event) break;
    if (event->what == server_event::kind::gone) {
      close(socket_);
      socket_ = -1;
    }
    events.push_back(std::move(*event));
  }
  return events;
}

void server_process::report_death(std::uint32_t rank) {
  static_cast<void>(!send(socket_, &rank, sizeof rank, MSG_NOSIGNAL));
}

} // namespace weft::boot
