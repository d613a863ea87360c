// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/operations.hpp"
#include "engine/memory/mailbox.hpp"
#include "engine/memory/ring_list.hpp"
#include "progress/driving/engine.hpp"
#include "tests/simulated/failing_transport.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

namespace weft::tests {

// What a rank does while one request of a rank fails, and afterwards.
template <class T> class failing_program {
public:
  using engine_type = progress::engine<failing_transport<T>>;
  static constexpr std::uint64_t most_bytes = 20000;

  explicit failing_program(const std::vector<std::uint32_t>& nodes)
      : ranks_(static_cast<std::uint32_t>(nodes.size())), nodes_(nodes), calls_(calls()) {}

  std::uint64_t segment_bytes() const { return heap() + (4 + 2 * calls_.size()) * area(); }

  progress::channel& join(engine_type& e, std::uint32_t rank) const {
    std::vector<std::uint32_t> near;
    for (std::uint32_t r = 0; r < ranks_; ++r)
      if (nodes_[r] == nodes_[rank]) near.push_back(r);
    e.meet_neighbours(near);
    engine::team_info info;
    for (std::uint32_t r = 0; r < ranks_; ++r)
      info.world.push_back(r);
    info.topology = graph::topology(rank, nodes_);
    info.mailbox_offset = engine::first_mailbox_offset;
    return e.add_channel(std::move(info));
  }

  // How many operations failed. Each has a destination of its own: others may go on writing into that of one
  // that failed here.
  int play(engine_type& e, progress::channel& team) const {
    int errors = 0;
    const auto guarded = [&errors](auto&& complete) {
      try {
        complete();
      } catch (const progress::operation_error&) {
        ++errors;
      }
    };
    std::uint64_t dst = heap() + 4 * area();
    const auto next = [&] {
      return graph::binding{.dst = std::exchange(dst, dst + area()), .src = heap() + area()};
    };
    for (const collectives::request& r : calls_)
      guarded([&] { e.run(team, r, next()); });
    std::vector<std::uint64_t> posted;
    for (const collectives::request& r : calls_)
      posted.push_back(e.post(team, r, next()));
    for (const std::uint64_t h : posted)
      guarded([&] { e.wait(h); });
    return errors;
  }

  // A barrier and an exchange: is all as if nothing had happened?
  bool is_right(engine_type& e, progress::channel& team, std::uint32_t rank) const {
    const std::uint64_t dst = heap() + 2 * area(), src = heap() + 3 * area();
    for (std::uint32_t to = 0; to < ranks_; ++to)
      std::memset(e.net().segment() + src + to * most_bytes, static_cast<int>(16 * rank + to + 1),
                  most_bytes);
    collectives::request r;
    r.op = collectives::operation::exchange;
    r.bytes = most_bytes;
    e.run(team, {}, {});
    e.run(team, r, {.dst = dst, .src = src});
    bool right = true;
    for (std::uint32_t from = 0; from < ranks_; ++from)
      for (std::uint64_t k = 0; k < most_bytes; ++k)
        right &= e.net().segment()[dst + from * most_bytes + k] == std::byte(16 * from + rank + 1);
    return right;
  }

private:
  std::uint64_t area() const { return ranks_ * most_bytes; }
  std::uint64_t heap() const {
    const graph::topology g(0, nodes_);
    return (engine::first_mailbox_offset + engine::mailbox::bytes(g.largest_host()) + 4095) / 4096 * 4096;
  }

  std::vector<collectives::request> calls() const {
    using collectives::operation;
    std::vector<collectives::request> all;
    for (const std::uint64_t bytes : {std::uint64_t{8}, most_bytes})
      for (const graph::sync mode : {graph::sync::my, graph::sync::all})
        for (const operation op : {operation::barrier, operation::broadcast, operation::gather_all,
                                   operation::exchange, operation::scatter, operation::gather}) {
          collectives::request r;
          r.op = op;
          r.in = r.out = mode;
          if (op == operation::barrier) r.in = r.out = graph::sync::all;
          if (op != operation::barrier) r.bytes = bytes;
          r.root = collectives::rooted(op) && ranks_ > 1 ? 1 : 0;
          all.push_back(r);
        }
    return all;
  }

  const std::uint32_t ranks_;
  const std::vector<std::uint32_t> nodes_;
  const std::vector<collectives::request> calls_;
};

// The next request that fails in a test: each in the long suite, else ever fewer.
inline std::uint64_t next_request(std::uint64_t n) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  return 3 * n + 1;
#else
  return std::getenv("WEFT_EVERY_REQUEST") != nullptr ? n + 1 : n + 1 + n / 8;
#endif
}

} // namespace weft::tests
