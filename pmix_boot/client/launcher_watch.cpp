#include "pmix_boot/client/launcher_watch.hpp"

#include "pmix_boot/client/pmix_event.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <iterator>
#include <thread>
#include <unistd.h>

namespace weft::boot {

namespace {

// What it is called depends on the version of PMIx.
constexpr pmix_status_t lost_codes[] = {PMIX_ERR_LOST_CONNECTION, PMIX_ERR_LOST_CONNECTION_TO_SERVER};

// A launcher that ends in good order, or whose server alone died, ends its ranks itself, and says why.
constexpr std::chrono::seconds patience{1};

} // namespace

launcher_watch::launcher_watch(std::uint32_t rank) : rank_(rank) {
  registrations_.reserve(std::size(lost_codes)); // each is undone at the end
  for (pmix_status_t code : lost_codes)
    if (const auto number = register_event(code, this, on_event)) registrations_.push_back(*number);
}

launcher_watch::~launcher_watch() {
  for (std::size_t registration : registrations_)
    deregister_event(registration);
}

void launcher_watch::on_event(std::size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t info[],
                              std::size_t info_count, pmix_info_t[], std::size_t,
                              pmix_event_notification_cbfunc_fn_t done, void* done_data) {
  if (auto* const watch = static_cast<launcher_watch*>(event_object(info, info_count))) watch->end_process();
  if (done != nullptr) done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, done_data);
}

// In PMIx's thread, which has nothing else to do any more. Nothing of the program is run on the way out: it
// may wait for others, which are gone.
void launcher_watch::end_process() {
  gone_.store(true, std::memory_order_relaxed);
  std::this_thread::sleep_for(patience);
  // The reader may be gone with the launcher.
  std::signal(SIGPIPE, SIG_IGN);
  std::fprintf(stderr, "weft: rank %u: the launcher of the job is gone; this rank ends\n", rank_);
  _exit(1);
}

} // namespace weft::boot
