// SPDX-License-Identifier: BSD-3-Clause
// Copies with explicit and implicit handles, many at once and at random, completed in any order: every byte
// must be where it belongs when its handle says so, and be seen by the thread that it belongs to.
//
//   copies rounds seed
//
// Each thread has an area with a constant pattern, and one with a region for each thread, which that one
// alone writes. What was written is told to the owner as a checksum, and compared with what it finds there.
#include "tests/jobs/suite.h"

#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>
#include <weft/weft.hpp>

namespace {

constexpr std::size_t region = 1 << 19;

int wrong = 0;
void expect(bool holds, const char* what, int round) {
  if (!holds && wrong++ < 5) std::printf("thread %d, round %d: %s\n", MYTHREAD, round, what);
}

unsigned char pattern(int thread, std::size_t i) {
  return static_cast<unsigned char>(i * 7 + i / 251 + static_cast<std::size_t>(thread) * 31);
}

std::uint64_t checksum(const unsigned char* p, std::size_t bytes) {
  std::uint64_t sum = 14695981039346656037u;
  for (std::size_t i = 0; i != bytes; ++i)
    sum = (sum ^ p[i]) * 1099511628211u;
  return sum;
}

class player {
public:
  explicit player(unsigned seed) : dice_(seed + 977 * static_cast<unsigned>(MYTHREAD)) {
    for (int t = 0; t < THREADS; t++)
      shadow_.emplace_back(region, static_cast<unsigned char>(0));
    auto* const mine = static_cast<unsigned char*>(upc_cast(constant(MYTHREAD, 0)));
    for (std::size_t i = 0; i != region; ++i)
      mine[i] = pattern(MYTHREAD, i);
    upc_memset(written(MYTHREAD, MYTHREAD, 0), 0, region);
    for (int t = 0; t < THREADS; t++)
      upc_memset(written(t, MYTHREAD, 0), 0, region);
    upc_barrier;
  }

  void play(int round) {
    begin_several();
    const bool implicit_too = below(2) != 0;
    if (implicit_too) complete_implicit();
    while (!under_way_.empty())
      complete_one(round);
    if (!implicit_too) complete_implicit();
    for (const fetched& f : fetched_)
      expect(right(f), "what was got is wrong", round);
    fetched_.clear();
    sources_.clear();
    tell_and_compare(round);
  }

private:
  struct fetched {
    std::vector<unsigned char> data;
    int thread;
    std::size_t at;
  };

  static upc_shared_ptr_t on(upc_shared_ptr_t p, int thread, std::size_t offset) {
    return {p.addr + offset, static_cast<std::uint32_t>(thread), 0};
  }
  upc_shared_ptr_t constant(int thread, std::size_t at) const { return on(constant_, thread, at); }
  upc_shared_ptr_t written(int thread, int by, std::size_t at) const {
    return on(written_, thread, static_cast<std::size_t>(by) * region + at);
  }
  std::size_t below(std::size_t n) { return dice_() % n; }
  int any_thread() { return static_cast<int>(below(static_cast<std::size_t>(THREADS))); }
  std::size_t any_size() {
    constexpr std::size_t most[] = {8, 64, 1000, 20000, 200000, region / 2};
    return 1 + below(most[below(8) == 0 ? 5 : below(5)]);
  }

  // Places of one round have no byte in common: each thread's region is filled from its beginning.
  void begin_several() {
    std::vector<std::size_t> filled(static_cast<std::size_t>(THREADS), 0);
    for (std::size_t left = 1 + below(300); left != 0; --left) {
      const std::size_t bytes = any_size();
      const int to = any_thread();
      std::size_t& at = filled[static_cast<std::size_t>(to)];
      const std::size_t what = below(4);
      if (what == 0 || at + bytes > region) {
        get(any_thread(), below(region - bytes), bytes);
        continue;
      }
      unsigned char* const expected = shadow_[static_cast<std::size_t>(to)].data() + at;
      if (what == 1) put(to, at, bytes, expected);
      if (what == 2) set(to, at, bytes, expected);
      if (what == 3) copy(to, at, bytes, expected);
      at += bytes;
    }
  }

  void get(int from, std::size_t at, std::size_t bytes) {
    fetched& f = fetched_.emplace_back(std::vector<unsigned char>(bytes), from, at);
    if (below(2) == 0)
      upc_memget_nbi(f.data.data(), constant(from, at), bytes);
    else
      under_way_.push_back(upc_memget_nb(f.data.data(), constant(from, at), bytes));
  }
  void put(int to, std::size_t at, std::size_t bytes, unsigned char* expected) {
    std::vector<unsigned char>& source = sources_.emplace_back(bytes);
    for (unsigned char& c : source)
      c = static_cast<unsigned char>(dice_());
    std::copy(source.begin(), source.end(), expected);
    const upc_shared_ptr_t place = written(to, MYTHREAD, at);
    if (below(2) == 0)
      upc_memput_nbi(place, source.data(), bytes);
    else
      under_way_.push_back(upc_memput_nb(place, source.data(), bytes));
  }
  void set(int to, std::size_t at, std::size_t bytes, unsigned char* expected) {
    const int value = static_cast<int>(below(256));
    std::fill_n(expected, bytes, static_cast<unsigned char>(value));
    const upc_shared_ptr_t place = written(to, MYTHREAD, at);
    if (below(2) == 0)
      upc_memset_nbi(place, value, bytes);
    else
      under_way_.push_back(upc_memset_nb(place, value, bytes));
  }
  void copy(int to, std::size_t at, std::size_t bytes, unsigned char* expected) {
    const int from = any_thread();
    const std::size_t begin = below(region - bytes);
    for (std::size_t i = 0; i != bytes; ++i)
      expected[i] = pattern(from, begin + i);
    const upc_shared_ptr_t place = written(to, MYTHREAD, at), source = constant(from, begin);
    if (below(2) == 0)
      upc_memcpy_nbi(place, source, bytes);
    else
      under_way_.push_back(upc_memcpy_nb(place, source, bytes));
  }

  void complete_one(int round) {
    const std::size_t k = below(under_way_.size());
    std::swap(under_way_[k], under_way_.back());
    const upc_handle_t h = under_way_.back();
    if (below(2) == 0)
      upc_sync(h);
    else if (upc_sync_attempt(h) == 0)
      return;
    expect(upc_sync_attempt(h) != 0, "what was complete is not", round);
    under_way_.pop_back();
  }
  void complete_implicit() {
    if (below(2) == 0) return upc_synci();
    while (upc_synci_attempt() == 0) {
    }
  }

  static bool right(const fetched& f) {
    for (std::size_t i = 0; i != f.data.size(); ++i)
      if (f.data[i] != pattern(f.thread, f.at + i)) return false;
    return true;
  }

  void tell_and_compare(int round) {
    const auto threads = static_cast<std::size_t>(THREADS);
    for (int t = 0; t < THREADS; t++) {
      const std::uint64_t sum = checksum(shadow_[static_cast<std::size_t>(t)].data(), region);
      upc_memput(on(sums_, t, static_cast<std::size_t>(MYTHREAD) * 8), &sum, sizeof sum);
    }
    upc_barrier;
    const auto* const sums = static_cast<std::uint64_t*>(upc_cast(on(sums_, MYTHREAD, 0)));
    const auto* const mine = static_cast<unsigned char*>(upc_cast(on(written_, MYTHREAD, 0)));
    for (std::size_t by = 0; by != threads; ++by)
      expect(sums[by] == checksum(mine + by * region, region), "what others wrote here is wrong", round);
    upc_barrier;
  }

  std::mt19937 dice_;
  const std::size_t threads_ = static_cast<std::size_t>(THREADS);
  const upc_shared_ptr_t constant_ = upc_all_alloc(threads_, region);
  const upc_shared_ptr_t written_ = upc_all_alloc(threads_, threads_* region);
  const upc_shared_ptr_t sums_ = upc_all_alloc(threads_, threads_ * sizeof(std::uint64_t));
  std::vector<std::vector<unsigned char>> shadow_; // by thread: what I have written there
  std::vector<std::vector<unsigned char>> sources_;
  std::vector<fetched> fetched_;
  std::vector<upc_handle_t> under_way_;
};

// More than are with the transport at a time, to one peer and at once; some are left for weft_finalize.
void flood() {
  const int right = (MYTHREAD + 1) % THREADS;
  const std::size_t count = 20000;
  const upc_shared_ptr_t there = upc_all_alloc(static_cast<std::size_t>(THREADS), count * sizeof(int));
  static std::vector<int> numbers(count), back(count);
  for (std::size_t i = 0; i != count; ++i) {
    numbers[i] = static_cast<int>(i) + MYTHREAD;
    const upc_shared_ptr_t place{there.addr + i * sizeof(int), static_cast<std::uint32_t>(right), 0};
    upc_memput_nbi(place, &numbers[i], sizeof(int));
  }
  upc_synci();
  for (std::size_t i = 0; i != count; ++i) {
    const upc_shared_ptr_t place{there.addr + i * sizeof(int), static_cast<std::uint32_t>(right), 0};
    upc_memget_nbi(&back[i], place, sizeof(int));
  }
  upc_synci();
  expect(back == numbers, "many small copies", -1);
  upc_barrier;
  for (std::size_t i = 0; i != 500; ++i) // no thread completes them
    upc_memget_nbi(&back[i], {there.addr, static_cast<std::uint32_t>(right), 0}, sizeof(int));
}

} // namespace

WEFT_SUITE(one_sided_copies) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 10;
  {
    player p(argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1);
    for (int round = 0; round < rounds; ++round)
      p.play(round);
  }
  flood();
  return wrong == 0 ? 0 : 1;
}
