// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/algorithm.hpp"
#include "engine/log.hpp"
#include "engine/plan/cache.hpp"
#include "engine/plan/names.hpp"
#include "engine/special_paths.hpp"
#include "engine/team.hpp"
#include "progress/execution/call_record.hpp"
#include "progress/execution/statistics.hpp"

#include <array>
#include <cstdint>

namespace weft::progress {

// What WEFT_LOG=debug tells of a plan that is about to be compiled; the first member of its team prints.
[[gnu::cold, gnu::noinline]] inline void
log_plan(const collectives::request& r, const engine::team_info& team, const collectives::tuning& t) {
  if (team.me() != 0 || !engine::logs(engine::severity::debug)) return;
  const collectives::algorithm* way = collectives::choose(r, team.topology, t);
  const bool part = r.by != collectives::caller::collective;
  engine::log(engine::severity::debug,
              "plan: {}{} on team {} of {} threads, {} bytes a block, in {}, out {}: {}", name(r.op),
              part ? " of " + call_name(r) : "", team.id, team.size(), r.bytes, graph::name(r.in),
              graph::name(r.out), way == nullptr ? "the only algorithm" : way->name);
}

// The plans of one rank's teams: compiled on first use, cached by team and request. Under progress ownership.
class plan_store {
public:
  plan_store(std::size_t cap_bytes, const collectives::tuning& tuning) : cache_(cap_bytes), tuning_(tuning) {}

  [[gnu::always_inline]] const graph::plan* pin(const collectives::request& r, const engine::team_info& team,
                                                statistics& counts) {
    recent& last = recent_[static_cast<std::size_t>(r.op) % recent_.size()];
    latest_ = &last;
    if (special::recent_plans && last.program != nullptr && last.at.team == team.id && last.at.request == r)
        [[likely]] {
      cache_.pin_again(last.program);
      counts.cache_hits.add();
      return last.program;
    }
    return pin_another(r, team, counts, last);
  }
  void unpin(const graph::plan* p) { cache_.unpin(p); }

  struct key {
    std::uint32_t team = 0;
    collectives::request request;
    bool operator==(const key&) const = default;
  };
  // What was asked for last; null if nothing was.
  const key* latest() const { return latest_ == nullptr ? nullptr : &latest_->at; }

private:
  struct hash {
    std::size_t operator()(const key& k) const {
      const auto small = static_cast<std::uint64_t>(k.request.op) |
                         static_cast<std::uint64_t>(k.request.in) << 8 |
                         static_cast<std::uint64_t>(k.request.out) << 16 |
                         static_cast<std::uint64_t>(k.request.direction) << 24 | std::uint64_t{k.team} << 32;
      std::uint64_t h = (small ^ std::uint64_t{k.request.root} << 40) * 0x9e3779b97f4a7c15u;
      h = (h ^ h >> 32 ^ k.request.bytes) * 0xd6e8feb86659fd93u;
      return h ^ h >> 32;
    }
  };

  // The last plan of each kind of operation, pinned once more: a loop finds it without hashing.
  struct recent {
    key at;
    const graph::plan* program = nullptr;
  };

  [[gnu::noinline]] const graph::plan* pin_another(const collectives::request& r,
                                                   const engine::team_info& team, statistics& counts,
                                                   recent& last) {
    const std::uint64_t missed = cache_.counts().misses;
    const graph::plan* p = cache_.pin({team.id, r}, [&] {
      log_plan(r, team, tuning_);
      return collectives::compile(r, team.topology, tuning_);
    });
    (cache_.counts().misses == missed ? counts.cache_hits : counts.cache_misses).add();
    if (last.program != nullptr) cache_.unpin(last.program);
    cache_.pin_again(p);
    last = {{team.id, r}, p};
    return p;
  }

  graph::plan_cache<key, hash> cache_;
  std::array<recent, 8> recent_{};
  const recent* latest_ = nullptr;
  const collectives::tuning tuning_;
};

} // namespace weft::progress
