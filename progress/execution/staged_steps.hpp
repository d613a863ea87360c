#pragma once
#include "engine/plan/stages.hpp"
#include "progress/execution/flights.hpp"
#include "progress/execution/outcome.hpp"
#include "progress/execution/reach.hpp"

#include <cstring>

namespace weft::progress {

// What the nodes do that hand data on: all those whose operand is not a block of the rule. They take what
// they hand on from a destination (or the root's source), and it goes to the same place of another one. What
// travels packed is put together in scratch of the execution, which is this rank's alone: it is taken when
// the operation first needs it and reused when it has retired, so it needs no credit. The message itself lies
// in the receiver's mirror of the sender, one for each operation, as every payload does: that is credited.
template <transport::transport T> class staged_steps {
public:
  staged_steps(reach<T>& members, flight_pool<T>& flights)
      : reach_(members), net_(members.net), flights_(flights) {}

  outcome step(operation& op, const graph::node& n, std::uint32_t peer, std::uint32_t iteration,
               flight_tag tag) {
    using graph::kind;
    if (!has_scratch(op, n)) [[unlikely]]
      return outcome::blocked;
    switch (n.what) {
    case kind::get:
      return follow(op, n, peer, iteration);
    case kind::put:
      return n.of == portion::half ? put_half(op, n, peer, iteration, tag) : put(op, n, peer, iteration, tag);
    case kind::await:
      return await(op, n, peer, iteration);
    case kind::signal:
      if (n.peer == graph::peer_rule::self) return count(op, n);
      return n.peer == graph::peer_rule::group ? publish(op, n) : send(op, n, peer, iteration, tag);
    case kind::take:
      return take(op, n, peer, iteration);
    default:
      return outcome::blocked;
    }
  }

private:
  using portion = graph::portion;

  static graph::extent extent(const operation& op, const graph::node& n, std::uint32_t iteration) {
    return graph::extent_of(*op.program, op.team->info.geometry, n.of, iteration);
  }
  template <class Visit>
  static void for_each_extent(const operation& op, const graph::node& n, std::uint32_t iteration,
                              Visit visit) {
    graph::for_each_extent(*op.program, op.team->info.geometry, n, iteration, visit);
  }
  std::byte* own(operation& op, std::uint64_t offset) { return net_.segment() + op.at.dst + offset; }

  // From my leader's destination.
  outcome follow(operation& op, const graph::node& n, std::uint32_t peer, std::uint32_t iteration) {
    const std::byte* const theirs = reach_.base(*op.team, peer) + op.at.dst;
    for_each_extent(op, n, iteration, [&](graph::extent part) {
      reach_.copy(own(op, part.offset), theirs + part.offset, part.bytes);
      reach_.counts.bytes_copied.add(part.bytes);
    });
    return outcome::done;
  }

  outcome put(operation& op, const graph::node& n, std::uint32_t peer, std::uint32_t iteration,
              flight_tag tag) {
    flight* f = flights_.start(op, peer, tag);
    if (f == nullptr) return outcome::blocked;
    const graph::extent part = extent(op, n, iteration);
    const std::byte* from = net_.segment() + (n.from_source ? op.at.src : op.at.dst) + part.offset;
    return put(op, *f, op.at.dst + part.offset, from, part.bytes);
  }

  // All at once; the flush that follows knows when they are in place. What there was no memory for is put
  // again, with the rest.
  outcome put_half(operation& op, const graph::node& n, std::uint32_t peer, std::uint32_t iteration,
                   flight_tag tag) {
    outcome result = outcome::done;
    tag.moves_on = false;
    for_each_extent(op, n, iteration, [&](graph::extent part) {
      flight* f = flights_.start(op, peer, tag);
      if (f == nullptr || put(op, *f, op.at.dst + part.offset, own(op, part.offset), part.bytes) ==
                              outcome::blocked) [[unlikely]]
        result = outcome::blocked;
    });
    return result;
  }

  outcome put(operation& op, flight& f, std::uint64_t to, const std::byte* from, std::uint64_t bytes) {
    reach_.counts.bytes_put.add(bytes);
    return flights_.settle(&f, net_.put(op.team->info.world[f.peer], to, from, bytes, f));
  }

  outcome count(operation& op, const graph::node& n) {
    reach_.raise(reach_.own_counts(op).landed, op.seq, n.count);
    reach_.wake_near();
    return outcome::done;
  }

  outcome await(operation& op, const graph::node& n, std::uint32_t peer, std::uint32_t iteration) {
    if (iteration + 1 <= n.count) return outcome::done;
    const engine::board theirs =
        n.peer == graph::peer_rule::self ? op.team->own : reach_.view(*op.team, peer);
    engine::word& landed = theirs.counts(engine::slot_of(op.seq)).landed;
    return reach_.reached(landed, op, iteration + 1 - n.count) ? outcome::done : outcome::blocked;
  }

  outcome publish(operation& op, const graph::node& n) {
    if (!reach_.near_credit(op)) return outcome::blocked;
    const graph::extent part = extent(op, n, 0);
    const std::uint32_t slot = engine::slot_of(op.seq);
    net_.copy(op.team->own.payload(slot, part.bytes), own(op, part.offset), part.bytes);
    net_.store(op.team->own.head(slot).stamp, op.seq);
    reach_.wake_near();
    return outcome::done;
  }

  outcome send(operation& op, const graph::node& n, std::uint32_t peer, std::uint32_t iteration,
               flight_tag tag) {
    if (!reach_.credit(op, peer)) return outcome::blocked;
    flight* f = flights_.start(op, peer, tag);
    if (f == nullptr) return outcome::blocked;
    const std::span<const std::byte> payload = packed(op, n, iteration);
    const transport::message m{.kind = transport::message_kind::payload, .seq = op.seq};
    return flights_.settle(f, reach_.send(*op.team, peer, m, payload, *f));
  }

  std::span<const std::byte> packed(operation& op, const graph::node& n, std::uint32_t round) {
    switch (n.of) {
    case portion::packed:
      return pack_run(op, round);
    case portion::transit:
      return pack_transit(op, round);
    default:
      const graph::extent part = extent(op, n, 0);
      return {own(op, part.offset), part.bytes};
    }
  }

  outcome take(operation& op, const graph::node& n, std::uint32_t peer, std::uint32_t round) {
    const engine::board theirs = reach_.view(*op.team, peer);
    const std::uint32_t slot = engine::slot_of(op.seq);
    if (net_.load(theirs.head(slot).stamp) != op.seq) return outcome::blocked;
    const graph::geometry& g = op.team->info.geometry;
    const std::uint64_t block = op.program->rule.bytes;
    switch (n.of) {
    case portion::packed: {
      const auto run = graph::sent_in_round(g, g.node(peer), round);
      unpack_run(op, run, theirs.payload(slot, run.count * block));
      break;
    }
    case portion::transit:
      unpack_transit(op, round, theirs.payload(slot, graph::travelling(g.size(), round) * block));
      break;
    default:
      net_.copy(own(op, 0), theirs.payload(slot, block), block);
    }
    return outcome::done;
  }

  // Where a node packs. Without memory for it the node waits.
  bool has_scratch(operation& op, const graph::node& n) {
    const std::uint64_t blocks = n.of == portion::packed ? 1 : n.of == portion::transit ? 2 : 0;
    std::vector<std::byte>& room = op.run->scratch;
    const std::uint64_t bytes = blocks * op.program->members * op.program->rule.bytes;
    return room.size() >= bytes || has_grown(room, bytes);
  }
  [[gnu::noinline]] bool has_grown(std::vector<std::byte>& room, std::uint64_t bytes) {
    try {
      room.resize(bytes);
      reach_.shortage.over();
      return true;
    } catch (const std::bad_alloc&) {
      reach_.shortage.met("what an operation hands on");
      return false;
    }
  }

  // The blocks of these members lie at their places of every destination, and one behind the other in the
  // message.
  std::span<const std::byte> pack_run(operation& op, std::uint32_t round) {
    const graph::plan& p = *op.program;
    const graph::geometry& g = op.team->info.geometry;
    const auto run = graph::sent_in_round(g, g.node(p.me), round);
    std::byte* const message = op.run->scratch.data();
    for (std::uint32_t k = 0; k < run.count; ++k) {
      const std::uint32_t owner = g.in_node_order((run.begin + k) % g.size());
      net_.copy(message + k * p.rule.bytes, own(op, p.rule.destination(owner, p.me)), p.rule.bytes);
    }
    return {message, run.count * p.rule.bytes};
  }
  void unpack_run(operation& op, graph::member_run run, const std::byte* message) {
    const graph::plan& p = *op.program;
    const graph::geometry& g = op.team->info.geometry;
    for (std::uint32_t k = 0; k < run.count; ++k) {
      const std::uint32_t owner = g.in_node_order((run.begin + k) % g.size());
      net_.copy(own(op, p.rule.destination(owner, p.me)), message + k * p.rule.bytes, p.rule.bytes);
    }
  }

  // Scratch: a place for the block on its way over each distance, and behind them the message.
  std::span<const std::byte> pack_transit(operation& op, std::uint32_t round) {
    const graph::plan& p = *op.program;
    const std::uint64_t block = p.rule.bytes;
    std::byte* const waiting = op.run->scratch.data();
    std::byte* const message = waiting + p.members * block;
    std::byte* end = message;
    for (std::uint32_t d = 1; d < p.members; ++d) {
      if (!graph::travels(d, round)) continue;
      if (graph::starts(d, round))
        net_.copy(end, net_.segment() + op.at.src + p.rule.source(p.me, (p.me + d) % p.members), block);
      else
        std::memcpy(end, waiting + d * block, block);
      end += block;
    }
    return {message, static_cast<std::size_t>(end - message)};
  }
  void unpack_transit(operation& op, std::uint32_t round, const std::byte* message) {
    const graph::plan& p = *op.program;
    const std::uint64_t block = p.rule.bytes;
    std::byte* const waiting = op.run->scratch.data();
    for (std::uint32_t d = 1; d < p.members; ++d) {
      if (!graph::travels(d, round)) continue;
      if (graph::arrives(d, round))
        net_.copy(own(op, p.rule.destination((p.me + p.members - d) % p.members, p.me)), message, block);
      else
        std::memcpy(waiting + d * block, message, block);
      message += block;
    }
  }

  reach<T>& reach_;
  T& net_;
  flight_pool<T>& flights_;
};

} // namespace weft::progress
