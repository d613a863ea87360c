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
// nobody. The protocol is that of sleep_flag.hpp; its two fences are the transport's light one (signaller, on
// every signal) and heavy one (sleeper), which together order as two full ones do.
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
        mine_.emplace(header(rank)->sleeping, *sleepers_);
      else
        others_.push_back({rank, sleep_flag(header(rank)->sleeping, *sleepers_)});
    }
  }

  // After facts were stored: rings whoever sleeps. Nobody asleep costs a light fence and a load.
  unsigned wake() {
    if (others_.empty()) return 0;
    net_.light_fence();
    if (sleepers_->load(std::memory_order_relaxed) == 0) [[likely]]
      return 0;
    unsigned rung = 0;
    for (other& o : others_) {
      if (!o.flag.needs_ring_after_fence()) continue;
      net_.ring(o.rank);
      ++rung;
    }
    return rung;
  }

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
  };
  T& net_;
  std::atomic<std::uint32_t>* sleepers_ = nullptr;
  std::optional<sleep_flag> mine_;
  std::vector<other> others_;
};

} // namespace weft::progress
