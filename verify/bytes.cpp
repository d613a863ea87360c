// SPDX-License-Identifier: BSD-3-Clause
#include "verify/checks.hpp"

#include <algorithm>

namespace weft::graph::checking {

namespace {

// One destination buffer; `to` of each block is in order.
class destination {
public:
  destination(const event_graph& g, const symbolic_run& run, const movement& expected, std::uint32_t owner,
              report& out)
      : graph_(g), run_(run), expected_(expected), owner_(owner), out_(out) {}

  void check(std::vector<const access*>& written, std::vector<access>& wanted) {
    std::sort(written.begin(), written.end(), [](auto* a, auto* b) { return a->to < b->to; });
    std::sort(wanted.begin(), wanted.end(), [](auto& a, auto& b) { return a.to < b.to; });
    check_twice(written);
    std::vector<std::uint64_t> named(written.size()); // bytes of each write that the operation names
    std::size_t first = 0;
    for (const access& block : wanted) {
      while (first < written.size() && end(*written[first]) <= block.to)
        ++first;
      check_block(block, written, first, named);
    }
    for (std::size_t k = 0; k < written.size(); ++k) {
      const access& w = *written[k];
      if (named[k] < w.bytes) {
        out_.add(fault::written_outside,
                 "{}: writes {} of the bytes [{}, {}) of rank {} beside the operation", text(w),
                 w.bytes - named[k], w.to, end(w), owner_);
      }
    }
  }

private:
  static std::uint64_t end(const access& a) { return a.to + a.bytes; }
  std::string text(const access& a) const { return graph_.text(a.begin); }

  void check_twice(const std::vector<const access*>& written) {
    const access* farthest = nullptr;
    for (const access* w : written) {
      if (farthest && w->to < end(*farthest)) {
        out_.add(fault::written_twice, "bytes [{}, {}) of rank {}: by {} and by {}", w->to,
                 std::min(end(*w), end(*farthest)), owner_, text(*farthest), text(*w));
        check_race(*farthest, *w);
      }
      if (!farthest || end(*w) > end(*farthest)) farthest = w;
    }
  }

  void check_race(const access& a, const access& b) {
    if (!run_.complete() || out_.full() || complete_before(a, b) || complete_before(b, a)) return;
    out_.add(fault::race, "{} and {} write the same bytes of rank {} in no order", text(a), text(b), owner_);
  }

  // A put to another host is complete at its flush, and at none if there is none.
  bool complete_before(const access& a, const access& b) const {
    const auto which = static_cast<std::uint32_t>(&a - graph_.accesses.data());
    return std::any_of(graph_.completions.begin(), graph_.completions.end(), [&](const completion& c) {
      return c.which == which && run_.precedes(c.when, b.begin);
    });
  }

  void check_block(const access& block, const std::vector<const access*>& written, std::size_t first,
                   std::vector<std::uint64_t>& named) {
    std::uint64_t reached = block.to;
    for (std::size_t k = first; k < written.size() && written[k]->to < end(block); ++k) {
      const access& w = *written[k];
      if (end(w) <= block.to) continue;
      named[k] += std::min(end(w), end(block)) - std::max(w.to, block.to);
      if (w.to > reached) missing(block, reached, w.to);
      reached = std::max(reached, std::min(end(w), end(block)));
      const std::uint64_t at = std::max(w.to, block.to);
      if (w.forwards) {
        check_forwarded(block, w, at);
      } else if (w.source != block.source || w.from - w.to != block.from - block.to) {
        out_.add(fault::wrong_provenance,
                 "{}: byte {} of rank {} comes from byte {} of rank {}, it should from byte {} of rank {}",
                 text(w), at, owner_, w.from + (at - w.to), w.source, block.from + (at - block.to),
                 block.source);
      }
    }
    if (reached < end(block)) missing(block, reached, end(block));
  }

  // What is handed on must be, where it is taken from, what it has to be here. That it is that there is seen
  // when the sender's own destination is checked.
  void check_forwarded(const access& block, const access& w, std::uint64_t at) {
    const std::uint64_t there = w.from + (at - w.to), wanted = block.from + (at - block.to);
    const block_rule& rule = expected_.rule;
    const std::uint64_t begin = rule.destination(block.source, w.source);
    const bool held = there >= begin && there - begin < rule.bytes;
    if (held && rule.source(block.source, w.source) + (there - begin) == wanted) return;
    out_.add(
        fault::wrong_provenance,
        "{}: byte {} of rank {} is handed on from byte {} of rank {}'s destination, which is not byte {} "
        "of rank {}",
        text(w), at, owner_, there, w.source, wanted, block.source);
  }

  void missing(const access& block, std::uint64_t from, std::uint64_t to) {
    out_.add(fault::never_written, "bytes [{}, {}) of rank {}, from rank {}", from, to, owner_, block.source);
  }

  const event_graph& graph_;
  const symbolic_run& run_;
  const movement& expected_;
  std::uint32_t owner_;
  report& out_;
};

} // namespace

bool stays(const movement& m, const access& a) {
  return m.in_place && a.source == a.destination && a.from == a.to;
}

void check_bytes(const event_graph& g, const symbolic_run& run, const movement& expected, report& out) {
  std::vector<std::vector<const access*>> written(g.members());
  for (const access& a : g.accesses) {
    if (a.writes && a.bytes != 0 && !stays(expected, a)) written[a.destination].push_back(&a);
  }
  std::vector<access> wanted;
  for (std::uint32_t j = 0; j < g.members(); ++j) {
    wanted.clear();
    for (std::uint32_t i = 0; i < g.members(); ++i) {
      // Where a scan is made in slices, a block is a slice, which each member is to have of all.
      const bool slice = expected.pairs == pattern::to_later && g.plans[j].pairs == pattern::all_pairs;
      if (expected.rule.bytes == 0 || (!slice && !expected.sends(i, j))) continue;
      access block;
      block.source = i;
      block.destination = j;
      block.from = expected.rule.source(i, j);
      block.to = expected.rule.destination(i, j);
      block.bytes = expected.rule.bytes;
      if (!stays(expected, block)) wanted.push_back(block);
    }
    destination(g, run, expected, j, out).check(written[j], wanted);
  }
}

} // namespace weft::graph::checking
