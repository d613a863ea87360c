// SPDX-License-Identifier: BSD-3-Clause
#include "perf/bench/tcp.hpp"

#include <cerrno>
#include <chrono>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdexcept>
#include <sys/socket.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

namespace perf {
namespace {

using namespace std::chrono_literals;
constexpr auto patience = 30s;

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

struct free_addresses {
  void operator()(addrinfo* found) const { freeaddrinfo(found); }
};
using addresses = std::unique_ptr<addrinfo, free_addresses>;

addresses resolved(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos)
    throw std::runtime_error("'" + address + "' is no address, write HOST:PORT");
  const std::string host = address.substr(0, colon), port = address.substr(colon + 1);
  addrinfo wanted{};
  wanted.ai_family = AF_INET;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(host.c_str(), port.c_str(), &wanted, &found); error != 0)
    throw std::runtime_error("cannot resolve " + address + ": " + gai_strerror(error));
  return addresses(found);
}

int open_socket() {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) fail("cannot open a socket");
  return descriptor;
}

// How many bytes went, of a call that may find that none can go now.
std::size_t moved(ssize_t result, const char* what) {
  if (result > 0) return static_cast<std::size_t>(result);
  if (result == 0) throw std::runtime_error("the other end of a connection has gone");
  if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) fail(what);
  return 0;
}

std::size_t send_some(int descriptor, std::span<const std::byte> bytes, int flags) {
  return moved(::send(descriptor, bytes.data(), bytes.size(), flags | MSG_NOSIGNAL), "cannot send");
}
std::size_t receive_some(int descriptor, std::span<std::byte> bytes, int flags) {
  return moved(::recv(descriptor, bytes.data(), bytes.size(), flags), "cannot receive");
}

} // namespace

connection::connection(int descriptor) : descriptor_(descriptor) {
  const int on = 1;
  setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}
connection::~connection() {
  if (descriptor_ >= 0) close(descriptor_);
}
connection::connection(connection&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

void connection::send(std::span<const std::byte> bytes) {
  while (!bytes.empty())
    bytes = bytes.subspan(send_some(descriptor_, bytes, 0));
}

void connection::receive(std::span<std::byte> bytes) {
  while (!bytes.empty())
    bytes = bytes.subspan(receive_some(descriptor_, bytes, 0));
}

void connection::transfer(std::span<const std::byte> out, std::span<std::byte> in,
                          const std::function<void()>& relax) {
  while (!out.empty() || !in.empty()) {
    const std::size_t sent = out.empty() ? 0 : send_some(descriptor_, out, MSG_DONTWAIT);
    const std::size_t received = in.empty() ? 0 : receive_some(descriptor_, in, MSG_DONTWAIT);
    out = out.subspan(sent);
    in = in.subspan(received);
    if (sent + received == 0) relax();
  }
}

listener::listener(const std::string& address) {
  const addresses at = resolved(address);
  descriptor_ = open_socket();
  const int on = 1;
  setsockopt(descriptor_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on); // the launch before has just ended
  if (bind(descriptor_, at->ai_addr, at->ai_addrlen) == 0 && listen(descriptor_, SOMAXCONN) == 0) return;
  const std::system_error error(errno, std::generic_category(), "cannot listen at " + address);
  close(descriptor_);
  throw error;
}
listener::~listener() {
  close(descriptor_);
}

connection listener::accept() {
  const int descriptor = ::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC);
  if (descriptor < 0) fail("cannot accept a connection");
  return connection(descriptor);
}

connection connect_to(const std::string& address) {
  const addresses at = resolved(address);
  const auto end = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const int descriptor = open_socket();
    if (connect(descriptor, at->ai_addr, at->ai_addrlen) == 0) return connection(descriptor);
    const int error = errno;
    close(descriptor);
    errno = error;
    if (std::chrono::steady_clock::now() > end) fail("cannot connect to " + address);
    std::this_thread::sleep_for(10ms);
  }
}

} // namespace perf
