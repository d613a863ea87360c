#include "engine/transport/ucx/devices.hpp"

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

std::string interface_of(const sockaddr_storage& address) {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> holder(all, &freeifaddrs);
  for (const ifaddrs* i = all; i != nullptr; i = i->ifa_next)
    if (i->ifa_addr != nullptr && same(*i->ifa_addr, address))
      return (i->ifa_flags & IFF_LOOPBACK) != 0 ? std::string() : i->ifa_name;
  return {};
}

std::string interface_towards(const std::string& host) {
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_socktype = SOCK_DGRAM;
  if (getaddrinfo(host.c_str(), "9", &wanted, &found) != 0) return {};
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> holder(found, &freeaddrinfo);
  sockaddr_storage here{};
  for (const addrinfo* a = found; a != nullptr; a = a->ai_next)
    if (leaves_from(*a, here))
      if (std::string name = interface_of(here); !name.empty()) return name;
  return {};
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

const std::string adapters = "/sys/class/infiniband";

// As UCX names them: device:port.
std::string infiniband_ports() {
  std::string ports;
  for (const std::string& device : entries_of(adapters))
    for (const std::string& port : entries_of(adapters + "/" + device + "/ports"))
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

} // namespace

std::string wrong_devices(const std::string& named) {
  if (named.empty() || named == "all" || named.find_first_of("*[^") != named.npos) return {};
  const std::set<std::string> there = devices_of_this_host();
  if (there.empty()) return {};
  std::istringstream list(named);
  for (std::string device; std::getline(list, device, ',');) {
    const std::string name = device.substr(0, device.find(':'));
    if (there.contains(name)) continue;
    std::string all;
    for (const std::string& other : there)
      all += (all.empty() ? "" : ", ") + other;
    return "host " + host_name() + " has no network device '" + name + "'; it has " + all;
  }
  return {};
}

bool has_adapters() {
  return !infiniband_ports().empty();
}

std::string devices_towards(const std::string& host) {
  if (host.empty()) return {};
  const std::string name = interface_towards(host);
  return name.empty() ? name : name + infiniband_ports();
}

} // namespace weft::transport::ucx
