// SPDX-License-Identifier: BSD-3-Clause
#include "engine/plan/builder.hpp"

#include "engine/plan/resolve.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <stdexcept>

namespace weft::graph {

namespace {

bool shares_work(const node& n) {
  return n.what == kind::claim || n.what == kind::assist || n.what == kind::rotate || n.what == kind::reduce;
}

// Phases that it has cells in.
std::uint8_t phases_of(const plan& p) {
  std::uint8_t most = 0;
  for (const node& n : std::span(p.nodes).first(p.size))
    most = std::max(most, n.phase);
  return static_cast<std::uint8_t>(most + 1);
}

class inclusion {
public:
  inclusion(plan& all, const plan& part, const as_part& how)
      : all_(all), part_(part), how_(how), first_node_(all.size), first_loop_(all.loops),
        scratch_(all.scratch) {}

  node_set run() {
    check();
    agree();
    for (std::uint8_t k = 0; k < part_.size; ++k)
      all_.nodes[all_.size++] = moved(part_.nodes[k], (part_.top >> k & 1) != 0);
    all_.loops = static_cast<std::uint8_t>(all_.loops + part_.loops);
    const node_set top = part_.top << first_node_;
    all_.top |= top;
    return top;
  }

private:
  std::span<const node> nodes() const { return std::span(part_.nodes).first(part_.size); }

  void check() const {
    const auto demand = [](bool holds, const char* what) {
      if (!holds) throw std::logic_error(what);
    };
    demand(part_.size + all_.size <= int{max_nodes}, "a plan has at most 64 nodes, its parts included");
    demand(part_.loops + all_.loops <= int{all_loops}, "a plan has no more loops, its parts included");
    demand(phases_of(part_) + how_.phase <= int{max_phases}, "a plan has at most 2 phases");
    demand(part_.me == all_.me && part_.members == all_.members, "a part is of other members");
    const bool shares = std::ranges::any_of(nodes(), shares_work);
    demand(!shares || how_.phase == 0, "a part shares its work in phase 0");
    demand(!shares || all_.chunks == 0 || (all_.chunk == part_.chunk && all_.chunks == part_.chunks),
           "a plan's blocks are cut in one way");
    demand(part_.radix == 0 || all_.radix == 0 || all_.radix == part_.radix, "a plan has one tree");
  }

  // What the whole has to say of it.
  void agree() {
    all_.scratch += part_.scratch;
    all_.packed = std::max(all_.packed, part_.packed);
    all_.far |= part_.far;
    all_.large |= part_.large;
    all_.parts |= part_.parts;
    all_.computes |= part_.computes;
    all_.valued |= part_.valued;
    if (all_.radix == 0) all_.radix = part_.radix;
    for (unsigned phase = 0; phase + how_.phase < max_phases; ++phase)
      if (part_.eager_bytes[phase] != 0) all_.eager_bytes[phase + how_.phase] = part_.eager_bytes[phase];
  }

  node moved(node n, bool top) {
    n.after <<= first_node_;
    if (top && how_.waits(part_, n)) n.after |= how_.after;
    if (n.what == kind::loop) {
      n.body = static_cast<std::uint8_t>(n.body + first_node_);
      n.loop_index = static_cast<std::uint8_t>(n.loop_index + first_loop_);
    }
    if (!is_of_operation(n.about)) n.phase = static_cast<std::uint8_t>(n.phase + how_.phase);
    n.read = moved(n.read);
    n.write = moved(n.write);
    return n;
  }

  operand moved(operand o) {
    if (o.in == buffer::none) return o;
    place at = part_.places[o.at];
    if (o.in == buffer::scratch) at.base += scratch_;
    if (o.in == buffer::source)
      o.in = how_.source;
    else if (o.in == buffer::destination)
      o.in = how_.destination;
    o.at = entry(at);
    return o;
  }

  std::uint8_t entry(const place& at) {
    const auto known = std::span(all_.places).first(all_.place_count);
    const auto found = std::ranges::find(known, at);
    if (found != known.end()) return static_cast<std::uint8_t>(found - known.begin());
    if (all_.place_count == max_places) throw std::logic_error("a plan has at most 8 places");
    all_.places[all_.place_count] = at;
    return all_.place_count++;
  }

  plan& all_;
  const plan& part_;
  const as_part& how_;
  const std::uint8_t first_node_, first_loop_;
  const std::uint64_t scratch_;
};

// The nodes that are left of a plan, closed up.
class decision {
public:
  decision(const plan& p, branch way) : plan_(p), way_(way) {}

  plan run() {
    for (unsigned k = 0; k < plan_.size; ++k)
      if ((plan_.top >> k & 1) != 0) look_at(k);
    plan made = plan_;
    made.patience = 0;
    made.size = 0;
    made.top = of(plan_.top & left_);
    made.alone = of(plan_.alone & left_);
    for (node_set rest = left_; rest != 0; rest &= rest - 1)
      made.nodes[made.size++] = moved(static_cast<unsigned>(std::countr_zero(rest)));
    std::fill(made.nodes.begin() + made.size, made.nodes.end(), node{});
    prepare(made);
    return made;
  }

private:
  void look_at(unsigned k) {
    const node& n = plan_.nodes[k];
    node_set& after = after_[k];
    after = n.after;
    for (node_set gone = after & ~left_; gone != 0; gone &= gone - 1)
      after |= after_[static_cast<unsigned>(std::countr_zero(gone))];
    const bool chooses = n.what == kind::choose && !(n.way == direction::out && way_ == branch::alone);
    if (chooses || (n.on != branch::either && n.on != way_)) return;
    left_ |= node_set{1} << k;
    if (n.what == kind::loop) left_ |= ((node_set{1} << n.body_size) - 1) << n.body;
  }
  node moved(unsigned k) const {
    node n = plan_.nodes[k];
    n.after = of(after_[k] & left_);
    n.on = branch::either;
    if (n.what == kind::loop) n.body = place_of(n.body);
    if (n.what == kind::choose) n.what = kind::await, n.way = direction::in;
    return n;
  }
  std::uint8_t place_of(unsigned k) const {
    return static_cast<std::uint8_t>(std::popcount(left_ & ((node_set{1} << k) - 1)));
  }
  node_set of(node_set nodes) const {
    node_set moved = 0;
    for (; nodes != 0; nodes &= nodes - 1)
      moved |= node_set{1} << place_of(static_cast<unsigned>(std::countr_zero(nodes)));
    return moved;
  }

  const plan& plan_;
  const branch way_;
  node_set left_ = 0;
  std::array<node_set, max_nodes> after_{}; // of top nodes: those before it, also past what is gone
};

} // namespace

std::vector<plan> decided(std::span<const plan> plans, branch way) {
  std::vector<plan> made;
  made.reserve(plans.size());
  for (const plan& p : plans)
    made.push_back(decision(p, way).run());
  return made;
}

node_set include(plan& all, const plan& part, const as_part& how) {
  return inclusion(all, part, how).run();
}

} // namespace weft::graph
