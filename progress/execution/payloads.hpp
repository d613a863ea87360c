// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/operations/operation_kind.hpp"
#include "engine/plan/resolve.hpp"
#include "progress/execution/bundles.hpp"
#include "progress/execution/transfers.hpp"

#include <span>

namespace weft::progress {

// Eager payloads: written into my own mailbox, or sent into the shadow of it that a far member has; and taken
// out of there.
template <transport::transport T> class payloads {
public:
  payloads(reach<T>& members, operands<T>& blocks, transfers<T>& buffers, bundles<T>& together)
      : reach_(members), net_(members.net), operands_(blocks), buffers_(buffers), bundles_(together) {}

  // My slices for all near readers into my own slot, one beside the other. The stamp follows.
  [[gnu::always_inline]] void write(operation& op, const graph::node& n) {
    const graph::plan& p = *op.program;
    const std::uint32_t cells = engine::cells_of(op.seq, n.phase);
    if (n.valued) return net_.copy(op.channel->own.head(cells).payload, &op.value, sizeof op.value);
    if (graph::operations::is_part(n)) [[unlikely]]
      return write_part(op, n, cells);
    std::byte* const to = op.channel->own.payload(cells, p.eager_bytes[n.phase]);
    if (p.names != graph::naming::none) [[unlikely]]
      net_.copy(to, &operands_.own_row(op).named, sizeof(std::uint32_t));
    const std::byte* const from = buffers_.own(op, n.read.in);
    const graph::action a = graph::resolve(p, graph::flow::own, p.me, 0);
    graph::each_region(p, op.channel->info.topology, n, a,
                       [&](const graph::region& r) { net_.copy(to + r.write, from + r.read, r.bytes); });
  }

  // What a far member is sent. What lies together is sent from there; else it is put together, behind the
  // scratch. The message itself lies in the receiver's shadow of the sender, as every payload does: that is
  // credited.
  [[gnu::noinline]] std::span<const std::byte> message(operation& op, const graph::node& n,
                                                       std::uint32_t peer, std::uint32_t step) {
    const graph::plan& p = *op.program;
    if (p.names != graph::naming::none) // as it is published, by the named member
      return published(op, n.phase);
    if (graph::operations::is_part(n)) {
      const graph::part it = part_of(op, n, peer);
      return {it.mine, it.bytes};
    }
    const graph::action a = graph::resolve(p, graph::flow::out, peer, step);
    const std::byte* const from = buffers_.own(op, n.read.in);
    if (n.of == nullptr) {
      const graph::region whole = graph::only_region(p, op.channel->info.topology, n, a);
      return {from + whole.read, whole.bytes};
    }
    if (p.packed == 0) return together(op, n, a, from);
    std::byte* const packed = op.run->scratch.data() + p.scratch;
    std::size_t bytes = 0;
    each_region(op, n, a, [&](const graph::region& r) {
      net_.copy(packed + r.write, from + r.read, r.bytes);
      bytes += r.bytes;
    });
    return {packed, bytes};
  }

  // Of a barrier: the value that a member has given, from where it lies.
  [[gnu::noinline]] void merge_value(operation& op, const std::byte* from) {
    barrier_summary value;
    net_.copy(&value, from, sizeof value);
    op.value.merge(value);
  }

  // The peer's has come.
  [[gnu::always_inline]] void take(operation& op, const graph::node& n, std::uint32_t peer,
                                   std::uint32_t step) {
    if (n.valued)
      return merge_value(op, reach_.view(*op.channel, peer).head(engine::cells_of(op.seq, n.phase)).payload);
    if (n.settled != 0) [[likely]]
      return take_settled(op, n, peer, op.program->settled[n.settled - 1u]);
    if (graph::operations::is_part(n)) [[unlikely]]
      return take_part(op, n, peer);
    if (n.bundled) [[unlikely]]
      return take_bundled(op, n, peer);
    const graph::action a = graph::resolve(*op.program, graph::flow::in, peer, step);
    const std::uint64_t bytes = graph::payload_bytes(*op.program, op.channel->info.topology, n, a);
    const std::byte* const from =
        reach_.view(*op.channel, peer).payload(engine::cells_of(op.seq, n.phase), bytes);
    std::byte* const to = buffers_.own(op, n.write.in);
    if (n.of != nullptr) [[unlikely]]
      return take_several(op, n, a, to, from);
    const graph::region r = graph::only_region(*op.program, op.channel->info.topology, n, a);
    net_.copy(to + r.write, from + r.read, r.bytes);
  }

private:
  [[gnu::always_inline]] void take_settled(operation& op, const graph::node& n, std::uint32_t peer,
                                           const graph::settled_step& s) {
    const std::uint32_t cells = engine::cells_of(op.seq, n.phase);
    const std::byte* const from = reach_.view(*op.channel, peer).payload(cells, s.payload);
    net_.copy(buffers_.own(op, n.write.in) + s.moved.write, from + s.moved.read, s.moved.bytes);
  }
  // What the task has of a payload, or where it wants one: all of it, for each reader.
  graph::part part_of(operation& op, const graph::node& n, std::uint32_t peer) {
    return op.at.task->part_of(*op.at.task, work_of(op, net_, n.count), peer);
  }
  [[gnu::noinline]] void write_part(operation& op, const graph::node& n, std::uint32_t cells) {
    const graph::part it = part_of(op, n, op.program->me);
    net_.copy(op.channel->own.payload(cells, it.bytes), it.mine, it.bytes);
  }
  [[gnu::noinline]] void take_part(operation& op, const graph::node& n, std::uint32_t peer) {
    const graph::part it = part_of(op, n, peer);
    const std::uint32_t cells = engine::cells_of(op.seq, n.phase);
    net_.copy(it.mine, reach_.view(*op.channel, peer).payload(cells, it.bytes), it.bytes);
  }
  // Out of the box, where the blocks of one member lie behind those of the other.
  [[gnu::noinline]] void take_bundled(operation& op, const graph::node& n, std::uint32_t peer) {
    if (op.program->unequal)
      return op.at.task->unpack(*op.at.task, work_of(op, net_, n.count), peer, bundles_.in_box(op, peer));
    const graph::topology& g = op.channel->info.topology;
    const graph::place& at = op.program->places[n.read.at];
    const std::uint64_t part = at.bytes * (at.turn == 0 ? 1 : g.locals());
    const std::byte* const from =
        reach_.box(*op.channel, g.host(peer)).blocks(engine::slot_of(op.seq)) + part * g.local_index(peer);
    const graph::action a = graph::resolve(*op.program, graph::flow::in, peer, 0);
    const graph::region r = graph::only_region(*op.program, g, n, a);
    net_.copy(buffers_.own(op, n.write.in) + r.write, from + r.read, r.bytes);
  }
  static std::span<const std::byte> published(const operation& op, std::uint32_t phase) {
    const std::uint32_t bytes = op.program->eager_bytes[phase];
    return {op.channel->own.payload(engine::cells_of(op.seq, phase), bytes), bytes};
  }
  static std::span<const std::byte> together(const operation& op, const graph::node& n,
                                             const graph::action& a, const std::byte* from) {
    graph::region whole;
    each_region(op, n, a, [&](const graph::region& r) { whole = {r.read, 0, whole.bytes + r.bytes}; });
    return {from + whole.read, whole.bytes};
  }
  [[gnu::noinline]] void take_several(operation& op, const graph::node& n, const graph::action& a,
                                      std::byte* to, const std::byte* from) {
    each_region(op, n, a, [&](const graph::region& r) { net_.copy(to + r.write, from + r.read, r.bytes); });
  }

  template <class Visit>
  static void each_region(const operation& op, const graph::node& n, const graph::action& a, Visit&& visit) {
    graph::each_region(*op.program, op.channel->info.topology, n, a, visit);
  }

  reach<T>& reach_;
  T& net_;
  operands<T>& operands_;
  transfers<T>& buffers_;
  bundles<T>& bundles_;
};

} // namespace weft::progress
