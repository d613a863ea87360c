#include "pmix_boot/client/death_watch.hpp"

#include "pmix_boot/client/pmix_event.hpp"

#include <iterator>
#include <utility>

namespace weft::boot {

namespace {

// One registration each: a list with a code that the launcher does not support fails as a whole.
constexpr pmix_status_t death_codes[] = {PMIX_ERR_PROC_ABORTED,        PMIX_ERR_PROC_TERM_WO_SYNC,
                                         PMIX_ERR_PROC_ABORTED_BY_SIG, PMIX_ERR_PROC_REQUESTED_ABORT,
                                         PMIX_ERR_PROC_KILLED_BY_CMD,  PMIX_ERR_EXIT_NONZERO_TERM};

} // namespace

using callback_type = const std::function<void(std::uint32_t)>;

death_watch::death_watch(std::string nspace, std::uint32_t ranks, std::function<void(std::uint32_t)> callback)
    : nspace_(std::move(nspace)), callback_(std::make_shared<callback_type>(std::move(callback))),
      reported_(ranks) {
  registrations_.reserve(std::size(death_codes)); // each is undone at the end
}

void death_watch::start() {
  for (pmix_status_t code : death_codes) {
    if (const auto number = register_event(code, this, on_event)) registrations_.push_back(*number);
  }
}

death_watch::~death_watch() {
  for (std::size_t registration : registrations_)
    deregister_event(registration);
}

void death_watch::set_callback(std::function<void(std::uint32_t)> callback) {
  auto fresh = std::make_shared<callback_type>(std::move(callback));
  const std::lock_guard lock(mutex_);
  callback_.swap(fresh);
}

bool death_watch::in_callback() const {
  const std::lock_guard lock(mutex_);
  return in_callback_ == std::this_thread::get_id();
}

void death_watch::on_event(std::size_t, pmix_status_t, const pmix_proc_t* source, pmix_info_t info[],
                           std::size_t info_count, pmix_info_t[], std::size_t,
                           pmix_event_notification_cbfunc_fn_t done, void* done_data) {
  auto* watch = static_cast<death_watch*>(event_object(info, info_count));
  const pmix_info_t* affected = find_info(info, info_count, PMIX_EVENT_AFFECTED_PROC);
  const bool named = affected != nullptr && affected->value.type == PMIX_PROC;
  const pmix_proc_t* process = named ? affected->value.data.proc : source;
  if (watch != nullptr && process != nullptr) watch->report(*process);
  if (done != nullptr) done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, done_data);
}

void death_watch::report(const pmix_proc_t& process) noexcept {
  if (nspace_ != process.nspace || process.rank >= reported_.size()) return;
  std::shared_ptr<callback_type> callback;
  {
    const std::lock_guard lock(mutex_);
    // One death may be announced under several codes.
    if (!*callback_ || reported_[process.rank]) return;
    reported_[process.rank] = true;
    callback = callback_;
    in_callback_ = std::this_thread::get_id();
  }
  (*callback)(process.rank);
  const std::lock_guard lock(mutex_);
  in_callback_ = {};
}

} // namespace weft::boot
