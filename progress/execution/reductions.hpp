#pragma once
#include "progress/execution/shared_work.hpp"
#include "progress/execution/transfers.hpp"

#include <array>

namespace weft::progress {

// Combines blocks, alone or shared with the other members of the host.
template <transport::transport T> class reductions {
public:
  reductions(reach<T>& members, lone_copies<T>& copies, transfers<T>& buffers)
      : reach_(members), copies_(copies), buffers_(buffers) {}

  outcome combine(operation& op, const graph::node& n, std::uint32_t peer, flight_tag tag) {
    const graph::action a = graph::resolve(*op.program, graph::flow::own, peer, tag.iteration);
    const graph::region r = graph::only_region(*op.program, op.channel->info.topology, n, a);
    std::byte* const into = buffers_.own(op, n.write.in) + r.write;
    const std::byte* const from = buffers_.own(op, n.read.in) + r.read;
    const graph::user_code& f = *op.at.code;
    return copies_.in_pieces(op.run->begun, tag, r.bytes, [=, &f](std::uint64_t at, std::uint64_t bytes) {
      f.combine(into + at, from + at, bytes, f.argument);
    });
  }

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
    const graph::user_code& f = *op.at.code;
    alignas(64) std::array<std::byte, 4096> result;
    for (; begin < end; begin += result.size()) {
      const std::uint64_t bytes = std::min<std::uint64_t>(result.size(), end - begin);
      reach_.copy(result.data(), base(op, 0) + op.at.src + begin, bytes);
      for (std::uint32_t k = 1; k < locals; ++k)
        f.combine(result.data(), base(op, k) + op.at.src + begin, bytes, f.argument);
      for (std::uint32_t k = 0; k < locals; ++k)
        reach_.copy(base(op, k) + op.at.dst + begin, result.data(), bytes);
      reach_.counts.bytes_copied.add(bytes * locals);
    }
  }
  std::byte* base(operation& op, std::uint32_t local) {
    return reach_.base(*op.channel, op.channel->info.topology.local(local));
  }

  reach<T>& reach_;
  lone_copies<T>& copies_;
  transfers<T>& buffers_;
};

} // namespace weft::progress
