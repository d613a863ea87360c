#pragma once
#include "engine/plan/resolve.hpp"
#include "progress/execution/call_check.hpp"
#include "progress/execution/claims.hpp"
#include "progress/execution/in_place.hpp"
#include "progress/execution/rotation.hpp"

namespace weft::progress {

// What each kind of node does, for one peer. Orders: whatever a node reads of another rank it reads after a
// load (acquire) of the word that announces it; whatever it announces it stores (release) after the data.
// Counters and claims change by acquire-release CAS, so whoever sees a counter full sees the copies of
// everybody who raised it.
template <transport::transport T> class node_steps {
public:
  node_steps(T& net, statistics& counts, const faults& broken, const user_memory& user)
      : reach_(net, counts, broken), net_(net), counts_(counts), flights_(net), operands_(reach_, user),
        copies_(reach_), claims_(reach_, operands_, copies_), in_place_(reach_, operands_, flights_),
        rotations_(reach_, operands_), calls_(reach_) {}

  // While posting, only what others wait for is done: signals, and transfers of the UCP lane. What near
  // members have is looked at, and carried, later: the caller wants to compute.
  void post_only(bool on) { posting_ = on; }

  outcome step(operation& op, const graph::node& n, std::uint32_t peer, std::uint32_t round, flight_tag tag) {
    using graph::kind;
    if (posting_ && can_wait(op, n, peer)) return outcome::blocked;
    switch (n.what) {
    case kind::copy:
      return op.program->dynamic() ? copy_own(op, tag) : copy_regions(op, n, peer, round, tag);
    case kind::get:
    case kind::put:
      return op.program->dynamic() ? carry_found(op, n, peer, tag) : carry(op, n, peer, round, tag);
    case kind::flush:
      return flush(op, peer, tag);
    case kind::signal:
      return signal(op, n, peer, round, tag);
    case kind::await:
      return await(op, n, peer, round);
    case kind::take:
      return take(op, n, peer, round);
    case kind::claim:
      return claims_.step(op, n, peer, tag);
    case kind::assist:
      return claims_.assist(op);
    case kind::fetch:
      return fetch(op, n, peer, tag);
    case kind::survey:
      return survey(op, peer);
    case kind::aside:
      return in_place_.take_aside(op, peer, tag);
    case kind::restore:
      return in_place_.restore(op, peer, tag.iteration);
    case kind::rotate:
      return rotations_.step(op, n);
    case kind::compare:
      return calls_.compare(op, n);
    case kind::loop:
      break;
    }
    return outcome::blocked;
  }

  void lend(operation& op) { claims_.lend(op); }
  // A post carries nothing for others: who has done its part in it is through when it comes again.
  outcome help_lenders(operation& op) {
    if (!claims_.somebody_lends(op)) return outcome::blocked;
    return posting_ ? outcome::held : claims_.help_lenders(op);
  }

  flight_pool<T>& flights() { return flights_; }
  reach<T>& members() { return reach_; }
  operands<T>& blocks() { return operands_; }

private:
  using word = engine::word;
  using fact = graph::fact;

  reach<T> reach_;
  T& net_;
  statistics& counts_;
  bool posting_ = false;
  flight_pool<T> flights_;
  operands<T> operands_;
  lone_copies<T> copies_;
  claims<T> claims_;
  in_place_steps<T> in_place_;
  rotation_steps<T> rotations_;
  call_check<T> calls_;

  // Where a buffer of mine begins; that of another member, as an offset in its segment.
  std::byte* own(operation& op, graph::buffer in) {
    return in == graph::buffer::scratch ? op.run->scratch.data() : net_.segment() + offset(op, in);
  }
  static std::uint64_t offset(const operation& op, graph::buffer in) {
    return in == graph::buffer::source ? op.at.src : op.at.dst;
  }
  template <class Visit>
  static void each_region(const operation& op, const graph::node& n, const graph::action& a, Visit&& visit) {
    graph::each_region(*op.program, op.team->info.geometry, n, a, visit);
  }
  static graph::action resolve(const operation& op, const graph::node& n, std::uint32_t peer,
                               std::uint32_t round) {
    return graph::resolve(*op.program, n, peer, round);
  }

  static bool can_wait(const operation& op, const graph::node& n, std::uint32_t peer) {
    if (n.what == graph::kind::signal) return false;
    return n.about == fact::named || reach<T>::near(op, peer);
  }

  outcome copy_own(operation& op, flight_tag tag) {
    const std::uint32_t me = op.program->me;
    const block b = operands_.find(op, me, me, 0);
    if (!operands_.usable(op, me, me, 0) || b.bytes == 0) return outcome::done;
    const auto name = copies_.name(tag.node, tag.iteration);
    return copies_.carry(op, name, net_.segment() + b.dst, net_.segment() + b.src, b.bytes);
  }

  // Between buffers of mine.
  [[gnu::noinline]] outcome copy_regions(operation& op, const graph::node& n, std::uint32_t peer,
                                         std::uint32_t round, flight_tag tag) {
    return copy(op, n, resolve(op, n, peer, round), own(op, n.write.in), own(op, n.read.in), tag);
  }

  // What a node moves within the host. A single region may be too large for one pass; there are several of
  // what is handed on, in pieces or packed.
  outcome copy(operation& op, const graph::node& n, const graph::action& a, std::byte* to,
               const std::byte* from, flight_tag tag) {
    outcome result = outcome::done;
    each_region(op, n, a, [&](const graph::region& r) {
      result = copies_.carry(op, copies_.name(tag.node, tag.iteration), to + r.write, from + r.read, r.bytes,
                             n.of == graph::blocks::one);
    });
    return result;
  }

  // By me alone: by memcpy within the node, else by the transport.
  [[gnu::noinline]] outcome carry(operation& op, const graph::node& n, std::uint32_t peer,
                                  std::uint32_t round, flight_tag tag) {
    const graph::action a = resolve(op, n, peer, round);
    std::byte* const theirs = reach_.base(*op.team, peer);
    if (theirs == nullptr) return transfer(op, n, a, tag);
    const bool pull = a.from == peer;
    std::byte* const mine = net_.segment();
    return copy(op, n, a, (pull ? mine : theirs) + offset(op, n.write.in),
                (pull ? theirs : mine) + offset(op, n.read.in), tag);
  }

  // What is more than one region is begun at once, and the flush that follows knows when it is in place. What
  // there was no memory for is begun again, with the rest.
  [[gnu::noinline]] outcome transfer(operation& op, const graph::node& n, const graph::action& a,
                                     flight_tag tag) {
    const bool one = n.of == graph::blocks::one || n.of == graph::blocks::ring;
    if (!one) tag.moves_on = false;
    outcome result = outcome::done;
    each_region(op, n, a, [&](const graph::region& r) {
      if (r.bytes == 0) return;
      flight* const f = flights_.start(op, a.peer, tag);
      const outcome began = f == nullptr ? outcome::blocked : begin(op, n, a, r, *f);
      if (one || began == outcome::blocked) result = began;
    });
    return result;
  }
  outcome begin(operation& op, const graph::node& n, const graph::action& a, const graph::region& r,
                flight& f) {
    const bool pull = a.from == a.peer;
    const std::uint64_t read = offset(op, n.read.in) + r.read, write = offset(op, n.write.in) + r.write;
    std::byte* const mine = net_.segment();
    const std::uint32_t world = op.team->info.world[a.peer];
    (pull ? counts_.bytes_got : counts_.bytes_put).add(r.bytes);
    return flights_.settle(&f, pull ? net_.get(world, mine + write, read, r.bytes, f)
                                    : net_.put(world, write, mine + read, r.bytes, f));
  }

  // A whole block (in place: a piece) by me alone, of operands that were found.
  [[gnu::noinline]] outcome carry_found(operation& op, const graph::node& n, std::uint32_t peer,
                                        flight_tag tag) {
    const auto [me, with, i, j, step] = graph::resolve(*op.program, n, peer, tag.iteration);
    block b = operands_.find(op, i, j, tag.iteration);
    if (op.program->in_place) {
      if (in_place_.stuck(op, peer, tag.iteration)) return outcome::done;
      b = in_place_steps<T>::piece_of(op, b);
    }
    if (!operands_.usable(op, i, j, tag.iteration) || b.bytes == 0) return outcome::done;
    team_state& team = *op.team;
    if (std::byte* const theirs = reach_.base(team, peer)) {
      std::byte* const mine = net_.segment();
      const outcome result =
          copies_.carry(op, copies_.name(tag.node, tag.iteration), (peer == j ? theirs : mine) + b.dst,
                        (peer == i ? theirs : mine) + b.src, b.bytes);
      return result;
    }
    flight* f = flights_.start(op, peer, tag);
    if (f == nullptr) return outcome::blocked;
    const std::uint32_t world = team.info.world[peer];
    const bool pull = peer == i;
    const transport::started came = pull ? net_.get(world, net_.segment() + b.dst, b.src, b.bytes, *f)
                                         : net_.put(world, b.dst, net_.segment() + b.src, b.bytes, *f);
    (pull ? counts_.bytes_got : counts_.bytes_put).add(b.bytes);
    return flights_.settle(f, came);
  }

  outcome fetch(operation& op, const graph::node& n, std::uint32_t peer, flight_tag tag) {
    flight* f = flights_.start(op, peer, tag);
    if (f == nullptr) return outcome::blocked;
    const auto errand = operands_.fetch(op, n, peer, tag.iteration);
    return flights_.settle(f, net_.get(op.team->info.world[peer], errand.to, errand.from, errand.bytes, *f));
  }

  // Does the peer name me as the root?
  outcome survey(operation& op, std::uint32_t peer) {
    findings& found = *op.run->found;
    named_block row;
    if (!operands_.row(op, peer, row)) return outcome::blocked;
    if (row.named == op.program->me)
      found.expected += op.program->chunks;
    else if (row.named != findings::nobody)
      found.not_root = true;
    return outcome::done;
  }

  outcome flush(operation& op, std::uint32_t peer, flight_tag tag) {
    if (reach_.base(*op.team, peer) != nullptr) return outcome::done;
    flight* f = flights_.start(op, peer, tag);
    if (f == nullptr) return outcome::blocked;
    return flights_.settle(f, net_.flush(op.team->info.world[peer], *f));
  }

  [[gnu::noinline]] outcome signal(operation& op, const graph::node& n, std::uint32_t peer,
                                   std::uint32_t round, flight_tag tag) {
    using transport::message_kind;
    switch (n.about) {
    case fact::entry:
      return tell(op, peer, {.kind = message_kind::entry, .seq = op.seq}, {}, tag);
    case fact::payload:
      return n.peer == graph::peer_rule::group ? publish(op, n) : send_payload(op, n, peer, round, tag);
    case fact::landed:
    case fact::taken:
      return count(op, n, peer, tag);
    case fact::stage_in:
    case fact::stage_out:
      return announce_stage(op, n, peer, round, tag);
    case fact::ready:
      return n.peer == graph::peer_rule::group ? announce_ready(op) : announce_puts(op, peer, tag);
    case fact::asked:
      return tell(op, peer, {.kind = message_kind::asked, .seq = op.seq}, {}, tag);
    case fact::row:
      return n.peer == graph::peer_rule::group ? publish_row(op) : send_row(op, peer, tag);
    case fact::call:
      if (n.peer == graph::peer_rule::group)
        return n.count == 0 ? calls_.publish(op) : calls_.publish_name(op, operands_.own_row(op).named);
      return tell(op, peer, {.kind = message_kind::call, .seq = op.seq}, calls_.published(op), tag);
    case fact::named:
    case fact::none:
      break;
    }
    return outcome::done;
  }

  outcome announce_ready(operation& op) {
    if (!reach_.near_credit(op)) return outcome::blocked;
    net_.store(op.team->own.head(engine::slot_of(op.seq)).stamp, op.seq);
    reach_.wake_near();
    return outcome::done;
  }

  // An empty payload: its stamp says it, one for each sender.
  outcome announce_puts(operation& op, std::uint32_t peer, flight_tag tag) {
    if (!reach_.credit(op, peer)) return outcome::blocked;
    return tell(op, peer, {.kind = transport::message_kind::payload, .seq = op.seq}, {}, tag);
  }

  outcome tell(operation& op, std::uint32_t peer, transport::message m, std::span<const std::byte> payload,
               flight_tag tag) {
    flight* f = flights_.start(op, peer, tag);
    if (f == nullptr) return outcome::blocked;
    return flights_.settle(f, reach_.send(*op.team, peer, m, payload, *f));
  }

  // My slices for all near readers into my own slot, one beside the other, then the stamp.
  [[gnu::noinline]] outcome publish(operation& op, const graph::node& n) {
    if (!reach_.near_credit(op)) return outcome::blocked;
    const graph::plan& p = *op.program;
    team_state& team = *op.team;
    const std::uint32_t slot = engine::slot_of(op.seq);
    if (n.valued) {
      net_.copy(team.own.head(slot).payload, &op.value, sizeof op.value);
    } else {
      std::byte* const to = team.own.payload(slot, p.eager_bytes);
      if (p.names != graph::naming::none) net_.copy(to, &operands_.own_row(op).named, sizeof(std::uint32_t));
      const std::byte* const from = own(op, n.read.in);
      each_region(op, n, resolve(op, n, p.me, 0),
                  [&](const graph::region& r) { net_.copy(to + r.write, from + r.read, r.bytes); });
    }
    net_.store(team.own.head(slot).stamp, op.seq);
    reach_.wake_near();
    return outcome::done;
  }

  // What my row says: into my own slot for near members, and to far ones who have asked. Who still has to ask
  // has not retired the operation, so what I answer with stays until all have: rows that nobody asks for
  // leave it alone.
  outcome publish_row(operation& op) {
    team_state& team = *op.team;
    if (!reach_.near_credit(op)) return outcome::blocked;
    const bool asked_for = op.program->rooted_by_rows();
    if (asked_for && !reach_.far_credit(op)) return outcome::blocked;
    const std::uint32_t slot = engine::slot_of(op.seq);
    const named_block& row = operands_.own_row(op);
    if (asked_for) team.rows[slot] = {op.seq, row};
    net_.copy(team.own.head(slot).payload, &row, sizeof row);
    net_.store(team.own.head(slot).stamp, op.seq);
    reach_.wake_near();
    std::erase_if(team.waiters, [&](const credit_request& waiter) {
      if (waiter.needed != op.seq) return false;
      reach_.tell_row(team, waiter.member, op.seq);
      return true;
    });
    return outcome::done;
  }

  outcome send_row(operation& op, std::uint32_t peer, flight_tag tag) {
    if (!reach_.credit(op, peer)) return outcome::blocked;
    const named_block& row = operands_.own_row(op);
    return tell(op, peer, {.kind = transport::message_kind::named, .seq = op.seq},
                std::as_bytes(std::span(&row, 1)), tag);
  }

  outcome send_payload(operation& op, const graph::node& n, std::uint32_t peer, std::uint32_t round,
                       flight_tag tag) {
    if (!reach_.credit(op, peer)) return outcome::blocked;
    const graph::plan& p = *op.program;
    if (p.names != graph::naming::none) // as it is published, by who is named
      return tell(op, peer, {.kind = transport::message_kind::named, .seq = op.seq},
                  {op.team->own.payload(engine::slot_of(op.seq), p.eager_bytes), p.eager_bytes}, tag);
    return tell(op, peer, {.kind = transport::message_kind::payload, .seq = op.seq},
                message(op, n, resolve(op, n, peer, round)), tag);
  }

  // One block lies where it is sent from; several are put together, behind the scratch. The message itself
  // lies in the receiver's mirror of the sender, as every payload does: that is credited.
  [[gnu::noinline]] std::span<const std::byte> message(operation& op, const graph::node& n,
                                                       const graph::action& a) {
    const std::byte* const from = own(op, n.read.in);
    std::span<const std::byte> whole;
    if (n.of == graph::blocks::one) {
      each_region(op, n, a, [&](const graph::region& r) { whole = {from + r.read, r.bytes}; });
      return whole;
    }
    std::byte* const packed = op.run->scratch.data() + op.program->scratch;
    std::size_t bytes = 0;
    each_region(op, n, a, [&](const graph::region& r) {
      net_.copy(packed + r.write, from + r.read, r.bytes);
      bytes += r.bytes;
    });
    return {packed, bytes};
  }

  outcome take(operation& op, const graph::node& n, std::uint32_t peer, std::uint32_t round) {
    const engine::board theirs = reach_.view(*op.team, peer);
    const std::uint32_t slot = engine::slot_of(op.seq);
    if (net_.load(theirs.head(slot).stamp) != op.seq) return outcome::blocked;
    if (n.valued) {
      barrier_summary value;
      net_.copy(&value, theirs.head(slot).payload, sizeof value);
      op.value.merge(value);
    } else {
      take_blocks(op, n, resolve(op, n, peer, round), theirs);
    }
    return outcome::done;
  }

  [[gnu::noinline]] void take_blocks(operation& op, const graph::node& n, const graph::action& a,
                                     const engine::board& theirs) {
    const std::uint64_t bytes = graph::payload_bytes(*op.program, op.team->info.geometry, n, a);
    const std::byte* const from = theirs.payload(engine::slot_of(op.seq), bytes);
    std::byte* const to = own(op, n.write.in);
    each_region(op, n, a, [&](const graph::region& r) { net_.copy(to + r.write, from + r.read, r.bytes); });
  }

  outcome count(operation& op, const graph::node& n, std::uint32_t peer, flight_tag tag) {
    using transport::message_kind;
    const std::uint32_t who = n.peer == graph::peer_rule::self ? op.program->me : peer;
    if (!reach_.credit(op, who)) return outcome::blocked;
    if (reach<T>::near(op, who)) {
      engine::board::count_line& counts = reach_.view(*op.team, who).counts(engine::slot_of(op.seq), n.phase);
      reach_.raise(n.about == fact::landed ? counts.landed : counts.taken, op.seq, n.count);
      reach_.wake_near();
      return outcome::done;
    }
    const message_kind kind = n.about == fact::landed ? message_kind::landed : message_kind::taken;
    return tell(op, peer, {.kind = kind, .stage = n.phase, .count = n.count, .seq = op.seq}, {}, tag);
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
    if (n.stepwise) [[unlikely]]
      return stepped(op, n, peer, round);
    bool known = false;
    switch (n.about) {
    case fact::entry:
      known = reach_.entered(op, peer);
      break;
    case fact::landed:
      known = counted(op, n, team.own.counts(slot, n.phase).landed, op.run->own_pieces);
      break;
    case fact::taken:
      known = counted(op, n, team.own.counts(slot, n.phase).taken, 0);
      break;
    case fact::stage_in:
      known = net_.load(reach_.view(team, peer).counts(slot).stage_in) >=
              engine::stage_word::make(op.seq, round + 1);
      break;
    case fact::stage_out:
      known = net_.load(reach_.view(team, peer).counts(slot).stage_out) >=
              engine::stage_word::make(op.seq, round + 1);
      break;
    case fact::ready:
      known = net_.load(reach_.view(team, peer).head(slot).stamp) == op.seq;
      break;
    case fact::row: {
      named_block row;
      known = operands_.row(op, peer, row);
      break;
    }
    case fact::named:
      known = found_naming(op);
      break;
    case fact::call:
      known = n.count == 0 ? calls_.admits(op) : calls_.admits_names(op);
      break;
    case fact::asked:
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

  // What one member counts step by step.
  outcome stepped(operation& op, const graph::node& n, std::uint32_t peer, std::uint32_t step) {
    if (step + 1 <= n.count) return outcome::done;
    const std::uint32_t owner = n.peer == graph::peer_rule::self ? op.program->me : peer;
    word& landed = reach_.view(*op.team, owner).counts(engine::slot_of(op.seq), n.phase).landed;
    return reach_.reached(landed, op, step + 1 - n.count) ? outcome::done : outcome::blocked;
  }

  // A count that stands in the plan, less what is not in the counter, or one that only the rows tell.
  bool counted(operation& op, const graph::node& n, word& counter, std::uint32_t uncounted) {
    std::uint64_t wanted = n.count;
    if (uncounted != 0 && wanted == uncounted) return true;
    wanted -= uncounted;
    if (wanted == 0 && op.program->in_place) return in_place_.has_gone(op, in_place_.outgoing_pieces(op));
    if (wanted == 0 && !op.run->found->not_root) wanted = op.run->found->expected;
    return wanted == 0 || reach_.reached(counter, op, wanted);
  }

  // Who names me: a far member says so, a near one's row does, or what stands in front of its payload. Nobody
  // need be found once my block is here; but an eager one that stays with me goes the same way as all.
  bool found_naming(operation& op) {
    const graph::plan& p = *op.program;
    findings& found = *op.run->found;
    const auto& told = op.team->namings[engine::slot_of(op.seq)];
    const bool mine = operands_.own_row(op).named == p.me;
    if (mine && p.eager)
      found.naming = p.me;
    else if (mine || (!p.in_place && reach_.reached(reach_.own_counts(op).landed, op, p.chunks)))
      found.naming = findings::nobody;
    else if (told.seq == op.seq)
      found.naming = told.member;
    else
      found.naming = near_naming(op);
    return found.naming != findings::unknown;
  }

  // The near member that names me; nobody, if all members are near and none does.
  std::uint32_t near_naming(operation& op) {
    bool all = op.team->info.geometry.one_node();
    for (const std::uint32_t peer : op.team->info.geometry.near()) {
      std::uint32_t named = findings::nobody;
      if (!(op.program->eager ? payload_names(op, peer, named) : row_names(op, peer, named)))
        all = false;
      else if (named == op.program->me)
        return peer;
    }
    if (!all) return findings::unknown;
    operands_.left_out(op);
    return findings::nobody;
  }

  bool row_names(operation& op, std::uint32_t peer, std::uint32_t& named) {
    named_block row;
    if (!operands_.row(op, peer, row)) return false;
    named = row.named;
    return true;
  }

  bool payload_names(operation& op, std::uint32_t peer, std::uint32_t& named) {
    const engine::board theirs = reach_.view(*op.team, peer);
    const std::uint32_t slot = engine::slot_of(op.seq);
    if (net_.load(theirs.head(slot).stamp) != op.seq) return false;
    net_.copy(&named, theirs.payload(slot, op.program->eager_bytes), sizeof named);
    return true;
  }
};

} // namespace weft::progress
