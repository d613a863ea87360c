// SPDX-License-Identifier: BSD-3-Clause
#include "tests/simulated/control_case.hpp"

#include "testing/simulated/random.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace weft::tests {
namespace {
using effect = control_case::effect;
using step = control_case::step;
using transport::sim::seeded_random;

class composer {
public:
  explicit composer(std::uint64_t seed) : random_(seed * 7919 + 3) {
    c_.seed = seed;
    c_.ranks = static_cast<std::uint32_t>(2 + random_.below(6));
    const std::uint64_t shape = random_.below(3);
    const auto nodes = static_cast<std::uint32_t>(shape == 2 ? c_.ranks : shape + 1);
    for (std::uint32_t rank = 0; rank < c_.ranks; ++rank)
      c_.nodes.push_back(rank % nodes);
    c_.heap_bytes = 4096 * (1 + random_.below(3));
    c_.sluggard = static_cast<std::uint32_t>(random_.below(c_.ranks));
    if (random_.coin(0.3)) c_.team_places = static_cast<std::uint32_t>(nodes + 1 + random_.below(3));
    c_.teams.emplace_back(c_.ranks);
    std::iota(c_.teams.front().begin(), c_.teams.front().end(), 0u);
    alive_.push_back(0);
  }

  control_case compose() {
    const std::uint64_t steps = 8 + random_.below(16);
    while (c_.steps.size() < steps)
      add(random_.below(13));
    while (alive_.size() > 1)
      free_team();
    for (std::uint32_t rank = 0; rank < c_.ranks; ++rank)
      c_.steps.push_back({.what = effect::free_together, .rank = rank, .twice = random_.coin(0.2)});
    return std::move(c_);
  }

private:
  void add(std::uint64_t what) {
    if (what < 2)
      allocate();
    else if (what < 3)
      free_together();
    else if (what < 5)
      split();
    else if (what < 7)
      make();
    else if (what < 9)
      free_team();
    else
      collective();
  }

  std::size_t any_team() { return alive_[random_.below(alive_.size())]; }

  void allocate() {
    const std::uint64_t bytes = 1 + random_.below(random_.coin(0.2) ? 2 * c_.heap_bytes : c_.heap_bytes / 2);
    blocks_.push_back(c_.steps.size());
    c_.steps.push_back({.what = effect::allocate, .bytes = bytes});
  }
  void free_together() {
    if (blocks_.empty()) return;
    c_.steps[blocks_.back()].kept = true;
    c_.steps.push_back({.what = effect::free_together, .block = blocks_.back(), .twice = random_.coin(0.2)});
    blocks_.pop_back();
  }

  std::size_t new_team(std::vector<std::uint32_t> members) {
    c_.teams.push_back(std::move(members));
    alive_.push_back(c_.teams.size() - 1);
    return c_.teams.size() - 1;
  }

  void split() {
    const std::size_t parent = any_team();
    const std::vector<std::uint32_t> members = c_.teams[parent];
    step s{.what = effect::split, .team = parent, .made = std::vector<std::size_t>(members.size())};
    std::map<int, std::vector<std::pair<int, std::uint32_t>>> colors; // key, rank in the parent
    const std::uint64_t choices = 1 + random_.below(3);
    for (std::uint32_t k = 0; k < members.size(); ++k) {
      s.colors.push_back(static_cast<int>(random_.below(choices)) - 1);
      s.keys.push_back(static_cast<int>(random_.below(4)) - 2);
      colors[s.colors[k]].emplace_back(s.keys[k], k);
    }
    for (auto& [color, wanted] : colors) {
      std::ranges::sort(wanted);
      std::vector<std::uint32_t> made;
      for (const auto& [key, k] : wanted)
        made.push_back(members[k]);
      const std::size_t team = new_team(std::move(made));
      for (const auto& [key, k] : wanted)
        s.made[k] = team;
    }
    c_.steps.push_back(std::move(s));
  }

  void make() {
    const std::size_t parent = any_team();
    std::vector<std::uint32_t> list = c_.teams[parent];
    for (std::size_t k = list.size(); k > 1; --k)
      std::swap(list[k - 1], list[random_.below(k)]);
    step s{.what = effect::make, .team = parent};
    if (list.size() > 1 && random_.coin(0.2)) {
      s.what = effect::make_of_two_lists;
      s.list = std::move(list);
    } else {
      list.resize(1 + random_.below(list.size()));
      s.list = list;
      s.made.assign(c_.teams[parent].size(), new_team(std::move(list)));
    }
    c_.steps.push_back(std::move(s));
  }

  void free_team() {
    if (alive_.size() == 1) return;
    const std::size_t at = 1 + random_.below(alive_.size() - 1);
    c_.steps.push_back({.what = effect::free, .team = alive_[at]});
    alive_.erase(alive_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  void collective() {
    using collectives::operation;
    constexpr operation all[] = {operation::barrier, operation::broadcast, operation::gather_all,
                                 operation::exchange};
    constexpr graph::sync modes[] = {graph::sync::no, graph::sync::my, graph::sync::all};
    step s{.what = effect::collective, .team = any_team()};
    s.area = c_.areas++;
    s.call.op = all[random_.below(4)];
    if (s.call.op != operation::barrier) {
      s.call.bytes = 1 + random_.below(random_.coin(0.2) ? control_case::most_bytes : 64);
      s.call.in = random_.coin(0.5) ? graph::sync::all : graph::sync::my;
      s.call.out = modes[random_.below(3)];
    }
    if (s.call.bytes <= 64 && random_.coin(0.2)) s.times = static_cast<std::uint32_t>(1 + random_.below(40));
    if (s.call.op == operation::broadcast)
      s.call.root = static_cast<std::uint32_t>(random_.below(c_.teams[s.team].size()));
    c_.steps.push_back(std::move(s));
  }

  control_case c_;
  seeded_random random_;
  std::vector<std::size_t> alive_;  // teams, that of all first
  std::vector<std::size_t> blocks_; // steps that allocated what no member has freed
};

} // namespace

std::uint32_t control_case::member(std::size_t team, std::uint32_t rank) const {
  return static_cast<std::uint32_t>(std::ranges::find(teams[team], rank) - teams[team].begin());
}

control_case make_control_case(std::uint64_t seed) {
  return composer(seed).compose();
}

} // namespace weft::tests
