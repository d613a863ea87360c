// SPDX-License-Identifier: BSD-3-Clause
// A rank that has not entered holds up no rank of its cycle, where a permutation in place may move its block:
// under IN_NOSYNC. No clocks: the rank that is away enters when all others say that they have left, so a
// library that needs it hangs here, and the test's time limit ends it.
//
//   unentered computing   it does not call the library
//   unentered stopped     it is stopped by SIGSTOP, and continued when the others have left
//
// The others pass several permutations in a row meanwhile, each one cycle of all, and each another one. Who
// has left one spoils its own elements of it, so that whoever is late must know them from what was published.
// Then the late rank enters one after the other, and must move nothing a second time.
//
// Mutations that this catches: a late member that claims anew; rows that are not published under OUT_NOSYNC.
#include "tests/independence/absence.hpp"
#include "tests/jobs/suite.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

namespace {

constexpr int in_a_row = 12;
constexpr std::size_t room = 300'000;

std::size_t threads() {
  return static_cast<std::size_t>(THREADS);
}

// One element or block on each thread.
template <class T> class array {
public:
  array() : all_(upc_all_alloc(threads(), sizeof(T))) {}
  ~array() { upc_all_free(all_); }
  array(const array&) = delete;
  array& operator=(const array&) = delete;
  upc_shared_ptr_t shared() const { return all_; }
  upc_shared_ptr_t on(int thread) const { return upc_ptradd(all_, 1, sizeof(T), thread); }
  T& of(int thread) const { return *static_cast<T*>(upc_cast(on(thread))); }
  T& mine() const { return of(MYTHREAD); }

private:
  upc_shared_ptr_t all_;
};

struct block {
  unsigned char bytes[room];
};
struct step {
  array<int> next;
  array<std::size_t> next_wide, bytes;
};

struct call {
  bool extended;
  std::size_t bytes;
  upc_flag_t mode;

  // Each block goes round with the length that it has.
  std::size_t length(int owner) const {
    return extended ? bytes * static_cast<std::size_t>(1 + owner) / threads() : bytes;
  }
};

// Whom each thread's block goes to: one cycle of all threads, in an order of chance.
std::vector<int> cycle_of(unsigned seed) {
  std::vector<int> order(threads()), next(threads());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::minstd_rand(seed));
  for (std::size_t k = 0; k < order.size(); ++k)
    next[static_cast<std::size_t>(order[k])] = order[(k + 1) % order.size()];
  return next;
}

unsigned char byte_of(int owner, std::size_t at, int round) {
  return static_cast<unsigned char>(owner * 37 + round * 11 + static_cast<int>(at % 239));
}

class game {
public:
  void play(const call& c, int absent, bool stopped) {
    prepare(c);
    absence::scene& s = scene_.of(0);
    if (MYTHREAD == absent) s.begin();
    upc_barrier();
    if (MYTHREAD == absent) {
      s.be_away(stopped);
      pass(c);
    } else {
      if (stopped) s.see_it_stopped(absent);
      pass(c);
      if (MYTHREAD == (absent + 1) % THREADS) look(c, "before the late rank has entered");
      s.leave(stopped);
    }
    upc_barrier();
    if (MYTHREAD == 0) look(c, "at the end");
    upc_barrier();
  }

private:
  void prepare(const call& c) {
    ++round_;
    at_.resize(threads());
    std::iota(at_.begin(), at_.end(), 0);
    for (const step& s : steps_) {
      const std::vector<int> next = cycle_of(static_cast<unsigned>(round_ * in_a_row + (&s - steps_)));
      const int mine = next[static_cast<std::size_t>(MYTHREAD)];
      s.next.mine() = mine;
      s.next_wide.mine() = static_cast<std::size_t>(mine);
      s.bytes.mine() = c.length(at_[static_cast<std::size_t>(MYTHREAD)]);
      std::vector<int> then(threads());
      for (std::size_t i = 0; i < threads(); ++i)
        then[static_cast<std::size_t>(next[i])] = at_[i];
      at_ = then;
    }
    for (std::size_t k = 0; k < room; ++k)
      blocks_.mine().bytes[k] = k < c.length(MYTHREAD) ? byte_of(MYTHREAD, k, round_) : 0;
    places_.mine() = blocks_.on(MYTHREAD);
  }

  void pass(const call& c) {
    for (const step& s : steps_) {
      if (c.extended)
        upc_all_permute_x(places_.shared(), UPC_SHARED_NULL, s.next_wide.shared(), s.bytes.shared(),
                          c.mode | UPC_IN_PLACE, UPC_TEAM_ALL);
      else
        upc_all_permute(blocks_.shared(), UPC_SHARED_NULL, s.next.shared(), c.bytes, c.mode | UPC_IN_PLACE);
      s.next.mine() = -7;
      s.next_wide.mine() = 1u << 30;
      s.bytes.mine() = room;
    }
  }

  void look(const call& c, const char* when) const {
    for (int thread = 0; thread < THREADS; ++thread) {
      const int owner = at_[static_cast<std::size_t>(thread)];
      for (std::size_t k = 0; k < c.length(owner); ++k)
        if (blocks_.of(thread).bytes[k] != byte_of(owner, k, round_)) {
          std::printf("thread %d has not the block of %d %s: byte %zu, %zu bytes%s, mode %#x\n", thread,
                      owner, when, k, c.bytes, c.extended ? ", _x" : "", static_cast<unsigned>(c.mode));
          std::_Exit(1);
        }
    }
  }

  array<absence::scene> scene_;
  array<block> blocks_;
  array<upc_shared_ptr_t> places_;
  step steps_[in_a_row];
  std::vector<int> at_; // whose block lies where at the end
  int round_ = 0;
};

} // namespace

WEFT_SUITE(unentered) {
  const bool stopped = argc > 1 && std::string(argv[1]) == "stopped";
  {
    game g;
    upc_barrier();
    for (const bool extended : {false, true})
      for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}, std::size_t{5000}, room})
        for (const upc_flag_t out : {UPC_OUT_NOSYNC, UPC_OUT_MYSYNC, UPC_OUT_ALLSYNC})
          for (const int absent : {0, THREADS - 1})
            if (THREADS > 1) g.play({extended, bytes, UPC_IN_NOSYNC | out}, absent, stopped);
  }
  if (MYTHREAD == 0) std::puts("no rank was held up");
  return 0;
}
