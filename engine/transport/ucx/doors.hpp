#pragma once
#include <chrono>
#include <compare>
#include <cstdint>
#include <set>
#include <string>

namespace weft::transport::ucx {

// Where others connect to a rank over sockets: an address of one of its host's interfaces, and a port.
struct door {
  std::string interface;
  std::string address; // in digits
  std::uint16_t port = 0;
  auto operator<=>(const door&) const = default;
};

// Of all sockets of this process that listen for TCP connections on one interface. UCX opens its own when a
// worker begins, and does not tell which.
std::set<door> open_doors();

// UCX lets the system ask for signs of life over the connections that it has begun, by its settings
// UCX_TCP_KEEPIDLE, UCX_TCP_KEEPINTVL and UCX_TCP_KEEPCNT, and not over those that others have begun. From
// now on over what comes in at these doors, too.
void ask_for_life_at(const std::set<door>& doors);

// As words in a line, for others to read.
std::string text_of(const std::set<door>& doors);
std::set<door> doors_in(const std::string& text);

// Connects to a door, says nothing and leaves. 0, or errno; ETIMEDOUT if nothing came back for so long.
int knock(const door& d, std::chrono::milliseconds patience);

} // namespace weft::transport::ucx
