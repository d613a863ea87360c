// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/algorithm.hpp"
#include "engine/log.hpp"
#include "engine/plan/names.hpp"
#include "engine/plan/plan.hpp"
#include "engine/special_paths.hpp"
#include "engine/team.hpp"
#include "progress/execution/call_record.hpp"
#include "progress/execution/statistics.hpp"

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>

namespace weft::graph {

// Compiled plans by what they were compiled from, least recently used out first, under a cap of bytes.
//
// A plan is pinned while an operation runs on it and does not move or go away before the last unpin. Pinned
// plans count against the cap but are never evicted: operations in flight may carry the cache over its cap,
// and the unpins bring it back. Only idle plans are in the list of what may go, so that a victim is found at
// once however many are pinned.
//
// A hit costs one look-up and no allocation. Not thread-safe: the caller holds the lock.
template <class Key, class Hash = std::hash<Key>> class plan_cache {
  struct entry : plan {
    const Key* key = nullptr; // stands beside the entry in the index
    std::uint32_t pins = 0;
    entry* newer = nullptr; // neighbours among the idle
    entry* older = nullptr;
  };
  using index = std::unordered_map<Key, entry, Hash>;

public:
  struct statistics {
    std::uint64_t hits = 0;
    std::uint64_t misses = 0;
    std::uint64_t evictions = 0;
  };

  // What one plan takes: the entry, and the index's link, hash and bucket.
  static constexpr std::size_t entry_bytes = sizeof(typename index::value_type) + 3 * sizeof(void*);

  explicit plan_cache(std::size_t cap_bytes) : cap_(cap_bytes) {}
  plan_cache(const plan_cache&) = delete;
  plan_cache& operator=(const plan_cache&) = delete;

  // The plan of a key, pinned; `compile()` makes it if it is not there. A throwing compile leaves no trace
  // but the miss.
  template <class Compile> const plan* pin(const Key& key, Compile&& compile) {
    if (auto at = index_.find(key); at != index_.end()) {
      ++counts_.hits;
      return hold(at->second);
    }
    ++counts_.misses;
    const plan made = std::forward<Compile>(compile)();
    auto [at, added] = index_.try_emplace(key); // compile may have pinned the same key
    entry& e = at->second;
    if (added) {
      static_cast<plan&>(e) = made;
      e.key = &at->first;
      e.pins = 1;
      shrink();
      return &e;
    }
    return hold(e);
  }

  // The plan of a key, pinned, or nullptr; a miss is counted.
  const plan* find(const Key& key) {
    const auto at = index_.find(key);
    if (at == index_.end()) {
      ++counts_.misses;
      return nullptr;
    }
    ++counts_.hits;
    return hold(at->second);
  }

  // One more pin on a plan that is pinned already: no look-up.
  void pin_again(const plan* p) {
    ++static_cast<entry*>(const_cast<plan*>(p))->pins;
    ++counts_.hits;
  }

  // Ends one pin. `p` must come from this cache.
  void unpin(const plan* p) {
    entry& e = *static_cast<entry*>(const_cast<plan*>(p));
    assert(e.pins != 0);
    if (--e.pins != 0) return;
    link(e);
    shrink();
  }

  std::size_t size() const { return index_.size(); }
  std::size_t bytes() const { return index_.size() * entry_bytes; }
  std::size_t cap() const { return cap_; }
  const statistics& counts() const { return counts_; }

private:
  const plan* hold(entry& e) {
    if (e.pins++ == 0) unlink(e);
    return &e;
  }

  void shrink() {
    while (bytes() > cap_ && oldest_) {
      entry& victim = *oldest_;
      unlink(victim);
      index_.erase(index_.find(*victim.key));
      ++counts_.evictions;
    }
  }

  void link(entry& e) {
    e.newer = nullptr;
    e.older = newest_;
    (newest_ ? newest_->newer : oldest_) = &e;
    newest_ = &e;
  }

  void unlink(entry& e) {
    (e.newer ? e.newer->older : newest_) = e.older;
    (e.older ? e.older->newer : oldest_) = e.newer;
  }

  index index_;
  entry* newest_ = nullptr;
  entry* oldest_ = nullptr;
  std::size_t cap_;
  statistics counts_;
};

} // namespace weft::graph

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
