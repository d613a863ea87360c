#pragma once
#include "progress/flights.hpp"
#include "progress/reach.hpp"

namespace weft::progress {

enum class outcome : std::uint8_t {
  done,    // the node is finished
  blocked, // a fact is missing; look again later
  again,   // something was carried, there is more
  flying,  // a completion will tell
};

// What each kind of node does, for one peer. Orders: whatever a node reads of another rank it reads after a
// load (acquire) of the word that announces it; whatever it announces it stores (release) after the data.
// Counters and claims change by acquire-release CAS, so whoever sees a counter full sees the copies of
// everybody who raised it.
template <transport::transport T> class node_steps {
public:
  node_steps(T& net, statistics& counts, const faults& broken)
      : reach_(net, counts, broken), net_(net), counts_(counts), flights_(net) {}

  // While posting, only what others wait for is done: signals, and transfers of the UCP lane. What near
  // members have is looked at, and carried, later: the caller wants to compute.
  void post_only(bool on) { posting_ = on; }

  outcome step(operation& op, const graph::node& n, std::uint32_t peer, std::uint32_t round, flight_tag tag) {
    using graph::kind;
    if (posting_ && can_wait(op, n, peer)) return outcome::blocked;
    switch (n.what) {
    case kind::copy:
      return copy_own(op);
    case kind::get:
      return carry(op, peer, op.program->me, peer, tag);
    case kind::put:
      return carry(op, op.program->me, peer, peer, tag);
    case kind::flush:
      return flush(op, peer, tag);
    case kind::signal:
      return signal(op, n, peer, round, tag);
    case kind::await:
      return await(op, n, peer, round);
    case kind::take:
      return take(op, n, peer);
    case kind::claim:
      return claim(op, n, peer);
    case kind::assist:
      return assist(op);
    case kind::loop:
      break;
    }
    return outcome::blocked;
  }

  flight_pool<T>& flights() { return flights_; }
  reach<T>& members() { return reach_; }

private:
  using word = engine::word;
  using fact = graph::fact;

  reach<T> reach_;
  T& net_;
  statistics& counts_;
  bool posting_ = false;
  flight_pool<T> flights_;

  std::byte* source(operation& op, std::uint32_t i, std::uint32_t j) {
    return reach_.base(*op.team, i) + op.at.src + op.program->rule.source(i, j);
  }
  std::byte* destination(operation& op, std::uint32_t i, std::uint32_t j) {
    return reach_.base(*op.team, j) + op.at.dst + op.program->rule.destination(i, j);
  }

  static bool can_wait(const operation& op, const graph::node& n, std::uint32_t peer) {
    return n.what != graph::kind::signal && op.team->info.geometry.is_near(peer);
  }

  outcome copy_own(operation& op) {
    const std::uint32_t me = op.program->me;
    reach_.copy(destination(op, me, me), source(op, me, me), op.program->rule.bytes);
    return outcome::done;
  }

  // A whole block by me alone: by memcpy within the node, else by the transport.
  outcome carry(operation& op, std::uint32_t i, std::uint32_t j, std::uint32_t peer, flight_tag tag) {
    const graph::block_rule& rule = op.program->rule;
    team_state& team = *op.team;
    if (reach_.base(team, peer) != nullptr) {
      reach_.copy(destination(op, i, j), source(op, i, j), rule.bytes);
      counts_.bytes_copied.add(rule.bytes);
      return outcome::done;
    }
    flight* f = flights_.start(op, tag);
    if (f == nullptr) return outcome::blocked;
    const std::uint32_t world = team.info.world[peer];
    const bool pull = peer == i;
    const bool finished =
        pull ? net_.get(world, destination(op, i, j), op.at.src + rule.source(i, j), rule.bytes, *f)
             : net_.put(world, op.at.dst + rule.destination(i, j), source(op, i, j), rule.bytes, *f);
    (pull ? counts_.bytes_got : counts_.bytes_put).add(rule.bytes);
    return flights_.settle(f, finished) ? outcome::done : outcome::flying;
  }

  outcome flush(operation& op, std::uint32_t peer, flight_tag tag) {
    if (reach_.base(*op.team, peer) != nullptr) return outcome::done;
    flight* f = flights_.start(op, tag);
    if (f == nullptr) return outcome::blocked;
    return flights_.settle(f, net_.flush(op.team->info.world[peer], *f)) ? outcome::done : outcome::flying;
  }

  outcome signal(operation& op, const graph::node& n, std::uint32_t peer, std::uint32_t round,
                 flight_tag tag) {
    using transport::message_kind;
    switch (n.about) {
    case fact::entry:
      return tell(op, peer, {.kind = message_kind::entry, .seq = op.seq}, {}, tag);
    case fact::payload:
      return n.peer == graph::peer_rule::group ? publish(op, n) : send_payload(op, peer, tag);
    case fact::landed:
    case fact::taken:
      return count(op, n, peer, tag);
    case fact::stage_in:
    case fact::stage_out:
      return announce_stage(op, n, peer, round, tag);
    case fact::none:
      break;
    }
    return outcome::done;
  }

  outcome tell(operation& op, std::uint32_t peer, transport::message m, std::span<const std::byte> payload,
               flight_tag tag) {
    flight* f = flights_.start(op, tag);
    if (f == nullptr) return outcome::blocked;
    return flights_.settle(f, reach_.send(*op.team, peer, m, payload, *f)) ? outcome::done : outcome::flying;
  }

  // My slices for all near readers into my own slot, one beside the other, then the stamp.
  outcome publish(operation& op, const graph::node& n) {
    if (!reach_.near_credit(op)) return outcome::blocked;
    const graph::plan& p = *op.program;
    team_state& team = *op.team;
    const std::uint32_t slot = engine::slot_of(op.seq);
    if (n.valued) {
      net_.copy(team.own.head(slot).payload, &op.value, sizeof op.value);
    } else {
      std::byte* to = team.own.payload(slot, p.eager_bytes);
      if (p.eager_slice == 0) {
        net_.copy(to, source(op, p.me, p.root), p.rule.bytes);
      } else {
        for (std::uint32_t k = 0; k < team.info.geometry.locals(); ++k) {
          const std::uint32_t reader = team.info.geometry.local(k);
          if (reader == p.me) continue;
          net_.copy(to, source(op, p.me, reader), p.eager_slice);
          to += p.eager_slice;
        }
      }
    }
    net_.store(team.own.head(slot).stamp, op.seq);
    reach_.wake_near();
    return outcome::done;
  }

  outcome send_payload(operation& op, std::uint32_t peer, flight_tag tag) {
    if (!reach_.credit(op, peer)) return outcome::blocked;
    const graph::plan& p = *op.program;
    const std::byte* from = net_.segment() + op.at.src + p.rule.source(p.me, peer);
    return tell(op, peer, {.kind = transport::message_kind::payload, .seq = op.seq}, {from, p.rule.bytes},
                tag);
  }

  outcome take(operation& op, const graph::node& n, std::uint32_t peer) {
    const graph::plan& p = *op.program;
    team_state& team = *op.team;
    const engine::board theirs = reach_.view(team, peer);
    const std::uint32_t slot = engine::slot_of(op.seq);
    if (net_.load(theirs.head(slot).stamp) != op.seq) return outcome::blocked;
    if (n.valued) {
      barrier_summary value;
      net_.copy(&value, theirs.head(slot).payload, sizeof value);
      op.value.merge(value);
      return outcome::done;
    }
    const graph::geometry& g = team.info.geometry;
    const std::byte* from = nullptr;
    if (!g.is_near(peer)) {
      from = theirs.payload(slot, p.rule.bytes);
    } else {
      // The writer's slices are those of its near readers in rank order, itself left out.
      const std::uint32_t mine = g.local_index(p.me), theirs_index = g.local_index(peer);
      const std::uint64_t slices = p.eager_slice == 0 ? 1 : g.locals() - 1;
      from = theirs.payload(slot, slices * p.rule.bytes) +
             std::uint64_t{p.eager_slice} * (mine - (mine > theirs_index));
    }
    net_.copy(net_.segment() + op.at.dst + p.rule.destination(peer, p.me), from, p.rule.bytes);
    return outcome::done;
  }

  outcome count(operation& op, const graph::node& n, std::uint32_t peer, flight_tag tag) {
    using transport::message_kind;
    if (!reach_.credit(op, peer)) return outcome::blocked;
    const message_kind kind = n.about == fact::landed ? message_kind::landed : message_kind::taken;
    return tell(op, peer, {.kind = kind, .count = n.count, .seq = op.seq}, {}, tag);
  }

  // Announces that I have reached round `round` + 1; a barrier's value lies beside it, one place a round.
  outcome announce_stage(operation& op, const graph::node& n, std::uint32_t peer, std::uint32_t round,
                flight_tag tag) {
    team_state& team = *op.team;
    const std::uint32_t slot = engine::slot_of(op.seq);
    const bool in = n.about == fact::stage_in;
    const bool near = team.info.geometry.is_near(peer);
    // In my own slot the value lies where a payload was that any near member may still have to take.
    if (n.valued && !(near ? reach_.near_credit(op) : reach_.credit(op, peer))) return outcome::blocked;
    if (near) {
      if (n.valued) net_.copy(reach_.value_place(team.own, slot, round), &op.value, sizeof op.value);
      word& mine = in ? team.own.counts(slot).stage_in : team.own.counts(slot).stage_out;
      net_.store(mine, engine::stage_word::make(op.seq, round + 1));
      reach_.wake_near();
      return outcome::done;
    }
    transport::message m{.kind = in ? transport::message_kind::stage_in : transport::message_kind::stage_out,
                         .stage = static_cast<std::uint8_t>(round),
                         .seq = op.seq};
    std::span<const std::byte> value;
    if (n.valued) value = std::as_bytes(std::span(&op.value, 1));
    return tell(op, peer, m, value, tag);
  }

  outcome await(operation& op, const graph::node& n, std::uint32_t peer, std::uint32_t round) {
    team_state& team = *op.team;
    const std::uint32_t slot = engine::slot_of(op.seq);
    bool known = false;
    switch (n.about) {
    case fact::entry:
      known = reach_.entered(op, peer);
      break;
    case fact::landed:
      known = reach_.reached(team.own.counts(slot).landed, op, n.count);
      break;
    case fact::taken:
      known = reach_.reached(team.own.counts(slot).taken, op, n.count);
      break;
    case fact::stage_in:
      known =
          net_.load(reach_.view(team, peer).counts(slot).stage_in) >= engine::stage_word::make(op.seq, round + 1);
      break;
    case fact::stage_out:
      known =
          net_.load(reach_.view(team, peer).counts(slot).stage_out) >= engine::stage_word::make(op.seq, round + 1);
      break;
    case fact::payload:
    case fact::none:
      break;
    }
    if (known && n.valued) {
      barrier_summary value;
      net_.copy(&value, reach_.value_place(reach_.view(team, peer), slot, round), sizeof value);
      op.value.merge(value);
    }
    return known ? outcome::done : outcome::blocked;
  }

  outcome claim(operation& op, const graph::node& n, std::uint32_t peer) {
    const std::uint32_t me = op.program->me;
    switch (n.way) {
    case graph::direction::in:
      return carry_piece(op, peer, me, true);
    case graph::direction::out:
      return carry_piece(op, me, peer, false);
    case graph::direction::self:
      return carry_piece(op, me, me, true);
    }
    return outcome::done;
  }

  // Carries one unclaimed piece of the block i -> j, if there is one. The destination's side takes from the
  // front, the source's side from the back.
  outcome carry_piece(operation& op, std::uint32_t i, std::uint32_t j, bool from_front) {
    if (!reach_.credit(op, i) || !reach_.credit(op, j)) return outcome::blocked;
    const graph::plan& p = *op.program;
    team_state& team = *op.team;
    const std::uint32_t slot = engine::slot_of(op.seq);
    const engine::board at = reach_.view(team, j);
    word& claimed = at.claim(slot, team.info.geometry.local_index(i));
    std::uint64_t seen = net_.load(claimed);
    std::uint32_t piece = 0, left = 0;
    for (;;) {
      const auto state = engine::claim_word::read(seen, op.seq);
      if (state.stale || state.front + state.back >= p.chunks) return outcome::done;
      left = p.chunks - state.front - state.back - 1;
      piece = from_front ? state.front : p.chunks - 1 - state.back;
      if (net_.cas(claimed, seen,
                   engine::claim_word::make(op.seq, state.front + from_front, state.back + !from_front)))
        break;
    }
    const std::uint64_t begin = piece * p.chunk;
    const std::uint64_t bytes = std::min(p.chunk, p.rule.bytes - begin);
    reach_.copy(destination(op, i, j) + begin, source(op, i, j) + begin, bytes);
    counts_.bytes_copied.add(bytes);
    counts_.chunks_claimed.add();
    reach_.raise(at.counts(slot).landed, op.seq, 1);
    reach_.raise(reach_.view(team, i).counts(slot).taken, op.seq, 1);
    reach_.wake_near();
    return left == 0 ? outcome::done : outcome::again;
  }

  // Until every destination on the node is full: carries what is unclaimed, own neighbours first.
  outcome assist(operation& op) {
    const graph::plan& p = *op.program;
    team_state& team = *op.team;
    const std::uint32_t slot = engine::slot_of(op.seq);
    bool all_full = true;
    outcome result = outcome::blocked;
    for (std::uint32_t dj = 0; dj < p.members; ++dj) {
      const std::uint32_t j = (p.me + dj) % p.members;
      const std::uint32_t full = p.full(j);
      // Where nothing lands nobody counts, and the word goes on speaking of an older operation.
      if (full == 0 || reach_.reached(reach_.view(team, j).counts(slot).landed, op, full)) continue;
      all_full = false;
      if (p.in == graph::sync::my && !reach_.entered(op, j)) continue;
      for (std::uint32_t di = 0; di < p.members; ++di) {
        const std::uint32_t i = (j + di) % p.members;
        if (!p.sends(i, j) || (p.in == graph::sync::my && !reach_.entered(op, i))) continue;
        if (assist_block(op, i, j)) {
          counts_.chunks_assisted.add();
          result = outcome::again;
        }
      }
    }
    return all_full ? outcome::done : result;
  }

  bool assist_block(operation& op, std::uint32_t i, std::uint32_t j) {
    if (!reach_.credit(op, i) || !reach_.credit(op, j)) return false;
    const std::uint32_t slot = engine::slot_of(op.seq);
    word& claimed = reach_.view(*op.team, j).claim(slot, op.team->info.geometry.local_index(i));
    const auto state = engine::claim_word::read(net_.load(claimed), op.seq);
    if (state.stale || state.front + state.back >= op.program->chunks) return false;
    return carry_piece(op, i, j, true) != outcome::blocked;
  }
};

} // namespace weft::progress
