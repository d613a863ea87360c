// SPDX-License-Identifier: BSD-3-Clause
// Within a node no rank depends on one that has posted and never runs again, nor on one that is held up
// somewhere; and what such a rank receives is in place when the last of the others has left.
//
// Mutations that this catches: an own block that only its owner carries, leaving without a look at what
// others lack.
#include "tests/simulated/collective_player.hpp"
#include "tests/simulated/simulated_run.hpp"
#include "verify/specified.hpp"

#include <gtest/gtest.h>

namespace weft::tests {
namespace {
using collectives::operation;
using collectives::request;
using graph::hint;
using graph::sync;
using transport::simulated_transport;
using transport::simulation;
using namespace std::chrono_literals;

constexpr std::uint64_t segment_bytes = 1 << 20;

collective_case one_call(std::uint64_t seed, std::uint32_t ranks, const request& r) {
  collective_case c;
  c.seed = seed;
  c.ranks = ranks;
  c.nodes.assign(ranks, 0);
  c.rounds = {{lay_out(ranks, r, seed, r.bytes)}};
  return c;
}

// Who is absent gets its data all the same, unless they were sent ahead, or each carries for itself.
bool carried_by_others(const request& r) {
  if (r.out == sync::all) return true;
  const bool in_place_by_hand = r.in_place && collectives::permutes(r.op);
  const bool sent_ahead = r.in == sync::my && r.bytes <= 2048;
  return r.out == sync::my && !sent_ahead && !in_place_by_hand;
}

// One call in which rank `absent` does `what` right after its post, or instead of it. Throws when another
// rank does not finish or has not what it must have.
enum class post { yes, never };
template <class What>
void play_with_absent(const collective_case& c, std::uint32_t absent, What what, post its = post::yes) {
  const collective_case::call& call = c.rounds[0][0];
  const request& r = call.request;
  transport::simulation_options options;
  options.seed = c.seed;
  options.ranks = c.ranks;
  options.segment_bytes = segment_bytes;
  options.chaos = transport::simulated_chaos::rough();
  options.endless_naps = true;
  simulation s(options);
  const std::uint64_t at = engine::heap_offset(c.ranks);
  std::uint32_t left = 0; // of the others
  bool away = false;
  s.run([&](std::uint32_t rank, simulated_transport& t) {
    simulated_engine e(t, drowsy());
    progress::channel& team = e.add_channel(team_of_all(c, rank, 0, engine::first_mailbox_offset));
    e.meet_neighbours(neighbours_of(c, rank));
    const std::vector<std::byte> memory = memory_before(c, call, 0, rank, at);
    std::memcpy(t.segment() + at, memory.data(), memory.size());
    e.run(team, {}, {});
    if (rank == absent && its == post::never) what(t);
    const auto handle = e.post(team, r, call.binding(at));
    t.fence();                  // a driver's, at its end, which the simulated memory does not know of
    const bool was_away = away; // it has entered
    if (rank == absent) {
      away = true;
      what(t);
      away = false;
    }
    t.describe([] { return std::string("waits"); });
    e.wait(handle);
    const auto check = [&](std::uint32_t whose) {
      const std::string wrong = check_memory(c, call, 0, whose, s.segment(whose), at);
      if (!wrong.empty()) throw wrong_result(wrong);
    };
    if (r.out != sync::no) check(rank);
    if (rank != absent) ++left;
    const bool last = left == c.ranks - 1;
    if (r.out == sync::all || (last && was_away && carried_by_others(r))) check(absent);
  });
}

TEST(absent_ranks, a_rank_that_has_posted_and_never_runs_again_holds_up_nobody) {
  std::uint64_t seed = 0;
  for (const operation op : {operation::barrier, operation::broadcast, operation::scatter, operation::gather,
                             operation::gather_all, operation::exchange, operation::permute,
                             operation::broadcast_x, operation::scatter_x, operation::gather_x,
                             operation::gather_all_x, operation::exchange_x, operation::permute_x})
    for (const sync in : {sync::no, sync::my, sync::all})
      for (const sync out : {sync::no, sync::my, sync::all})
        for (const hint way : {hint::none, hint::push, hint::pull})
          for (const std::uint64_t bytes : {0, 8, 2049, 70000})
            for (const std::uint32_t ranks : {2, 3, 5}) {
              if (op == operation::barrier && (in != sync::all || out != sync::all || bytes != 0)) continue;
              const auto absent = static_cast<std::uint32_t>(++seed % ranks);
              request r{.op = op, .in = in, .out = out, .direction = way};
              r.bytes = bytes / (bytes > 100 && ranks > 3 ? 2 : 1);
              if (collectives::rooted(op)) r.root = static_cast<std::uint32_t>(seed / 7 % ranks);
              const collective_case c = one_call(seed, ranks, r);
              EXPECT_NO_THROW(play_with_absent(c, absent, [](simulated_transport& t) { t.stop(); }))
                  << text_of(r) << ", " << ranks << " ranks, without rank " << absent;
            }
}

// A cycle of a permutation in place is rotated by whoever of it has come. Under IN_MY it is not.
TEST(absent_ranks, a_permutation_in_place_needs_nobody_who_has_posted_or_under_in_no_who_has_not) {
  std::uint64_t seed = 0;
  for (const operation op : {operation::permute, operation::permute_x})
    for (const sync in : {sync::no, sync::all})
      for (const sync out : {sync::no, sync::my, sync::all})
        for (const std::uint64_t bytes : {0, 8, 4097, 70000})
          for (const std::uint32_t ranks : {2, 3, 5, 8})
            for (const post its : {post::yes, post::never}) {
              if (its == post::never && in != sync::no) continue;
              const auto absent = static_cast<std::uint32_t>(++seed % ranks);
              request r{.op = op, .in = in, .out = out, .bytes = bytes, .in_place = true};
              const collective_case c = one_call(seed, ranks, r);
              EXPECT_NO_THROW(play_with_absent(
                  c, absent, [](simulated_transport& t) { t.stop(); }, its))
                  << text_of(r) << ", " << ranks << " ranks, without rank " << absent;
            }
}

// Who comes when the cycle has been rotated moves nothing a second time.
TEST(absent_ranks, a_rank_that_is_late_for_a_permutation_in_place_ends_with_the_right_data) {
  for (const operation op : {operation::permute, operation::permute_x})
    for (const post its : {post::yes, post::never})
      for (std::uint64_t n = 1; n <= 60; ++n) {
        request r{.op = op, .in = sync::no, .out = n % 2 == 0 ? sync::my : sync::all, .bytes = 9000};
        r.in_place = true;
        const collective_case c = one_call(n, 4, r);
        EXPECT_NO_THROW(play_with_absent(
            c, 1, [n](simulated_transport& t) { t.hold_up(n, 1ms); }, its))
            << text_of(r) << ", held up at step " << n;
      }
}

TEST(absent_ranks, a_rank_held_up_at_any_step_ends_with_the_right_data) {
  for (const sync out : {sync::my, sync::all})
    for (std::uint64_t n = 1; n <= 60; ++n) {
      const request r{.op = operation::exchange, .in = sync::my, .out = out, .bytes = 2049};
      const collective_case c = one_call(n, 3, r);
      EXPECT_NO_THROW(play_with_absent(c, 1, [n](simulated_transport& t) { t.hold_up(n, 1ms); }))
          << text_of(r) << ", held up at step " << n;
    }
}

} // namespace
} // namespace weft::tests
