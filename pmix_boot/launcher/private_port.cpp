#include "pmix_boot/launcher/private_port.hpp"

#include <arpa/inet.h>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <netinet/in.h>
#include <optional>
#include <sstream>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace {

std::atomic<bool> own_user_only{false};

// As /proc/net/tcp writes it: the address as a number in the host's order of bytes.
std::string in_table(const sockaddr_in& end) {
  char text[16];
  std::snprintf(text, sizeof text, "%08X:%04X", static_cast<unsigned>(end.sin_addr.s_addr),
                ntohs(end.sin_port));
  return text;
}

// The user of the socket at `local` that is connected to `remote`. Nobody once it is closed: the kernel says
// root then.
std::optional<uid_t> user_of(const std::string& local, const std::string& remote) {
  std::ifstream table("/proc/net/tcp");
  for (std::string line; std::getline(table, line);) {
    if (line.find(local + " " + remote) == std::string::npos) continue;
    std::istringstream fields(line);
    std::string slot, here, there, state, queues, timer, retransmits;
    unsigned long user = 0, timeout = 0, inode = 0;
    fields >> slot >> here >> there >> state >> queues >> timer >> retransmits >> user >> timeout >> inode;
    const bool established = state == "01" && inode != 0;
    if (fields && established && here == local && there == remote) return static_cast<uid_t>(user);
  }
  return std::nullopt;
}

bool may_connect(int connection) {
  sockaddr_in here{}, there{};
  socklen_t size = sizeof here;
  if (getsockname(connection, reinterpret_cast<sockaddr*>(&here), &size) != 0) return false;
  if (here.sin_family != AF_INET) return true;
  size = sizeof there;
  if (getpeername(connection, reinterpret_cast<sockaddr*>(&there), &size) != 0) return false;
  const auto user = user_of(in_table(there), in_table(here));
  return user && (*user == geteuid() || *user == 0);
}

} // namespace

// Found before that of the C library, by PMIx too, because it is the executable's.
extern "C" [[gnu::visibility("default")]] int accept(int listener, sockaddr* address, socklen_t* size) {
  const int connection = accept4(listener, address, size, 0);
  if (connection < 0 || !own_user_only.load(std::memory_order_relaxed) || may_connect(connection))
    return connection;
  close(connection);
  // As if nobody had come.
  errno = EAGAIN;
  return -1;
}

void weft::boot::accept_own_user_only() {
  own_user_only.store(true, std::memory_order_relaxed);
}
