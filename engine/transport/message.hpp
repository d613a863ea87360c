#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace weft::transport {

// What an active message of the UCP lane announces. All but the last three speak of an operation of a team.
enum class message_kind : std::uint8_t {
  entry,    // the sender has entered operation `seq`
  payload,  // eager payload, or row, of operation `seq`
  landed,   // `count` more blocks are in your destination
  taken,    // `count` more blocks of your source have been read
  stage_in, // the sender reached stage `stage`; a barrier's value may come along
  stage_out,
  asked,    // send me your row of operation `seq`
  named,    // my row of operation `seq`, which names you
  credit,   // nothing but `retired`
  ring,    // nothing: wakes a sleeper
  service, // request or reply of a service (memory); `count` says which
};

// Header of every message. `retired` rides on all of them: it is the credit for the cells of the sender.
struct message {
  std::uint32_t team = 0;
  message_kind kind = message_kind::ring;
  std::uint8_t stage = 0;
  std::uint16_t reserved = 0;
  std::uint32_t source = 0; // rank in the job
  std::uint32_t count = 0;
  std::uint64_t seq = 0;
  std::uint64_t retired = 0;
};
static_assert(sizeof(message) == 32);

// Who receives messages: called from poll(), so under the same baton.
class message_sink {
public:
  virtual void on_message(const message& m, std::span<const std::byte> payload) = 0;

protected:
  ~message_sink() = default;
};

// Told when an operation that could not finish at once has finished; `status` is 0 or a UCX error (negative).
// Lives until then; the transport neither copies nor frees it.
struct completion {
  void (*done)(completion*, int status) = nullptr;
};

} // namespace weft::transport
