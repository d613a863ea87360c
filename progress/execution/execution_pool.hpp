// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/linked_items.hpp"
#include "progress/execution/operation.hpp"

#include <memory>
#include <new>
#include <vector>

namespace weft::progress {

// The states of executions, each lent to an operation while it is active. They are made when first needed,
// and kept; and so is room for as many in the list of the active, which is never too short then.
class execution_pool {
public:
  // With all that the plan needs; null for want of memory.
  [[gnu::always_inline]] execution* take(const operation& op, std::vector<operation*>& active) noexcept {
    const graph::plan& p = *op.program;
    execution* const run = all_.take();
    if (run == nullptr) [[unlikely]]
      return nullptr;
    const bool is_equipped = run->scratch.size() >= p.room() && !p.dynamic &&
                             (!p.computes || op.at.task->room <= run->room.size());
    if (active.size() == active.capacity() || !is_equipped) [[unlikely]]
      if (!equip(*run, op, active)) {
        all_.give_back(*run);
        return nullptr;
      }
    return run;
  }
  void give_back(execution& run) noexcept {
    run.room.done_with();
    all_.give_back(run);
  }

private:
  [[gnu::noinline]] bool equip(execution& run, const operation& op,
                               std::vector<operation*>& active) noexcept {
    const graph::plan& p = *op.program;
    try {
      active.reserve(all_.size());
      if (run.scratch.size() < p.room()) run.scratch.resize(p.room());
      if (p.computes && !run.room.reserve(op.at.task->room)) return false;
      if (!p.dynamic) return true;
      if (!run.found) run.found = std::make_unique<findings>();
      run.found->begin(p);
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  engine::item_pool<execution> all_;
};

} // namespace weft::progress
