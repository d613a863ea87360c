// SPDX-License-Identifier: BSD-3-Clause
#include "engine/transport/ucx/devices.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

namespace {

using weft::transport::ucx::devices_towards;

TEST(devices, no_way_is_no_restriction) {
  EXPECT_EQ(devices_towards(""), "");
  EXPECT_EQ(devices_towards("127.0.0.1"), ""); // not another host
  EXPECT_EQ(devices_towards("no-such-host.invalid"), "");
}

// An address beside that of each interface is reached through it.
TEST(devices, one_that_is_not_there_is_named_beside_those_that_are) {
  using weft::transport::ucx::wrong_devices;
  for (const char* right : {"", "all", "lo", "lo:1", "eth*", "^nope0", "eth[0-3]"})
    EXPECT_EQ(wrong_devices(right), "") << right;
  for (const char* wrong : {"nope0", "lo,nope0", "nope0:1,lo"}) {
    const std::string said = wrong_devices(wrong);
    EXPECT_NE(said.find("no network device 'nope0'; it has "), said.npos) << said;
    EXPECT_NE(said.find("lo"), said.npos) << said;
  }
}

TEST(devices, neighbours_are_reached_through_the_interface_of_their_network) {
  ifaddrs* all = nullptr;
  ASSERT_EQ(getifaddrs(&all), 0);
  for (const ifaddrs* i = all; i != nullptr; i = i->ifa_next) {
    if (i->ifa_addr == nullptr || i->ifa_addr->sa_family != AF_INET || (i->ifa_flags & IFF_LOOPBACK) != 0 ||
        (i->ifa_flags & IFF_RUNNING) == 0)
      continue;
    in_addr beside = reinterpret_cast<const sockaddr_in*>(i->ifa_addr)->sin_addr;
    const in_addr_t mask = reinterpret_cast<const sockaddr_in*>(i->ifa_netmask)->sin_addr.s_addr;
    beside.s_addr ^= htonl(2);
    if ((htonl(2) & mask) != 0) continue; // a network of one or two
    EXPECT_EQ(devices_towards(inet_ntoa(beside)).rfind(i->ifa_name, 0), 0u) << inet_ntoa(beside);
  }
  freeifaddrs(all);
}

} // namespace
