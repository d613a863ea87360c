// SPDX-License-Identifier: BSD-3-Clause
#include "engine/transport/ucx/devices.hpp"
#include "engine/format.hpp"

#include <array>
#include <cstring>
#include <dirent.h>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <set>
#include <sstream>
#include <sys/socket.h>
#include <unistd.h>

namespace weft::transport::ucx {

namespace {

// The address that a packet to `there` would leave from. To connect a datagram socket sends nothing.
bool leaves_from(const addrinfo& there, sockaddr_storage& here) {
  const int probe = socket(there.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return false;
  socklen_t size = sizeof here;
  const bool known = connect(probe, there.ai_addr, there.ai_addrlen) == 0 &&
                     getsockname(probe, reinterpret_cast<sockaddr*>(&here), &size) == 0;
  close(probe);
  return known;
}

bool same(const sockaddr& a, const sockaddr_storage& b) {
  if (a.sa_family != b.ss_family) return false;
  if (a.sa_family == AF_INET)
    return reinterpret_cast<const sockaddr_in&>(a).sin_addr.s_addr ==
           reinterpret_cast<const sockaddr_in&>(b).sin_addr.s_addr;
  return a.sa_family == AF_INET6 &&
         std::memcmp(&reinterpret_cast<const sockaddr_in6&>(a).sin6_addr,
                     &reinterpret_cast<const sockaddr_in6&>(b).sin6_addr, sizeof(in6_addr)) == 0;
}

using interfaces = std::unique_ptr<ifaddrs, decltype(&freeifaddrs)>;

interfaces interfaces_of_this_host() {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) all = nullptr;
  return {all, &freeifaddrs};
}

// Null if none has this address.
const ifaddrs* interface_of(const interfaces& all, const sockaddr_storage& address) {
  const ifaddrs* i = all.get();
  while (i != nullptr && (i->ifa_addr == nullptr || !same(*i->ifa_addr, address)))
    i = i->ifa_next;
  return i;
}

std::string interface_beyond(const sockaddr_storage& address) {
  const interfaces all = interfaces_of_this_host();
  const ifaddrs* const found = interface_of(all, address);
  return found == nullptr || (found->ifa_flags & IFF_LOOPBACK) != 0 ? std::string() : found->ifa_name;
}

using addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

addresses addresses_of(const std::string& host) {
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_socktype = SOCK_DGRAM;
  if (getaddrinfo(host.c_str(), "9", &wanted, &found) != 0) found = nullptr;
  return {found, &freeaddrinfo};
}

// The names in a folder, none of one that is not there. A directory_iterator of the standard library ends the
// process when it is out of memory.
std::set<std::string> entries_of(const std::string& folder) {
  std::set<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), &closedir);
  while (const dirent* entry = open ? readdir(open.get()) : nullptr)
    if (entry->d_name[0] != '.') names.insert(entry->d_name);
  return names;
}

constexpr const char* adapters = "/sys/class/infiniband";

// As UCX names them: device:port.
std::string infiniband_ports() {
  std::string ports;
  for (const std::string& device : entries_of(adapters))
    for (const std::string& port : entries_of(engine::format("{}/{}/ports", adapters, device)))
      ports += "," + device + ":" + port;
  return ports;
}

std::set<std::string> devices_of_this_host() {
  std::set<std::string> names = entries_of("/sys/class/net");
  names.merge(entries_of(adapters));
  return names;
}

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

// What keeps a network interface from carrying anything: nothing, if it has an address and a cable.
std::string fault_of(const std::string& interface) {
  const interfaces all = interfaces_of_this_host();
  bool there = false, up = false, addressed = false;
  for (const ifaddrs* i = all.get(); i != nullptr; i = i->ifa_next) {
    if (interface != i->ifa_name) continue;
    there = true;
    up |= (i->ifa_flags & IFF_UP) != 0 && (i->ifa_flags & IFF_RUNNING) != 0;
    addressed |=
        i->ifa_addr != nullptr && (i->ifa_addr->sa_family == AF_INET || i->ifa_addr->sa_family == AF_INET6);
  }
  if (there && !up) return "is down";
  return there && !addressed ? "has no address" : "";
}

std::string joined(const std::set<std::string>& all) {
  std::string names;
  for (const std::string& name : all)
    names += (names.empty() ? "" : ", ") + name;
  return names;
}

} // namespace

std::string wrong_devices(const std::string& named) {
  if (named.empty() || named == "all" || named.find_first_of("*[^") != named.npos) return {};
  const std::set<std::string> there = devices_of_this_host();
  if (there.empty()) return {};
  std::istringstream list(named);
  std::string wrong; // what the first has
  bool carries = false;
  for (std::string device; std::getline(list, device, ',');) {
    const std::string name = device.substr(0, device.find(':'));
    if (!there.contains(name))
      return "host " + host_name() + " has no network device '" + name + "'; it has " + joined(there);
    const std::string fault = fault_of(name);
    carries |= fault.empty();
    if (wrong.empty() && !fault.empty())
      wrong = "the network device '" + name + "' of host " + host_name() + " " + fault + "; it has " +
              joined(there);
  }
  return carries ? std::string() : wrong;
}

bool has_adapters() {
  return !infiniband_ports().empty();
}

std::string interface_with(const std::string& address) {
  const addresses own = addresses_of(address);
  if (!own) return {};
  sockaddr_storage wanted{};
  std::memcpy(&wanted, own->ai_addr, own->ai_addrlen);
  const interfaces all = interfaces_of_this_host();
  const ifaddrs* const found = interface_of(all, wanted);
  return found == nullptr ? std::string() : found->ifa_name;
}

std::string interface_towards(const std::string& host) {
  const addresses there = addresses_of(host);
  sockaddr_storage here{};
  for (const addrinfo* a = there.get(); a != nullptr; a = a->ai_next)
    if (leaves_from(*a, here))
      if (std::string name = interface_beyond(here); !name.empty()) return name;
  return {};
}

std::string devices_towards(const std::string& host) {
  if (host.empty()) return {};
  const std::string name = interface_towards(host);
  return name.empty() ? name : name + infiniband_ports();
}

} // namespace weft::transport::ucx
