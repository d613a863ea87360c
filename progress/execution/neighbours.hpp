// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/memory/segment_layout.hpp"
#include "progress/execution/sleep_flag.hpp"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft::progress {

// The processes of this host whose sleep must be ended by a ring, because a store into shared memory wakes
// no process. The protocol is that of sleep_flag.hpp; its two fences are the transport's light one
// (signaller, on every signal) and heavy one (sleeper), which together order as two full ones do.
template <class T> class neighbours {
public:
  explicit neighbours(T& net) : net_(net) {}

  // `ranks` are the ranks of the job on this host in rank order, this one included.
  void meet(const std::vector<std::uint32_t>& ranks) {
    auto header = [this](std::uint32_t rank) {
      std::byte* base = rank == net_.rank() ? net_.segment() : net_.direct(rank);
      if (base == nullptr)
        throw std::runtime_error("the memory of rank " + std::to_string(rank) +
                                 " on this node is out of reach");
      return reinterpret_cast<engine::segment_header*>(base);
    };
    sleepers_ = &header(ranks.front())->sleepers;
    for (std::uint32_t rank : ranks) {
      if (rank == net_.rank())
        mine_.emplace(header(rank)->sleeping, *sleepers_), waits_.emplace(net_, header(rank)->waits_for);
      else
        others_.push_back({rank, sleep_flag(header(rank)->sleeping, *sleepers_), header(rank)->waits_for});
    }
  }

  // After facts were stored: rings the ranks that sleep. If none does, it costs a light fence and a load.
  [[gnu::always_inline]] unsigned wake() {
    if (others_.empty()) return 0;
    net_.light_fence();
    if (sleepers_->load(std::memory_order_relaxed) == 0) [[likely]]
      return 0;
    return ring_sleepers();
  }

  // Rings the ranks that are away and can go on: see ring_list.hpp. True if there were any.
  bool ring_ready() {
    bool rung = false;
    for (other& o : others_) {
      std::uint64_t state = net_.load(o.waits_for.state);
      if (engine::ring_list::count_in(state) == 0) [[likely]]
        continue;
      rung |= ring_if_ready(o, state);
    }
    return rung;
  }
  // What this rank itself waits for.
  engine::ring_list_writer<T>& waits() { return *waits_; }
  // Has something of it come?
  bool can_go_on() {
    engine::ring_list& mine = own()->waits_for;
    return engine::has_come(net_, mine, net_.load(mine.state), segments());
  }
  bool any_asleep() const { return sleepers_->load(std::memory_order_relaxed) != 0; }

  bool met() const { return mine_.has_value(); }
  // This process is about to sleep: from here on the others ring. Look once more before sleeping.
  void announce() {
    mine_->announce();
    net_.heavy_fence();
  }
  void cancel() { mine_->cancel(); }

private:
  struct other {
    std::uint32_t rank;
    sleep_flag flag;
    engine::ring_list& waits_for;
  };

  engine::segment_header* own() { return reinterpret_cast<engine::segment_header*>(net_.segment()); }
  auto segments() {
    return [this](std::uint32_t rank) { return rank == net_.rank() ? net_.segment() : net_.direct(rank); };
  }
  [[gnu::noinline]] unsigned ring_sleepers() {
    unsigned rung = 0;
    for (other& o : others_) {
      if (!o.flag.needs_ring_after_fence()) continue;
      net_.ring(o.rank);
      ++rung;
    }
    return rung;
  }
  [[gnu::noinline]] bool ring_if_ready(other& o, std::uint64_t state) {
    if (!engine::has_come(net_, o.waits_for, state, segments())) return false;
    const std::uint64_t rung = state & ~std::uint64_t{(1u << engine::ring_list::count_bits) - 1};
    for (std::uint64_t seen = state; seen == state;)
      if (net_.cas(o.waits_for.state, seen, rung)) {
        net_.ring(o.rank);
        return true;
      }
    return false;
  }

  T& net_;
  std::atomic<std::uint32_t>* sleepers_ = nullptr;
  std::optional<sleep_flag> mine_;
  std::optional<engine::ring_list_writer<T>> waits_;
  std::vector<other> others_;
};

} // namespace weft::progress
