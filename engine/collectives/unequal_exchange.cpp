// SPDX-License-Identifier: BSD-3-Clause
// Exchanges, gathers and scatters of blocks whose sizes only their two ends know: alltoallv, allgatherv,
// gatherv and scatterv. IN_MY, OUT_MY. P members, blocks of n bytes.
//
// A member tells each that gets a block of it where that lies and how long it is; those bring the blocks and
// tell their givers so. So nothing has to be agreed on before, and a rank that gives may compute. Between
// hosts what is short comes with the note: one message there and one back. To hosts of their own each of P-1
// blocks takes a message, and so does every note: a member hands on nothing, for it would have to know what
// it hands on.
//
// To the verifier a block has the size of the request, whatever it has. Notes are bytes of the source.
#include "engine/collectives/algorithm.hpp"
#include "engine/collectives/operations.hpp"
#include "engine/collectives/relocate.hpp"
#include "engine/collectives/request.hpp"
#include "engine/memory/mailbox.hpp"
#include "engine/plan/builder.hpp"

#include "engine/unequal/exchange.hpp"
#include <stdexcept>

namespace weft::collectives {
using namespace graph;

namespace {

class unequal_plan {
public:
  unequal_plan(const request& r, const topology& g, const tuning& t)
      : request_(r), g_(g), b_(g.me(), g.size(), r.root) {
    plan& p = b_.draft();
    const bool from_root = r.op == operation::team_scatterv;
    p.pairs = from_root ? pattern::from_root : to_root() ? pattern::to_root : pattern::all_pairs;
    p.in = p.out = sync::my;
    block_rule rule{.bytes = r.bytes};
    if (!to_root()) rule.src_j = r.bytes;
    if (!from_root) rule.dst_i = r.bytes;
    b_.blocks_of(rule);
    p.chunk = r.bytes;
    p.chunks = 1;
    p.window = static_cast<std::uint8_t>(t.window);
    p.parts = p.computes = p.large = true;
    p.far = !g.one_host();
    const std::uint64_t length = unequal::longest_note(g.size());
    p.scratch = 2 * g.size() * length;
    each_note_ = b_.add_place({.owner = length, .bytes = told});
    note_ = b_.add_place(to_root() ? place{.base = r.root * length, .bytes = told}
                                   : place{.to = length, .bytes = told});
    came_ = b_.add_place({.base = g.size() * length, .from = length, .bytes = told});
    const bool in_slices = !to_root() && g.near().size() > 1;
    payload_ = b_.add_place({.turn = in_slices ? told : 0, .bytes = told});
  }

  plan make() {
    const bool root = g_.me() == request_.root;
    const bool gives = !rooted(request_.op) || root != to_root();
    const bool takes = !rooted(request_.op) || root == to_root();
    if (gives) tell();
    node_set brought = 0;
    if (takes)
      brought = rooted(request_.op) && !root ? bring(range::root, 1) : bring(range::others, others());
    if (!rooted(request_.op) || root) b_.add(compute(4));
    if (takes && brings_from_far(root)) b_.add(place_what_came(), brought);
    if (gives) await_readers();
    return b_.finish();
  }

private:
  static constexpr std::uint64_t told = sizeof(unequal::note);

  bool to_root() const { return request_.op == operation::team_gatherv; }
  std::uint32_t others() const { return g_.size() - 1; }

  bool brings_from_far(bool root) const {
    return rooted(request_.op) && !root ? !g_.is_near(request_.root) : !g_.far().empty();
  }
  // With notes: to the verifier I have brought that.
  node place_what_came() {
    const std::uint8_t nothing = b_.add_place({});
    return writing(reading(compute(6), buffer::source, nothing), buffer::destination, nothing);
  }
  void await_readers() {
    const std::uint32_t readers = to_root() ? 1 : others();
    if (readers != 0) b_.add(await_count(fact::consumed, readers));
  }
  void tell() {
    const node all = of_blocks(compute(1, true), blocks::members);
    noted_ = b_.add(writing(reading(all, buffer::source, each_note_), buffer::scratch, each_note_));
    const auto near = static_cast<std::uint32_t>(g_.near().size());
    const auto far = static_cast<std::uint32_t>(g_.far().size());
    const bool to_near = to_root() ? g_.is_near(request_.root) : near != 0;
    if (to_near) {
      if (!to_root() && near * told > engine::mailbox::body_bytes)
        throw std::length_error("more than 129 threads of the team on one host");
      b_.draft().eager_bytes[0] = static_cast<std::uint32_t>(to_root() ? told : near * told);
      b_.add(travelling(to_root() ? publish() : publish_slices()), noted_);
    }
    builder::step_list send;
    send.then(at_stage(2, travelling(send_payload())));
    if (!to_root())
      b_.loop(range::far, far, send, noted_);
    else if (!to_near)
      b_.loop(range::root, 1, send, noted_);
  }
  node_set bring(const range& of, std::uint32_t count) {
    builder::step_list steps;
    const node take = writing(reading(take_payload(), buffer::mailbox, payload_), buffer::scratch, came_);
    const bool near = &of == &range::root ? g_.is_near(request_.root) : !g_.near().empty();
    const bool far = &of == &range::root ? !near : !g_.far().empty();
    steps.then_if(near, near_only(take)).then_if(far, far_only(at_stage(5, take)));
    steps.then(at_stage(3, get_from_each())).then(count_for_each(fact::consumed, 1));
    // What has not come is known as such first (unequal::exchange::from_one).
    return b_.loop(of, count, steps, noted_);
  }
  node travelling(const node& n) const {
    return writing(reading(n, buffer::scratch, note_), buffer::mailbox, payload_);
  }

  const request& request_;
  const topology& g_;
  builder b_;
  node_set noted_ = 0;
  std::uint8_t each_note_ = 0, note_ = 0, came_ = 0, payload_ = 0;
};

} // namespace

plan compile_unequal(const request& r, const topology& g, const tuning& t) {
  return unequal_plan(r, g, t).make();
}

std::uint64_t cost_of_unequal(const request& r, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  const std::uint64_t locals = rooted(r.op) ? 1 : g.largest_host(), far = g.size() - g.largest_host();
  const bool short_ones = r.bytes <= unequal::longest_note(g.size()) - sizeof(unequal::note);
  const std::uint64_t note = sizeof(unequal::note) + (short_ones ? r.bytes : 0);
  const std::uint64_t near = c.copies(2 * g.size(), note) + c.copies(g.largest_host(), r.bytes);
  if (far == 0) return near;
  const std::uint64_t bring =
      short_ones ? c.wire(locals * far, 0) + c.message() : c.gets(locals * far, r.bytes, true);
  return near + c.message() + c.wire(locals * far, note) + bring;
}

} // namespace weft::collectives
