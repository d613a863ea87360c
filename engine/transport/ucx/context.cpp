// SPDX-License-Identifier: BSD-3-Clause
#include "engine/transport/ucx/context.hpp"

#include "engine/transport/ucx/devices.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <string_view>
#include <ucp/api/ucp.h>
#include <ucs/debug/debug.h>
#include <vector>

namespace weft::transport::ucx {

namespace {

std::optional<std::string_view> chosen_transports() {
  const char* chosen = std::getenv("UCX_TLS");
  return chosen == nullptr ? std::nullopt : std::optional<std::string_view>(chosen);
}

// The names of a list of UCX. One that begins with ^ names those that are left out.
class transport_list {
public:
  explicit transport_list(std::string_view text) : excludes_(text.starts_with('^')) {
    if (excludes_) text.remove_prefix(1);
    for (std::size_t end = text.find(','); end != text.npos; end = text.find(',')) {
      names_.push_back(text.substr(0, end));
      text.remove_prefix(end + 1);
    }
    names_.push_back(text);
  }
  bool excludes() const { return excludes_; }
  const std::vector<std::string_view>& names() const { return names_; }
  bool has(std::string_view beginning) const {
    return std::ranges::any_of(names_, [&](std::string_view n) { return n.starts_with(beginning); });
  }
  template <class... Names> bool has_nothing_but(Names... allowed) const {
    return std::ranges::all_of(names_, [&](std::string_view n) { return ((n == allowed) || ...); });
  }

private:
  bool excludes_;
  std::vector<std::string_view> names_;
};

// A setting of UCX that the user has not chosen in the environment.
void choose(ucp_config_t* config, const std::string& name, const std::string& value) {
  if (std::getenv(("UCX_" + name).c_str()) != nullptr) return;
  check(ucp_config_modify(config, name.c_str(), value.c_str()), "cannot set UCX_" + name + " to " + value);
}

// `name` is a kind of shared memory.
bool opens(std::string_view transports, std::string_view name) {
  const transport_list list(transports);
  const bool in_list = list.has(name) || list.has("sm") || list.has("shm") || list.has("mm");
  return list.excludes() ? !in_list : in_list || list.has("all");
}

// An endpoint must be able to break without the process. What belongs to a transport of UCX is set in the
// environment only; what the user has set there stays. UCX complains of settings of transports that it does
// not open.
void let_shared_memory_break(std::string_view transports) {
  if (opens(transports, "sysv")) setenv("UCX_SYSV_ERROR_HANDLING", "y", 0);
  if (opens(transports, "posix")) setenv("UCX_POSIX_ERROR_HANDLING", "y", 0);
}

// UCX's sockets send segments of 8 KiB if no setting says otherwise, which costs most of their speed. The
// receiver must be able to hold what comes: a user that has set one of the two has set both.
void enlarge_segments_of_sockets() {
  if (std::getenv("UCX_TCP_TX_SEG_SIZE") != nullptr || std::getenv("UCX_TCP_RX_SEG_SIZE") != nullptr) return;
  setenv("UCX_TCP_TX_SEG_SIZE", "136k", 0);
  setenv("UCX_TCP_RX_SEG_SIZE", "136k", 0);
}

bool opens_sockets(bool one_host) {
  const std::optional<std::string_view> chosen = chosen_transports();
  if (!chosen) return !one_host;
  const transport_list list(*chosen);
  return list.excludes() ? !list.has("tcp") : list.has("tcp") || list.has("all");
}

// On one host no network transport is opened, so no process can connect from outside; and files in /dev/shm
// only if there is no other memory: a process that is killed just then leaves its file behind. A transport
// that gets no memory would end the worker.
std::string transports_of(const options& o) {
  if (o.memory == shared_memory::files) return o.one_host ? "self,posix,cma" : "^sysv";
  return o.one_host ? "self,sysv,cma" : "all";
}

// What the user has chosen, with files in the place of System V segments, which a name for several kinds of
// shared memory has in it.
std::string with_files(std::string_view transports) {
  const transport_list list(transports);
  if (list.excludes()) return std::string(transports) + ",sysv";
  if (list.has("sysv"))
    throw std::runtime_error(
        "UCX_TLS=" + std::string(transports) +
        " asks for System V segments, which this host's limits do not allow to all ranks: raise "
        "kernel.shmmni, kernel.shmmax and kernel.shmall, or leave them out, as in UCX_TLS=self,posix,cma");
  std::string all;
  for (const std::string_view name : list.names()) {
    if (name == "all") return "^sysv";
    all += all.empty() ? "" : ",";
    all += name == "sm" || name == "shm" ? "posix,cma" : name == "mm" ? "posix" : name;
  }
  return all;
}

// Of the segment. The memory for those that open no shared-memory transport comes last: it is private to the
// process.
std::string allocators(shared_memory memory) {
  return memory == shared_memory::files ? "md:posix,mmap" : "md:sysv,mmap";
}

} // namespace

bool reaches_memory(bool one_host, std::optional<std::string_view> chosen, bool adapters) {
  if (!chosen) return one_host || adapters;
  const transport_list list(*chosen);
  const auto named = [&](auto... names) { return (list.has(names) || ...); };
  if (list.excludes()) return adapters && !named("ib", "rc", "dc");
  if (one_host && list.has_nothing_but("self", "sm", "shm", "mm", "sysv", "posix", "cma", "knem", "xpmem"))
    return true;
  return adapters && named("all", "ib", "rc", "dc");
}

bool network_reaches_memory() {
  return reaches_memory(false, chosen_transports(), has_adapters());
}

opened_context open_context(const options& o) {
  give_back_signals();
  const bool reaches = reaches_memory(o.one_host, chosen_transports(), has_adapters());
  std::string opened(chosen_transports().value_or(transports_of(o)));
  if (o.memory == shared_memory::files && chosen_transports() && opens(opened, "sysv"))
    opened = with_files(opened);
  let_shared_memory_break(opened);
  if (opens_sockets(o.one_host)) enlarge_segments_of_sockets();
  ucp_config_t* raw = nullptr;
  check(ucp_config_read(nullptr, nullptr, &raw), "cannot read the UCX configuration");
  const config_ptr config(raw);
  choose(raw, "ALLOC_PRIO", allocators(o.memory));
  if (o.one_host) choose(raw, "KEEPALIVE_INTERVAL", "inf"); // its dead are seen by other means
  check(ucp_config_modify(raw, "TLS", opened.c_str()), "cannot set UCX_TLS to " + opened);
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_NAME;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  if (reaches)
    params.features |= UCP_FEATURE_RMA; // else UCX has no handlers for them that any rank could call
  params.name = "weft";
  ucp_context_h context = nullptr;
  check(ucp_init(&params, raw, &context), "cannot start UCX");
  return {context_ptr(context), reaches};
}

worker_ptr make_worker(const opened_context& c) {
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_EVENTS;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  params.events = UCP_WAKEUP_RX | UCP_WAKEUP_TX;
  if (c.reaches_memory) params.events |= UCP_WAKEUP_RMA;
  ucp_worker_h worker = nullptr;
  check(ucp_worker_create(c.context.get(), &params, &worker), "cannot create the UCX worker");
  return worker_ptr(worker);
}

void receive_messages(ucp_worker_h worker, unsigned id, ucp_am_recv_callback_t received, void* receiver) {
  ucp_am_handler_param_t handler{};
  handler.field_mask =
      UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = id;
  handler.cb = received;
  handler.arg = receiver;
  check(ucp_worker_set_am_recv_handler(worker, &handler), "cannot receive active messages");
}

namespace {

const void* library_of(const void* function) {
  Dl_info info{};
  return dladdr(function, &info) == 0 ? nullptr : info.dli_fbase;
}

bool handled_by_ucx(int signal) {
  struct sigaction action {};
  if (sigaction(signal, nullptr, &action) != 0) return false;
  const auto* handler = reinterpret_cast<const void*>(action.sa_handler);
  return handler != nullptr &&
         library_of(handler) == library_of(reinterpret_cast<const void*>(ucs_debug_disable_signal));
}

bool is_error(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE;
}

bool user_wants(int signal) {
  if (is_error(signal)) return std::getenv("UCX_HANDLE_ERRORS") || std::getenv("UCX_ERROR_SIGNALS");
  return std::getenv("UCX_DEBUG_SIGNO") != nullptr;
}

} // namespace

void give_back_signals() {
  for (int signal = 1; signal < SIGRTMIN; ++signal)
    if (handled_by_ucx(signal) && !user_wants(signal)) ucs_debug_disable_signal(signal);
}

const char* version() {
  return ucp_get_version_string();
}

} // namespace weft::transport::ucx
