// SPDX-License-Identifier: BSD-3-Clause
// Reductions of vectors, element by element: Cray's team reductions. IN_MY, OUT_MY. Small ones are tables,
// see reductions.cpp. P members, vectors of n bytes. The vectors lie at addresses that differ, so the members
// tell each other theirs first, which also says that they have entered.
//
// shared   On one host. The vector is cut into pieces that those members claim that are there: a piece is
//          read from all sources and written to all destinations (or the root's), of a scan as it is by then.
//          P*n bytes read and P*n written, once, by all that are there together. While a member is missing the root of a reduce
//          keeps aside what the others have: so each leaves when the root has its vector, and the late one
//          holds up the root alone. That costs nothing but time in which the root would wait; P*n bytes of
//          memory, bounded.
// sliced   Reduce-scatter and gather-all: member k combines the k-th of P slices, which it gets from the
//          others, and puts the result to them (or to the root; of a scan to each its prefix). (P-1)/P*n
//          bytes into every member, and as many out of it, twice; two steps whatever P is. Of a reduce the
//          root chooses: the members combine slices when all enter in time, and when one is late the root
//          brings all vectors whole, each as soon as its member has entered, as in gathered. Then P*n bytes
//          lie with the root, so there is a bound; beyond it all members wait for a late one.
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

// A late member must hold up the root alone, and no member is held up by a choice of two.
bool root_chooses(const request& r, const topology& g) {
  return rooted(r.op) && g.size() > 2 && vectors_fit(r, g, most_at_root);
}

class sliced_plan : vector_plan {
  using enum reductions::vector_stage_number;

public:
  sliced_plan(const request& r, const topology& g, const tuning& t, std::uint64_t patience)
      : vector_plan(r, g, t), chooses_(patience != 0) {
    b_.draft().patience = patience;
  }

  plan make() {
    has_parts(g_.size());
    const std::uint8_t brought = place_of_slices(0), result = place_of_slices(1);
    const node_set known = !chooses_ ? tell_addresses() : gets_result() ? choose(brought) : hear();
    node combine = writing(compute(scan() ? prefixes_of_slice : 3u), buffer::scratch, result);
    combine.needs = brought;
    const node_set made = b_.add(combine, known | bring(3, brought, chosen_));
    hand_out(result, made);
    if (others() != 0) b_.add(await_count(fact::consumed, others()));
    if (others() != 0 && gets_result()) b_.add(await_count(fact::delivered, others()));
    return b_.finish();
  }

private:
  bool scan() const { return prefixes(request_.op); }

  // The root tells where its vector is when it has chosen that all work together. Alone it brings all
  // vectors, as in gathered. What follows is of the first way.
  node_set choose(std::uint8_t brought) {
    chosen_ = b_.add(choose_when_all(fact::payload));
    b_.begin_branch(branch::alone);
    const node_set all = bring(9, brought, chosen_, alone);
    b_.add(of_all(compute(10)), own_beside(brought) | all);
    b_.begin_branch(branch::together);
    return tell_addresses(chosen_);
  }
  // Another member tells the root at once, and the others as well, which need it when all work together.
  node_set hear() {
    const builder::step_list tell = builder::step_list().then(telling(send_payload()));
    const bool near = g_.is_near(request_.root);
    const node_set own = near ? note_addresses() : know_addresses();
    if (!near) b_.loop(range::root, 1, tell, own);
    chosen_ = b_.add(in_phase(alone, hear_choice()));
    b_.begin_branch(branch::together);
    const node_set told = near ? own : own | note_known(own);
    return told | b_.loop(range::far_but_root, range::far_but_root.count(b_.draft(), g_), tell, own);
  }
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

  static constexpr std::uint8_t alone = 1; // the phase of what a root counts that works alone
  const bool chooses_;
  node_set chosen_ = 0;
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

bool fits_sliced_reduction(const request& r, const topology& g, const tuning&) {
  return !combine_together(r, g) && r.bytes != 0 && !is_for_root(r, g);
}
plan compile_sliced_reduction(const request& r, const topology& g, const tuning& t) {
  // A member that is late by no more than what all need together costs nothing but that time.
  const std::uint64_t patience = root_chooses(r, g) ? least_patience + cost_of_sliced_reduction(r, g, t) : 0;
  return sliced_plan(r, g, t, patience).make();
}
std::uint64_t cost_of_sliced_reduction(const request& r, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  const std::uint64_t locals = g.largest_host(), far = g.size() - locals, slice = r.bytes / g.size();
  const std::uint64_t choice = root_chooses(r, g) && !g.one_host() ? c.message() : 0;
  return choice + c.message() + c.copies(3 * g.size(), slice) + c.gets(locals * far, slice, true) +
         c.put_and_count() + c.wire(locals * far, slice);
}

} // namespace weft::collectives
