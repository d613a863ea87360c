// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
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

// Rows of so many bytes, whose beginnings are so many bytes apart at the other rank.
struct rows_there {
  std::uint64_t bytes = 0, apart = 0, count = 0;
};
// What several rows of one request may have together.
inline constexpr std::uint64_t most_packed_bytes = 8 * 1024;

// Statuses that all transports have, numbered as by UCX. A request that failed for want of memory may be made
// again.
constexpr int no_memory = -4, unreachable = -6;

// The one interface between an executor and a network, for one rank. Ranks are ranks of the job.
// All calls but rank/size/segment and the memory operations are made by the holder of progress ownership.
//
// None of them throws: what cannot be done is a status of the request, or of its completion. (The simulated
// transport unwinds the stacks of a simulation that is given up, and only those.)
//
//  direct(peer)   base address of the peer's segment if it is reachable by loads and stores,
//                 else null (UCP lane).
//                 The first call for a peer may connect.
//  get/put/flush/send   UCP lane, see `started`. The first call for a peer may connect. A put
//                 is finished when its source may be reused; it is in place at the target after a
//                 flush of that peer. A flush covers the puts to that peer that were started
//                 before it. A send's payload may be reused when it is finished.
//  poll           moves everything on; messages go to the sink. Returns how many events there were.
//  explain        a status in words.
//  ring(peer)     wakes the peer's process if it sleeps (a store into shared memory wakes no rank).
//  arm            prepares event_fd() for sleeping; false: something has happened, poll again.
//
// The memory operations act on words and bytes that other ranks of the host read and write at the same time.
// On real machines they are atomics and memcpy; the simulated transport interrupts there, and lands copies in
// pieces.
//
//  relax/yield/nap   what a waiting thread does between two unsuccessful sweeps; nap(limit) sleeps until an
//                 event, a ring or the limit. In a caller-driven engine only: a dedicated thread sleeps in
//                 epoll.
//
// A transport whose messages stay behind puts may have order(peer, done), a flush that ends as soon as what
// is sent to the peer from then on will be handled after the puts before it are in place; and with it push(),
// a put that an order and a message follow, whose source may be reused when that message is finished: a part
// of it may wait to go out with the message.
//
// A transport whose polls make system calls may say so by polls_by_calls(): then the rank that waits for it
// yields between two of them from the beginning, which costs less than the poll and lets others have the
// core.
//
// A transport for which a message costs more than a copy may have packs_rows(peer): for peers of which it is
// true put_rows(), of rows that lie packed here, and get_rows() move several in one piece.
//
// A transport that cuts large transfers starts their pieces in carry(), which returns how many bytes it has
// started; carries() says whether there are pieces left. Of any transport: carry(t) and carries(t), below.
template <class T>
concept transport = requires(T t, const T c, std::uint32_t peer, void* to, const void* from, std::uint64_t n,
                             completion& done, const message& m, message_sink* sink,
                             std::atomic<std::uint64_t>& w, std::uint64_t& expected,
                             std::chrono::nanoseconds limit) {
  { c.rank() } -> std::same_as<std::uint32_t>;
  { c.size() } -> std::same_as<std::uint32_t>;
  { c.segment() } -> std::same_as<std::byte*>;
  { c.segment_bytes() } -> std::convertible_to<std::uint64_t>; // those of the others have as many
  { t.direct(peer) } -> std::same_as<std::byte*>;
  { t.get(peer, to, n, n, done) } -> std::same_as<started>; // (peer, local destination, remote offset, bytes)
  { t.put(peer, n, from, n, done) } -> std::same_as<started>; // (peer, remote offset, local source, bytes)
  { t.flush(peer, done) } -> std::same_as<started>;
  { t.send(peer, m, from, n, done) } -> std::same_as<started>;
  { T::explain(0) } -> std::same_as<const char*>;
  { t.poll() } -> std::same_as<unsigned>;
  {t.ring(peer)};
  {t.set_sink(sink)};
  { t.arm() } -> std::same_as<bool>;
  { c.event_fd() } -> std::same_as<int>;

  { t.load(w) } -> std::same_as<std::uint64_t>;    // acquire
  {t.store(w, n)};                                 // release
  { t.cas(w, expected, n) } -> std::same_as<bool>; // acquire-release; weak
  { t.add(w, n) } -> std::same_as<std::uint64_t>;  // sequentially consistent; returns the old value
  {t.fence()};                                     // sequentially consistent
  {t.light_fence()};                               // between a store and the look for sleepers; pairs with
  {t.heavy_fence()};                               // between announcing a sleep and the last look for stores
  {t.copy(to, from, n)};
  { t.template peek<std::uint64_t>(from) } -> std::same_as<std::uint64_t>; // of what may change meanwhile

  { t.now() } -> std::same_as<std::chrono::nanoseconds>;
  {t.relax()};
  {t.yield()};
  {t.nap(limit)};
};

template <transport T> bool carries(const T& t) {
  if constexpr (requires { t.carries(); })
    return t.carries();
  else
    return false;
}
template <transport T> std::uint64_t carry(T& t) {
  if constexpr (requires { t.carry(); })
    return t.carries() ? t.carry() : 0;
  else
    return 0;
}

} // namespace weft::transport
