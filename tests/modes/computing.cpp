// What the IN and OUT modes promise of computations: reductions, prefix reductions and sorts, with one thread
// that comes late, and whose elements are what they should be only when it comes.
//
//   IN_MY    what the late thread has is neither read nor written before it enters
//   IN_ALL   nothing of anybody is written before it enters
//   OUT_MY   a thread that leaves has all that it gets, and nobody touches its memory any more: it writes to
//   it
//            at once, and finds that again in the end
//   OUT_ALL  a thread that leaves finds the others' results, too
//   OUT_NO   all is there once all have left
//
// Mutations that this catches: a gate that does not wait for everybody; a member that gets elements of who
// has not entered; a sort that leaves before the results of others are in its part.
#include "tests/jobs/suite.h"
#include "tests/differential/dice.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <vector>
#include <weft/weft.hpp>

namespace {

using differential::dice;
using word = long;

enum class family { reduce, reduce_all, prefix, prefix_in_place, ordered_prefix, sort };
constexpr const char* names[] = {"reduce",          "reduce_all",     "prefix_reduce",
                                 "prefix_in_place", "ordered_prefix", "sort"};
constexpr std::size_t area_words = 32 * 1024;
constexpr word untouched = 0x5a5a5a5a5a5a5a5a, stale = 1000003, junk = -77;

struct memory {
  upc_shared_ptr_t src, dst, come; // come: the last trial for which this thread came late
};

// a*x + b, modulo 2^31 each.
word compose(word f, word g) {
  const auto fa = static_cast<unsigned>(f) & 0x7fffffffu, fb = static_cast<unsigned>(f >> 31) & 0x7fffffffu;
  const auto ga = static_cast<unsigned>(g) & 0x7fffffffu, gb = static_cast<unsigned>(g >> 31) & 0x7fffffffu;
  return static_cast<word>((ga * fb + gb) & 0x7fffffffu) << 31 | static_cast<word>((ga * fa) & 0x7fffffffu);
}

class trial {
public:
  trial(std::uint64_t number, const memory& m) : number_(number), m_(m), d_{number, 5} {
    kind_ = static_cast<family>(d_.below(6));
    constexpr int in[] = {UPC_IN_NOSYNC, UPC_IN_MYSYNC, UPC_IN_ALLSYNC};
    constexpr int out[] = {UPC_OUT_NOSYNC, UPC_OUT_MYSYNC, UPC_OUT_ALLSYNC};
    in_ = d_.pick(in);
    out_ = d_.pick(out);
    async_ = d_.chance(60);
    const auto threads = static_cast<std::size_t>(THREADS);
    const std::size_t most = d_.chance(70) ? 500 : area_words * threads / 3;
    n_ = 1 + d_.below(most);
    block_ = d_.chance(40) ? n_ / threads + 1 : d_.chance(20) ? 0 : d_.between(1, 12);
    if (block_ == 0) n_ = std::min(n_, area_words / 2);
    while (block_ != 0 && (n_ / (block_ * threads) + 2) * block_ > area_words)
      n_ /= 2;
    first_ = static_cast<std::uint32_t>(d_.below(threads));
    root_ = static_cast<std::uint32_t>(d_.below(threads));
    late_ = static_cast<std::uint32_t>(d_.below(threads));
    slow_ = static_cast<std::uint32_t>(d_.below(threads));
  }

  // Returns how many promises were broken here.
  int play() {
    fill();
    upc_barrier;
    if (me() == late_) come_late();
    weft::pending operation(post());
    if (async_ && me() != late_) look_while_it_lasts(operation);
    if (me() == slow_) std::this_thread::sleep_for(std::chrono::microseconds(300));
    operation.wait();
    const bool settled = out_ == UPC_OUT_NOSYNC;
    if (settled) upc_barrier;
    expect_results();
    if (out_ == UPC_OUT_ALLSYNC) expect_results_of((me() + 1) % static_cast<std::uint32_t>(THREADS));
    if (out_ == UPC_OUT_ALLSYNC) upc_barrier; // others look
    write_junk();
    upc_barrier;
    expect_junk();
    upc_barrier;
    return broken_;
  }

private:
  static std::uint32_t me() { return static_cast<std::uint32_t>(MYTHREAD); }
  bool in_place() const { return kind_ == family::sort || kind_ == family::prefix_in_place; }
  bool has_array() const { return kind_ != family::reduce && kind_ != family::reduce_all; }
  word* local(upc_shared_ptr_t p) const {
    return static_cast<word*>(upc_cast(upc_shared_ptr_t{p.addr, me(), 0}));
  }
  upc_shared_ptr_t results() const { return in_place() ? m_.src : m_.dst; }
  word value(std::size_t i) const {
    const std::uint64_t x = differential::mix(number_ * 7919 + i);
    return kind_ == family::ordered_prefix ? static_cast<word>(x >> 2 | 1) : static_cast<word>(x % 1000);
  }
  // The words of my part of an array that have an element: its index.
  template <class Visit> void each_of(std::uint32_t thread, Visit&& visit) const {
    for (std::size_t i = 0; i < n_; ++i) {
      const upc_shared_ptr_t p =
          upc_ptradd({0, first_, 0}, block_, sizeof(word), static_cast<std::ptrdiff_t>(i));
      if (p.thread == thread) visit(i, p.addr / sizeof(word));
    }
  }

  void fill() {
    std::fill_n(local(m_.src), area_words, untouched);
    std::fill_n(local(m_.dst), area_words, untouched);
    const bool ready = in_ == UPC_IN_NOSYNC || me() != late_;
    each_of(me(), [&](std::size_t i, std::size_t at) { local(m_.src)[at] = ready ? value(i) : stale; });
  }
  // What it has is not what it should be yet; nobody may have written to it.
  void come_late() {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (in_ != UPC_IN_NOSYNC) {
      if (!is_untouched()) broken("before the late thread entered");
      each_of(me(), [&](std::size_t i, std::size_t at) { local(m_.src)[at] = value(i); });
    }
    *local(m_.come) = static_cast<word>(number_);
  }
  bool late_has_come() const {
    word trial = 0;
    upc_memget(&trial, {m_.come.addr, late_, 0}, sizeof trial);
    return trial == static_cast<word>(number_);
  }
  bool is_untouched() const {
    bool same = true;
    if (in_place())
      each_of(me(), [&](std::size_t i, std::size_t at) {
        same &= local(m_.src)[at] == (me() == late_ ? stale : value(i));
      });
    else
      same = std::count(local(m_.dst), local(m_.dst) + area_words, untouched) == area_words;
    return same;
  }
  // Under IN_ALL nothing happens here as long as somebody is missing, who says when he comes: after we have
  // looked we know that he had not.
  void look_while_it_lasts(weft::pending& operation) {
    if (in_ != UPC_IN_ALLSYNC) return;
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(700);
    while (std::chrono::steady_clock::now() < until)
      if (operation.test()) return;
    const bool same = is_untouched();
    if (!same && !late_has_come()) broken("before all had entered");
  }

  upc_coll_handle_t post() {
    const upc_flag_t flags = in_ | out_ | (async_ ? UPC_ASYNC : 0);
    const upc_shared_ptr_t src{m_.src.addr, first_, 0}, dst{m_.dst.addr, first_, 0};
    switch (kind_) {
    case family::reduce:
      return upc_all_reduceL({m_.dst.addr, root_, 0}, src, UPC_ADD, n_, block_, nullptr, flags);
    case family::reduce_all:
      return upc_all_reduce_allL({m_.dst.addr, 0, 0}, src, UPC_ADD, n_, block_, nullptr, flags);
    case family::prefix:
      return upc_all_prefix_reduceL(dst, src, UPC_ADD, n_, block_, nullptr, flags);
    case family::prefix_in_place:
      return upc_all_prefix_reduceL(src, src, UPC_ADD, n_, block_, nullptr, flags | UPC_IN_PLACE);
    case family::ordered_prefix:
      return upc_all_prefix_reduceL(dst, src, UPC_NONCOMM_FUNC, n_, block_, compose, flags);
    case family::sort:
      return upc_all_sort(weft::ptr<word, weft::dynamic_block>(src, block_), n_, flags);
    }
    return UPC_HANDLE_COMPLETE;
  }

  const std::vector<word>& wanted() {
    if (!wanted_.empty()) return wanted_;
    for (std::size_t i = 0; i < n_; ++i)
      wanted_.push_back(value(i));
    if (kind_ == family::sort)
      std::sort(wanted_.begin(), wanted_.end());
    else if (kind_ == family::ordered_prefix)
      std::inclusive_scan(wanted_.begin(), wanted_.end(), wanted_.begin(), compose);
    else
      std::partial_sum(wanted_.begin(), wanted_.end(), wanted_.begin());
    return wanted_;
  }
  bool has_result(std::uint32_t thread) const {
    return kind_ == family::reduce_all || (kind_ == family::reduce && root_ == thread);
  }
  void expect_results() { expect_results_of(me()); }
  void expect_results_of(std::uint32_t thread) {
    std::vector<word> there(area_words);
    upc_memget(there.data(), {results().addr, thread, 0}, area_words * sizeof(word));
    bool same = true;
    if (has_array())
      each_of(thread, [&](std::size_t i, std::size_t at) { same &= there[at] == wanted()[i]; });
    else if (has_result(thread))
      same = there[0] == wanted().back();
    if (!same) broken(thread == me() ? "its own results" : "another thread's results");
  }

  // Its own memory belongs to a thread that has left; under OUT_NO when all have.
  void write_junk() {
    std::fill_n(local(m_.src), area_words, junk);
    std::fill_n(local(m_.dst), area_words, junk);
  }
  void expect_junk() {
    for (const upc_shared_ptr_t p : {m_.src, m_.dst})
      if (std::count(local(p), local(p) + area_words, junk) != area_words)
        broken("written after it had left");
  }

  void broken(const char* what) {
    if (broken_++ == 0)
      std::printf(
          "computing: thread %d, trial %llu: %s of %zu in blocks of %zu from thread %u, modes 0x%x%s, late "
          "thread %u: %s\n",
          MYTHREAD, static_cast<unsigned long long>(number_), names[static_cast<int>(kind_)], n_, block_,
          first_, in_ | out_, async_ ? ", posted" : "", late_, what);
  }

  const std::uint64_t number_;
  const memory& m_;
  dice d_;
  family kind_;
  int in_, out_;
  bool async_;
  std::size_t n_, block_;
  std::uint32_t first_, root_, late_, slow_;
  std::vector<word> wanted_;
  int broken_ = 0;
};

} // namespace

WEFT_SUITE(computing_modes) {
  std::uint64_t seed = 1, trials = 300;
  CLI::App app("What modes promise of computations.");
  app.add_option("--seed", seed, "all trials follow from it");
  app.add_option("--trials", trials, "how many");
  CLI11_PARSE(app, argc, argv);
  const memory m{upc_all_alloc(static_cast<std::size_t>(THREADS), area_words * sizeof(word)),
                 upc_all_alloc(static_cast<std::size_t>(THREADS), area_words * sizeof(word)),
                 upc_all_alloc(static_cast<std::size_t>(THREADS), sizeof(word))};
  int broken = 0;
  for (std::uint64_t k = 0; k < trials && broken == 0; ++k)
    broken = weft::reduce_all(trial(seed * 1000000 + k, m).play(), UPC_ADD).get();
  if (MYTHREAD == 0 && broken == 0)
    std::printf("computing: seed %llu, %llu trials, %d threads: all promises held\n",
                static_cast<unsigned long long>(seed), static_cast<unsigned long long>(trials), THREADS);
  return broken == 0 ? 0 : 1;
}
