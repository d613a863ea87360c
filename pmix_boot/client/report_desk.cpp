// SPDX-License-Identifier: BSD-3-Clause
#include "pmix_boot/client/report_desk.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace weft::boot {

namespace {

constexpr const char* variable = "_WEFT_REPORTS"; // none of the settings, which begin with WEFT_
constexpr const char* late = "late";
constexpr const char* question = "?";
constexpr const char* name_of_rank = "rank ";
constexpr std::size_t longest = 64 * 1024;

std::optional<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return std::nullopt;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

// Never waits, and never is a reason to die.
void send_text(int fd, const std::string& text) {
  static_cast<void>(!::send(fd, text.data(), std::min(text.size(), longest), MSG_NOSIGNAL | MSG_DONTWAIT));
}

// Nothing: none has come. Empty: the other end is gone.
std::optional<std::string> receive_text(int fd) {
  std::string text(longest, '\0');
  const ssize_t size = recv(fd, text.data(), text.size(), MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  return text;
}

} // namespace

report_desk::report_desk(std::uint32_t ranks, const std::string& directory)
    : path_(directory + "/reports"), lines_(ranks, -1), answers_(ranks) {
  const auto address = address_of(path_);
  listener_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener_ < 0) return;
  // Without a desk each rank prints its own report.
  if (!address || bind(listener_, reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0 ||
      listen(listener_, 1024) != 0) {
    close(listener_);
    listener_ = -1;
  }
}

report_desk::~report_desk() {
  for (const int fd : lines_)
    if (fd >= 0) close(fd);
  for (const int fd : strangers_)
    close(fd);
  if (listener_ < 0) return;
  close(listener_);
  unlink(path_.c_str());
}

std::string report_desk::environment() const {
  return std::string(variable) + "=" + (listener_ < 0 ? "" : path_);
}

void report_desk::collect(std::vector<pollfd>& waits) const {
  if (listener_ >= 0) waits.push_back({listener_, POLLIN, 0});
  for (const int fd : strangers_)
    waits.push_back({fd, POLLIN, 0});
  for (const int fd : lines_)
    if (fd >= 0) waits.push_back({fd, POLLIN, 0});
}

void report_desk::accept_lines() {
  if (listener_ < 0) return;
  for (int fd; (fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;)
    strangers_.push_back(fd);
}

bool report_desk::move() {
  accept_lines();
  for (int& fd : strangers_) {
    const auto text = receive_text(fd);
    if (!text) continue;
    std::uint32_t rank = 0;
    const std::size_t prefix = std::strlen(name_of_rank);
    const bool named =
        text->rfind(name_of_rank, 0) == 0 &&
        std::from_chars(text->data() + prefix, text->data() + text->size(), rank).ec == std::errc{};
    if (named && rank < lines_.size() && lines_[rank] < 0)
      lines_[rank] = fd;
    else
      close(fd);
    fd = -1;
  }
  std::erase(strangers_, -1);
  bool anybody_late = false;
  for (std::uint32_t rank = 0; rank < lines_.size(); ++rank) {
    while (lines_[rank] >= 0) {
      const auto text = receive_text(lines_[rank]);
      if (!text) break;
      if (text->empty()) {
        close(lines_[rank]);
        lines_[rank] = -1;
      } else if (*text == late) {
        anybody_late = true;
      } else if (auto report = unpacked(*text); report && report->rank == rank) {
        answers_[rank] = std::move(report);
      }
    }
  }
  return anybody_late;
}

bool report_desk::any_waits() const {
  return std::any_of(lines_.begin(), lines_.end(), [](int fd) { return fd >= 0; });
}

void report_desk::ask_all() {
  answers_.assign(lines_.size(), std::nullopt);
  for (const int fd : lines_)
    if (fd >= 0) send_text(fd, question);
}

bool report_desk::all_answered() const {
  for (std::size_t rank = 0; rank < lines_.size(); ++rank)
    if (lines_[rank] >= 0 && !answers_[rank]) return false;
  return true;
}

report_line::report_line(std::uint32_t rank) {
  const char* path = std::getenv(variable);
  const auto address = address_of(path == nullptr ? "" : path);
  if (!address) return;
  socket_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (socket_ < 0) return;
  if (connect(socket_, reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0) {
    close(socket_);
    socket_ = -1;
    return;
  }
  send(name_of_rank + std::to_string(rank));
}

report_line::~report_line() {
  if (socket_ >= 0) close(socket_);
}

void report_line::send(const std::string& text) {
  if (socket_ >= 0) send_text(socket_, text);
}

void report_line::say_late() {
  send(late);
}

void report_line::answer(const rank_report& r) {
  send(packed(r));
}

bool report_line::asked() {
  if (socket_ < 0) return false;
  const auto text = receive_text(socket_);
  if (!text) return false;
  if (text->empty()) {
    close(socket_);
    socket_ = -1;
  }
  return *text == question;
}

} // namespace weft::boot
