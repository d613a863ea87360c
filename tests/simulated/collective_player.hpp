// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/memory/mailbox.hpp"
#include "engine/memory/ring_list.hpp"
#include "progress/driving/engine.hpp"
#include "testing/simulated/random.hpp"
#include "tests/simulated/collective_case.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft::tests {

struct wrong_result : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What the ranks of one run know of each other beside the library.
struct onlookers {
  explicit onlookers(const collective_case& c) : ranks(c.ranks) {
    std::size_t calls = 0;
    for (const auto& round : c.rounds)
      calls += round.size();
    posted = std::vector<std::atomic<bool>>(calls * ranks);
    left = std::vector<std::atomic<bool>>(calls * ranks);
  }
  std::size_t at(std::uint64_t call, std::uint32_t rank) const { return call * ranks + rank; }

  std::uint32_t ranks;
  std::vector<std::atomic<bool>> posted, left; // by call and rank
  std::atomic<std::uint32_t> ended{0};
};

// The team of all ranks of a case, as one of them sees it.
inline engine::team_info team_of_all(const collective_case& c, std::uint32_t rank, std::uint32_t id,
                                     std::uint64_t mailbox_offset) {
  engine::team_info info;
  info.id = id;
  for (std::uint32_t r = 0; r < c.ranks; ++r)
    info.world.push_back(r);
  info.topology = graph::topology(rank, c.nodes);
  info.mailbox_offset = mailbox_offset;
  return info;
}

inline std::vector<std::uint32_t> neighbours_of(const collective_case& c, std::uint32_t rank) {
  std::vector<std::uint32_t> near;
  for (std::uint32_t r = 0; r < c.ranks; ++r)
    if (c.nodes[r] == c.nodes[rank]) near.push_back(r);
  return near;
}

// One rank's part in a case: prepares buffers as early and spoils them as late as the modes allow, posts,
// waits in random order and compares with the reference. `computes` is how it is late; `segment_of` (may be
// empty) gives the memory of all ranks, to look at when a rank has left an operation that is over everywhere.
template <class T> class collective_player {
public:
  using engine_type = progress::engine<T>;

  collective_player(const collective_case& c, engine_type& e, progress::channel& team, std::uint64_t heap,
                    onlookers& look, std::function<void(std::chrono::nanoseconds)> computes,
                    std::function<std::byte*(std::uint32_t)> segment_of = {})
      : c_(c), engine_(e), team_(team), heap_(heap), look_(look), computes_(std::move(computes)),
        segment_of_(std::move(segment_of)), rank_(e.net().rank()), random_(c.seed * 1000003 + rank_) {}

  void play() {
    for (const auto& round : c_.rounds) {
      play_round(round);
      next_call_ += round.size();
    }
  }

  std::string doing() const { return doing_; }
  const std::vector<collective_case::call>* round() const { return round_; }

private:
  using call = collective_case::call;
  using sync = graph::sync;

  std::uint64_t begin(std::size_t k) const { return heap_ + k * c_.call_bytes(); }
  graph::binding at(std::size_t k) const { return (*round_)[k].binding(begin(k)); }
  std::byte* own(std::uint64_t offset) const { return engine_.net().segment() + offset; }

  void play_round(const std::vector<call>& round) {
    round_ = &round;
    bool early = false, open = false;
    for (const call& k : round) {
      early |= k.request.in == sync::no;
      open |= k.request.out == sync::no;
    }
    for (std::size_t k = 0; k < round.size(); ++k) {
      spoil(k);
      if (round[k].request.in == sync::no) fill(k);
    }
    if (early) meet("before");
    std::vector<std::uint64_t> handles;
    if (round.size() == 1 && random_.coin(0.5)) {
      enter(0);
      guarded(0, [&] { engine_.run(team_, round[0].request, at(0), value(0)); });
      leave(0);
    } else {
      for (std::size_t k = 0; k < round.size(); ++k) {
        enter(k);
        handles.push_back(engine_.post(team_, round[k].request, at(k), value(k)));
        if (handles.back() == 0) throw wrong_result("a post was refused");
      }
      wait_for_all(handles);
    }
    if (open) meet("after");
    for (std::size_t k = 0; k < round.size(); ++k)
      if (round[k].request.out == sync::no) check(k, rank_, own(0));
  }

  void wait_for_all(std::vector<std::uint64_t> handles) {
    std::vector<std::size_t> order(handles.size());
    for (std::size_t k = 0; k < order.size(); ++k)
      order[k] = k;
    for (std::size_t k = order.size(); k > 1; --k)
      std::swap(order[k - 1], order[random_.below(k)]);
    for (const std::size_t k : order) {
      doing_ = "waits for call " + std::to_string(next_call_ + k) + ", " + text_of((*round_)[k].request);
      guarded(k, [&] { complete(handles[k]); });
      leave(k);
    }
  }

  void complete(std::uint64_t handle) {
    if (random_.coin(0.7)) return engine_.wait(handle);
    while (engine_.test(handle) == engine_type::status::pending)
      engine_.net().relax();
  }

  // A barrier with different values must fail, everything else must not.
  template <class Act> void guarded(std::size_t k, Act&& act) {
    bool failed = false;
    try {
      act();
    } catch (const progress::operation_error&) {
      failed = true;
    }
    if (failed != ((*round_)[k].odd_one != collective_case::no_rank))
      fail(k, failed ? "failed" : "did not notice that the values differ");
  }

  progress::barrier_summary value(std::size_t k) const {
    if ((*round_)[k].request.op != collectives::operation::barrier) return {};
    const std::int32_t given = (*round_)[k].odd_one == rank_ ? 8 : 7;
    return {.known = 1, .rank = rank_, .other_rank = 0, .value = given, .other_value = 0};
  }

  void spoil(std::size_t k) { std::memset(own(begin(k)), static_cast<int>(poison), c_.call_bytes()); }
  void fill(std::size_t k) {
    const auto memory = memory_before(c_, (*round_)[k], next_call_ + k, rank_, begin(k));
    std::memcpy(own(begin(k)), memory.data(), memory.size());
  }

  // The last moment before the post.
  void enter(std::size_t k) {
    const collectives::request& r = (*round_)[k].request;
    doing_ = "is about to post call " + std::to_string(next_call_ + k) + ", " + text_of(r);
    if (rank_ == c_.sluggard && random_.coin(0.2)) {
      computes_(std::chrono::microseconds(random_.below(1000)));
    } else if (random_.coin(c_.late)) {
      computes_(std::chrono::microseconds(random_.below(50)));
    }
    if (r.in != sync::no) {
      const std::span memory(own(begin(k)), c_.call_bytes());
      if (std::ranges::any_of(memory, [](std::byte b) { return b != poison; }))
        fail(k, "wrote to the memory of a rank that has not entered");
      fill(k);
    }
    look_.posted[look_.at(next_call_ + k, rank_)].store(true);
  }

  // The first moment after the exit.
  void leave(std::size_t k) {
    const std::uint64_t number = next_call_ + k;
    const collectives::request& r = (*round_)[k].request;
    if (r.in == sync::all)
      for (std::uint32_t other = 0; other < c_.ranks; ++other)
        if (!look_.posted[look_.at(number, other)].load()) fail(k, "ended before all have entered");
    if (r.out == sync::all && segment_of_)
      for (std::uint32_t other = 0; other < c_.ranks; ++other)
        if (!look_.left[look_.at(number, other)].load()) check(k, other, segment_of_(other));
    look_.left[look_.at(number, rank_)].store(true);
    if (r.out == sync::no) return;
    check(k, rank_, own(0));
    spoil(k);
  }

  void meet(const char* when) {
    doing_ = std::string("meets the others ") + when + " the round of call " + std::to_string(next_call_);
    engine_.run(team_, {}, {});
  }

  void check(std::size_t k, std::uint32_t whose, const std::byte* segment) const {
    const std::string wrong = check_memory(c_, (*round_)[k], next_call_ + k, whose, segment, begin(k));
    if (!wrong.empty()) fail(k, wrong);
  }

  [[noreturn]] void fail(std::size_t k, const std::string& what) const {
    throw wrong_result("rank " + std::to_string(rank_) + ", call " + std::to_string(next_call_ + k) + ", " +
                       text_of((*round_)[k].request) + ": " + what);
  }

  const collective_case& c_;
  engine_type& engine_;
  progress::channel& team_;
  const std::uint64_t heap_;
  onlookers& look_;
  const std::function<void(std::chrono::nanoseconds)> computes_;
  const std::function<std::byte*(std::uint32_t)> segment_of_;
  const std::uint32_t rank_;
  transport::sim::seeded_random random_;
  const std::vector<call>* round_ = nullptr;
  std::uint64_t next_call_ = 0;
  std::string doing_ = "begins";
};

} // namespace weft::tests
