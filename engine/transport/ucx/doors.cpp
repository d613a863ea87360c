#include "engine/transport/ucx/doors.hpp"

#include "engine/transport/ucx/devices.hpp"
#include "engine/transport/ucx/sockets.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
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
  const int knocking = socket(there.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (knocking < 0) return errno;
  int error = connect(knocking, there.ai_addr, there.ai_addrlen) == 0 ? 0 : errno;
  if (error == EINPROGRESS) error = outcome_of(knocking, patience);
  close(knocking);
  return error;
}

// The socket of a door that is open.
door door_of(int descriptor) {
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

void ask_for_life_at(const std::set<door>& doors) {
  const std::optional<int> idle = seconds_of("UCX_TCP_KEEPIDLE", 10);
  const std::optional<int> interval = seconds_of("UCX_TCP_KEEPINTVL", 2); // UCX's own
  if (!idle || !interval) return;
  for (const int descriptor : open_descriptors())
    if (listens(descriptor) && doors.contains(door_of(descriptor)))
      ask_for_life(descriptor, *idle, *interval);
}

std::set<door> open_doors() {
  std::set<door> doors;
  for (const int descriptor : open_descriptors()) {
    if (!listens(descriptor)) continue;
    if (door d = door_of(descriptor); !d.interface.empty()) doors.insert(std::move(d));
  }
  return doors;
}

std::string text_of(const std::set<door>& doors) {
  std::ostringstream text;
  for (const door& d : doors)
    text << d.interface << ' ' << d.address << ' ' << d.port << ' ';
  return text.str();
}

std::set<door> doors_in(const std::string& text) {
  std::istringstream words(text);
  std::set<door> doors;
  for (door d; words >> d.interface >> d.address >> d.port;)
    doors.insert(d);
  return doors;
}

int knock(const door& d, std::chrono::milliseconds patience) {
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
