// SPDX-License-Identifier: BSD-3-Clause
#include "pmix_boot/launcher/pmix_server.hpp"

#include <arpa/inet.h>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <sstream>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace {

enum class admission {
  of_all,
  by_inquiry, // the kernel is asked for the one connection: at the same price however many there are
  by_table    // the kernel has no such answers: its table of all connections is read
};
std::atomic<admission> admitted{admission::of_all};

struct ends {
  sockaddr_in near, far;
};

std::optional<ends> ends_of(int connection) {
  ends e{};
  socklen_t near = sizeof e.near, far = sizeof e.far;
  if (getsockname(connection, reinterpret_cast<sockaddr*>(&e.near), &near) != 0 ||
      getpeername(connection, reinterpret_cast<sockaddr*>(&e.far), &far) != 0)
    return std::nullopt;
  return e;
}

struct owner {
  uid_t user;
  ino_t inode; // 0: the socket is closed, and the kernel says root
  int state;
};

// The owner of the other side, whose ends are ours the other way round.
std::optional<owner> asked(const ends& e) {
  struct {
    nlmsghdr header;
    inet_diag_req_v2 body;
  } question{};
  question.header.nlmsg_len = sizeof question;
  question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.header.nlmsg_flags = NLM_F_REQUEST;
  question.body.sdiag_family = AF_INET;
  question.body.sdiag_protocol = IPPROTO_TCP;
  question.body.idiag_states = ~0u;
  question.body.id.idiag_sport = e.far.sin_port;
  question.body.id.idiag_dport = e.near.sin_port;
  question.body.id.idiag_src[0] = e.far.sin_addr.s_addr;
  question.body.id.idiag_dst[0] = e.near.sin_addr.s_addr;
  question.body.id.idiag_cookie[0] = question.body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  const int kernel = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  if (kernel < 0) return std::nullopt;
  alignas(nlmsghdr) char answer[8192];
  ssize_t size = send(kernel, &question, sizeof question, 0);
  if (size == sizeof question) size = recv(kernel, answer, sizeof answer, 0);
  close(kernel);
  nlmsghdr header{};
  inet_diag_msg found{};
  if (size < static_cast<ssize_t>(NLMSG_HDRLEN + sizeof found)) return std::nullopt;
  std::memcpy(&header, answer, sizeof header);
  if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY) return std::nullopt; // an error: there is none
  std::memcpy(&found, answer + NLMSG_HDRLEN, sizeof found);
  return owner{found.idiag_uid, found.idiag_inode, found.idiag_state};
}

// As /proc/net/tcp writes it: the address as a number in the host's order of bytes.
std::string in_table(const sockaddr_in& end) {
  char text[16];
  std::snprintf(text, sizeof text, "%08X:%04X", static_cast<unsigned>(end.sin_addr.s_addr),
                ntohs(end.sin_port));
  return text;
}

std::optional<owner> read_from_table(const ends& e) {
  const std::string ours = in_table(e.far) + " " + in_table(e.near);
  std::ifstream table("/proc/net/tcp");
  for (std::string line; std::getline(table, line);) {
    const std::size_t at = line.find(ours);
    if (at == std::string::npos) continue;
    std::istringstream fields(line.substr(at + ours.size()));
    std::string state, queues, timer, retransmits;
    owner found{};
    unsigned long timeout = 0;
    fields >> state >> queues >> timer >> retransmits >> found.user >> timeout >> found.inode;
    if (!fields) continue;
    found.state = std::stoi(state, nullptr, 16);
    return found;
  }
  return std::nullopt;
}

bool may_connect(int connection) {
  const std::optional<ends> e = ends_of(connection);
  if (!e) return false;
  if (e->near.sin_family != AF_INET) return true;
  const auto other =
      admitted.load(std::memory_order_relaxed) == admission::by_table ? read_from_table(*e) : asked(*e);
  return other && other->state == TCP_ESTABLISHED && other->inode != 0 &&
         (other->user == geteuid() || other->user == 0);
}

// At once, and without the minute for which the kernel remembers a connection that was closed in order: a
// process that connects again and again would use up the ports from which ranks connect.
void turn_away(int connection) {
  const linger at_once{1, 0};
  setsockopt(connection, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close(connection);
}

// Whether the kernel tells of a connection, tried with one of this process to itself.
bool kernel_answers() {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int caller = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const address = reinterpret_cast<sockaddr*>(&at);
  socklen_t size = sizeof at;
  bool answers = bind(listener, address, size) == 0 && listen(listener, 1) == 0 &&
                 getsockname(listener, address, &size) == 0 && connect(caller, address, size) == 0;
  if (answers) {
    const std::optional<ends> e = ends_of(caller);
    answers = e && asked({e->far, e->near});
  }
  close(caller);
  close(listener);
  return answers;
}

} // namespace

// Found before that of the C library, by PMIx too, because it is the executable's. Foreign connections are
// turned away one behind the other, so that those of the ranks are reached at once.
extern "C" [[gnu::visibility("default")]] int accept(int listener, sockaddr* address, socklen_t* size) {
  for (const socklen_t room = size == nullptr ? 0 : *size;;) {
    const int connection = accept4(listener, address, size, 0);
    if (connection < 0 || admitted.load(std::memory_order_relaxed) == admission::of_all ||
        may_connect(connection))
      return connection;
    turn_away(connection);
    if (size != nullptr) *size = room;
  }
}

void weft::boot::accept_own_user_only() {
  admitted.store(kernel_answers() ? admission::by_inquiry : admission::by_table, std::memory_order_relaxed);
}
