// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <chrono>
#include <compare>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace weft::transport::ucx {

struct socket_end {
  std::string address; // in digits; empty if there is none
  std::uint16_t port = 0;
};
socket_end own_end(int socket);
socket_end far_end(int socket);

// Of this process. Empty if the system does not tell.
std::vector<int> open_descriptors();

// A connection whose other end does not answer although it must.
struct silent_socket {
  int descriptor = -1;
  std::string address; // of the other end
  std::uint32_t seconds = 0;
};

// Those among what a descriptor of events (epoll) waits for, also through others of its kind. The system
// itself asks an idle connection for a sign of life, as often as the socket's own options say, and breaks it
// if none comes; while data are on their way it does not, and waits for a quarter of an hour. So here the
// same bound holds for these: the idle time and all further questions but two, so that the rank that looks
// each second finds it before the system does. A socket whose options do not ask is never silent. A rank that
// takes nothing in, as a process that computes, still answers: its system does.
std::vector<silent_socket> silent_sockets(int events);

// Where others connect to a rank over sockets: an address of one of its host's interfaces, and a port.
struct listener {
  std::string interface;
  std::string address; // in digits
  std::uint16_t port = 0;
  auto operator<=>(const listener&) const = default;
};

// Of all sockets of this process that listen for TCP connections on one interface. UCX opens its own when a
// worker begins, and does not tell which.
std::set<listener> open_listeners();

// UCX lets the system ask for signs of life over the connections that it has begun, by its settings
// UCX_TCP_KEEPIDLE, UCX_TCP_KEEPINTVL and UCX_TCP_KEEPCNT, and not over those that others have begun. From
// now on over what comes in at these listeners, too.
void ask_for_life_at(const std::set<listener>& listeners);

// As words in a line, for others to read.
std::string text_of(const std::set<listener>& listeners);
std::set<listener> listeners_in(const std::string& text);

// Probes a listener: connects, and closes the connection at once. 0, or errno; ETIMEDOUT if nothing came back
// for so long.
int probe(const listener& d, std::chrono::milliseconds patience);

} // namespace weft::transport::ucx
