// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/operations.hpp"
#include "engine/collectives/relocate.hpp"
#include "engine/collectives/request.hpp"
#include "engine/collectives/tuning.hpp"
#include "engine/plan/builder.hpp"
#include "engine/reductions/vector_reduction.hpp"
#include "engine/topology/topology.hpp"

#include <algorithm>

namespace weft::collectives {

// There are vectors, and all of them together have so many bytes at most.
inline bool vectors_fit(const request& r, const graph::topology& g, std::uint64_t most) {
  return r.bytes != 0 && r.bytes <= most / g.size();
}
// The members of a host may combine pieces of all vectors together: but by no function of the user, which
// belongs to a process. Of a short scan they do not: each brings the vectors in front of it.
inline constexpr std::uint64_t most_to_each = std::uint64_t{1} << 20;
inline bool combine_together(const request& r, const graph::topology& g) {
  if (!g.one_host() || r.whole) return false;
  return r.op == operation::team_reduce || r.op == operation::team_allreduce ||
         (r.op == operation::team_scan && r.bytes > most_to_each / g.size());
}
// Of so few bytes in all a root brings all vectors itself: gathered, not sliced.
inline bool is_for_root(const request& r, const graph::topology& g) {
  return rooted(r.op) && !combine_together(r, g) && vectors_fit(r, g, std::uint64_t{256} << 10);
}

// What the plans have in common that combine vectors where they lie. To the verifier a vector is as many
// blocks as there are members, side by side: that of a member is the slice whose result it makes. Places of
// scratch stand for the task's room.
class vector_plan {
public:
  vector_plan(const request& r, const graph::topology& g, const tuning& t)
      : request_(r), g_(g), b_(g.me(), g.size(), r.root) {
    using namespace graph;
    plan& p = b_.draft();
    p.pairs = rooted(r.op) ? pattern::to_root : pattern::all_pairs;
    p.in = p.out = sync::my;
    b_.blocks_of({.bytes = r.bytes, .dst_i = r.bytes});
    cut_blocks(p, t);
    p.window = static_cast<std::uint8_t>(t.window);
    p.computes = p.large = true;
    p.far = !g.one_host();
    p.scratch = g.size() * told;
    addresses_ = b_.add_place({.from = told, .bytes = told});
    payload_ = b_.add_place({.bytes = told});
  }

protected:
  static constexpr std::uint64_t told = sizeof(reductions::addresses);

  std::uint32_t others() const { return g_.size() - 1; }
  std::uint32_t near() const { return static_cast<std::uint32_t>(g_.near().size()); }
  std::uint32_t count(const graph::range& over) { return over.count(b_.draft(), g_); }
  bool gets_result() const { return !rooted(request_.op) || g_.me() == request_.root; }

  // Its transfers are parts of the task: a slice of a vector each, or whole vectors.
  void has_parts(std::uint32_t slices) {
    graph::plan& p = b_.draft();
    p.parts = true;
    p.chunk = (request_.bytes + slices - 1) / slices;
    p.chunks = p.chunk == 0 ? 1 : static_cast<std::uint32_t>((request_.bytes + p.chunk - 1) / p.chunk);
  }
  // My addresses are known to me.
  graph::node_set know_addresses() {
    using namespace graph;
    return b_.add(
        writing(reading(compute(2, true), buffer::source, addresses_), buffer::scratch, addresses_));
  }
  // And to my neighbours.
  graph::node_set note_addresses(graph::node_set after = 0) {
    using namespace graph;
    const node_set own = know_addresses();
    return own | note_known(own | after);
  }
  graph::node_set note_known(graph::node_set own) {
    using namespace graph;
    if (near() == 0) return 0;
    b_.draft().eager_bytes[0] = told;
    return b_.add(telling(publish()), own);
  }
  // And to all others.
  graph::node_set tell_addresses(graph::node_set after = 0) {
    const graph::node_set own = note_addresses(after);
    return own | tell(graph::range::far, own | after);
  }
  graph::node_set tell(const graph::range& far, graph::node_set known) {
    using namespace graph;
    return b_.loop(far, count(far), builder::step_list().then(telling(send_payload())), known);
  }
  // Of each other member what the task's stage says, to this place; the member is told when it is read.
  graph::node_set bring(std::uint32_t stage, std::uint8_t to, graph::node_set after = 0,
                        std::uint8_t phase = 0) {
    using namespace graph;
    builder::step_list steps;
    steps.then(take_address()).then(at_stage(stage, writing(get_from_each(), buffer::scratch, to)));
    steps.then(in_phase(phase, count_for_each(fact::consumed, 1)));
    return b_.loop(range::others, others(), steps, after);
  }
  // My vector, beside those that are brought there.
  graph::node_set own_beside(std::uint8_t brought) {
    using namespace graph;
    return b_.add(writing(reading(compute(2, true), buffer::source, in_source), buffer::scratch, brought));
  }
  // Combines what lies in all those places into my result.
  graph::node of_all(graph::node combine, const graph::blocks& of = graph::blocks::members) {
    using namespace graph;
    const std::uint64_t bytes = request_.bytes;
    const std::uint8_t from = b_.add_place({.base = g_.size() * told, .owner = bytes, .bytes = bytes});
    const std::uint8_t to = b_.add_place({.owner = bytes, .bytes = bytes});
    return writing(of_blocks(reading(combine, buffer::scratch, from), of), buffer::destination, to);
  }
  graph::node telling(graph::node n) const {
    using namespace graph;
    return writing(reading(n, buffer::scratch, addresses_), buffer::mailbox, payload_);
  }
  graph::node take_address() const {
    using namespace graph;
    return writing(reading(take_payload(), buffer::mailbox, payload_), buffer::scratch, addresses_);
  }
  // A block from each member, or for each.
  std::uint8_t place_of_slices(std::uint32_t number) {
    const std::uint64_t behind = g_.size() * (told + number * request_.bytes);
    return b_.add_place({.base = behind, .from = request_.bytes, .bytes = request_.bytes});
  }

  const request& request_;
  const graph::topology& g_;
  graph::builder b_;
  std::uint8_t addresses_ = 0, payload_ = 0; // of a member, in scratch and in a mailbox
};

} // namespace weft::collectives
