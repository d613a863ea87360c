// SPDX-License-Identifier: BSD-3-Clause
#include "verify/goal.hpp"

#include "engine/plan/builder.hpp"
#include "engine/topology/topology.hpp"
#include "verify/checks.hpp"
#include "verify/traffic.hpp"

#include <algorithm>
#include <map>

namespace weft::graph {
namespace checking {
namespace {

constexpr std::uint64_t word = 8; // bytes of a message that stands for a word of shared memory

enum class does : std::uint8_t { send, receive, compute };

struct goal_step {
  does what = does::compute;
  std::uint64_t amount = 0; // bytes; ns
  std::uint32_t peer = 0, tag = 0;
  bool adapter = false;
  std::vector<std::uint32_t> after; // steps of the same rank
};

class schedule {
public:
  schedule(const event_graph& g, const symbolic_run& run, const adjacency& before,
           const collectives::cost_table& costs)
      : graph_(g), before_(before), costs_(costs), ranks_(g.members()), owner_(g.events.size()),
        done_(g.events.size()), copied_(g.events.size()), copies_(g.events.size()),
        position_(g.events.size()) {
    for (std::uint32_t k = 0; k < run.order().size(); ++k)
      position_[run.order()[k]] = k;
    for (const access& a : g.accesses) {
      ++copies_[a.begin];
      copied_[a.begin] += a.bytes;
    }
    for (const event_id e : run.order())
      add(e);
  }

  void write(std::ostream& to) const {
    to << "num_ranks " << ranks_.size() << "\n";
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      to << "\nrank " << rank << " {\n";
      for (std::size_t k = 0; k < ranks_[rank].size(); ++k)
        write(to, ranks_[rank][k], k + 1);
      to << "}\n";
    }
  }

private:
  static void write(std::ostream& to, const goal_step& s, std::size_t label) {
    to << "l" << label << ": ";
    if (s.what == does::compute)
      to << "calc " << s.amount;
    else
      to << (s.what == does::send ? "send " : "recv ") << s.amount << "b "
         << (s.what == does::send ? "to " : "from ") << s.peer << " tag " << s.tag;
    to << (s.adapter ? " cpu 1\n" : "\n");
    for (const std::uint32_t before : s.after)
      to << "l" << label << " requires l" << before + 1 << "\n";
  }

  bool near(std::uint32_t a, std::uint32_t b) const { return graph_.places[a].is_near(b); }
  const node* node_of(event_id e) const {
    const event& at = graph_.events[e];
    return at.as == role::step ? &graph_.plans[at.member].nodes[at.node] : nullptr;
  }

  std::uint32_t add_step(std::uint32_t rank, goal_step s) {
    ranks_[rank].push_back(std::move(s));
    return static_cast<std::uint32_t>(ranks_[rank].size() - 1);
  }

  // A message behind these steps of its sender; returns the step that receives it.
  std::uint32_t message(std::uint32_t from, std::uint32_t to, std::uint64_t bytes,
                        std::vector<std::uint32_t> after, bool from_adapter, bool to_adapter) {
    const std::uint32_t tag = tags_[{from, to}]++;
    add_step(from, {does::send, bytes, to, tag, from_adapter, std::move(after)});
    return add_step(to, {does::receive, bytes, from, tag, to_adapter, {}});
  }

  // What an event waits for. Of several that may cause it the first that happens does.
  std::span<const event_id> causes(event_id e) const {
    const auto all = before_.of(e);
    if (!graph_.events[e].any() || all.empty()) return all;
    const auto first = std::ranges::min_element(all, {}, [&](event_id p) { return position_[p]; });
    return all.subspan(static_cast<std::size_t>(first - all.begin()), 1);
  }

  // A block is carried by any rank that comes first, and no other rank tells of it.
  std::uint32_t owner_of(event_id e, std::span<const event_id> from) const {
    const role as = graph_.events[e].as;
    return as == role::block || as == role::helpers ? owner_[from.front()] : graph_.events[e].member;
  }

  void add(event_id e) {
    const auto from = causes(e);
    const std::uint32_t me = owner_[e] = owner_of(e, from);
    std::vector<std::uint32_t>& done = done_[e];
    for (const event_id cause : from) {
      if (owner_[cause] == me)
        done.insert(done.end(), done_[cause].begin(), done_[cause].end());
      else if (!is_of_box(cause))
        done.push_back(heard(cause, me));
    }
    std::ranges::sort(done);
    done.erase(std::unique(done.begin(), done.end()), done.end());
    act(e, me, done);
    if (done.size() > 1) done = {add_step(me, {does::compute, 0, 0, 0, false, done})};
  }

  // What a step does besides telling of it.
  void act(event_id e, std::uint32_t me, std::vector<std::uint32_t>& done) {
    const node* const n = node_of(e);
    const event& at = graph_.events[e];
    if (n != nullptr && at.peer != no_rank && at.peer != me && !near(me, at.peer)) {
      if (is_of_box(e)) return;
      if (n->what == kind::put) return put(*n, e, done);
      if (n->what == kind::get || n->what == kind::fetch) return get(*n, e, done);
    }
    if (copies_[e] != 0) {
      const std::uint64_t ns = copies_[e] * costs_.copy + copied_[e] * costs_.copied_byte / 1000;
      done = {add_step(me, {does::compute, ns, 0, 0, false, done})};
    }
    // Also a message for which nothing waits is sent.
    if (n != nullptr && n->what == kind::signal && at.peer != no_rank && !near(me, at.peer))
      heard(e, at.peer);
  }

  // Of an unequal block that came along with its note: it is not brought, and a rank that packs it says that
  // it has been read.
  bool is_of_box(event_id e) const {
    const node* const n = node_of(e);
    const event& at = graph_.events[e];
    return n != nullptr && at.peer != no_rank && graph_.plans[at.member].unequal &&
           !near(at.member, at.peer) &&
           (n->what == kind::get || (n->bundled && n->about == fact::consumed && n->what == kind::signal));
  }
  std::uint64_t moved(const node& n, event_id e) const {
    const event& at = graph_.events[e];
    if (n.what == kind::fetch) return word;
    return bytes_moved(graph_.plans[at.member], graph_.places[at.member], n, at.peer, at.iteration);
  }

  void put(const node& n, event_id e, std::vector<std::uint32_t>& done) {
    const event& at = graph_.events[e];
    const std::uint32_t landed = message(at.member, at.peer, moved(n, e), done, false, true);
    const auto sent = static_cast<std::uint32_t>(ranks_[at.member].size() - 1);
    done = {n.orders ? sent : message(at.peer, at.member, 0, {landed}, true, false)};
  }

  void get(const node& n, event_id e, std::vector<std::uint32_t>& done) {
    const event& at = graph_.events[e];
    const std::uint32_t asked = message(at.member, at.peer, 0, done, false, true);
    done = {message(at.peer, at.member, moved(n, e), {asked}, true, false)};
  }

  // The step at which a member hears of an event of another one: a message, once for each that hears.
  std::uint32_t heard(event_id e, std::uint32_t by) {
    const auto known = heard_.find({e, by});
    if (known != heard_.end()) return known->second;
    const node* const n = node_of(e);
    const std::uint32_t me = owner_[e];
    std::uint32_t received = 0;
    if (n != nullptr && n->relayed && graph_.events[e].peer != by) {
      // Engines hand it on, from member to member.
      const plan& p = graph_.plans[me];
      const std::uint32_t above = relay_tree(graph_.places[me], p.root, p.radix).above(by);
      const std::uint32_t there = heard(e, above);
      received = message(above, by, moved(*n, e), {there}, false, false);
    } else if (n != nullptr && n->bundled && !near(me, by) && graph_.events[e].peer != by) {
      // Out of the box of the member of its host to which the bundle goes.
      const std::uint32_t box = graph_.events[e].peer;
      received = message(box, by, word, {heard(e, box)}, false, false);
    } else {
      const bool far_signal = n != nullptr && n->what == kind::signal && !near(me, by);
      received = message(me, by, far_signal ? moved(*n, e) : near(me, by) ? word : 0, done_[e], false, false);
    }
    heard_[{e, by}] = received;
    return received;
  }

  const event_graph& graph_;
  const adjacency& before_;
  const collectives::cost_table& costs_;
  std::vector<std::vector<goal_step>> ranks_;
  std::vector<std::uint32_t> owner_;             // of an event: the rank whose step it is
  std::vector<std::vector<std::uint32_t>> done_; // the steps of that rank behind which it has happened
  std::vector<std::uint64_t> copied_;            // bytes
  std::vector<std::uint32_t> copies_, position_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> tags_;
  std::map<std::pair<event_id, std::uint32_t>, std::uint32_t> heard_;
};

} // namespace
} // namespace checking

verdict write_goal(std::ostream& to, std::span<const plan> plans,
                   const std::vector<std::uint32_t>& host_of_rank, const movement& expected,
                   const collectives::cost_table& costs) {
  using namespace checking;
  if (!plans.empty() && plans.front().patience != 0) // none is late
    return write_goal(to, decided(plans, branch::together), host_of_rank, expected, costs);
  std::vector<topology> places;
  for (std::uint32_t rank = 0; rank < host_of_rank.size(); ++rank)
    places.emplace_back(rank, host_of_rank);
  report out;
  check_structure(plans, places, out);
  if (!out.empty()) return out.take();
  const event_graph g = unfold(plans, std::move(places), expected, out);
  const adjacency after(g, adjacency::end::from), before(g, adjacency::end::to);
  const symbolic_run run(g, after, before, {});
  if (!run.complete()) run.report_cycles(out);
  if (!out.empty()) return out.take();
  schedule(g, run, before, costs).write(to);
  return {};
}

} // namespace weft::graph
