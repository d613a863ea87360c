// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/linked_items.hpp"
#include "progress/execution/channel.hpp"
#include "progress/execution/operation_pool.hpp"
#include "progress/execution/quota.hpp"

#include <utility>

namespace weft::progress {

// Series: operations of one channel, with numbers that follow each other, that are one to the program. It has
// the handle of the last, which is complete when all are over here, and fails with what the first has failed
// with. All are entered when the series is posted; each begins on this rank when its stand-in is ready, which
// copies a piece of the operands meanwhile. Until then it has its slot and is in no other list: operations
// that are posted behind the series wait for none of it.
//
// Under progress ownership.
class series {
  using readiness = graph::stand_in::readiness;

public:
  // Whether it may begin; if not it is kept until prepare() begins it.
  bool keeps(operation& op) {
    if (op.series == nullptr || prepared(op, 0) == readiness::ready) [[likely]]
      return false;
    kept_.push(op);
    return looks_ = true;
  }
  // An operation is over, or a channel is lost: one that is kept may have got ready.
  void look() noexcept { looks_ = !kept_.empty(); }
  bool looks() const noexcept { return looks_; }
  void drop() noexcept { kept_ = {}, looks_ = false; }

  // As much as the quota allows, and of a channel that is lost all. True if anything moved.
  template <class Begin> [[gnu::noinline]] bool prepare(quota& carries, Begin&& begin) {
    bool moved = false;
    looks_ = false;
    for (engine::fifo<operation> all = std::exchange(kept_, {}); !all.empty();) {
      operation& op = all.pop();
      const std::uint64_t budget = carries.left();
      const readiness is = op.channel->lost != channel::no_rank ? readiness::ready
                           : budget == 0                        ? readiness::soon
                                                                : prepared(op, budget);
      if (is == readiness::ready || is == readiness::moved) {
        carries.take(budget);
        moved = true;
      }
      if (is == readiness::ready) {
        begin(op);
      } else {
        looks_ |= is != readiness::waits;
        kept_.push(op);
      }
    }
    return moved;
  }

  // One of a series is over. All are if this says so.
  static bool end(posted& op) {
    auto& last = static_cast<posted&>(*op.series);
    if (&op != &last) {
      if (op.status < 0) last.fail(op.status, op.unreachable, op.told_by);
      if (op.bad && !last.bad) last.bad = std::move(op.bad);
      if (op.thrown && !last.thrown) last.thrown = op.thrown;
    }
    return --last.series_left == 0;
  }

private:
  static readiness prepared(const operation& op, std::uint64_t budget) {
    graph::stand_in* const aside = op.at.task == nullptr ? nullptr : op.at.task->aside;
    return aside == nullptr || aside->begin == nullptr ? readiness::ready : aside->begin(*aside, budget);
  }

  engine::fifo<operation> kept_;
  bool looks_ = false;
};

} // namespace weft::progress
