// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/operations/operation_kind.hpp"
#include "engine/plan/resolve.hpp"
#include "engine/special_paths.hpp"
#include "progress/execution/bundles.hpp"
#include "progress/execution/in_place.hpp"
#include "progress/execution/pieces.hpp"
#include "progress/execution/task_work.hpp"

#include <span>

namespace weft::progress {

// What a rank moves alone between buffers of its own and those of a peer: by loads and stores within the
// host, else by the transport.
template <transport::transport T> class transfers {
public:
  transfers(reach<T>& members, operands<T>& blocks, lone_copies<T>& copies, in_place_steps<T>& in_place,
            flight_pool<T>& flights)
      : reach_(members), net_(members.net), operands_(blocks), copies_(copies), in_place_(in_place),
        flights_(flights) {}

  // Where a buffer of mine begins; that of another member, as an offset in its segment.
  std::byte* own(operation& op, graph::buffer in) {
    return in == graph::buffer::scratch ? op.run->scratch.data() : net_.segment() + offset(op, in);
  }
  static std::uint64_t offset(const operation& op, graph::buffer in) {
    return in == graph::buffer::source ? op.at.src : op.at.dst;
  }

  [[gnu::always_inline]] outcome copy_own(operation& op, const graph::node& n, std::uint32_t peer,
                                          flight_tag tag) {
    if (op.program->dynamic) return copies_.own_block(op, tag);
    const graph::action a = graph::resolve(*op.program, graph::flow::own, peer, tag.iteration);
    return copy(op, n, a, own(op, n.write.in), own(op, n.read.in), tag);
  }

  template <class Kind>
  outcome carry(operation& op, const graph::node& n, std::uint32_t peer, flight_tag tag) {
    const graph::action a = graph::resolve(*op.program, Kind::way(n), peer, tag.iteration);
    if (op.program->dynamic || op.program->parts) [[unlikely]]
      return op.program->parts ? carry_part(op, n, a, tag) : carry_found(op, n, a, tag);
    std::byte* const theirs = reach_.base(*op.channel, peer);
    if (theirs == nullptr) return transfer(op, n, a, tag);
    std::byte* const to = a.to == peer ? theirs + offset(op, n.write.in) : own(op, n.write.in);
    const std::byte* const from = a.from == peer ? theirs + offset(op, n.read.in) : own(op, n.read.in);
    return copy(op, n, a, to, from, tag);
  }

  outcome flush(operation& op, std::uint32_t peer, flight_tag tag, bool orders) {
    if (reach_.base(*op.channel, peer) != nullptr) return outcome::done;
    const std::uint32_t world = op.channel->info.world[peer];
    return flights_.request(op, peer, tag, [&](flight& f) {
      if constexpr (requires { net_.order(world, f); })
        return special::push && orders ? net_.order(world, f) : net_.flush(world, f);
      else
        return net_.flush(world, f);
    });
  }

  outcome fetch(operation& op, const graph::node& n, std::uint32_t peer, flight_tag tag) {
    return flights_.request(op, peer, tag, [&](flight& f) {
      const auto errand = operands_.fetch(op, n, peer, tag.iteration);
      return net_.get(op.channel->info.world[peer], errand.to, errand.from, errand.bytes, f);
    });
  }

private:
  // A single region may be too large for one pass; there are several of what is handed on, in pieces or
  // packed.
  [[gnu::always_inline]] outcome copy(operation& op, const graph::node& n, const graph::action& a,
                                      std::byte* to, const std::byte* from, flight_tag tag) {
    if (n.of != nullptr) [[unlikely]]
      return copy_several(op, n, a, to, from, tag);
    const graph::region r = graph::only_region(*op.program, op.channel->info.topology, n, a);
    return copies_.carry(op, tag, to + r.write, from + r.read, r.bytes);
  }
  [[gnu::noinline]] outcome copy_several(operation& op, const graph::node& n, const graph::action& a,
                                         std::byte* to, const std::byte* from, flight_tag tag) {
    graph::each_region(*op.program, op.channel->info.topology, n, a, [&](const graph::region& r) {
      copies_.carry(op, tag, to + r.write, from + r.read, r.bytes, false);
    });
    return outcome::done;
  }

  // What is more than one region is begun at once, and the flush that follows knows when it is in place. What
  // there was no memory for is begun again, with the rest.
  [[gnu::noinline]] outcome transfer(operation& op, const graph::node& n, const graph::action& a,
                                     flight_tag tag) {
    const bool one = n.of == nullptr || n.of->one_a_step;
    if (!one) tag.moves_on = false;
    outcome result = outcome::done;
    graph::each_region(*op.program, op.channel->info.topology, n, a, [&](const graph::region& r) {
      if (r.bytes == 0) return;
      const outcome began =
          begin(op, n, a, {offset(op, n.read.in) + r.read, offset(op, n.write.in) + r.write, r.bytes}, tag);
      if (one || began == outcome::blocked) result = began;
    });
    return result;
  }

  // A whole block (in place: a piece), of operands that were found.
  [[gnu::noinline]] outcome carry_found(operation& op, const graph::node& n, const graph::action& a,
                                        flight_tag tag) {
    block b = operands_.find(op, a.from, a.to, tag.iteration);
    if (op.program->in_place) {
      if (in_place_.stuck(op, a.peer, tag.iteration)) return outcome::done;
      b = in_place_steps<T>::piece_of(op, b);
    }
    if (!operands_.usable(op, a.from, a.to, tag.iteration) || b.bytes == 0) return outcome::done;
    std::byte* const theirs = reach_.base(*op.channel, a.peer);
    if (theirs == nullptr) return begin(op, n, a, b, tag);
    std::byte* const mine = net_.segment();
    return copies_.carry(op, tag, (a.to == a.peer ? theirs : mine) + b.dst,
                         (a.from == a.peer ? theirs : mine) + b.src, b.bytes);
  }

  // Between what the peer has of my work on the task, and where I have it.
  [[gnu::noinline]] outcome carry_part(operation& op, const graph::node& n, const graph::action& a,
                                       flight_tag tag) {
    const bool pull = a.from == a.peer;
    const graph::part p = op.at.task->part_of(*op.at.task, work_of(op, net_, n.count), a.peer);
    if (p.given != graph::part::alike) [[unlikely]]
      operands<T>::complain(op, {bad_operand::what::size,
                                 op.channel->info.world[a.from],
                                 op.channel->info.world[a.to],
                                 {p.given, 0, 0},
                                 p.bytes});
    if (p.gone) [[unlikely]]
      operands<T>::complain(
          op, {bad_operand::what::gone, 0, 0, {reinterpret_cast<std::uintptr_t>(p.mine), 0, 0}, p.bytes});
    if (p.second || p.last_of_none) [[unlikely]] {
      using what = bad_operand::what;
      operands<T>::complain(op, {p.second ? what::member : what::no_rank,
                                 op.channel->info.world[p.second ? a.from : a.to],
                                 0,
                                 {},
                                 a.to});
      return outcome::done;
    }
    if (p.bytes == 0 || p.given != graph::part::alike || p.gone) return outcome::done;
    if (std::byte* const memory = reach_.base(*op.channel, a.peer))
      return copies_.carry(op, tag, pull ? p.mine : memory + p.at, pull ? memory + p.at : p.mine, p.bytes);
    return flights_.request(op, a.peer, tag, [&](flight& f) {
      const std::uint32_t world = op.channel->info.world[a.peer];
      (pull ? reach_.counts.bytes_got : reach_.counts.bytes_put).add(p.bytes);
      return pull ? net_.get(world, p.mine, p.at, p.bytes, f) : put(n, world, p.at, p.mine, p.bytes, f);
    });
  }

  // By the transport, of offsets in both segments.
  outcome begin(operation& op, const graph::node& n, const graph::action& a, const block& b, flight_tag tag) {
    return flights_.request(op, a.peer, tag, [&](flight& f) {
      const std::uint32_t world = op.channel->info.world[a.peer];
      const bool pull = a.from == a.peer;
      (pull ? reach_.counts.bytes_got : reach_.counts.bytes_put).add(b.bytes);
      return pull ? net_.get(world, net_.segment() + b.dst, b.src, b.bytes, f)
                  : put(n, world, b.dst, net_.segment() + b.src, b.bytes, f);
    });
  }

  transport::started put(const graph::node& n, std::uint32_t world, std::uint64_t to, const std::byte* from,
                         std::uint64_t bytes, flight& f) {
    if constexpr (requires { net_.push(world, to, from, bytes, f); })
      if (special::push && n.orders) return net_.push(world, to, from, bytes, f);
    return net_.put(world, to, from, bytes, f);
  }

  reach<T>& reach_;
  T& net_;
  operands<T>& operands_;
  lone_copies<T>& copies_;
  in_place_steps<T>& in_place_;
  flight_pool<T>& flights_;
};

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
    if (p.unequal) [[unlikely]]
      return write_unequal(op, cells);
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
    if (p.by_rows) return found_block(op, peer);
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
  [[gnu::always_inline]] outcome take(operation& op, const graph::node& n, std::uint32_t peer,
                                      std::uint32_t step) {
    if (n.valued)
      merge_value(op, reach_.view(*op.channel, peer).head(engine::cells_of(op.seq, n.phase)).payload);
    else if (n.settled != 0) [[likely]]
      take_settled(op, n, peer, op.program->settled[n.settled - 1u]);
    else if (graph::operations::is_part(n)) [[unlikely]]
      take_part(op, n, peer);
    else if (op.program->unequal) [[unlikely]]
      return take_unequal(op, n, peer);
    else
      take_regions(op, n, peer, step);
    return outcome::done;
  }

private:
  void take_regions(operation& op, const graph::node& n, std::uint32_t peer, std::uint32_t step) {
    if (n.bundled) [[unlikely]]
      return take_bundled(op, n, peer);
    const graph::action a = graph::resolve(*op.program, graph::flow::in, peer, step);
    const std::uint64_t bytes = graph::payload_bytes(*op.program, op.channel->info.topology, n, a);
    const std::byte* const from =
        reach_.view(*op.channel, peer).payload(engine::cells_of(op.seq, n.phase), bytes);
    if (op.program->by_rows) [[unlikely]] {
      if (std::byte* const end = operands_.own_end(op, peer, false)) net_.copy(end, from, bytes);
      return;
    }
    std::byte* const to = buffers_.own(op, n.write.in);
    if (n.of != nullptr) [[unlikely]]
      return take_several(op, n, a, to, from);
    const graph::region r = graph::only_region(*op.program, op.channel->info.topology, n, a);
    net_.copy(to + r.write, from + r.read, r.bytes);
  }

  // The peer waits for a message: of a block that lies nowhere it gets any bytes.
  std::span<const std::byte> found_block(operation& op, std::uint32_t peer) {
    const std::byte* const end = operands_.own_end(op, peer, true);
    return {end == nullptr ? net_.segment() + reach_.user.begin : end, op.program->block()};
  }

  [[gnu::always_inline]] void take_settled(operation& op, const graph::node& n, std::uint32_t peer,
                                           const graph::settled_step& s) {
    const std::uint32_t cells = engine::cells_of(op.seq, n.phase);
    const std::byte* const from = reach_.view(*op.channel, peer).payload(cells, s.payload);
    net_.copy(buffers_.own(op, n.write.in) + s.moved.write, from + s.moved.read, s.moved.bytes);
  }
  // What the task has of a payload, or where it wants one: all of it, for each reader.
  graph::part part_of(operation& op, const graph::node& n, std::uint32_t peer, std::uint64_t taken = 0) {
    graph::work w = work_of(op, net_, n.count);
    w.done = taken;
    return op.at.task->part_of(*op.at.task, w, peer);
  }
  [[gnu::noinline]] void write_part(operation& op, const graph::node& n, std::uint32_t cells) {
    const graph::part it = part_of(op, n, op.program->me);
    net_.copy(op.channel->own.payload(cells, it.bytes), it.mine, it.bytes);
  }
  // Of an unequal block the note first: it says whether the block is as long as I expect.
  [[gnu::noinline]] void take_part(operation& op, const graph::node& n, std::uint32_t peer) {
    const std::uint64_t taken = take_part(op, n, peer, 0);
    if (op.program->unequal) take_part(op, n, peer, taken);
  }
  std::uint64_t take_part(operation& op, const graph::node& n, std::uint32_t peer, std::uint64_t taken) {
    const graph::part it = part_of(op, n, peer, taken);
    const std::uint32_t cells = engine::cells_of(op.seq, n.phase);
    if (it.bytes != taken)
      net_.copy(it.mine, reach_.view(*op.channel, peer).payload(cells, it.bytes), it.bytes);
    return it.bytes;
  }
  // A note for all readers, and behind it what is packed for those of my host: in the body, and as much of it
  // as there is room for in the head. In its place 0 where nothing is packed.
  [[gnu::noinline]] void write_unequal(operation& op, std::uint32_t cells) {
    const graph::topology& g = op.channel->info.topology;
    std::byte* const body = op.channel->own.body(cells);
    const std::uint64_t bytes =
        op.at.task->pack(*op.at.task, work_of(op, net_, 0), g.me(), g.host(g.me()), nullptr, body);
    net_.copy(op.channel->own.head(cells).payload, body,
              std::min<std::uint64_t>(bytes, engine::mailbox::head_bytes));
  }
  [[gnu::noinline]] outcome take_unequal(operation& op, const graph::node& n, std::uint32_t peer) {
    const std::span<const std::byte> packed =
        n.bundled ? bundles_.unequal_in_box(op, peer) : packed_by_neighbour(op, n, peer);
    if (n.bundled || !packed.empty()) {
      const bool whole = op.at.task->unpack(*op.at.task, work_of(op, net_, n.count), peer, packed);
      return whole ? outcome::whole : outcome::done;
    }
    take_regions(op, n, peer, 0);
    return outcome::done;
  }
  std::span<const std::byte> packed_by_neighbour(operation& op, const graph::node& n, std::uint32_t peer) {
    const std::uint32_t cells = engine::cells_of(op.seq, n.phase);
    const engine::mailbox theirs = reach_.view(*op.channel, peer);
    const std::uint64_t note = op.program->places[n.read.at].bytes;
    std::uint32_t packed = 0;
    net_.copy(&packed, theirs.head(cells).payload + note, sizeof packed);
    const std::uint64_t bytes = std::min(note + packed, std::uint64_t{engine::mailbox::body_bytes});
    return {theirs.payload(cells, bytes) + note, bytes - note};
  }
  // Out of the box, where the blocks of one member lie behind those of the other.
  [[gnu::noinline]] void take_bundled(operation& op, const graph::node& n, std::uint32_t peer) {
    const graph::topology& g = op.channel->info.topology;
    const graph::place& at = op.program->places[n.read.at];
    const std::uint64_t part = at.bytes * (at.turn == 0 ? 1 : g.locals());
    const std::byte* const from = bundles_.in_box(op, peer, part);
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
