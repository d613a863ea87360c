// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "progress/execution/executor.hpp"
#include "testing/simulated/simulation.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <gtest/gtest.h>
#include <random>

namespace weft::tests {

// A plan that no call of the library has, played on simulated machines.
struct played_plan {
  std::vector<std::uint32_t> nodes;          // of each rank
  std::uint64_t source = 0, destination = 0; // bytes of each rank's buffers
  std::function<graph::plan(std::uint32_t me, const graph::topology&)> make;
  std::function<void(std::uint32_t rank, std::uint32_t call, std::byte* source)> fill;
  std::function<void(std::uint32_t rank, std::uint32_t call, const std::byte* destination)> check;
  const graph::task* task = nullptr;
  bool in_place = false;   // the source is the destination
  std::uint32_t calls = 5; // posted together, each with buffers of its own
  bool late = true;        // some ranks

  std::uint64_t area() const { return (std::max(source, destination) / 64 + 1) * 64; }
};

class playing_rank {
public:
  playing_rank(const played_plan& p, std::uint64_t seed, std::uint32_t rank,
               transport::simulated_transport& t)
      : played_(p), rank_(rank), net_(t), draw_(seed * 64 + rank),
        executor_({t, counts_}, [](progress::operation& op) { op.finished.store(true); }) {
    engine::team_info info;
    for (std::uint32_t r = 0; r < p.nodes.size(); ++r)
      info.world.push_back(r);
    info.topology = graph::topology(rank, p.nodes);
    info.mailbox_offset = engine::first_mailbox_offset;
    program_ = p.make(rank, info.topology);
    team_ = &executor_.add_channel(std::move(info));
  }

  void play(std::uint64_t heap) {
    std::deque<progress::operation> posted(played_.calls);
    for (std::uint32_t call = 0; call < played_.calls; ++call) {
      const std::uint64_t src = heap + 2 * call * played_.area(), dst = src + played_.area();
      played_.fill(rank_, call, net_.segment() + src);
      if (played_.late && draw_() % 3 == 0) net_.compute(std::chrono::nanoseconds(draw_() % 20'000));
      progress::operation& op = posted[call];
      op.channel = team_;
      op.program = &program_;
      op.at = {.dst = played_.in_place ? src : dst, .src = src, .task = played_.task};
      op.seq = net_.add(team_->own.entered(), 1) + 1;
      executor_.start(op);
    }
    for (const progress::operation& op : posted)
      while (!op.finished.load())
        sweep();
    for (std::uint32_t call = 0; call < played_.calls; ++call)
      played_.check(rank_, call,
                    net_.segment() + heap + (2 * call + (played_.in_place ? 0 : 1)) * played_.area());
  }
  // Who has ended still answers.
  void sweep() {
    executor_.sweep();
    net_.relax();
  }

private:
  const played_plan& played_;
  std::uint32_t rank_;
  transport::simulated_transport& net_;
  std::mt19937_64 draw_;
  progress::statistics counts_;
  graph::plan program_;
  progress::executor<transport::simulated_transport> executor_;
  progress::channel* team_ = nullptr;
};

// Returns what it has taken on the virtual clock.
inline std::chrono::nanoseconds
play(const played_plan& p, std::uint64_t seed,
     const transport::simulated_chaos& chaos = transport::simulated_chaos::rough()) {
  transport::simulation_options o;
  o.seed = seed;
  o.ranks = static_cast<std::uint32_t>(p.nodes.size());
  o.host_of_rank = p.nodes;
  o.chaos = chaos;
  const std::uint64_t heap = engine::heap_offset(graph::topology(0, p.nodes).largest_host());
  o.segment_bytes = heap + 2 * p.calls * p.area();
  transport::simulation s(o);
  std::uint32_t ended = 0;
  s.run([&](std::uint32_t rank, transport::simulated_transport& t) {
    playing_rank it(p, seed, rank, t);
    it.play(heap);
    for (++ended; ended != o.ranks;)
      it.sweep();
  });
  return s.elapsed();
}

} // namespace weft::tests
