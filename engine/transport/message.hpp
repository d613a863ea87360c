// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace weft::transport {

// What an active message announces. All but the last two speak of an operation of a channel.
enum class message_kind : std::uint8_t {
  entry,     // the sender has entered operation `seq`
  payload,   // eager payload, or row, of operation `seq`
  relayed,   // eager payload of member `count`, to be handed on in a tree of radix `round`
  bundle,    // blocks of members of my host for all of yours, `count` bytes for each; see bundles.hpp
  pull,      // send me those, of all members, from where the payload says that they lie
  pulled,    // they: the sender need not have entered the operation
  delivered, // `count` more blocks are in your destination
  consumed,  // `count` more blocks of your source have been read, likewise
  stage_in,  // the sender has come through round `round`; a barrier's value may come along
  stage_out,
  asked,   // send me your row of operation `seq`
  named,   // my row of operation `seq`, which names you
  call,    // checked mode: which call operation `seq` is
  dispute, // checked mode: two members' calls of operation `seq` differ
  failed,  // operation `seq` failed here; the payload is a `failure`
  credit,  // nothing but `retired`
  wanted,  // tell me when you have retired operation `seq`
  ring,    // nothing: wakes a sleeper
  request, // the payload is a request of progress/control, or its answer; of the rest only `source` counts
};

// Header of every message. `retired` rides on all of them: it is the credit for the cells of the sender.
struct message {
  std::uint32_t channel = 0;
  message_kind kind = message_kind::ring;
  std::uint8_t phase = 0;
  std::uint8_t round = 0;
  std::uint8_t wants = 0;   // not 0: tell me when you have retired the operation that is so many before `seq`
  std::uint32_t source = 0; // rank in the job
  std::uint32_t count = 0;
  std::uint64_t seq = 0;
  std::uint64_t retired = 0;
};
static_assert(sizeof(message) == 32);

// Why an operation failed at the sender.
struct failure {
  std::int32_t status = 0;       // negative
  std::uint32_t unreachable = 0; // rank in the job
};

// What receives messages: called from poll(), so under progress ownership.
class message_sink {
public:
  virtual void on_message(const message& m, std::span<const std::byte> payload) = 0;

protected:
  ~message_sink() = default;
};

// Told when a request that could not finish at once has finished; `status` is 0 or a UCX error (negative).
// Lives until then; the transport neither copies nor frees it.
struct completion {
  void (*done)(completion*, int status) = nullptr;
};

// What came of a request at once.
class [[nodiscard]] started {
public:
  static constexpr started at_its_end() noexcept { return started(0); }
  static constexpr started on_its_way() noexcept { return started(1); }
  static constexpr started failure(int status) noexcept { return started(status); }

  // Finished: the completion is never called.
  constexpr bool done() const noexcept { return status_ == 0; }
  // The completion will be called.
  constexpr bool under_way() const noexcept { return status_ > 0; }
  // Nothing was started, and the completion is never called.
  constexpr bool failed() const noexcept { return status_ < 0; }
  constexpr int status() const noexcept { return status_; }

private:
  explicit constexpr started(int status) noexcept : status_(status) {}
  int status_;
};

// Statuses that all transports have, numbered as by UCX. A request that failed for want of memory may be made
// again.
constexpr int no_memory = -4, unreachable = -6;

} // namespace weft::transport
