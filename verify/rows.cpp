// SPDX-License-Identifier: BSD-3-Clause
#include "verify/checks.hpp"

#include "engine/operations/all_kinds.hpp"
#include "engine/plan/resolve.hpp"

namespace weft::graph::checking {

namespace {

class rows_check {
public:
  rows_check(const plan& p, const topology& g, report& out) : plan_(p), place_(g), out_(out) {}

  void run() {
    for (unsigned n = 0; n < plan_.size; ++n) {
      if ((plan_.top >> n & 1) == 0) continue;
      const node& it = plan_.nodes[n];
      if (it.what != kind::loop) {
        top_node(n);
        continue;
      }
      loop(n);
      for (unsigned s = it.body; s < unsigned{it.body} + it.body_size; ++s)
        step(it, s);
      aside_and_restore(it, n);
    }
  }

private:
  void complain(unsigned n, std::string_view what) {
    out_.add(fault::malformed, "rank {} node {} ({}): {}", place_.me(), n, describe(plan_.nodes[n]), what);
  }

  static bool counter(const node& n) {
    return !n.stepwise && (n.about == fact::delivered || n.about == fact::consumed);
  }

  void top_node(unsigned n) {
    const node& it = plan_.nodes[n];
    if (it.only != lane::any) complain(n, "is for one lane, but has no peer");
    if (it.what == kind::signal && counter(it)) complain(n, "counts outside a loop");
    common(n);
    if (it.what == kind::await && counter(it) && it.count == 0) {
      looked_at_before(n);
      if (plan_.in_place) rotated_before(n);
    }
  }

  void common(unsigned n) {
    const node& it = plan_.nodes[n];
    const bool rows = plan_.names != naming::none;
    if (it.what == kind::await && counter(it) && it.count == 0 && !(rows && plan_.in_place) &&
        !plan_.rooted_by_rows())
      complain(n, "awaits no count, and no row tells one");
    if ((it.about == fact::row || it.about == fact::asked) && !rows)
      complain(n, "there are no rows that name a member");
    if (it.what == kind::claim && (it.way == direction::swap) != (plan_.in_place && !rows))
      complain(n, plan_.in_place ? "in place, pairs are claimed as a whole" : "nothing changes places");
    if (it.what == kind::rotate && !plan_.rotates()) complain(n, "no cycles are rotated");
  }

  // A rank that is on a cycle that is rotated has nothing to take aside.
  void rotated_before(unsigned n) {
    for (unsigned before = 0; before < plan_.size; ++before) {
      if (plan_.nodes[before].what == kind::rotate && (plan_.nodes[n].after >> before & 1) == 0)
        complain(n, "begins before it is known whether my cycle is rotated");
    }
  }

  // With the rows of all others known, and only then, it is known how much is to be expected.
  void looked_at_before(unsigned n) {
    if (!plan_.rooted_by_rows() || plan_.members == 1) return;
    for (unsigned before = 0; before < n; ++before) {
      if ((plan_.nodes[n].after >> before & 1) != 0 && plan_.nodes[before].searches) return;
    }
    complain(n, "awaits what the rows say, before they were looked at");
  }

  void loop(unsigned n) {
    const node& it = plan_.nodes[n];
    if (it.only != lane::any) complain(n, "a loop is for both lanes");
    if (it.searches && (!plan_.rooted_by_rows() || it.over != &range::others))
      complain(n, "searches for a root that is known, or not among all");
    if (it.over == &range::named && plan_.names == naming::none) complain(n, "no row names a member");
    const bool permuted = plan_.names != naming::none && !plan_.rooted_by_rows();
    if (it.over == &range::naming && !permuted) complain(n, "no member is named once");
    if (it.over == &range::naming) rotated_before(n);
    const node& first = plan_.nodes[it.body];
    if (it.over == &range::naming && (first.what != kind::await || first.about != fact::named))
      complain(n, "does not wait until it is known who names me");
  }

  void step(const node& loop, unsigned n) {
    const node& it = plan_.nodes[n];
    common(n);
    if (it.only != lane::any && loop.over->in_rounds) complain(n, "is for one lane, but a round has no peer");
    if (it.only != lane::any && loop.over->only != lane::any && it.only != loop.over->only)
      complain(n, "is for a lane that the range does not have");
    if (it.what == kind::signal && it.peer == peer_rule::self && loop.over->in_rounds)
      complain(n, "counts outside a loop over peers");
    if (it.about == fact::named && (loop.over != &range::naming || n != loop.body))
      complain(n, "stands where no member is looked for");
    if (it.what == kind::fetch && !plan_.indirect()) complain(n, "no operand lies in shared memory");
    if (it.what == kind::discover && !loop.searches) complain(n, "no member searches for the root");
    if (it.what == kind::discover && !row_awaited(loop, n)) complain(n, "does not wait for the row");
    if (it.what == kind::await && counter(it) && it.count == 0)
      complain(n, "awaits what the rows say in a loop");
  }

  bool row_awaited(const node& loop, unsigned look) const {
    for (unsigned n = loop.body; n < look; ++n) {
      const node& it = plan_.nodes[n];
      if (it.what == kind::await && it.about == fact::row && it.only == lane::any) return true;
    }
    return false;
  }

  // An operation has one scratch; an iteration keeps it from what it takes aside to what it restores.
  void aside_and_restore(const node& loop, unsigned at) {
    unsigned asides = 0, restores = 0;
    for (unsigned n = loop.body; n < unsigned{loop.body} + loop.body_size; ++n) {
      const kind what = plan_.nodes[n].what;
      if (what != kind::save && what != kind::restore) continue;
      if (!plan_.in_place) complain(n, "the plan is not in place");
      if (what == kind::restore && asides == 0) complain(n, "nothing was taken aside");
      ++(what == kind::save ? asides : restores);
    }
    if (asides != restores || asides > 1) complain(at, "takes aside what it does not restore");
    if (asides == 0) return;
    if (aside_elsewhere_) complain(at, "shares the scratch with another loop");
    aside_elsewhere_ = true;
  }

  const plan& plan_;
  const topology& place_;
  report& out_;
  bool aside_elsewhere_ = false;
};

} // namespace

void check_rows(const plan& p, const topology& g, report& out) {
  rows_check(p, g, out).run();
}

} // namespace weft::graph::checking
