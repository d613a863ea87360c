// SPDX-License-Identifier: BSD-3-Clause
#include "verify/checks.hpp"

#include "engine/format.hpp"
#include "engine/operations/all_kinds.hpp"
#include "engine/plan/resolve.hpp"
#include "engine/topology/topology.hpp"

#include <algorithm>
#include <bit>

namespace weft::graph::checking {

namespace {

class structure {
public:
  structure(const plan& p, const topology& g, report& out) : plan_(p), place_(g), out_(out) {}

  void check() {
    check_header();
    if (plan_.size > max_nodes || plan_.loops > max_loops) return;
    for (unsigned n = 0; n < plan_.size; ++n)
      check_node(n);
    for (unsigned n = 0; n < plan_.size; ++n) {
      const bool top = is_top(n), inner = (inner_ >> n & 1) != 0;
      if (!top && !inner) complain(n, "is neither a top node nor in the body of a loop");
      if (top && inner) complain(n, "is a top node and in the body of a loop");
    }
    if (out_.empty()) check_rows(plan_, place_, out_);
  }

private:
  bool is_top(unsigned n) const { return (plan_.top >> n & 1) != 0; }

  void complain(unsigned n, std::string_view what) {
    out_.add(fault::malformed, "rank {} node {} ({}): {}", place_.me(), n, describe(plan_.nodes[n]), what);
  }

  void check_header() {
    const std::uint32_t me = place_.me();
    if (plan_.me != me || plan_.members != place_.size()) {
      out_.add(fault::malformed, "rank {}: the plan is for rank {} of {}, not of {}", me, plan_.me,
               plan_.members, place_.size());
    }
    if (plan_.root >= place_.size())
      out_.add(fault::malformed, "rank {}: root {} is no member", me, plan_.root);
    if (plan_.size > max_nodes)
      out_.add(fault::malformed, "rank {}: {} nodes, at most {}", me, plan_.size, max_nodes);
    if (plan_.loops > max_loops)
      out_.add(fault::malformed, "rank {}: {} loops, at most {}", me, plan_.loops, max_loops);
    if (plan_.size < max_nodes && plan_.top >> plan_.size != 0) {
      out_.add(fault::malformed, "rank {}: a top node beyond the {} nodes", me, plan_.size);
    }
    if (plan_.pairs != pattern::none && !chunks_fit()) {
      out_.add(fault::malformed, "rank {}: {} pieces of {} bytes do not make a block of {}", me, plan_.chunks,
               plan_.chunk, plan_.block());
    }
    const place& payload = plan_.places[in_mailbox];
    if (payload.turn != 0 && payload.turn < payload.bytes) {
      out_.add(fault::malformed, "rank {}: eager slices {} bytes apart for blocks of {} overlap", me,
               payload.turn, payload.bytes);
    }
    if (!place_.one_host() && plan_.size != 0 && !plan_.far) {
      out_.add(fault::malformed, "rank {}: has members on other hosts, but the plan is not marked far", me);
    }
  }

  bool chunks_fit() const {
    const std::uint64_t bytes = plan_.block();
    if (plan_.places[in_source].size) return plan_.chunks == indirect_chunks;
    if (plan_.chunks == 0) return false;
    if (bytes == 0) return plan_.chunks == 1;
    return plan_.chunk * plan_.chunks >= bytes && plan_.chunk * (plan_.chunks - 1) < bytes;
  }

  void check_node(unsigned n) {
    const node& it = plan_.nodes[n];
    if (it.what == kind::loop) check_loop(n);
    if (!fits(it)) complain(n, "is not defined for this fact, peer and place");
    if (it.read.at >= plan_.place_count || it.write.at >= plan_.place_count)
      complain(n, "names a place that the plan does not have");
    if (it.phase >= max_phases) complain(n, "is of a phase that has no counters");
    const bool of_all = it.what == kind::assist || (it.what == kind::rotate && it.peer == peer_rule::group);
    if (of_all && !place_.one_host()) complain(n, "cannot see the counters of other hosts");
    if (!is_top(n)) return;
    const node_set earlier = plan_.top & ((node_set{1} << n) - 1);
    if ((it.after & ~earlier) != 0) complain(n, "comes after something that is not an earlier top node");
    const bool stepwise = it.what == kind::await && it.stepwise;
    if (stepwise || it.peer == peer_rule::each || it.peer == peer_rule::ahead ||
        it.peer == peer_rule::behind) {
      complain(n, "names a loop's peer outside a loop");
    }
  }

  void check_loop(unsigned n) {
    const node& loop = plan_.nodes[n];
    if (!is_top(n)) complain(n, "is a loop within a loop");
    if (loop.loop_index >= plan_.loops) complain(n, "has no loop state");
    const unsigned state = 1u << (loop.loop_index & 31u);
    if ((states_ & state) != 0) complain(n, "shares its state with another loop");
    states_ |= state;
    const std::uint32_t most = loop.over->count(plan_, place_);
    if (loop.count == 0 || loop.count > most)
      complain(n, engine::format("the range has {} iterations", most));
    if (loop.over == &range::root && plan_.root == place_.me()) complain(n, "the root loops over itself");
    if (loop.body_size == 0 || loop.body_size >= max_nodes || loop.body + loop.body_size > plan_.size) {
      complain(n, "its body lies outside the plan");
      return;
    }
    const node_set body = ((node_set{1} << loop.body_size) - 1) << loop.body;
    if ((inner_ & body) != 0) complain(n, "shares its body with another loop");
    inner_ |= body;
    check_body(loop);
  }

  static bool in_rounds(const node& loop) { return loop.over->in_rounds; }

  bool has_halves(const node& loop) const {
    return loop.count <= static_cast<std::uint32_t>(doubling(place_.hosts()).rounds);
  }

  void check_body(const node& loop) {
    bool in_flight = false; // a put that no flush has completed
    for (unsigned n = loop.body; n < unsigned{loop.body} + loop.body_size; ++n) {
      const node& step = plan_.nodes[n];
      const bool round = step.peer == peer_rule::ahead || step.peer == peer_rule::behind;
      if (step.after != 0) complain(n, "has an edge, but a body runs in order");
      if (step.what == kind::assist || step.what == kind::rotate)
        complain(n, "is not for the body of a loop");
      if (step.peer == peer_rule::each && in_rounds(loop)) complain(n, "a round has no such peer");
      if (round && !in_rounds(loop)) complain(n, "names a round's peer outside rounds");
      if ((step.of == &blocks::half || step.of == &blocks::other_half) && !has_halves(loop))
        complain(n, "has no halves in so many rounds");
      if (loop.over == &range::near) continue;
      const bool transfer = step.what == kind::put || step.what == kind::get || step.what == kind::save;
      if (in_flight && transfer && step.only != lane::near) {
        complain(n, "a second transfer in flight in one iteration; flush the put before");
      }
      if (step.what == kind::put && step.only != lane::near) in_flight = true;
      if (step.what == kind::flush) in_flight = false;
    }
  }

  const plan& plan_;
  const topology& place_;
  report& out_;
  node_set inner_ = 0;
  unsigned states_ = 0;
};

} // namespace

void check_structure(std::span<const plan> plans, const std::vector<topology>& places, report& out) {
  for (std::size_t r = 0; r < plans.size(); ++r)
    structure(plans[r], places[r], out).check();
}

namespace {

class choices {
public:
  choices(const plan& p, const topology& g, report& out) : plan_(p), place_(g), out_(out) {}

  void check() {
    for (unsigned k = 0; k < plan_.size; ++k)
      if ((plan_.top >> k & 1) != 0) look_at(k, plan_.nodes[k]);
    const int made = std::popcount(choices_);
    if (made != 1) out_.add(fault::malformed, "rank {}: has {} choices", plan_.me, made);
    const bool near = told_near_ || place_.near().empty(), far = told_far_ == place_.far().size();
    if (made == 1 && plan_.me == plan_.root && (!near || !far))
      out_.add(fault::malformed, "rank {}: does not tell all others that they work together", plan_.me);
  }

private:
  void look_at(unsigned k, const node& n) {
    if (n.what == kind::choose) choices_ |= node_set{1} << k;
    const bool behind = (n.after & (choices_ | behind_)) != 0;
    if (behind) behind_ |= node_set{1} << k;
    const bool loop = n.what == kind::loop;
    if (loop && unsigned{n.body} + n.body_size > plan_.size) return; // said elsewhere
    const auto steps = std::span(plan_.nodes).subspan(loop ? n.body : k, loop ? n.body_size : 1);
    if (n.on != branch::either && !behind &&
        !std::ranges::all_of(steps, [&](const node& s) { return is_free(s); }))
      out_.add(fault::malformed, "rank {} node {} ({}): does not wait for the choice", plan_.me, k,
               describe(n));
    const node& first = steps.front();
    if (n.on != branch::together || !behind || first.what != kind::signal || is_counter(first.about)) return;
    if (first.peer == peer_rule::group)
      told_near_ = true;
    else
      told_far_ += n.count;
  }
  bool is_free(const node& n) const {
    const bool told = n.about == fact::entry || (n.about == fact::payload && plan_.me != plan_.root);
    return looks(n.what) || n.what == kind::compute || (n.what == kind::signal && told);
  }

  const plan& plan_;
  const topology& place_;
  report& out_;
  node_set choices_ = 0, behind_ = 0;
  bool told_near_ = false;
  std::size_t told_far_ = 0;
};

} // namespace

void check_choices(std::span<const plan> plans, const std::vector<topology>& places, report& out) {
  for (std::size_t r = 0; r < plans.size(); ++r) {
    if (plans[r].patience != 0) choices(plans[r], places[r], out).check();
    if (plans[r].patience != plans.front().patience)
      out.add(fault::mismatch, "rank 0 and rank {} differ in their patience", r);
  }
}

void check_agreement(std::span<const plan> plans, report& out) {
  const plan& first = plans.front();
  for (const plan& p : plans.subspan(1)) {
    const auto differs = [&](bool same, std::string_view what) {
      if (!same) out.add(fault::mismatch, "rank {} and rank {} differ in {}", first.me, p.me, what);
    };
    differs(p.pairs == first.pairs && p.root == first.root, "the pattern or its root");
    for (const std::uint8_t at : {in_source, in_destination, in_mailbox})
      differs(p.places[at] == first.places[at], "the places of the blocks");
    differs(p.in == first.in && p.out == first.out, "the synchronization modes");
    differs(p.chunk == first.chunk && p.chunks == first.chunks, "the pieces of a block");
    differs(p.eager == first.eager, "the eager payload");
    differs(p.radix == first.radix, "the tree");
    differs(p.valued == first.valued, "carrying a barrier's value");
    differs(p.names == first.names && p.indirect() == first.indirect(), "what the rows say");
    differs(p.whole_block == first.whole_block, "the blocks that are one piece");
    differs(p.in_place == first.in_place, "being in place");
  }
}

} // namespace weft::graph::checking
