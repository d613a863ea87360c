// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "progress/execution/inbox.hpp"

#include <functional>
#include <utility>

namespace weft::progress {

// How far this rank is in the operations of a channel. One that is over is retired as soon as all older ones
// of its channel are; the number up to which all are retired stands in the mailbox, and is the credit of
// those that come 32 operations later. Ranks that sleep for want of it are woken, and those that have asked
// are answered.
template <transport::transport T> class retirement {
public:
  using handler = std::function<void(channel&)>;

  // `admit` begins what waits for a slot of the channel.
  retirement(reach<T>& members, inbox<T>& messages, handler admit)
      : reach_(members), inbox_(messages), admit_(std::move(admit)) {}

  // `quiet` is called once for a channel that is left, as soon as all that was posted on it is retired.
  void when_quiet(handler quiet) { quiet_ = std::move(quiet); }

  // The operation is over here; so is every older one of its channel as soon as those before it are.
  [[gnu::always_inline]] void note(const operation& op) {
    channel& on = *op.channel;
    if (op.seq == on.retired + 1) [[likely]] {
      do
        ++on.retired;
      while (on.finished != 0 && take_finished(on, on.retired + 1));
      publish(on);
    } else {
      on.finished |= 1u << engine::slot_of(op.seq);
    }
  }

  // What has been entered here is over, whether it is or not: so what follows has a slot, on all members.
  void abandon(channel& on) {
    on.waiting = {};
    on.leaving = false;
    on.finished = 0;
    on.retired = reach_.net.load(on.own.entered());
    publish(on);
  }

  [[gnu::always_inline]] void tell(channel& on) {
    if (!on.askers.empty()) [[unlikely]]
      inbox_.answer_askers(on);
    if (on.leaving) [[unlikely]]
      report_if_quiet(on);
  }

  [[gnu::cold, gnu::noinline]] void report_if_quiet(channel& on) {
    if (reach_.net.load(on.own.entered()) != on.retired || !on.relayed.empty()) return;
    on.leaving = false;
    quiet_(on);
  }

private:
  [[gnu::always_inline]] void publish(channel& on) {
    reach_.net.store(on.own.retired(), on.retired);
    if (on.lost == channel::no_rank) on.admitted = on.retired + engine::slots;
    reach_.wake_near();
    tell(on);
    if (!on.waiting.empty()) [[unlikely]]
      admit_(on);
  }

  // Has this operation come to its end before those in front of it?
  static bool take_finished(channel& on, engine::sequence n) {
    const std::uint32_t bit = 1u << engine::slot_of(n);
    return (std::exchange(on.finished, on.finished & ~bit) & bit) != 0;
  }

  reach<T>& reach_;
  inbox<T>& inbox_;
  handler admit_, quiet_;
};

} // namespace weft::progress
