// SPDX-License-Identifier: BSD-3-Clause
// A rank that has posted and is away holds no other up: what it sends is carried by the others, and of its
// vectors and elements they make what they need.
//
//   absent computing|stopped [computations]
//
// When the last of the others has left, what the absent one receives is in place too, its own block included,
// unless its modes leave that to itself: OUT_NO, what is sent ahead (IN_MY or less, up to WEFT_EAGER), and a
// permutation in place.
//
// Mutations that this catches: carrying only in my own direction (no claim of outgoing blocks, or no assist);
// an own block that only its owner carries; leaving without a look at what the others lack; a cycle of a
// permutation in place of which only one member rotates; pieces of vectors that only their owner combines; a
// partial result that the post does not publish.
#include "tests/calls/arena.hpp"
#include "tests/calls/bytes.hpp"
#include "tests/calls/elements.hpp"
#include "tests/calls/issue.hpp"
#include "tests/calls/reference.hpp"
#include "tests/independence/absence.hpp"
#include "tests/jobs/suite.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace {

using calls::kind;
using calls::sync;

constexpr std::uint64_t largest = 256 << 10, words_at_most = 200'000;

std::uint64_t threads() {
  return static_cast<std::uint64_t>(THREADS);
}

struct trial {
  kind what;
  bool from_absent = false; // the root, which is another one else
  std::uint64_t n = 0;      // bytes of a block, or elements of a rank
  sync in = sync::my, out = sync::my;
};

class game {
public:
  game(bool stopped, std::uint64_t bytes) : stopped_(stopped), room_(bytes), memory_(2 * bytes + 4096) {
    all_.resize(threads());
    std::iota(all_.begin(), all_.end(), 0u);
  }
  ~game() { upc_all_free(place_); }
  game(const game&) = delete;
  game& operator=(const game&) = delete;

  int rounds() const { return round_; }

  // In every other round the others come when the absent one has posted. A rank that comes earlier may be
  // through before.
  void play(const trial& t, int absent) {
    ++round_;
    absent_ = static_cast<std::uint32_t>(absent);
    call_ = call_of(t);
    effects_ = calls::effects_of(call_, all_, static_cast<std::uint32_t>(THREADS));
    fill();
    absence::scene& s = scene();
    if (MYTHREAD == absent) s.begin();
    upc_barrier();
    const bool behind = (call_.of != nullptr || (round_ + (absent == 0)) % 2 == 0) && MYTHREAD != absent;
    if (behind) s.await_absence();
    const unsigned long long h = calls::post(call_, UPC_TEAM_ALL, all_, memory_);
    if (MYTHREAD == absent) {
      s.be_away(stopped_);
      upc_wait_value(h);
    } else {
      if (stopped_) s.see_it_stopped(absent);
      upc_wait_value(h);
      const bool last = s.through.fetch_add(1) + 1 == THREADS - 1;
      if (last && behind && carried_by_others(t) && !right(absent_))
        fail("the last of the others has left, and the absent one's data are not in place", t);
      s.leave(stopped_);
    }
    if (!right(static_cast<std::uint32_t>(MYTHREAD))) fail("wrong data", t);
    upc_barrier();
  }

private:
  absence::scene& scene() const { return *static_cast<absence::scene*>(upc_cast(place_)); }

  calls::call call_of(const trial& t) const {
    calls::call c;
    c.what = t.what;
    c.in = t.in;
    c.out = t.out;
    c.async = true;
    c.nbytes = t.n;
    const std::uint32_t root = t.from_absent ? absent_ : (absent_ + 1) % static_cast<std::uint32_t>(THREADS);
    const std::uint64_t src = 1024, dst = src + room_;
    c.src = {src, t.what == kind::broadcast || t.what == kind::scatter ? root : 0, 0};
    c.dst = {dst, t.what == kind::gather ? root : 0, 0};
    if (t.what == kind::permute) { // to the next one, in place
      c.own = calls::in_place::flag_and_null;
      c.perm_at = 0;
      for (std::uint64_t rank = 0; rank < threads(); ++rank)
        c.perm.push_back((rank + 1) % threads());
    }
    c.key = static_cast<std::uint64_t>(round_);
    c.op = UPC_ADD;
    c.root = root;
    c.nelems = calls::is_array(t.what) ? t.n * threads() : t.n;
    c.blk_size = t.n;
    if (calls::is_array(t.what)) c.of = &calls::reduced_elements().front();
    if (calls::is_vector(t.what)) c.of = &calls::vector_elements().front();
    if (t.what == kind::team_reduce_scatter) {
      c.blk_size = t.n / threads();
      c.nelems = c.blk_size * threads();
      c.sizes.assign(threads(), c.blk_size);
    }
    for (std::uint32_t rank = 0; calls::is_vector(t.what) && rank < threads(); ++rank) {
      c.src_table.push_back({src, rank, 0});
      c.dst_table.push_back({dst, rank, 0});
    }
    return c;
  }

  std::uint64_t key(std::uint32_t thread) const { return calls::mix({c_key(), thread}); }
  std::uint64_t c_key() const { return static_cast<std::uint64_t>(round_); }

  void fill() const {
    const auto me = static_cast<std::uint32_t>(MYTHREAD);
    for (const calls::arrival& one : effects_.arrivals)
      if (one.thread == me) std::memset(memory_.mine() + one.offset, 0xee, one.bytes);
    for (const calls::block& b : effects_.sources) {
      if (b.thread != me) continue;
      calls::paint(memory_.mine() + b.offset, key(me), b.offset, b.bytes);
      std::ranges::copy(b.value, memory_.mine() + b.offset);
    }
    if (!call_.perm.empty()) {
      const auto next = static_cast<int>(call_.perm[me]);
      std::memcpy(memory_.mine() + call_.perm_at, &next, sizeof next);
    }
  }

  bool right(std::uint32_t thread) const {
    const auto* const there = static_cast<const std::byte*>(upc_cast(memory_.at(0, thread)));
    return std::ranges::all_of(effects_.arrivals, [&](const calls::arrival& one) {
      if (one.thread != thread) return true;
      std::vector<std::byte> wanted = one.value;
      wanted.resize(one.bytes);
      if (one.value.empty()) calls::paint(wanted.data(), key(one.from_thread), one.from, one.bytes);
      return std::equal(wanted.begin(), wanted.end(), there + one.offset);
    });
  }

  bool carried_by_others(const trial& t) const {
    constexpr std::uint64_t sent_ahead = 2048;
    if (t.out == sync::no || t.what == kind::permute || call_.of != nullptr) return false;
    return t.in != sync::my || t.out != sync::my || t.n > sent_ahead;
  }

  void fail(const char* how, const trial& t) const {
    std::printf("rank %d: %s: %s, %llu bytes or elements, absent %u\n", MYTHREAD, how,
                calls::describe(call_, all_).c_str(), static_cast<unsigned long long>(t.n), absent_);
    std::exit(1);
  }

  const bool stopped_;
  const std::uint64_t room_;
  const calls::arena memory_;
  const upc_shared_ptr_t place_ = upc_all_alloc(1, sizeof(absence::scene));
  calls::members all_;
  int round_ = 0;
  std::uint32_t absent_ = 0;
  calls::call call_;
  calls::effects effects_;
};

// Under every pair of modes: with IN_NO and OUT_NO no rank knows of another one.
void play_moves(game& g, int absent) {
  constexpr kind all[] = {kind::exchange, kind::gather_all, kind::broadcast,
                          kind::scatter,  kind::gather,     kind::permute};
  for (const kind what : all)
    for (const bool from_absent : {false, true})
      for (const std::uint64_t n : {std::uint64_t{8}, std::uint64_t{1000}, std::uint64_t{16} << 10, largest})
        for (const sync in : {sync::my, sync::all, sync::no})
          for (const sync out : {sync::my, sync::all, sync::no}) {
            const bool rooted = what == kind::broadcast || what == kind::scatter || what == kind::gather;
            const bool by_its_ends = what == kind::permute && in == sync::my; // each moves its own
            if ((rooted || !from_absent) && !by_its_ends) g.play({what, from_absent, n, in, out}, absent);
          }
}

// Without a thread of the library an absent rank takes no vectors that do not travel with their signal.
bool is_held_up(kind what, std::uint64_t words) {
  constexpr std::uint64_t caller = 3; // its place among the words of the setting
  const bool brought = what == kind::team_scan || what == kind::team_reduce_scatter;
  return brought && words > 256 && weft_setting("WEFT_PROGRESS") == caller;
}

void play_computations(game& g, int absent) {
  for (const kind what : {kind::team_allreduce, kind::team_reduce, kind::team_scan, kind::team_reduce_scatter,
                          kind::reduce_all, kind::prefix_reduce})
    for (const std::uint64_t words :
         {std::uint64_t{1}, std::uint64_t{256}, std::uint64_t{2000}, words_at_most})
      if ((what != kind::team_reduce_scatter || words >= threads()) && !is_held_up(what, words))
        g.play({what, false, words}, absent);
}

int run(int argc, char** argv) {
  const auto has = [&](const char* word) {
    return std::find(argv + 1, argv + argc, std::string(word)) != argv + argc;
  };
  const bool computations = has("computations");
  game g(has("stopped"), computations ? words_at_most * sizeof(double) : largest * threads());
  upc_barrier();
  for (int absent = 0; absent < THREADS && THREADS > 1; ++absent)
    if (computations)
      play_computations(g, absent);
    else if (absent == 0 || absent == THREADS - 1)
      play_moves(g, absent);
  if (MYTHREAD == 0) std::printf("%d cases: no rank was held up\n", g.rounds());
  return 0;
}

} // namespace

WEFT_SUITE(absent) {
  return run(argc, argv);
}
