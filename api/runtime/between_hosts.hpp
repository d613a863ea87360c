// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/transport/ucx/sockets.hpp"
#include "pmix_boot/client/job.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace weft::api {

// The network between the hosts of a job: which part of it UCX may use, and what is wrong with it, in words
// for the thread that can mend it. It looks where UCX's sockets go; other networks tell by themselves.
class between_hosts {
public:
  // Before the transport is opened. Throws if the devices that WEFT_NET_DEVICES or UCX_NET_DEVICES name are
  // not there, or carry nothing.
  between_hosts(boot::job& job, const std::string& named_devices);

  // When it is open: tells the others where this rank is reached; they know it behind the next fence.
  void publish();
  // Behind that fence. The first rank of each host connects to that of the next: a host that is cut off finds
  // it out so, and which ranks should reach it, within seconds and before any thread works. Throws then.
  void require_next_host();
  // Whether a rank's host answers, within the patience for one: tried once for each host.
  bool reaches(std::uint32_t rank);

  // Nothing has come back from this address for so long, so that its connections are given up.
  void note_silence(const std::string& address, std::uint32_t seconds);
  // Why UCX has lost the connection to a rank, if it may live: nothing has come back, or its host is not to
  // be reached. None if no thread listens at its address any more: then it has died.
  std::optional<std::string> why_lost(std::uint32_t rank) const;

private:
  std::set<transport::ucx::listener> listeners_of(std::uint32_t rank) const;
  std::string way_to(std::uint32_t rank, const transport::ucx::listener& d) const;
  std::string own_interface() const;
  std::optional<std::uint32_t> next_leader() const;

  boot::job& job_;
  std::set<transport::ucx::listener> others_, own_; // before the transport was opened; by it
  // What is known of the way to another host: nothing yet, that it answers, or an errno.
  enum : int { unknown = -1, answers = 0 };
  int try_host_of(std::uint32_t rank);
  std::vector<std::atomic<int>> ways_; // by node

  mutable std::mutex silence_;
  std::map<std::string, std::uint32_t> silent_; // address to seconds
};

} // namespace weft::api
