#pragma once
#include <cstdint>
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
// same bound holds for these: the idle time and all further questions but two, so that who looks each second
// finds it before the system does. A socket whose options do not ask is never silent. Who takes nothing in,
// as a process that computes, still answers: its system does.
std::vector<silent_socket> silent_sockets(int events);

} // namespace weft::transport::ucx
