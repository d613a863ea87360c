// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/transport/transport.hpp"
#include "progress/driving/doorbell.hpp"
#include "progress/execution/reach.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <poll.h>
#include <utility>

namespace weft::progress {

// How a thread sleeps without missing what it waits for. Three can bring it, and none of them wakes a
// thread by itself: a neighbour that stores into shared memory, the network, and another thread of this
// process that drives in the meantime. So for each there is a word that says "I sleep", and all threads go
// the same way:
//
//   announce      to the process (place.sleepers), and to the host (neighbours.hpp) if others are to ring for
//                 what they store
//   look again    for the last time, at everything; with the right to drive: one more pass
//   arm           the transport: from here on its descriptor tells of what comes. It refuses when something
//                 has come already
//   let go        of the right to drive, so that a thread that comes now drives
//   sleep         on the descriptor and the place's bell, or beside the thread that does
//   cancel        both words, in the order that is the announcement's backwards
//
// A thread without the right to drive leaves out arm and let go: the thread that drives completes for it.
//
// Orders
//   host      announce() ends with the sleeper's fence, the signaller's store is followed by its own: either
//   the
//             last look finds what was stored, or the signaller finds the word and rings.
//   network   what comes before arm() makes it refuse, what comes later makes the descriptor readable. An
//             attempt that was refused has taken the events from a thread that sleeps on them already:
//             took_events() says so to the next thread that lets go, and that one rings the watcher.
//   process   With the right to drive: the word is raised before the right is let go of, hence its next
//             holder sees the word, by the release and the acquire of the right. Without it: raised
//             (sequentially consistent) before the last look; if the completing thread reads it too early,
//             no thread rings, so such a sleep has a limit, a millisecond.
template <transport::transport T> class sleeper {
public:
  explicit sleeper(reach<T>& members) : net_(members.net), node_(members.node()), counts_(members.counts) {}

  // With the right to drive. `finds_work` is the last look. `let_go` gives the right away and returns for how
  // long to sleep at most (negative: without limit). False if there is something to do first; then the right
  // is still the caller's.
  template <class Look, class LetGo>
  bool sleep(sleeping_place& at, bool tells_node, Look&& finds_work, LetGo&& let_go) {
    const announcement said(*this, at, tells_node && node_.met());
    const std::uint64_t seen = at.news();
    if (finds_work() || !arm()) return false;
    const std::chrono::milliseconds limit = let_go();
    counts_.parks.add_concurrent();
    if (const int events = at.listens_to < 0 ? net_.event_fd() : at.listens_to; events < 0)
      net_.nap(limit), at.bell.drain();
    else
      at.sleep(seen, limit, [&] { block({{events, POLLIN, 0}, {at.bell.fd(), POLLIN, 0}}, limit); });
    counts_.wakes.add_concurrent();
    return true;
  }

  // Without it.
  template <class Look> void sleep_beside_driver(sleeping_place& at, Look&& finds_work) {
    constexpr std::chrono::milliseconds limit(1);
    const announcement said(*this, at, false);
    const std::uint64_t seen = at.news();
    if (finds_work()) return;
    if (at.listens_to < 0) return at.wait_for_news(seen, limit);
    block({{at.listens_to, POLLIN, 0}, {at.bell.fd(), POLLIN, 0}}, limit);
    at.bell.drain();
  }

  bool arm() { return armed_ = net_.arm(); }
  // Since it was asked for the last time; by a thread that is about to let go of the right to drive.
  bool took_events() { return !std::exchange(armed_, true); }

private:
  class announcement {
  public:
    announcement(sleeper& of, sleeping_place& at, bool to_node) : of_(of), at_(at), to_node_(to_node) {
      if (to_node_) of_.tell_node();
      at_.sleepers.fetch_add(1, std::memory_order_seq_cst);
    }
    ~announcement() {
      at_.sleepers.fetch_sub(1, std::memory_order_seq_cst);
      if (to_node_) of_.cancel();
    }
    announcement(const announcement&) = delete;
    announcement& operator=(const announcement&) = delete;

  private:
    sleeper& of_;
    sleeping_place& at_;
    const bool to_node_;
  };

  // The host knows one word for all threads of this process.
  void tell_node() {
    const std::lock_guard lock(lock_);
    if (told_++ == 0) node_.announce();
  }
  void cancel() {
    const std::lock_guard lock(lock_);
    if (--told_ == 0) node_.cancel();
  }

  template <std::size_t N> static void block(pollfd (&&watched)[N], std::chrono::milliseconds limit) {
    ::poll(watched, N, static_cast<int>(limit.count()));
  }

  T& net_;
  neighbours<T>& node_;
  statistics& counts_;
  bool armed_ = true; // under the right to drive
  std::mutex lock_;
  std::uint32_t told_ = 0;
};

} // namespace weft::progress
