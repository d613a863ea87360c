#pragma once
#include "engine/plan/resolve.hpp"
#include "progress/execution/transfers.hpp"

#include <span>

namespace weft::progress {

// Eager payloads: written into my own mailbox, or sent into the mirror of it that a far member has; and taken
// out of there.
template <transport::transport T> class payloads {
public:
  payloads(reach<T>& members, operands<T>& blocks, transfers<T>& buffers)
      : reach_(members), net_(members.net), operands_(blocks), buffers_(buffers) {}

  // My slices for all near readers into my own slot, one beside the other. The stamp follows.
  [[gnu::noinline]] void write(operation& op, const graph::node& n) {
    const graph::plan& p = *op.program;
    const std::uint32_t slot = engine::slot_of(op.seq);
    if (n.valued) return net_.copy(op.team->own.head(slot).payload, &op.value, sizeof op.value);
    std::byte* const to = op.team->own.payload(slot, p.eager_bytes);
    if (p.names != graph::naming::none) net_.copy(to, &operands_.own_row(op).named, sizeof(std::uint32_t));
    const std::byte* const from = buffers_.own(op, n.read.in);
    each_region(op, n, graph::resolve(p, graph::flow::own, p.me, 0),
                [&](const graph::region& r) { net_.copy(to + r.write, from + r.read, r.bytes); });
  }

  // What a far member is sent. One block lies where it is sent from; several are put together, behind the
  // scratch. The message itself lies in the receiver's mirror of the sender, as every payload does: that is
  // credited.
  [[gnu::noinline]] std::span<const std::byte> message(operation& op, const graph::node& n,
                                                       std::uint32_t peer, std::uint32_t step) {
    const graph::plan& p = *op.program;
    if (p.names != graph::naming::none) // as it is published, by who is named
      return {op.team->own.payload(engine::slot_of(op.seq), p.eager_bytes), p.eager_bytes};
    const graph::action a = graph::resolve(p, graph::flow::out, peer, step);
    const std::byte* const from = buffers_.own(op, n.read.in);
    std::span<const std::byte> whole;
    if (n.of == graph::blocks::one) {
      each_region(op, n, a, [&](const graph::region& r) { whole = {from + r.read, r.bytes}; });
      return whole;
    }
    std::byte* const packed = op.run->scratch.data() + p.scratch;
    std::size_t bytes = 0;
    each_region(op, n, a, [&](const graph::region& r) {
      net_.copy(packed + r.write, from + r.read, r.bytes);
      bytes += r.bytes;
    });
    return {packed, bytes};
  }

  // The peer's has come.
  void take(operation& op, const graph::node& n, std::uint32_t peer, std::uint32_t step) {
    const engine::board theirs = reach_.view(*op.team, peer);
    const std::uint32_t slot = engine::slot_of(op.seq);
    if (n.valued) {
      barrier_summary value;
      net_.copy(&value, theirs.head(slot).payload, sizeof value);
      return op.value.merge(value);
    }
    const graph::action a = graph::resolve(*op.program, graph::flow::in, peer, step);
    const std::uint64_t bytes = graph::payload_bytes(*op.program, op.team->info.geometry, n, a);
    const std::byte* const from = theirs.payload(slot, bytes);
    std::byte* const to = buffers_.own(op, n.write.in);
    each_region(op, n, a, [&](const graph::region& r) { net_.copy(to + r.write, from + r.read, r.bytes); });
  }

private:
  template <class Visit>
  static void each_region(const operation& op, const graph::node& n, const graph::action& a, Visit&& visit) {
    graph::each_region(*op.program, op.team->info.geometry, n, a, visit);
  }

  reach<T>& reach_;
  T& net_;
  operands<T>& operands_;
  transfers<T>& buffers_;
};

} // namespace weft::progress
