#include "engine/transport/ucx/doors.hpp"

#include "engine/transport/ucx/devices.hpp"
#include "engine/transport/ucx/sockets.hpp"

#include <cerrno>
#include <netdb.h>
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

} // namespace

std::set<door> open_doors() {
  std::set<door> doors;
  for (const int descriptor : open_descriptors()) {
    if (!listens(descriptor)) continue;
    const socket_end own = own_end(descriptor);
    if (std::string name = interface_with(own.address); !name.empty())
      doors.insert({std::move(name), own.address, own.port});
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
