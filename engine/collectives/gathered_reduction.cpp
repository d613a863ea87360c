// SPDX-License-Identifier: BSD-3-Clause
// Reductions of vectors for which every member that wants the result brings the whole vectors of the others:
// Cray's, element by element. IN_MY, OUT_MY. P members, vectors of n bytes.
//
// A member tells the members that bring its vector where that lies, and leaves when they have it, or sends it
// to those of other hosts, if it fits into a payload: so only those that want the result wait for a late one.
// (P-1)*n bytes into each of them, one step; sliced moves less, in two. Where a member wants a block of the
// result, it brings that block of the vectors (scattered): (P-1)/P*n bytes.
#include "engine/collectives/algorithm.hpp"
#include "engine/collectives/vector_plan.hpp"
#include "engine/memory/mailbox.hpp"

namespace weft::collectives {
using namespace graph;

namespace {

// A vector that fits into a payload goes to other hosts with the signal.
bool goes_along(const request& r, const topology& g, const tuning& t) {
  return !g.one_host() && r.op != operation::team_reduce_scatter && r.bytes <= far_payload(t, g);
}

class gathered_plan : vector_plan {
public:
  gathered_plan(const request& r, const topology& g, const tuning& t)
      : vector_plan(r, g, t), along_(goes_along(r, g, t)) {
    plan& p = b_.draft();
    has_parts(scattered() ? g.size() : 1);
    if (!scattered() && gets_result()) p.scratch += g.size() * r.bytes;
    if (along_ && r.bytes > engine::mailbox::body_bytes) p.credit = engine::mailbox::large_places;
    if (scan()) p.pairs = pattern::to_later;
    brought_ = place_of_slices(0);
    if (along_) message_ = b_.add_place({.bytes = r.bytes});
  }

  plan make() {
    tell_readers();
    const std::uint32_t readers = count_readers();
    const node_set read = readers == 0 ? 0 : b_.add(await_count(fact::consumed, readers));
    if (gets_result()) combine_all_of(bring_vectors(), read);
    return b_.finish();
  }

private:
  using enum reductions::vector_stage_number;
  bool scattered() const { return request_.op == operation::team_reduce_scatter; }
  bool scan() const { return prefixes(request_.op); }

  // Of a scan, later members; of what goes along, near ones.
  std::uint32_t count_readers() {
    if (rooted(request_.op)) return gets_result() || (along_ && !g_.is_near(request_.root)) ? 0 : 1;
    const std::uint32_t all = scan() ? others() - g_.me() : others();
    return all - (along_ ? count(scan() ? range::far_later : range::far) : 0);
  }
  // They are told where my vector is.
  void tell_readers() {
    const range& far = rooted(request_.op) ? range::root : scan() ? range::far_later : range::far;
    const bool to_near = rooted(request_.op) ? !gets_result() && g_.is_near(request_.root)
                                             : near() != 0 && !(scan() && g_.last_of_host());
    const bool to_far = rooted(request_.op) ? !g_.is_near(request_.root) : count(far) != 0;
    const node_set own = to_near ? note_addresses() : to_far && !along_ ? know_addresses() : 0;
    if (!to_far) return;
    const node send = writing(reading(send_payload(), buffer::source, in_source), buffer::mailbox, message_);
    if (along_)
      b_.loop(far, count(far), builder::step_list().then(send));
    else
      tell(far, own);
  }
  node_set bring_vectors() {
    const range& of = scan() ? range::earlier : range::others;
    const bool from_near = scan() ? g_.local(0) != g_.me() : near() != 0;
    const bool from_far = g_.far().size() != (scan() ? count(range::far_later) : 0);
    builder::step_list steps;
    const node get =
        at_stage(scattered() ? bring_block : 9u, writing(get_from_each(), buffer::scratch, brought_));
    const auto add = [&](const node& n) { steps.then_if(from_near || !along_, along_ ? near_only(n) : n); };
    add(take_address());
    add(get);
    add(count_for_each(fact::consumed, 1));
    const node take = writing(reading(take_payload(), buffer::mailbox, message_), buffer::scratch, brought_);
    steps.then_if(along_ && from_far, far_only(take));
    return b_.loop(of, count(of), steps);
  }
  // My vector may be the place of the result, so the others must have read it.
  void combine_all_of(node_set brought, node_set read) {
    node combine = compute(scattered() ? combine_block : 10u);
    b_.add(of_all(combine, scan() ? blocks::earlier : blocks::members),
           own_beside(brought_) | brought | read);
  }

  const bool along_;
  std::uint8_t brought_ = 0, message_ = 0;
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
  const std::uint64_t rest =
      goes_along(r, g, t) ? c.wire(locals * far, r.bytes) : c.gets(locals * far, r.bytes, true);
  return c.message() + c.copies(2 * g.size(), r.bytes) + rest;
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
