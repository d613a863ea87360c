// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "progress/control/teams.hpp"
#include "verify/specified.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

// Ranks that call operations on channels of their own, generic over the transport.
namespace weft::tests::own {
using collectives::operation;
using collectives::request;
using graph::sync;

using control::member_list;

struct call {
  std::size_t among = 0; // which of its caller's lists
  request what;
  std::uint64_t src = 0, dst = 0; // on every rank
};

struct caller {
  std::vector<member_list> lists{{}}; // the first is that of all ranks
  std::vector<call> calls;
};

struct program {
  std::vector<std::uint32_t> nodes;
  std::vector<caller> callers;
  std::uint32_t barriers = 0; // of all, in between
  std::uint64_t room = 0;     // for teams and channels
  std::uint64_t data = 0;     // bytes of every rank's buffers

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(nodes.size()); }
  control::heap_layout layout() const {
    return {ranks(), room, data, engine::bundle_box::bytes(graph::topology(0, nodes))};
  }
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

// Ranks of the job, in any order; the caller is among them or not.
inline member_list random_list(std::mt19937_64& draw, std::uint32_t ranks) {
  member_list list(ranks);
  std::iota(list.begin(), list.end(), 0u);
  if (draw() % 4 != 0) std::ranges::shuffle(list, draw);
  list.resize(ranks > 32 ? ranks - draw() % 4 : 1 + draw() % ranks);
  return list;
}

// Some have less room than their channels take, or more ranks than a message can name.
inline program program_of(std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  program p;
  const bool many = draw() % 128 == 0;
  const std::uint64_t ranks = many ? 34 + draw() % 8 : 1 + draw() % 5, hosts = 1 + draw() % ranks;
  for (std::uint64_t r = 0; r < ranks; ++r)
    p.nodes.push_back(static_cast<std::uint32_t>(draw() % hosts));
  p.callers.resize(ranks);
  p.barriers = static_cast<std::uint32_t>(draw() % 4);
  p.room = std::uint64_t{many || draw() % 4 != 0 ? 8u : 3u} << 20;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    caller& c = p.callers[rank];
    if (many && rank % 16 != 0) continue;
    for (std::uint64_t more = draw() % 4; more != 0; --more)
      if (member_list list = random_list(draw, p.ranks()); std::ranges::find(c.lists, list) == c.lists.end())
        c.lists.push_back(std::move(list));
    for (std::uint64_t left = draw() % (!many && draw() % 4 == 0 ? 50 : 8); left != 0; --left) {
      call& it = c.calls.emplace_back();
      it.among = draw() % c.lists.size();
      const member_list& list = c.lists[it.among];
      it.what = random_request(draw, list.empty() ? p.ranks() : static_cast<std::uint32_t>(list.size()));
      const std::uint64_t needed = (ranks * it.what.bytes / 64 + 1) * 64;
      it.src = p.data;
      it.dst = p.data + needed;
      p.data += 2 * needed;
    }
  }
  const std::uint64_t heap = p.layout().heap;
  for (caller& c : p.callers)
    for (call& it : c.calls) {
      it.src += heap;
      it.dst += heap;
    }
  return p;
}

inline std::byte content(std::uint32_t rank, std::uint64_t offset) {
  return static_cast<std::byte>((rank * 0x9E3779B97F4A7C15u + offset * 0xD1B54A32D192ED03u) >> 41);
}

struct meeting {
  explicit meeting(std::uint32_t ranks) : refused(ranks) {}
  std::atomic<std::uint32_t> ended{0}, quiet{0};
  std::vector<std::vector<bool>> refused; // by caller, before it has ended: its lists without a channel
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
    for (const caller& each : p_.callers)
      for (const call& c : each.calls)
        for (std::uint64_t k = 0; k < p_.ranks() * c.what.bytes; ++k)
          net_.segment()[c.src + k] = content(rank_, c.src + k);
    teams_.make_node_team(p_.nodes[rank_]);
    const auto& mine = me().calls;
    others_.refused[rank_].resize(me().lists.size());
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
    for (const auto channel : channels_) // all have begun all that I have called
      if (channel != 0) teams_.run(channel, {}, {});
    for (++others_.ended; others_.ended != p_.ranks() || !idle();)
      answer();
    for (++others_.quiet; others_.quiet != p_.ranks(); computes_(std::chrono::microseconds(20)))
      answer(); // a rank that is held up for long is no deadlock
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

  const caller& me() const { return p_.callers[rank_]; }

  bool takes_part(std::size_t list) const {
    const member_list& ranks = me().lists[list];
    return ranks.empty() || std::ranges::find(ranks, rank_) != ranks.end();
  }

  void begin(const call& c) {
    if (draw_() % 8 == 0) send_by_hand();
    ++next_;
    channels_[c.among] = teams_.own_channel(me().lists[c.among]);
    if (channels_[c.among] == 0) {
      others_.refused[rank_][c.among] = true;
      return;
    }
    const graph::binding at{.dst = c.dst, .src = c.src};
    if (draw_() % 4 == 0) {
      teams_.run(channels_[c.among], c.what, at);
      return look_at_results(c);
    }
    const bool in_turn = draw_() % 4 != 0 || !next_is_on(c.among);
    if (!in_turn) send_call(c.among, calls_on(c.among, next_));
    post(c);
    if (!in_turn) post(me().calls[next_++]);
  }
  // And no end is reported before the operation has begun: no other thread of this rank drives.
  bool next_is_on(std::size_t list) const {
    return next_ != me().calls.size() && me().calls[next_].among == list &&
           engine_.options().drive == progress::mode::caller;
  }
  void post(const call& c) {
    const graph::binding at{.dst = c.dst, .src = c.src};
    posted_.emplace_back(teams_.post(channels_[c.among], c.what, at), &c);
  }

  void finish_all() {
    for (; !posted_.empty(); posted_.pop_front()) {
      engine_.wait(posted_.front().first);
      look_at_results(*posted_.front().second);
    }
  }

  // A request of an earlier call once more, or of a later one before its turn, where it waits for this rank's
  // part; or that for the channel.
  void send_by_hand() {
    const std::size_t list = draw_() % me().lists.size();
    if (channels_[list] == 0) return;
    if (draw_() % 4 == 0) return send(list, piece_of(list));
    const std::uint64_t called = calls_on(list, next_), all = calls_on(list, me().calls.size());
    const std::uint64_t known = takes_part(list) ? std::min(called + 3, all) : called;
    if (known != 0) send_call(list, draw_() % known);
  }
  // Of the first calls, so many.
  std::uint64_t calls_on(std::size_t list, std::size_t of) const {
    return static_cast<std::uint64_t>(std::count_if(me().calls.begin(),
                                                    me().calls.begin() + static_cast<std::ptrdiff_t>(of),
                                                    [&](const call& c) { return c.among == list; }));
  }
  void send_call(std::size_t list, std::uint64_t which) {
    auto c = std::ranges::find(me().calls, list, &call::among);
    for (std::uint64_t k = 0; k != which; ++k)
      c = std::ranges::find(c + 1, me().calls.end(), list, &call::among);
    const std::uint64_t channel = teams_.place_of_own(channels_[list]).number;
    request r = c->what;
    if (!takes_part(list)) r.out = sync::all;
    send(list, control::begin_part(channel, which + 1, r, {.dst = c->dst, .src = c->src}));
  }
  control::open_channel piece_of(std::size_t which) {
    const member_list& list = me().lists[which];
    const control::mailbox_grant& place = teams_.place_of_own(channels_[which]);
    control::open_channel r{place.number, place.offset, static_cast<std::uint32_t>(list.size()), 0, {}};
    if (list.empty()) return r;
    r.first = static_cast<std::uint32_t>(draw_() % list.size()) / r.piece * r.piece;
    std::copy_n(list.begin() + r.first, r.in_piece(), r.ranks.begin());
    return r;
  }
  template <class Request> void send(std::size_t list, const Request& r) {
    const member_list& ranks = me().lists[list];
    const auto drawn = static_cast<std::uint32_t>(draw_());
    const std::uint32_t to = ranks.empty() ? drawn % p_.ranks() : ranks[drawn % ranks.size()];
    if (to != rank_) engine_.with_ownership([&] { ASSERT_TRUE(heap_.send(to, r)); });
  }

  void answer() {
    engine_.progress();
    net_.relax();
  }

  // A call that this rank has no part in has ended: all of it is in place, wherever.
  void look_at_results(const call& c) {
    const member_list& list = me().lists[c.among];
    if (takes_part(c.among) || c.what.bytes == 0) return;
    for (std::uint32_t to = 0; to < list.size(); ++to)
      each_block(c, list, to, [&](const location& from, std::uint64_t at, std::uint64_t bytes) {
        std::vector<std::byte> got(bytes);
        engine_.transfer(list[to], [&](transport::completion& done) {
          return net_.get(list[to], got.data(), at, bytes, done);
        });
        check_block(c, from, got, list[to]);
      });
  }

  void check() {
    for (std::uint32_t who = 0; who < p_.ranks(); ++who)
      for (const call& c : p_.callers[who].calls)
        if (c.what.bytes != 0 && !others_.refused[who][c.among])
          check_call(c, p_.callers[who].lists[c.among]);
  }
  void check_call(const call& c, const member_list& list) {
    const auto place = static_cast<std::uint32_t>(std::ranges::find(list, rank_) - list.begin());
    if (!list.empty() && place == list.size()) return;
    each_block(c, list, list.empty() ? rank_ : place,
               [&](const location& from, std::uint64_t at, std::uint64_t bytes) {
                 check_block(c, from, std::span(net_.segment() + at, bytes), rank_);
               });
  }
  struct location {
    std::uint64_t at;
    std::uint32_t rank;
  };
  // Of what a call brings to this member.
  template <class Visit>
  void each_block(const call& c, const member_list& list, std::uint32_t to, Visit&& visit) const {
    const std::size_t members = list.empty() ? p_.ranks() : list.size();
    const graph::movement m = collectives::specified(c.what);
    for (std::uint32_t from = 0; from < members; ++from)
      if (m.sends(from, to))
        visit({c.src + m.rule.source(from, to), list.empty() ? from : list[from]},
              c.dst + m.rule.destination(from, to), m.rule.bytes);
  }
  static void check_block(const call& c, const location& from, std::span<const std::byte> got,
                          std::uint32_t on) {
    for (std::uint64_t k = 0; k < got.size(); ++k)
      ASSERT_EQ(got[k], content(from.rank, from.at + k))
          << name(c.what.op) << " of " << got.size() << " bytes: byte " << k << " from rank " << from.rank
          << " on rank " << on;
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
  std::deque<std::pair<control::team_calls::handle, const call*>> posted_;
  std::size_t next_ = 0;
  std::vector<control::team_calls::team> channels_ = // by list; 0: not open
      std::vector<control::team_calls::team>(me().lists.size());
};

} // namespace weft::tests::own
