// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "progress/execution/channel.hpp"
#include "progress/execution/operation.hpp"

namespace weft::progress {

// What an operation's task is told of this rank and its memory.
template <class T> graph::work work_of(operation& op, T& net, std::uint32_t stage) {
  const auto direct = [](void* of, std::uint32_t thread) { return static_cast<T*>(of)->direct(thread); };
  return {.stage = stage,
          .me = op.program->me,
          .members = op.program->members,
          .threads = op.channel->info.world.data(),
          .where = &op.channel->info.topology,
          .segment = net.segment(),
          .segment_bytes = net.segment_bytes(),
          .near = {&net, direct},
          .dst = op.at.dst,
          .src = op.at.src,
          .scratch = op.run->scratch.data(),
          .scratch_bytes = op.program->scratch,
          .room = op.run->room.data(),
          .block = op.program->block(),
          .message = op.program->packed,
          .budget = 0,
          .done = op.run->computed,
          .alone = op.run->choice == graph::branch::alone};
}

} // namespace weft::progress
