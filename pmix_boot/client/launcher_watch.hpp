#pragma once
// Ends this process when its launcher is gone without having ended it: nobody else would, and the others of
// the job may be gone too. PMIx's own thread sees the connection break, so it does not matter whether the
// program computes, waits or calls the library.

#include "pmix_boot/client/pmix_info.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::boot {

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
