// SPDX-License-Identifier: BSD-3-Clause
// An all-reduce of long vectors between equal hosts, element by element: Cray's. IN_MY, OUT_MY. H hosts of L
// members, vectors of n bytes.
//
// The members of a number, one on each host, are twins. They have the n/L bytes of a part of all vectors,
// each of them n/(L*H) bytes of it, a slice. A member
//   combines its part of all vectors of its host, where they lie, into its own destination,
//   tells its twins where that is: it is there then,
//   gets its slice from them, combines it, and puts the result to them: reduce-scatter and gather-all,
//   puts the part, when all of it is there, to its neighbours.
// (H-1)/H*n bytes into every host and as many out of it, twice, whatever L is; every rank of a host drives
// its share. What a twin reads of my destination only it writes, and afterwards: so a vector may be its own
// result.
#include "engine/collectives/algorithm.hpp"
#include "engine/collectives/vector_plan.hpp"

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

class hierarchical_plan : vector_plan {
public:
  hierarchical_plan(const request& r, const topology& g, const tuning& t) : vector_plan(r, g, t) {
    b_.draft().parts = true;
    of_host_ = place_of_slices(0);
    brought_ = place_of_slices(1);
    result_ = place_of_slices(2);
    in_place_ = b_.add_place({.owner = r.bytes, .bytes = r.bytes});
  }

  plan make() {
    hand_out(reduce_with_twins(combine_part()));
    return b_.finish();
  }

private:
  std::uint32_t other_hosts() const { return g_.hosts() - 1; }

  node_set combine_part() {
    node combine = writing(compute(6), buffer::scratch, of_host_);
    combine.peer = peer_rule::group;
    combine.needs = addresses_;
    combine.over = &range::near;
    const node_set told = note_addresses();
    return b_.add(combine, told | b_.loop(range::near, near(), builder::step_list().then(take_address())));
  }

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

  void hand_out(node_set part) {
    b_.begin_phase(1);
    builder::step_list put;
    put.then(at_stage(8, of_blocks(put_handed_on(in_place_), of_twins)))
        .then(count_for_each(fact::delivered, 1));
    b_.loop(range::near, near(), put, part);
    b_.add(await_count(fact::delivered, near()));
  }

  std::uint8_t of_host_ = 0, brought_ = 0, result_ = 0, in_place_ = 0;
};

} // namespace

bool fits_hierarchical_reduction(const request& r, const topology& g, const tuning&) {
  const bool twins = !g.one_host() && g.equal_hosts() && g.largest_host() > 1;
  return twins && g.ranks_follow_hosts() && r.bytes != 0; // combined in the order of the ranks
}
plan compile_hierarchical_reduction(const request& r, const topology& g, const tuning& t) {
  return hierarchical_plan(r, g, t).make();
}
std::uint64_t cost_of_hierarchical_reduction(const request& r, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  const std::uint64_t locals = g.largest_host(), twins = g.hosts() - 1, slice = r.bytes / g.size();
  return c.copies(3 * locals, r.bytes / locals) + c.message() + c.gets(locals * twins, slice, false) +
         c.copies(2 * g.hosts(), slice) + c.put_and_count() + c.wire(locals * twins, slice);
}

} // namespace weft::collectives
