#pragma once
// Turns PMIx events about ended processes into one callback per rank.

#include "pmix_boot/client/pmix_info.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace weft::boot {

class death_watch {
public:
  death_watch(std::string nspace, std::uint32_t ranks, std::function<void(std::uint32_t)> callback);
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
  // In PMIx's thread, through which nothing may be thrown: it allocates nothing.
  void report(const pmix_proc_t& process) noexcept;

  const std::string nspace_;
  mutable std::mutex mutex_;
  std::shared_ptr<const std::function<void(std::uint32_t)>> callback_;
  std::vector<bool> reported_; // by rank
  std::thread::id in_callback_;
  std::vector<std::size_t> registrations_;
};

} // namespace weft::boot
