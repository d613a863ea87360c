#pragma once
// The server side of PMIx for one job whose ranks all run on this host: answers their start-up exchange and
// tells the launcher what it must know. PMIx calls back in a thread of its own; the launcher reads events
// from a queue.

#include "pmix_boot/pmix_info.hpp"
#include "pmix_boot/rank_layout.hpp"

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace weft::boot {

struct server_event {
  enum class kind { joined, left, abort };
  kind what;
  std::uint32_t rank;
  // Of an abort: the status that the job shall end with, and why.
  int status = 0;
  std::string text;
};

class pmix_server {
public:
  // `directory` is private to the user and outlives the server. SIGCHLD must be blocked: PMIx's threads
  // inherit that, and would take the ends of the ranks away from the launcher.
  pmix_server(const rank_layout& layout, const std::string& directory);
  ~pmix_server();
  pmix_server(const pmix_server&) = delete;
  pmix_server& operator=(const pmix_server&) = delete;

  // The environment in which `rank` must be started, as "NAME=value".
  std::vector<std::string> environment(std::uint32_t rank) const;
  // Readable while events are waiting.
  int event_fd() const { return event_fd_; }
  std::vector<server_event> take_events();
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
  void push(server_event event);

  const std::string nspace_;
  const int event_fd_;
  std::vector<client> clients_;
  std::mutex mutex_;
  std::vector<server_event> events_;
};

} // namespace weft::boot
