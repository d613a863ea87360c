// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "progress/execution/channel.hpp"
#include "progress/execution/operation.hpp"

namespace weft::progress {

// What an operation's task is told of this rank and its memory.
template <class T> graph::work work_of(operation& op, T& net, std::uint32_t stage) {
  graph::work w;
  w.stage = stage;
  w.me = op.program->me;
  w.members = op.program->members;
  w.threads = op.channel->info.world.data();
  w.where = &op.channel->info.topology;
  w.segment = net.segment();
  w.near = {&net, [](void* of, std::uint32_t thread) { return static_cast<T*>(of)->direct(thread); }};
  w.dst = op.at.dst;
  w.src = op.at.src;
  w.scratch = op.run->scratch.data();
  w.room = op.run->room.data();
  w.block = op.program->block();
  w.message = op.program->packed;
  w.done = op.run->computed;
  return w;
}

} // namespace weft::progress
