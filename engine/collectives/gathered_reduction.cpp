// SPDX-License-Identifier: BSD-3-Clause
// Reductions of vectors for which every member that wants the result brings the whole vectors of the others:
// Cray's, element by element. IN_MY, OUT_MY. P members, vectors of n bytes.
//
// A member tells the members that bring its vector where that lies, and leaves when they have it: so only
// those that want the result wait for a late one. (P-1)*n bytes into each of them, one step; sliced moves
// less, in two. Where a member wants a block of the result, it brings that block of the vectors (scattered):
// (P-1)/P*n bytes.
#include "engine/collectives/algorithm.hpp"
#include "engine/collectives/vector_plan.hpp"

namespace weft::collectives {
using namespace graph;

namespace {

class gathered_plan : vector_plan {
public:
  gathered_plan(const request& r, const topology& g, const tuning& t) : vector_plan(r, g, t) {
    has_parts(scattered() ? g.size() : 1);
    if (!scattered() && gets_result()) b_.draft().scratch += g.size() * r.bytes;
    brought_ = place_of_slices(0);
  }

  plan make() {
    if (prefixes(request_.op)) return scan();
    const std::uint32_t readers = !rooted(request_.op) ? others() : gets_result() ? 0 : 1;
    if (readers != 0) tell_readers();
    const node_set read = readers == 0 ? 0 : b_.add(await_count(fact::consumed, readers));
    if (gets_result()) combine_all_of(bring(scattered() ? bring_block : 9u, brought_), read);
    return b_.finish();
  }

private:
  using enum reductions::vector_stage_number;
  // Only later members need what a member has.
  plan scan() {
    b_.draft().pairs = pattern::to_later;
    const std::uint32_t readers = others() - g_.me();
    if (readers != 0) tell(range::far_later, g_.last_of_host() ? know_addresses() : note_addresses());
    const node_set read = readers == 0 ? 0 : b_.add(await_count(fact::consumed, readers));
    const node_set brought = bring(9, brought_, 0, 0, range::earlier);
    b_.add(of_all(compute(10), blocks::earlier), own_beside(brought_) | brought | read);
    return b_.finish();
  }
  bool scattered() const { return request_.op == operation::team_reduce_scatter; }

  // The members that bring my vector are told where it is.
  void tell_readers() {
    if (!rooted(request_.op))
      tell_addresses();
    else if (g_.is_near(request_.root))
      note_addresses();
    else
      tell(range::root, know_addresses());
  }
  // My vector may be the place of the result, so the others must have read it.
  void combine_all_of(node_set brought, node_set read) {
    b_.add(of_all(compute(scattered() ? combine_block : 10u)), own_beside(brought_) | brought | read);
  }

  std::uint8_t brought_ = 0;
};

// What is brought lies in a scratch of the operation: of a root that the others need not wait for, and of
// each member that gets a result.
std::uint64_t most_brought(const request& r) {
  return rooted(r.op) ? most_at_root : most_to_each;
}

} // namespace

bool fits_gathered_reduction(const request& r, const topology& g, const tuning&) {
  return !combine_together(r, g) && vectors_fit(r, g, most_brought(r));
}
plan compile_gathered_reduction(const request& r, const topology& g, const tuning& t) {
  return gathered_plan(r, g, t).make();
}
std::uint64_t cost_of_gathered_reduction(const request& r, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  const std::uint64_t locals = rooted(r.op) ? 1 : g.largest_host(), far = g.size() - g.largest_host();
  return c.message() + c.copies(2 * g.size(), r.bytes) + c.gets(locals * far, r.bytes, true);
}

bool fits_scattered_reduction(const request& r, const topology&, const tuning&) {
  return r.bytes != 0;
}
plan compile_scattered_reduction(const request& r, const topology& g, const tuning& t) {
  return gathered_plan(r, g, t).make();
}
std::uint64_t cost_of_scattered_reduction(const request& r, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  const std::uint64_t locals = g.largest_host(), far = g.size() - locals, block = r.bytes / g.size();
  const std::uint64_t near =
      c.copies(g.size(), sizeof(reductions::addresses)) + c.copies(2 * g.size(), block);
  return far == 0 ? near + most_partials : near + c.message() + c.gets(locals * far, block, true);
}

} // namespace weft::collectives
