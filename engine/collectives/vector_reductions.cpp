// SPDX-License-Identifier: BSD-3-Clause
// Reductions of vectors, element by element: Cray's team reductions. IN_MY, OUT_MY. Small ones are tables,
// see reductions.cpp. P members, vectors of n bytes. The vectors lie at addresses that differ, so the members
// tell each other theirs first, which also says that they have entered.
//
// shared   On one host. The vector is cut into pieces that those members claim that are there: a piece is
//          read from all sources and written to all destinations (or the root's). P*n bytes read and P*n
//          written, once, by all that are there together. While a member is missing the root of a reduce
//          keeps aside what the others have: so each leaves when the root has its vector, and the late one
//          holds up the root alone. That costs nothing but time in which the root would wait; P*n bytes of
//          memory, bounded.
// sliced   Reduce-scatter and gather-all: member k combines the k-th of P slices, which it gets from the
//          others, and puts the result to them (or to the root; of a scan to each its prefix). (P-1)/P*n
//          bytes into every member, and as many out of it, twice; two steps whatever P is.
#include "engine/collectives/algorithm.hpp"
#include "engine/collectives/vector_plan.hpp"

namespace weft::collectives {
using namespace graph;

namespace {

// Every member of a host has a piece: to combine one takes longer than to claim it.
void share_out(plan& p, std::uint64_t bytes, std::uint32_t members) {
  constexpr std::uint64_t least = 4096;
  const std::uint64_t each = (bytes / members + least - 1) / least * least;
  p.chunk = std::min(p.chunk, std::max(each, least));
  if (p.chunk != 0) p.chunks = static_cast<std::uint32_t>((bytes + p.chunk - 1) / p.chunk);
}

class shared_plan : vector_plan {
public:
  shared_plan(const request& r, const topology& g, const tuning& t) : vector_plan(r, g, t) {
    share_out(b_.draft(), r.bytes, g.size());
  }

  plan make() {
    node combine = combine_all();
    combine.needs = addresses_;
    const node_set told = note_addresses();
    b_.add(combine, told | b_.loop(range::near, near(), builder::step_list().then(take_address())));
    return b_.finish();
  }
};

class kept_plan : vector_plan {
public:
  kept_plan(const request& r, const topology& g, const tuning& t) : vector_plan(r, g, t) {
    constexpr std::uint64_t note = sizeof(std::uint64_t);
    share_out(b_.draft(), r.bytes, g.size());
    b_.draft().scratch += (g.size() + 2) * note; // of the executor: which pieces are kept
  }

  plan make() {
    const node_set told = note_addresses();
    if (gets_result()) {
      combine_and_keep(told);
    } else {
      b_.loop(range::root, 1, builder::step_list().then(take_address()));
      b_.add(combine_until_read());
    }
    return b_.finish();
  }

private:
  void combine_and_keep(node_set told) {
    const std::uint8_t kept = place_of_slices(0);
    const node_set mine = own_beside(kept);
    builder::step_list steps;
    steps.then(take_address()).then(writing(combine_or_keep(), buffer::scratch, kept));
    steps.then(count_for_each(fact::consumed, 1));
    const node_set others_done = b_.loop(range::others, others(), steps);
    b_.add(of_all(combine_kept()), told | mine | others_done);
  }
};

class sliced_plan : vector_plan {
  using enum reductions::vector_stage_number;

public:
  using vector_plan::vector_plan;

  plan make() {
    has_parts(g_.size());
    const std::uint8_t brought = place_of_slices(0), result = place_of_slices(1);
    const node_set known = tell_addresses();
    node combine = writing(compute(scan() ? prefixes_of_slice : 3u), buffer::scratch, result);
    combine.needs = brought;
    const node_set made = b_.add(combine, known | bring(3, brought));
    hand_out(result, made);
    if (others() != 0) b_.add(await_count(fact::consumed, others()));
    if (others() != 0 && gets_result()) b_.add(await_count(fact::delivered, others()));
    return b_.finish();
  }

private:
  bool scan() const { return prefixes(request_.op); }
  void hand_out(std::uint8_t result, node_set made) {
    builder::step_list put;
    put.then(at_stage(scan() ? hand_on_prefix : 4u, reading(put_to_each(), buffer::scratch, result)));
    const bool far = rooted(request_.op) ? !g_.is_near(request_.root) : !g_.one_host();
    put.then_if(far, far_only(order_each())).then(count_for_each(fact::delivered, 1));
    if (!rooted(request_.op))
      b_.loop(range::others, others(), put, made);
    else if (!gets_result())
      b_.loop(range::root, 1, put, made);
    if (gets_result()) b_.add(reading(compute(scan() ? own_prefix : 5u), buffer::scratch, result), made);
  }
};

} // namespace

bool fits_shared_reduction(const request& r, const topology& g, const tuning&) {
  return combine_together(r, g);
}
plan compile_shared_reduction(const request& r, const topology& g, const tuning& t) {
  if (rooted(r.op) && g.size() != 1 && vectors_fit(r, g, most_at_root)) return kept_plan(r, g, t).make();
  return shared_plan(r, g, t).make();
}
std::uint64_t cost_of_shared_reduction(const request& r, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  return c.copies(g.size(), sizeof(reductions::addresses)) + c.copies(2 * g.size(), r.bytes) / g.size() +
         most_partials;
}

bool fits_sliced_reduction(const request& r, const topology& g, const tuning& t) {
  return !combine_together(r, g) && r.bytes != 0 && !waits_at_root_only(r, g, t);
}
plan compile_sliced_reduction(const request& r, const topology& g, const tuning& t) {
  return sliced_plan(r, g, t).make();
}
std::uint64_t cost_of_sliced_reduction(const request& r, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  const std::uint64_t locals = g.largest_host(), far = g.size() - locals, slice = r.bytes / g.size();
  return c.message() + c.copies(3 * g.size(), slice) + c.gets(locals * far, slice, true) + c.put_and_count() +
         c.wire(locals * far, slice);
}

} // namespace weft::collectives
