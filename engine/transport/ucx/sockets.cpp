// SPDX-License-Identifier: BSD-3-Clause
#include "engine/transport/ucx/sockets.hpp"

#include "engine/transport/ucx/devices.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <poll.h>
#include <sstream>
#include <sys/socket.h>
#include <unistd.h>

namespace weft::transport::ucx {

namespace {

using naming = int (*)(int, sockaddr*, socklen_t*);

socket_end end_of(int socket, naming which) {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  std::array<char, NI_MAXHOST> address{};
  std::array<char, NI_MAXSERV> port{};
  auto* const generic = reinterpret_cast<sockaddr*>(&name);
  if (which(socket, generic, &size) != 0 || (name.ss_family != AF_INET && name.ss_family != AF_INET6) ||
      getnameinfo(generic, size, address.data(), address.size(), port.data(), port.size(),
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return {};
  return {address.data(), static_cast<std::uint16_t>(std::atoi(port.data()))};
}

// What an epoll descriptor waits for; nothing if it is none.
std::vector<int> awaited_by(int events) {
  std::array<char, 64> name{};
  std::snprintf(name.data(), name.size(), "/proc/self/fdinfo/%d", events);
  std::vector<int> found;
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(name.data(), "re"), &std::fclose);
  std::array<char, 256> line{};
  while (file && std::fgets(line.data(), line.size(), file.get()) != nullptr)
    if (int awaited = 0; std::sscanf(line.data(), "tfd: %d", &awaited) == 1) found.push_back(awaited);
  return found;
}

int option(int socket, int level, int name) {
  int value = 0;
  socklen_t size = sizeof value;
  return getsockopt(socket, level, name, &value, &size) == 0 ? value : 0;
}

// How long nothing may come back; 0 = for ever.
std::uint32_t patience_of(int socket) {
  if (option(socket, SOL_SOCKET, SO_KEEPALIVE) == 0) return 0;
  const int questions = std::max(option(socket, IPPROTO_TCP, TCP_KEEPCNT) - 2, 0);
  const int seconds =
      option(socket, IPPROTO_TCP, TCP_KEEPIDLE) + option(socket, IPPROTO_TCP, TCP_KEEPINTVL) * questions;
  return seconds > 0 ? static_cast<std::uint32_t>(seconds) : 0;
}

// Seconds since anything came back, if something must: data that are sent again and again, or the system's
// own questions of an idle connection or of one whose other end had no room. 0 if nothing is wrong.
std::uint32_t silence_of(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || info.tcpi_state != TCP_ESTABLISHED)
    return 0;
  const bool sends_again = info.tcpi_unacked != 0 && info.tcpi_retransmits > 1;
  return sends_again || info.tcpi_probes > 1 ? info.tcpi_last_ack_recv / 1000 : 0;
}

void look_below(int events, int depth, std::vector<silent_socket>& found) {
  for (const int awaited : awaited_by(events)) {
    if (const std::uint32_t patience = patience_of(awaited); patience != 0) {
      if (const std::uint32_t seconds = silence_of(awaited); seconds >= patience)
        found.push_back({awaited, far_end(awaited).address, seconds});
    } else if (depth != 0) {
      look_below(awaited, depth - 1, found);
    }
  }
}

} // namespace

socket_end own_end(int socket) {
  return end_of(socket, getsockname);
}
socket_end far_end(int socket) {
  return end_of(socket, getpeername);
}

std::vector<int> open_descriptors() {
  std::vector<int> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir("/proc/self/fd"), &closedir);
  while (const dirent* entry = open ? readdir(open.get()) : nullptr)
    if (entry->d_name[0] != '.') found.push_back(std::atoi(entry->d_name));
  return found;
}

std::vector<silent_socket> silent_sockets(int events) {
  constexpr int deepest = 2; // UCX: a worker's, and an interface's below it
  std::vector<silent_socket> found;
  look_below(events, deepest, found);
  return found;
}

namespace {

bool listens(int descriptor) {
  int yes = 0;
  socklen_t size = sizeof yes;
  return getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &yes, &size) == 0 && yes != 0;
}

// After a connect() that goes on by itself.
int outcome_of(int connecting, std::chrono::milliseconds patience) {
  pollfd writable{connecting, POLLOUT, 0};
  if (::poll(&writable, 1, static_cast<int>(patience.count())) <= 0) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  return getsockopt(connecting, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

int connected(const addrinfo& there, std::chrono::milliseconds patience) {
  const int probing = socket(there.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (probing < 0) return errno;
  int error = connect(probing, there.ai_addr, there.ai_addrlen) == 0 ? 0 : errno;
  if (error == EINPROGRESS) error = outcome_of(probing, patience);
  close(probing);
  return error;
}

// The socket of a listener that is open.
listener listener_of(int descriptor) {
  const socket_end own = own_end(descriptor);
  return {interface_with(own.address), own.address, own.port};
}

// A setting of UCX that is a time, in whole seconds, at least one; none for "inf".
std::optional<int> seconds_of(const char* setting, int unless_set) {
  const char* const text = std::getenv(setting);
  char* unit = nullptr;
  const double number = text == nullptr ? 0 : std::strtod(text, &unit);
  if (text == nullptr || (unit == text && std::strcmp(text, "inf") != 0)) return unless_set;
  if (std::isinf(number)) return std::nullopt;
  const double scale = std::strcmp(unit, "ms") == 0   ? 1e-3
                       : std::strcmp(unit, "us") == 0 ? 1e-6
                       : std::strcmp(unit, "ns") == 0 ? 1e-9
                                                      : 1;
  return std::clamp(static_cast<int>(number * scale), 1, 32767);
}

// What is set on a socket that listens its connections inherit.
void ask_for_life(int descriptor, int idle, int interval) {
  constexpr int on = 1;
  const int count = std::atoi(std::getenv("UCX_TCP_KEEPCNT") ? std::getenv("UCX_TCP_KEEPCNT") : "");
  setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
  if (count > 0) setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count); // else the system's
  setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

} // namespace

void ask_for_life_at(const std::set<listener>& listeners) {
  const std::optional<int> idle = seconds_of("UCX_TCP_KEEPIDLE", 10);
  const std::optional<int> interval = seconds_of("UCX_TCP_KEEPINTVL", 2); // UCX's own
  if (!idle || !interval) return;
  for (const int descriptor : open_descriptors())
    if (listens(descriptor) && listeners.contains(listener_of(descriptor)))
      ask_for_life(descriptor, *idle, *interval);
}

std::set<listener> open_listeners() {
  std::set<listener> listeners;
  for (const int descriptor : open_descriptors()) {
    if (!listens(descriptor)) continue;
    if (listener d = listener_of(descriptor); !d.interface.empty()) listeners.insert(std::move(d));
  }
  return listeners;
}

std::string text_of(const std::set<listener>& listeners) {
  std::ostringstream text;
  for (const listener& d : listeners)
    text << d.interface << ' ' << d.address << ' ' << d.port << ' ';
  return text.str();
}

std::set<listener> listeners_in(const std::string& text) {
  std::istringstream words(text);
  std::set<listener> listeners;
  for (listener d; words >> d.interface >> d.address >> d.port;)
    listeners.insert(d);
  return listeners;
}

int probe(const listener& d, std::chrono::milliseconds patience) {
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  if (getaddrinfo(d.address.c_str(), std::to_string(d.port).c_str(), &wanted, &found) != 0)
    return EADDRNOTAVAIL;
  const int error = connected(*found, patience);
  freeaddrinfo(found);
  return error;
}

} // namespace weft::transport::ucx
