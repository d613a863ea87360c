#pragma once
// Turns PMIx events about ended processes into one callback per rank.

#include "pmix_boot/pmix_info.hpp"

#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace weft::boot {

class death_watch {
public:
  death_watch(std::string nspace, std::function<void(std::uint32_t)> callback);
  // Deregisters; no callback runs afterwards.
  ~death_watch();
  death_watch(const death_watch&) = delete;
  death_watch& operator=(const death_watch&) = delete;

  // Registers with PMIx, which replays what happened before: callbacks may run before this returns.
  void start();
  void set_callback(std::function<void(std::uint32_t)> callback);
  // True in the thread that is just running the callback.
  bool in_callback() const;

private:
  static void on_event(std::size_t registration, pmix_status_t code, const pmix_proc_t* source,
                       pmix_info_t info[], std::size_t info_count, pmix_info_t results[],
                       std::size_t result_count, pmix_event_notification_cbfunc_fn_t done, void* done_data);
  void report(const pmix_proc_t& process);

  const std::string nspace_;
  mutable std::mutex mutex_;
  std::function<void(std::uint32_t)> callback_;
  std::set<std::uint32_t> reported_;
  std::thread::id in_callback_;
  std::vector<std::size_t> registrations_;
};

} // namespace weft::boot
