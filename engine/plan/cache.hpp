// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/plan/plan.hpp"

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
