// SPDX-License-Identifier: BSD-3-Clause
#include "pmix_boot/client/pmix_event.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <future>
#include <iterator>
#include <pmix.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace weft::boot {

// PMIx's own blocking form works on its tables in the calling thread, beside its progress thread; with a
// callback it does not.
std::optional<std::size_t> register_event(pmix_status_t code, void* object, pmix_notification_fn_t handler) {
  using answer = std::promise<std::optional<std::size_t>>;
  answer registered;
  const auto done = [](pmix_status_t status, std::size_t number, void* data) {
    static_cast<answer*>(data)->set_value(status == PMIX_SUCCESS ? std::optional(number) : std::nullopt);
  };
  info_array directives;
  directives.add_pointer(PMIX_EVENT_RETURN_OBJECT, object);
  const pmix_status_t status =
      PMIx_Register_event_handler(&code, 1, directives.data(), directives.size(), handler, done, &registered);
  if (status != PMIX_SUCCESS) return std::nullopt;
  return registered.get_future().get();
}

void deregister_event(std::size_t registration) {
  PMIx_Deregister_event_handler(registration, nullptr, nullptr);
}

const pmix_info_t* find_info(const pmix_info_t* info, std::size_t count, const char* key) {
  for (std::size_t i = 0; i < count; ++i)
    if (PMIX_CHECK_KEY(&info[i], key)) return &info[i];
  return nullptr;
}

void* event_object(const pmix_info_t* info, std::size_t count) {
  const pmix_info_t* object = find_info(info, count, PMIX_EVENT_RETURN_OBJECT);
  return object == nullptr ? nullptr : object->value.data.ptr;
}

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
