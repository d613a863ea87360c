// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/transport/ucx/handles.hpp"
#include "engine/transport/ucx/segment.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace weft::transport::ucx {

struct options {
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  std::uint64_t job_key = 0; // in every header: a message of another job is dropped
  std::size_t segment_bytes = 0;
  shared_memory memory = shared_memory::system_v; // of all ranks of this host
  bool one_host = true;                           // no network transport is opened then
  std::vector<bool> near;                         // by rank: its memory is to be reached by loads and stores
  // The card of another rank, as made by card() there.
  std::function<std::vector<std::byte>(std::uint32_t rank)> card_of;
  // Asked before the first connection to a rank: whether its host is to be reached. UCX waits for a
  // connection within the call that makes it, for minutes if no rank answers.
  std::function<bool(std::uint32_t rank)> reaches = [](std::uint32_t) { return true; };
  // Told when the connection to a rank has broken, once; inside poll(), so it must be short.
  std::function<void(std::uint32_t rank)> on_loss = [](std::uint32_t) {};
};

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
