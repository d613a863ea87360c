// SPDX-License-Identifier: BSD-3-Clause
// All-reduces, scans and reduce-scatters of vectors between equal hosts, element by element: Cray's. IN_MY,
// OUT_MY. H hosts of L members, vectors of n bytes.
//
// twins         The members of a number, one on each host, are twins. They have the n/L bytes of a part of
// all vectors. A member
//   combines its part of all vectors of its host, where they lie, into its scratch,
//   sends it to its twins, of a scan to those on later hosts,
//   combines the parts of all hosts into its destination, of a scan those of the hosts in front and then
//   vector by vector those of its own host,
//   and puts the part of the result, or of each result, to its neighbours.
// One message to each twin, of n/L bytes: (H-1)*n into every host. So for few hosts, and vectors whose parts
// fit into payloads. Of a reduce-scatter of equal blocks a member combines, instead of a part, the blocks of
// its twins, sends each to its owner, and combines those that come into its own block; hosts may have one
// member then.
//
// hierarchical  Twins have n/(L*H) bytes of their part each, a slice. A member
//   combines its part of all vectors of its host, where they lie, into its own destination,
//   tells its twins where that is: it is there then,
//   gets its slice from them, combines it, and puts the result to them: reduce-scatter and gather-all,
//   puts the part, when all of it is there, to its neighbours.
// (H-1)/H*n bytes into every host and as many out of it, twice, whatever L is; every rank of a host drives
// its share. What a twin reads of my destination only it writes, and afterwards: so a vector may be its own
// result.
//
// halved  H is a power of two. The same, but twins do not all read from all. In round k of log2(H) two of
// them whose hosts' numbers differ in bit k read from each other the half that they keep of their part as it
// is by then, and combine it. When a slice is left to each, they put to each other what they have of the
// result, in the same pairs, the last one first. As many bytes, in 2*log2(H) steps, and 2*log2(H)*L messages
// of a host instead of 4*(H-1)*L. What is long goes to the next host, and what is short to the farthest:
// where hosts that follow each other are a group of the network (of G) 2*(H/G-1)*n bytes go from group to
// group, and 2*(H-G)*n if each twin reads from all.
#include "engine/collectives/algorithm.hpp"
#include "engine/collectives/vector_plan.hpp"
#include "engine/memory/mailbox.hpp"

#include <bit>

namespace weft::collectives {
using namespace graph;

namespace {

// Members of other hosts with my number on their host; and of all hosts, with the number of the member that
// is read.
constexpr range twins{
    .name = "twins",
    .count = [](const plan&, const topology& g) { return g.equal_hosts() ? g.hosts() - 1 : 0; },
    .peer = [](const plan& p, const topology& g, peer_rule,
               std::uint32_t k) { return g.twin((own_host(p, g) + 1 + k) % g.hosts()); },
    .only = lane::far};
constexpr blocks of_twins{.name = "blocks of its twins",
                          .each = [](const plan&, const topology& g, const action& a, block_visitor visit) {
                            for (coordinates c = coordinates_of(a); c.turn < g.hosts(); ++c.turn) {
                              c.owner = g.in_host_order(g.first(c.turn) + g.local_index(a.from));
                              visit(c);
                            }
                          }};

// Of a scan.
constexpr range later_twins{
    .name = "twins on later hosts",
    .count = [](const plan& p,
                const topology& g) { return g.equal_hosts() ? g.hosts() - 1 - own_host(p, g) : 0; },
    .peer = [](const plan& p, const topology& g, peer_rule,
               std::uint32_t k) { return g.twin(own_host(p, g) + 1 + k); },
    .only = lane::far};
constexpr range earlier_twins{
    .name = "twins on earlier hosts",
    .count = [](const plan& p, const topology& g) { return g.equal_hosts() ? own_host(p, g) : 0; },
    .peer = [](const plan&, const topology& g, peer_rule, std::uint32_t k) { return g.twin(k); },
    .only = lane::far};
constexpr blocks of_twins_up_to_it{
    .name = "blocks of its twins up to it",
    .each = [](const plan&, const topology& g, const action& a, block_visitor visit) {
      for (coordinates c = coordinates_of(a); c.turn < g.hosts(); ++c.turn) {
        c.owner = g.in_host_order(g.first(c.turn) + g.local_index(a.from));
        if (c.owner <= a.to) visit(c);
      }
    }};

std::uint32_t halvings(const topology& g) {
  return static_cast<std::uint32_t>(std::countr_zero(g.hosts()));
}
// The twin on the host whose number differs in bit k, and the same from the last bit on.
std::uint32_t twin_across(const plan& p, const topology& g, std::uint32_t bit) {
  return g.twin(own_host(p, g) ^ std::uint32_t{1} << bit);
}
std::uint32_t twins_across(const plan&, const topology& g) {
  return g.equal_hosts() && std::has_single_bit(g.hosts()) ? halvings(g) : 0;
}
constexpr range next_first{
    .name = "twins, the next first",
    .count = twins_across,
    .peer = [](const plan& p, const topology& g, peer_rule, std::uint32_t k) { return twin_across(p, g, k); },
    .only = lane::far};
constexpr range farthest_first{.name = "twins, the farthest first",
                               .count = twins_across,
                               .peer = [](const plan& p, const topology& g, peer_rule,
                                          std::uint32_t k) { return twin_across(p, g, halvings(g) - 1 - k); },
                               .only = lane::far};
// The slices of as many twins as are half of those from bit k on; and of those whose results I have by then.
constexpr blocks half_of_twins{
    .name = "slices of half the twins",
    .each = [](const plan&, const topology& g, const action& a, block_visitor visit) {
      const coordinates c = coordinates_of(a);
      for (std::uint32_t k = g.hosts() / 2 >> a.step; k != 0; --k)
        visit(c);
    }};
constexpr blocks of_twins_by_then{
    .name = "blocks of twins by then",
    .each = [](const plan&, const topology& g, const action& a, block_visitor visit) {
      const std::uint32_t apart = g.hosts() >> a.step;
      coordinates c = coordinates_of(a);
      for (std::uint32_t host = g.host(a.me) % apart; host < g.hosts(); host += apart, ++c.turn) {
        c.owner = g.twin(host);
        visit(c);
      }
    }};

class between_twins : protected vector_plan {
protected:
  between_twins(const request& r, const topology& g, const tuning& t) : vector_plan(r, g, t) {
    has_parts(g.size());
    of_host_ = place_of_slices(0);
    in_place_ = b_.add_place({.owner = r.bytes, .bytes = r.bytes});
  }

  std::uint32_t other_hosts() const { return g_.hosts() - 1; }

  node_set combine_part(std::uint32_t stage) {
    node combine = writing(compute(stage, near() == 0), buffer::scratch, of_host_); // quick: of my own alone
    combine.peer = peer_rule::group;
    combine.needs = addresses_;
    combine.over = &range::near;
    const node_set told = near() == 0 ? 0 : note_addresses();
    return b_.add(combine, told | b_.loop(range::near, near(), builder::step_list().then(take_address())));
  }

  void hand_out(node_set part, const blocks& of = of_twins) {
    b_.begin_phase(1);
    builder::step_list put;
    put.then(at_stage(8, of_blocks(put_handed_on(in_place_), of))).then(count_for_each(fact::delivered, 1));
    b_.loop(range::near, near(), put, part);
    b_.add(await_count(fact::delivered, near()));
  }

  std::uint8_t of_host_ = 0, in_place_ = 0;
};

// Twins send each other `longest` bytes at most.
class twin_messages : protected between_twins {
protected:
  using enum reductions::vector_stage_number;

  twin_messages(const request& r, const topology& g, const tuning& t, std::uint64_t longest, place message)
      : between_twins(r, g, t) {
    plan& p = b_.draft();
    if (longest > engine::mailbox::body_bytes) p.credit = engine::mailbox::large_places;
    message_ = b_.add_place(message);
    of_member_ = b_.add_place({.base = p.places[of_host_].base, .owner = r.bytes, .bytes = r.bytes});
  }

  // What lies at this place of my scratch goes to these twins; returns what ends when that of those has come.
  node_set trade(const range& to, const range& from, std::uint8_t at, const blocks* of, node_set combined) {
    node send = writing(reading(send_payload(), buffer::scratch, at), buffer::mailbox, message_);
    send.needs = of_host_;
    send.over = &range::near;
    node take = writing(reading(take_payload(), buffer::mailbox, message_), buffer::scratch, at);
    send.of = take.of = of;
    b_.loop(to, count(to), builder::step_list().then(at_stage(part_for_twin, send)), combined);
    return b_.loop(from, count(from), builder::step_list().then(at_stage(part_of_twin, take)));
  }
  node combine_what_came(const blocks& of) const {
    return of_blocks(
        writing(reading(compute(combine_parts), buffer::scratch, of_member_), buffer::destination, in_place_),
        of);
  }

  std::uint8_t message_ = 0, of_member_ = 0;
};

class twins_plan : twin_messages {
public:
  twins_plan(const request& r, const topology& g, const tuning& t)
      : twin_messages(r, g, t, r.bytes, {.bytes = r.bytes}) {
    plan& p = b_.draft();
    if (scan()) p.pairs = pattern::to_later;
    p.scratch += (g.hosts() + (scan() ? g.locals() : 0)) * r.bytes;
  }

  plan make() {
    const blocks& of = scan() ? of_twins_up_to_it : of_twins;
    const node_set combined = combine_part(part_of_host);
    const node_set came =
        trade(scan() ? later_twins : twins, scan() ? earlier_twins : twins, of_host_, nullptr, combined);
    node result = combine_what_came(of);
    result.needs = of_host_;
    result.over = &range::near;
    hand_out(b_.add(result, combined | came), of);
    return b_.finish();
  }

private:
  bool scan() const { return prefixes(request_.op); }
};

constexpr blocks of_its_host{
    .name = "blocks of its own host",
    .each = [](const plan&, const topology& g, const action& a, block_visitor visit) {
      const std::uint32_t host = g.host(a.from);
      each_of_run(g, a, {g.first(host), g.members(host)}, visit);
    }};

// A reduce-scatter of equal blocks: what my host has for a twin goes to it.
class scattered_twins_plan : twin_messages {
public:
  scattered_twins_plan(const request& r, const topology& g, const tuning& t)
      : twin_messages(r, g, t, r.bytes / g.size(), {.turn = r.bytes, .bytes = r.bytes}) {
    b_.draft().scratch += 2 * g.hosts() * (r.bytes / g.size());
  }

  plan make() {
    const node_set combined = combine_part(part_of_host);
    // My result may lie where others read.
    b_.loop(range::near, near(), builder::step_list().then(count_for_each(fact::consumed, 1)), combined);
    const node_set read = near() == 0 ? 0 : b_.add(await_count(fact::consumed, near()));
    const node_set came = trade(twins, twins, of_member_, &of_its_host, combined);
    b_.add(combine_what_came(blocks::members), combined | came | read);
    return b_.finish();
  }
};

class hierarchical_plan : between_twins {
public:
  hierarchical_plan(const request& r, const topology& g, const tuning& t, bool halved)
      : between_twins(r, g, t), halved_(halved) {
    if (halved) b_.draft().scratch += told; // how many rounds are over
    brought_ = place_of_slices(1);
    result_ = place_of_slices(2);
  }

  plan make() {
    using enum reductions::vector_stage_number;
    const node_set part = combine_part(halved_ ? first_part : 6u);
    hand_out(halved_ ? halve_with_twins(part) : reduce_with_twins(part));
    return b_.finish();
  }

private:
  node_set reduce_with_twins(node_set combined) {
    node tell = telling(send_payload());
    tell.needs = of_host_;
    tell.over = &range::near;
    b_.loop(twins, other_hosts(), builder::step_list().then(tell), combined);
    builder::step_list bring, put;
    bring.then(take_address()).then(at_stage(7, writing(get_from_each(), buffer::scratch, brought_)));
    node combine = writing(compute(7), buffer::scratch, result_);
    combine.needs = brought_;
    combine.over = &twins;
    const node_set made = b_.add(combine, combined | b_.loop(twins, other_hosts(), bring));
    put.then(at_stage(4, reading(put_to_each(), buffer::scratch, result_)));
    put.then(order_each()).then(count_for_each(fact::delivered, 1));
    b_.loop(twins, other_hosts(), put, made);
    const node_set own = b_.add(reading(compute(5), buffer::scratch, result_), made);
    return own | b_.add(await_count(fact::delivered, other_hosts()));
  }

  node_set halve_with_twins(node_set combined) {
    using enum reductions::vector_stage_number;
    node tell = telling(send_payload()), combine = writing(compute(combine_half), buffer::scratch, result_);
    tell.needs = of_host_;
    tell.over = &range::near;
    builder::step_list halve, put;
    halve.then(tell).then(take_address());
    halve.then(
        at_stage(bring_half, of_blocks(writing(get_from_each(), buffer::scratch, brought_), half_of_twins)));
    halve.then(combine);
    const node_set mine = combined | b_.loop(next_first, halvings(g_), halve, combined, 1);
    node own = reading(compute(run_is_there), buffer::scratch, result_);
    own.needs = brought_;
    own.over = &next_first;
    put.then(at_stage(hand_on_run, of_blocks(put_handed_on(in_place_), of_twins_by_then)));
    put.then(order_each()).then(announce_puts()).then(await_ready());
    const node_set result = b_.add(own, mine);
    b_.begin_phase(1); // being ready and a payload are one word
    return b_.loop(farthest_first, halvings(g_), put, result, 1);
  }

  bool halved_;
  std::uint8_t brought_ = 0, result_ = 0;
};

} // namespace

bool fits_hierarchical_reduction(const request& r, const topology& g, const tuning&) {
  const bool twins = !g.one_host() && g.equal_hosts() && g.largest_host() > 1;
  return twins && g.ranks_follow_hosts() && r.bytes != 0; // combined in the order of the ranks
}
plan compile_hierarchical_reduction(const request& r, const topology& g, const tuning& t) {
  return hierarchical_plan(r, g, t, false).make();
}
std::uint64_t cost_of_hierarchical_reduction(const request& r, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  const std::uint64_t locals = g.largest_host(), twins = g.hosts() - 1, slice = r.bytes / g.size();
  return c.copies(3 * locals, r.bytes / locals) + c.message() + c.gets(locals * twins, slice, false) +
         c.copies(2 * g.hosts(), slice) + c.put_and_count() + c.wire(locals * twins, slice);
}

// What comes from each twin lies in a scratch until all have come. Small vectors need fewer waits within a
// host as tables.
bool fits_twins_reduction(const request& r, const topology& g, const tuning& t) {
  const bool alone = r.op == operation::team_reduce_scatter && g.one_on_each_host();
  if ((!alone && !fits_hierarchical_reduction(r, g, t)) || r.by == caller::unequal_blocks) return false;
  if (r.bytes <= most_partials) return false;
  const std::uint64_t most = std::min<std::uint64_t>(t.far_payload, payload_from(g.hosts(), t));
  if (r.op == operation::team_reduce_scatter)
    return r.bytes / g.size() <= std::min(most, most_to_each / (2 * g.hosts()));
  const std::uint64_t vectors = g.hosts() + (prefixes(r.op) ? g.locals() : 0u);
  return r.bytes <= std::min(most, most_to_each / vectors);
}
plan compile_twins_reduction(const request& r, const topology& g, const tuning& t) {
  if (r.op == operation::team_reduce_scatter) return scattered_twins_plan(r, g, t).make();
  return twins_plan(r, g, t).make();
}
std::uint64_t cost_of_twins_reduction(const request& r, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  const std::uint64_t locals = g.largest_host(), twins = g.hosts() - 1;
  if (r.op == operation::team_reduce_scatter) {
    const std::uint64_t block = r.bytes / g.size();
    return c.copies(locals * g.hosts(), block) + c.message() + c.wire(locals * twins, block) +
           c.copies(2 * g.hosts(), block);
  }
  const std::uint64_t part = r.bytes / locals;
  return c.copies((prefixes(r.op) ? 5 : 3) * locals, part) + c.message() + c.wire(locals * twins, part) +
         c.copies(2 * g.hosts(), part);
}

bool fits_halved_reduction(const request& r, const topology& g, const tuning& t) {
  return fits_hierarchical_reduction(r, g, t) && std::has_single_bit(g.hosts());
}
plan compile_halved_reduction(const request& r, const topology& g, const tuning& t) {
  return hierarchical_plan(r, g, t, true).make();
}
std::uint64_t cost_of_halved_reduction(const request& r, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  const std::uint64_t locals = g.largest_host(), rounds = halvings(g), slice = r.bytes / g.size();
  const std::uint64_t moved = locals * (g.hosts() - 1) * slice; // into each host, twice
  const std::uint64_t round = c.message() + c.get() + c.put_and_count() + 5 * c.wire(locals, 0);
  return c.copies(3 * locals, r.bytes / locals) + rounds * round + 2 * c.of_bytes(moved) +
         c.copies(2 * rounds, 0) + c.copies(2 * g.hosts(), slice);
}

} // namespace weft::collectives
