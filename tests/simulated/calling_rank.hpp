#pragma once
#include "engine/collectives/specified.hpp"
#include "progress/control/teams.hpp"

#include <atomic>
#include <deque>
#include <functional>
#include <gtest/gtest.h>
#include <random>

// Ranks that call operations on channels of their own, generic over the transport.
namespace weft::tests::own {
using collectives::operation;
using collectives::request;
using graph::sync;

struct call {
  request what;
  std::uint64_t src = 0, dst = 0; // on every rank
};

struct program {
  std::vector<std::uint32_t> nodes;
  std::vector<std::vector<call>> calls; // by caller
  std::uint32_t barriers = 0;           // of all, in between
  std::uint64_t data = 0;               // bytes of every rank's buffers

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(nodes.size()); }
  static constexpr std::uint64_t room_for_teams = std::uint64_t{3} << 20;
  control::heap_layout layout() const { return {ranks(), room_for_teams, data}; }
};

inline request random_request(std::mt19937_64& draw, std::uint32_t ranks) {
  constexpr operation kinds[] = {operation::broadcast, operation::scatter,    operation::gather,
                                 operation::exchange,  operation::gather_all, operation::barrier};
  constexpr sync modes[] = {sync::no, sync::my, sync::all};
  constexpr std::uint64_t sizes[] = {1, 8, 100, 3000, 70'000};
  request r;
  r.op = kinds[draw() % std::size(kinds)];
  r.in = modes[draw() % 3];
  r.out = modes[draw() % 3];
  if (r.op == operation::barrier) return {};
  if (collectives::rooted(r.op)) r.root = static_cast<std::uint32_t>(draw() % ranks);
  r.bytes = sizes[draw() % (draw() % 8 == 0 ? 5 : 4)];
  return r;
}

inline program program_of(std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  program p;
  const std::uint64_t ranks = 1 + draw() % 5, hosts = 1 + draw() % ranks;
  for (std::uint64_t r = 0; r < ranks; ++r)
    p.nodes.push_back(static_cast<std::uint32_t>(draw() % hosts));
  p.calls.resize(ranks);
  p.barriers = static_cast<std::uint32_t>(draw() % 4);
  for (auto& calls : p.calls)
    for (std::uint64_t left = draw() % (draw() % 4 == 0 ? 50 : 8); left != 0; --left) {
      call& c = calls.emplace_back();
      c.what = random_request(draw, p.ranks());
      const std::uint64_t needed = (ranks * c.what.bytes / 64 + 1) * 64;
      c.src = p.data;
      c.dst = p.data + needed;
      p.data += 2 * needed;
    }
  const std::uint64_t heap = p.layout().heap;
  for (auto& calls : p.calls)
    for (call& c : calls) {
      c.src += heap;
      c.dst += heap;
    }
  return p;
}

inline std::byte content(std::uint32_t rank, std::uint64_t offset) {
  return static_cast<std::byte>((rank * 0x9E3779B97F4A7C15u + offset * 0xD1B54A32D192ED03u) >> 41);
}

struct meeting {
  std::atomic<std::uint32_t> ended{0}, quiet{0};
};

using computing = std::function<void(std::chrono::nanoseconds)>;

template <transport::transport T> class calling_rank {
public:
  // `computes`: lets time pass in which the rank does not call the library.
  calling_rank(const program& p, std::uint64_t seed, meeting& others, T& net,
               const progress::engine_options& options, computing computes)
      : p_(p), net_(net), rank_(net.rank()), draw_(seed * 64 + rank_), others_(others),
        computes_(std::move(computes)), engine_(net, options), all_(join()), heap_(engine_, all_, p.layout()),
        teams_(engine_, heap_, p.nodes, all_, p.layout().scratch_of_all()) {}
  progress::engine<T>& engine() { return engine_; }

  void play() {
    for (const auto& calls : p_.calls)
      for (const call& c : calls)
        for (std::uint64_t k = 0; k < p_.ranks() * c.what.bytes; ++k)
          net_.segment()[c.src + k] = content(rank_, c.src + k);
    teams_.make_node_team(p_.nodes[rank_]);
    const auto& mine = p_.calls[rank_];
    std::uint32_t met = 0;
    for (next_ = 0; next_ < mine.size() || met < p_.barriers;) {
      if (draw_() % 4 == 0) computes_(std::chrono::nanoseconds(draw_() % 300'000));
      if (met < p_.barriers && (next_ == mine.size() || draw_() % 8 == 0)) {
        teams_.run(control::team_calls::all, {}, {});
        ++met;
      } else if (next_ < mine.size()) {
        begin(mine[next_]);
      }
      if (draw_() % 16 == 0) finish_all();
    }
    finish_all();
    if (!mine.empty()) teams_.run(control::team_calls::own, {}, {}); // all have begun all that I have called
    for (++others_.ended; others_.ended != p_.ranks() || !idle();)
      answer();
    for (++others_.quiet; others_.quiet != p_.ranks();)
      answer();
    check();
  }
  std::string doing() const {
    return "call " + std::to_string(next_) + ", " + std::to_string(engine_.outstanding()) + " outstanding";
  }

private:
  bool idle() {
    bool nothing = false;
    engine_.with_ownership([&] { nothing = engine_.outstanding() == 0; });
    return nothing;
  }
  progress::channel& join() {
    std::vector<std::uint32_t> near, all;
    for (std::uint32_t r = 0; r < p_.ranks(); ++r) {
      all.push_back(r);
      if (p_.nodes[r] == p_.nodes[rank_]) near.push_back(r);
    }
    engine_.meet_neighbours(near);
    engine::team_info info;
    info.world = all;
    info.topology = graph::topology(rank_, p_.nodes);
    info.mailbox_offset = engine::first_mailbox_offset;
    return engine_.add_channel(std::move(info));
  }

  void begin(const call& c) {
    if (draw_() % 8 == 0) send_by_hand();
    posted_.push_back(teams_.post(control::team_calls::own, c.what, {.dst = c.dst, .src = c.src}));
    ++next_;
  }
  void finish_all() {
    for (; !posted_.empty(); posted_.pop_front())
      engine_.wait(posted_.front());
  }

  // A request of an earlier call once more, or of a later one before its turn.
  void send_by_hand() {
    const auto& mine = p_.calls[rank_];
    if (number_ == 0 && next_ != 0) number_ = own_number();
    if (number_ == 0 || p_.ranks() == 1) return;
    const std::uint64_t which = draw_() % std::min<std::uint64_t>(mine.size(), next_ + 3);
    const auto to = static_cast<std::uint32_t>((rank_ + 1 + draw_() % (p_.ranks() - 1)) % p_.ranks());
    const call& c = mine[which];
    engine_.with_ownership([&] {
      ASSERT_TRUE(
          heap_.send(to, control::begin_part(number_, which + 1, c.what, {.dst = c.dst, .src = c.src})));
    });
  }
  std::uint32_t own_number() { return teams_.channel_of(control::team_calls::own).info.id; }

  void answer() {
    engine_.progress();
    net_.relax();
  }

  void check() {
    for (const auto& calls : p_.calls)
      for (const call& c : calls) {
        const graph::movement m = collectives::specified(c.what);
        for (std::uint32_t from = 0; from < p_.ranks() && c.what.bytes != 0; ++from)
          if (m.sends(from, rank_)) check_block(c, m.rule, from);
      }
  }
  void check_block(const call& c, const graph::block_rule& rule, std::uint32_t from) {
    for (std::uint64_t k = 0; k < rule.bytes; ++k) {
      const std::uint64_t at = c.dst + rule.destination(from, rank_) + k;
      ASSERT_EQ(net_.segment()[at], content(from, c.src + rule.source(from, rank_) + k))
          << name(c.what.op) << " of " << rule.bytes << " bytes: byte " << k << " from rank " << from
          << " on rank " << rank_;
    }
  }

  const program& p_;
  T& net_;
  std::uint32_t rank_;
  std::mt19937_64 draw_;
  meeting& others_;
  const computing computes_;
  progress::engine<T> engine_;
  progress::channel& all_;
  control::heap_service<T> heap_;
  control::team_registry<T> teams_;
  std::deque<control::team_calls::handle> posted_;
  std::size_t next_ = 0;
  std::uint32_t number_ = 0;
};

} // namespace weft::tests::own
