// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// The server side of PMIx for one job whose ranks all run on this host: answers their start-up exchange and
// tells what the launcher must know.
//
// PMIx's server listens on a port of the loopback interface, which every user of the host can reach, and what
// it reads there it trusts: a few bytes can stop it or end it, and it takes what says so for a rank. So
// connections of other users are closed before PMIx sees them; the kernel knows whose they are, and says it
// at a price that does not grow with their number: a flood of them does not keep ranks from joining.
#include "pmix_boot/client/pmix_info.hpp"
#include "pmix_boot/launcher/rank_layout.hpp"
#include "pmix_boot/launcher/server_event.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace weft::boot {

// True for an environment entry "NAME=value" that names a job's server. The launcher may itself run inside a
// job of another launcher, whose names must not reach our ranks. Settings of the user (PMIX_MCA_...) are none
// of these.
bool belongs_to_a_job(const char* entry);

// Serves until its process ends: there is one in a process.
class pmix_server {
public:
  using event_sink = std::function<void(const server_event&)>;

  // `directory` is private to the user. `sink` is called in a thread of PMIx, before the rank that caused the
  // event goes on. SIGCHLD must be blocked, and PMIx's threads inherit that: they would look for children
  // that are not theirs.
  pmix_server(const rank_layout& layout, const std::string& directory, event_sink sink);
  pmix_server(const pmix_server&) = delete;
  pmix_server& operator=(const pmix_server&) = delete;

  // What a rank needs in its environment to find this server, as "NAME=value".
  std::vector<std::string> added_environment(std::uint32_t rank) const;
  // Tells the other ranks that this one died.
  void report_death(std::uint32_t rank);

private:
  // What PMIx hands back with a rank's requests.
  struct client {
    pmix_server* server;
    std::uint32_t rank;
  };
  struct callbacks;

  void register_job(const rank_layout& layout);

  const std::string nspace_;
  const event_sink sink_;
  std::vector<client> clients_;
};

// From now on accept() in this process takes TCP connections over IPv4 from processes of this user and of
// root on this host only, in whatever library it is called.
void accept_own_user_only();

} // namespace weft::boot
