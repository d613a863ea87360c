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
  w.segment = net.segment();
  w.dst = op.at.dst;
  w.src = op.at.src;
  w.scratch = op.run->scratch.data();
  w.room = op.run->room.data();
  w.block = op.program->block();
  w.done = op.run->computed;
  return w;
}

} // namespace weft::progress
