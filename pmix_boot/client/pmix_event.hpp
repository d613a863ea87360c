// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// PMIx's events: registering for them with an object of ours, which PMIx's handlers take no argument for; and
// what a rank registers for, the ends of other processes and of its launcher.

#include "pmix_boot/client/pmix_info.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace weft::boot {

// The registration's number, or nothing if the launcher does not know the code. Events from before the call
// may be replayed before it returns.
std::optional<std::size_t> register_event(pmix_status_t code, void* object, pmix_notification_fn_t handler);
// No handler of the registration runs afterwards.
void deregister_event(std::size_t registration);

// In a handler: an attribute of the event, or null.
const pmix_info_t* find_info(const pmix_info_t* info, std::size_t count, const char* key);
// In a handler: the object that was registered, or null.
void* event_object(const pmix_info_t* info, std::size_t count);

// Turns PMIx events about ended processes into one callback per rank.
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

// Ends this process when its launcher is gone without having ended it: no other process would, and the others
// of the job may be gone too. PMIx's own thread sees the connection break, so it does not matter whether the
// program computes, waits or calls the library.
class launcher_watch {
public:
  // After PMIx_Init.
  explicit launcher_watch(std::uint32_t rank);
  // The connection may be closed afterwards.
  ~launcher_watch();
  launcher_watch(const launcher_watch&) = delete;
  launcher_watch& operator=(const launcher_watch&) = delete;

  // This process is about to end, and so are the others of the job. Any thread.
  bool has_seen_it_go() const noexcept { return gone_.load(std::memory_order_relaxed); }

private:
  static void on_event(std::size_t registration, pmix_status_t code, const pmix_proc_t* source,
                       pmix_info_t info[], std::size_t info_count, pmix_info_t results[],
                       std::size_t result_count, pmix_event_notification_cbfunc_fn_t done, void* done_data);
  [[noreturn]] void end_process();

  const std::uint32_t rank_;
  std::atomic<bool> gone_{false};
  std::vector<std::size_t> registrations_;
};

} // namespace weft::boot
