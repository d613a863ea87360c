// SPDX-License-Identifier: BSD-3-Clause
#include "api/runtime/between_hosts.hpp"

#include "engine/format.hpp"
#include "engine/settings.hpp"
#include "engine/transport/ucx/devices.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace weft::api {

using namespace std::chrono_literals;
using transport::ucx::listener;

namespace {

constexpr const char* doors_name = "weft.doors";
constexpr auto patience = 10s, last_patience = 3s; // for the answer to a probe; to one at what was lost
// The sockets of a process that ends are closed one behind the other.
constexpr auto its_end = 500ms, look_again = 100ms;

constexpr const char* settings =
    "mend that network, or name another one in WEFT_NET_DEVICES (or UCX_NET_DEVICES)";

void require_devices(const char* setting, const std::string& named) {
  if (const std::string wrong = transport::ucx::wrong_devices(named); !wrong.empty())
    throw engine::setting_error(std::string(setting) + "=" + named + ": " + wrong +
                                "; name one that leads to the other hosts, or leave it out: then the library "
                                "takes the one that does");
}

std::string reason(int error, std::chrono::seconds waited) {
  return error == ETIMEDOUT ? "no answer for " + std::to_string(waited.count()) + " s" : std::strerror(error);
}

// A listener that closes breaks off the probes that it has not answered.
int probe_until_closed(const listener& d) {
  const auto began = std::chrono::steady_clock::now();
  int error = transport::ucx::probe(d, last_patience);
  while ((error == 0 || error == ECONNRESET) && std::chrono::steady_clock::now() - began < its_end) {
    std::this_thread::sleep_for(look_again);
    error = transport::ucx::probe(d, last_patience);
  }
  return error;
}

} // namespace

between_hosts::between_hosts(boot::job& job, const std::string& named_devices)
    : job_(job), ways_(*std::ranges::max_element(job.nodes()) + 1) {
  for (std::atomic<int>& way : ways_)
    way.store(unknown, std::memory_order_relaxed);
  const char* const of_ucx = std::getenv("UCX_NET_DEVICES");
  if (!named_devices.empty()) {
    require_devices("WEFT_NET_DEVICES", named_devices);
    setenv("UCX_NET_DEVICES", named_devices.c_str(), 1);
  } else if (of_ucx != nullptr) {
    if (!job_.one_host()) require_devices("UCX_NET_DEVICES", of_ucx); // a user's own choice stays
  } else if (const std::string way = transport::ucx::devices_towards(job_.another_host()); !way.empty()) {
    setenv("UCX_NET_DEVICES", way.c_str(), 0);
  }
  others_ = transport::ucx::open_listeners();
}

void between_hosts::publish() {
  std::ranges::set_difference(transport::ucx::open_listeners(), others_, std::inserter(own_, own_.end()));
  transport::ucx::ask_for_life_at(own_);
  const std::string text = text_of(own_);
  job_.put(doors_name, std::as_bytes(std::span(text)));
}

std::set<listener> between_hosts::listeners_of(std::uint32_t rank) const {
  const std::vector<std::byte> text = job_.get(rank, doors_name);
  return transport::ucx::listeners_in({reinterpret_cast<const char*>(text.data()), text.size()});
}

std::string between_hosts::own_interface() const {
  return own_.empty() ? "no interface" : own_.begin()->interface;
}

std::string between_hosts::way_to(std::uint32_t rank, const listener& d) const {
  const std::string way = transport::ucx::interface_towards(d.address);
  return engine::format("rank {} on host {} ({}) over {}", rank, job_.host_of(rank), d.address,
                        way.empty() ? own_interface() : way);
}

// Nodes are numbered in the order of their first ranks.
std::optional<std::uint32_t> between_hosts::next_leader() const {
  const std::vector<std::uint32_t>& nodes = job_.nodes();
  const auto leader = [&](std::uint32_t node) {
    return static_cast<std::uint32_t>(std::ranges::find(nodes, node) - nodes.begin());
  };
  const std::uint32_t count = *std::ranges::max_element(nodes) + 1, mine = nodes[job_.rank()];
  if (job_.one_host() || leader(mine) != job_.rank()) return std::nullopt;
  return leader((mine + 1) % count);
}

// The first listener that answers is enough.
int between_hosts::try_host_of(std::uint32_t rank) {
  const std::set<listener> listeners = job_.one_host() ? std::set<listener>() : listeners_of(rank);
  int error = listeners.empty() ? answers : unknown; // no sockets: not for us to say
  for (const listener& d : listeners)
    if (error != answers) error = transport::ucx::probe(d, patience);
  return error == ECONNREFUSED ? answers : error; // the host does, though the rank is gone
}

bool between_hosts::reaches(std::uint32_t rank) {
  std::atomic<int>& way = ways_[job_.nodes()[rank]];
  if (way.load(std::memory_order_relaxed) == unknown) way.store(try_host_of(rank), std::memory_order_relaxed);
  return way.load(std::memory_order_relaxed) == answers;
}

void between_hosts::require_next_host() {
  const std::optional<std::uint32_t> next = next_leader();
  if (!next || own_.empty() || reaches(*next)) return;
  const int error = ways_[job_.nodes()[*next]].load(std::memory_order_relaxed);
  throw boot::boot_error(engine::format("rank {} on host {} cannot reach {}: {}; {}", job_.rank(),
                                     job_.host_of(job_.rank()), way_to(*next, *listeners_of(*next).begin()),
                                     reason(error, patience), settings));
}

void between_hosts::note_silence(const std::string& address, std::uint32_t seconds) {
  const std::lock_guard lock(silence_);
  silent_[address] = seconds;
}

std::optional<std::string> between_hosts::why_lost(std::uint32_t rank) const {
  const std::set<listener> listeners = listeners_of(rank);
  if (listeners.empty() || job_.nodes()[rank] == job_.nodes()[job_.rank()]) return std::nullopt;
  const auto text = [&](const listener& d, const std::string& why) {
    return engine::format("the connection from host {} to {} is lost: {}; {}", job_.host_of(job_.rank()),
                       way_to(rank, d), why, settings);
  };
  for (const listener& d : listeners) {
    const std::lock_guard lock(silence_);
    if (const auto silent = silent_.find(d.address); silent != silent_.end())
      return text(
          d, engine::format("nothing has come back for {} s, which UCX_TCP_KEEPIDLE, UCX_TCP_KEEPINTVL and "
                            "UCX_TCP_KEEPCNT limit",
                            silent->second));
  }
  const listener& d = *listeners.begin();
  if (const int known = ways_[job_.nodes()[rank]].load(std::memory_order_relaxed); known > 0)
    return text(d, reason(known, patience));
  const int error = probe_until_closed(d);
  if (error == ECONNREFUSED) return std::nullopt;
  return text(d, error == 0 ? "it was broken off, perhaps by that host, which got no answer"
                            : reason(error, last_patience));
}

} // namespace weft::api
