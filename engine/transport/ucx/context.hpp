// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/transport/ucx/handles.hpp"
#include "engine/transport/ucx/options.hpp"

#include <optional>
#include <string_view>

namespace weft::transport::ucx {

// Can memory be reached by the transports themselves that UCX is going to open, shared memory on one host or
// adapters between hosts? Else its put and get are messages under the surface, and remote_memory is better.
// `chosen` is the user's own UCX_TLS.
bool reaches_memory(bool one_host, std::optional<std::string_view> chosen, bool adapters);

// The same of what would be opened on this host for a job of several.
bool network_reaches_memory();

struct opened_context {
  context_ptr context;
  bool reaches_memory; // it has UCX's put, get and flush
};
opened_context open_context(const options& o);

worker_ptr make_worker(const opened_context& c);

// Active messages of this number are handed to `received`, with `receiver` as its first argument.
void receive_messages(ucp_worker_h worker, unsigned id, ucp_am_recv_callback_t received, void* receiver);

// UCX takes signals for itself when it is loaded: SIGHUP, after which the end of a terminal ends nothing, and
// those of errors, for which it prints a backtrace by means that can hang in a handler. Gives back what was
// there before, unless the user's own settings of UCX ask for them or the program has handlers by now.
void give_back_signals();

// Of the UCX that this process has loaded.
const char* version();

} // namespace weft::transport::ucx
