#include "engine/transport/ucx/sockets.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

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

} // namespace weft::transport::ucx
