#pragma once
#include "engine/reductions/vector_reduction.hpp"
#include "progress/execution/shared_work.hpp"

#include <array>

namespace weft::progress {

// Combines the blocks of the members of a host, a work that they share.
template <transport::transport T> class reductions {
public:
  explicit reductions(reach<T>& members) : reach_(members) {}

  // The host's first member lends the words: the claim word of its block to itself, and its count of what has
  // delivered, in pieces. Who sees all of them counted sees the result in every destination; orders as in
  // rotation.hpp.
  outcome share_host(operation& op) {
    const graph::topology& g = op.channel->info.topology;
    const std::uint32_t first = g.local(0), slot = engine::slot_of(op.seq);
    if (!reach_.credit(op, first)) return outcome::blocked;
    const engine::mailbox at = reach_.view(*op.channel, first);
    engine::word& counted = at.counts(engine::cells_of(op.seq)).delivered;
    const std::uint32_t all = op.program->chunks;
    if (reach_.reached(counted, op, all)) return outcome::done;
    const shared_work whole{at.claim(slot, g.local_index(first)), op.program->block(), g.locals()};
    const outcome result =
        share(reach_, op, whole, [&](std::uint64_t begin, std::uint64_t end, std::uint32_t pieces) {
          combine_host(op, begin, std::min(end, op.program->block()));
          reach_.raise(counted, op.seq, pieces);
        });
    if (result != outcome::done) return result;
    return reach_.reached(counted, op, all) ? outcome::done : outcome::blocked;
  }

private:
  // The bytes [begin, end) of all sources, a little at a time: so what is combined stays in the cache until
  // it has gone to all destinations.
  void combine_host(operation& op, std::uint64_t begin, std::uint64_t end) {
    const std::uint32_t locals = op.channel->info.topology.locals();
    const graph::task& t = *op.at.task;
    alignas(64) std::array<std::byte, 4096> result;
    for (; begin < end; begin += result.size()) {
      const std::uint64_t bytes = std::min<std::uint64_t>(result.size(), end - begin);
      reach_.copy(result.data(), source(op, 0) + begin, bytes);
      for (std::uint32_t k = 1; k < locals; ++k)
        t.combine(t, result.data(), source(op, k) + begin, bytes);
      for (std::uint32_t k = 0; k < locals; ++k)
        if (op.program->sends(op.program->me, member(op, k)))
          reach_.copy(destination(op, k) + begin, result.data(), bytes);
      reach_.counts.bytes_copied.add(bytes * locals);
    }
  }

  static std::uint32_t member(const operation& op, std::uint32_t local) {
    return op.channel->info.topology.local(local);
  }
  static const weft::reductions::addresses& where(const operation& op, std::uint32_t member) {
    return reinterpret_cast<const weft::reductions::addresses*>(op.run->scratch.data())[member];
  }
  const std::byte* source(operation& op, std::uint32_t local) {
    const std::uint32_t m = member(op, local);
    return reach_.base(*op.channel, m) + where(op, m).src;
  }
  std::byte* destination(operation& op, std::uint32_t local) {
    const std::uint32_t m = member(op, local);
    return reach_.base(*op.channel, m) + where(op, m).dst;
  }

  reach<T>& reach_;
};

} // namespace weft::progress
