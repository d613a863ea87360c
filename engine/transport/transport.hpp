// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/transport/message.hpp"

#include <atomic>
#include <chrono>
#include <concepts>
#include <cstring>

namespace weft::transport {

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
