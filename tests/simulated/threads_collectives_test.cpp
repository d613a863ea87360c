// SPDX-License-Identifier: BSD-3-Clause
// The random programs on the threads transport: every rank with its progress thread and two application
// threads, each of which plays a program of its own on its own team. For ThreadSanitizer above all.
#include "progress/driving/progress_thread.hpp"
#include "testing/threads/threads_transport.hpp"
#include "tests/simulated/collective_player.hpp"
#include "tests/simulated/seeds.hpp"
#include "tests/simulated/tuning_of_seed.hpp"

#include <array>
#include <gtest/gtest.h>
#include <mutex>
#include <optional>
#include <thread>

namespace weft::tests {
namespace {
using collectives::operation;
using collectives::request;
using graph::sync;
using transport::threads_fabric;
using transport::threads_transport;
using threads_engine = progress::engine<threads_transport>;

constexpr std::size_t programs = 2; // application threads of a rank

// Where the mailboxes of the teams and the buffers of the programs are, in every segment.
struct layout {
  explicit layout(const std::array<collective_case, programs>& cases) {
    const graph::topology g(0, cases[0].nodes);
    std::uint64_t end = engine::first_mailbox_offset;
    for (std::uint64_t& at : mailboxes) {
      at = end;
      end += engine::mailbox_bytes(g);
    }
    for (std::size_t k = 0; k < programs; ++k) {
      heaps[k] = end = (end + 63) / 64 * 64;
      end += cases[k].heap_bytes();
    }
    bytes = end;
  }
  std::array<std::uint64_t, programs> mailboxes{}, heaps{};
  std::uint64_t bytes = 0;
};

// The same ranks and nodes, another program for each thread.
using programs_of_run = std::array<collective_case, programs>;

programs_of_run any_programs(std::uint64_t seed) {
  const case_limits limits{.ranks = 8, .bytes = 8 * 1024, .calls = 70};
  collective_case first = make_case(seed, limits);
  collective_case second;
  for (std::uint64_t other = seed + 1'000'000; second.rounds.empty(); ++other) {
    second = make_case(other, limits);
    if (second.ranks != first.ranks) second.rounds.clear();
  }
  second.nodes = first.nodes;
  return {std::move(first), std::move(second)};
}

// Permutations in place alone, whose cycles several ranks rotate at once.
programs_of_run rotations(std::uint64_t seed) {
  transport::sim::seeded_random random(seed * 2 + 1);
  programs_of_run all;
  const auto ranks = static_cast<std::uint32_t>(2 + random.below(6));
  const auto on_a_node = static_cast<std::uint32_t>(random.coin(0.7) ? ranks : 1 + random.below(ranks));
  for (collective_case& c : all) {
    c.seed = random.next();
    c.ranks = ranks;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      c.nodes.push_back(rank / on_a_node);
    c.late = 0.2;
    for (int round = 0; round < 3; ++round) {
      auto& calls = c.rounds.emplace_back();
      for (int k = 0; k < 8; ++k) {
        constexpr std::array modes{sync::no, sync::my, sync::all};
        request r{random.coin(0.5) ? operation::permute : operation::permute_x, modes[random.below(3)],
                  modes[random.below(3)]};
        if (r.op == operation::permute) r.bytes = random.coin(0.5) ? 8 : 5000;
        r.in_place = true;
        calls.push_back(lay_out(ranks, r, random.next(), 5000));
      }
    }
  }
  return all;
}

class threads_run {
public:
  threads_run(std::uint64_t seed, programs_of_run cases)
      : seed_(seed), cases_(std::move(cases)), layout_(cases_) {
    for (const collective_case& c : cases_)
      looks_.push_back(std::make_unique<onlookers>(c));
    fabric_.emplace(cases_[0].ranks, cases_[0].nodes, layout_.bytes);
  }

  // What went wrong, or an empty text.
  std::string play() {
    std::vector<std::thread> ranks;
    for (std::uint32_t rank = 0; rank < cases_[0].ranks; ++rank)
      ranks.emplace_back([this, rank] { play_rank(rank); });
    for (std::thread& t : ranks)
      t.join();
    return failure_.empty() ? failure_ : cases_[0].text() + ": " + failure_;
  }

private:
  progress::engine_options options() const {
    progress::engine_options o;
    o.drive =
        std::array{progress::mode::dedicated, progress::mode::helping, progress::mode::caller}[seed_ % 3];
    o.tuning = tuning_of_seed(seed_);
    o.idle = {.scarce = true, .spins = 0, .yields = static_cast<unsigned>(seed_ % 20)};
    return o;
  }

  void play_rank(std::uint32_t rank) {
    threads_transport net(*fabric_, rank);
    threads_engine e(net, options());
    e.meet_neighbours(neighbours_of(cases_[0], rank));
    std::array<progress::channel*, programs> teams;
    for (std::size_t k = 0; k < programs; ++k)
      teams[k] =
          &e.add_channel(team_of_all(cases_[k], rank, static_cast<std::uint32_t>(k), layout_.mailboxes[k]));
    std::optional<progress::progress_thread<threads_transport>> thread;
    if (e.options().drive != progress::mode::caller) thread.emplace(e);
    meet(e);
    std::vector<std::thread> applications;
    for (std::size_t k = 0; k < programs; ++k)
      applications.emplace_back([this, k, &e, &teams] { play_program(k, e, *teams[k]); });
    for (std::thread& t : applications)
      t.join();
    meet(e);
  }

  void play_program(std::size_t k, threads_engine& e, progress::channel& team) {
    const auto computes = [](std::chrono::nanoseconds time) {
      std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(time, std::chrono::microseconds(200)));
    };
    try {
      collective_player<threads_transport>(cases_[k], e, team, layout_.heaps[k], *looks_[k], computes).play();
    } catch (const std::exception& wrong) {
      const std::lock_guard lock(lock_);
      std::fprintf(stderr, "seed %llu, program %zu: %s\n", static_cast<unsigned long long>(seed_), k,
                   wrong.what());
      if (failure_.empty()) failure_ = wrong.what();
    }
  }

  // All ranks are here; until then each serves the others.
  void meet(threads_engine& e) {
    const std::uint32_t all = (meetings_.fetch_add(1) / cases_[0].ranks + 1) * cases_[0].ranks;
    while (meetings_ < all) {
      e.with_ownership([&e] { e.works().sweep(); });
      std::this_thread::yield();
    }
  }

  const std::uint64_t seed_;
  const programs_of_run cases_;
  const layout layout_;
  std::vector<std::unique_ptr<onlookers>> looks_;
  std::optional<threads_fabric> fabric_;
  std::atomic<std::uint32_t> meetings_{0};
  std::mutex lock_;
  std::string failure_;
};

TEST(threads_collectives, random_programs_give_what_the_serial_reference_gives) {
  const seed_range seeds(180);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed)
    ASSERT_EQ("", threads_run(seed, any_programs(seed)).play()) << "replay with WEFT_SEED=" << seed;
}

TEST(threads_collectives, cycles_rotated_by_several_give_what_the_serial_reference_gives) {
  const seed_range seeds(60);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed)
    ASSERT_EQ("", threads_run(seed, rotations(seed)).play()) << "replay with WEFT_SEED=" << seed;
}

} // namespace
} // namespace weft::tests
