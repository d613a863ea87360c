// SPDX-License-Identifier: BSD-3-Clause
// How independence is measured, the same for every library: rank 0 posts an exchange and computes without
// calling the library, the others wait. A library that needs rank 0's calls makes them wait for its
// computation.
//
// A library is a class with
//   int rank(), int size(), void barrier(), std::vector<double> gather(double),
//   word* source(), word* destination()    room for size() blocks of the largest size,
//   void exchange(bytes)                   blocking,
//   void post(bytes), void wait()          the same in two halves.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace independence {

using word = std::uint64_t;
using clock = std::chrono::steady_clock;

constexpr std::array<std::size_t, 3> sizes{16 << 10, 256 << 10, 4 << 20};
constexpr std::size_t largest = sizes.back();
constexpr int warm_up_rounds = 3;
constexpr int rounds = 21;
constexpr double computation = 5e-3; // seconds

inline double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

// Stays in registers, so that only the loss of the core can slow it down.
inline void compute(std::uint64_t steps) {
  word state = 88172645463325252;
  for (std::uint64_t i = 0; i != steps; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
  }
  volatile word sink = state;
  static_cast<void>(sink);
}

inline double time_of_computation(std::uint64_t steps) {
  const auto begin = clock::now();
  compute(steps);
  return seconds_since(begin);
}

// The number of steps that take as long as `computation`; the fastest of a few runs, for others disturb.
inline std::uint64_t calibrate() {
  constexpr std::uint64_t probe = 1 << 20;
  double fastest = time_of_computation(probe);
  for (int i = 0; i != 10; ++i)
    fastest = std::min(fastest, time_of_computation(probe));
  return static_cast<std::uint64_t>(static_cast<double>(probe) * computation / fastest);
}

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

template <class Library> class measurement {
public:
  measurement(Library& library, std::size_t nbytes, std::uint64_t steps)
      : library_(library), nbytes_(nbytes), steps_(steps) {}

  // Returns false, on every rank, if any rank received wrong data.
  bool run() {
    for (int i = -warm_up_rounds; i != rounds; ++i) {
      const double blocking = blocking_round();
      const posted both = posted_round();
      const double alone = undisturbed_round();
      if (i < 0) continue;
      blocking_.push_back(blocking);
      waited_.push_back(both.waited);
      // Of neighbouring rounds, so that a machine whose speed drifts does not show as a slow-down.
      slowdown_.push_back(library_.rank() == 0 ? both.computed / alone - 1 : 0);
    }
    if (library_.rank() == 0) print();
    return all(correct_);
  }

private:
  struct posted {
    double waited, computed;
  };

  // The slowest rank's time.
  double blocking_round() {
    fill();
    library_.barrier();
    const auto begin = clock::now();
    library_.exchange(nbytes_);
    const double own = seconds_since(begin);
    check();
    const auto times = library_.gather(own);
    return *std::max_element(times.begin(), times.end());
  }

  // The longest wait of those who do not compute, and what the computation took.
  posted posted_round() {
    fill();
    library_.barrier();
    const double own = library_.rank() == 0 ? post_and_compute() : post_and_wait();
    check();
    const auto times = library_.gather(own);
    return {*std::max_element(times.begin() + 1, times.end()), times.front()};
  }

  double post_and_compute() {
    library_.post(nbytes_);
    const double computed = time_of_computation(steps_);
    library_.wait();
    return computed;
  }

  double post_and_wait() {
    const auto begin = clock::now();
    library_.post(nbytes_);
    library_.wait();
    return seconds_since(begin);
  }

  // The same computation with nothing under way; the others wait in the library here too.
  double undisturbed_round() {
    library_.barrier();
    const double computed = library_.rank() == 0 ? time_of_computation(steps_) : 0;
    library_.barrier();
    return computed;
  }

  // Every word tells its round, source, destination and place.
  word content(int source, int destination, std::size_t index) const {
    return ((static_cast<word>(round_) * 4099 + source) * 4099 + destination) * (largest / sizeof(word)) +
           index;
  }

  std::size_t words() const { return nbytes_ / sizeof(word); }

  void fill() {
    ++round_;
    for (int peer = 0; peer != library_.size(); ++peer)
      for (std::size_t i = 0; i != words(); ++i)
        library_.source()[peer * words() + i] = content(library_.rank(), peer, i);
  }

  void check() {
    bool correct = true;
    for (int peer = 0; peer != library_.size(); ++peer)
      for (std::size_t i = 0; i != words(); ++i)
        correct &= library_.destination()[peer * words() + i] == content(peer, library_.rank(), i);
    correct_ = correct_ && correct;
  }

  bool all(bool own) {
    const auto answers = library_.gather(own ? 1 : 0);
    return *std::min_element(answers.begin(), answers.end()) == 1;
  }

  void print() const {
    const double blocking = median(blocking_);
    const double waited = median(waited_);
    std::printf("  %5zu KiB  %12.1f  %13.1f  %7.1f  %+11.1f %%\n", nbytes_ >> 10, blocking * 1e6,
                waited * 1e6, waited / blocking, median(slowdown_) * 100);
    std::fflush(stdout);
  }

  Library& library_;
  std::size_t nbytes_;
  std::uint64_t steps_;
  int round_ = 0;
  bool correct_ = true;
  std::vector<double> blocking_, waited_, slowdown_;
};

// The whole program but for the library's own beginning and end; returns the exit status.
template <class Library> int run(Library& library, const char* name) {
  if (library.size() < 2) {
    std::fprintf(stderr, "independence: no rank waits for a rank that is alone: start at least 2\n");
    return EXIT_FAILURE;
  }
  const std::uint64_t steps = calibrate();
  if (library.rank() == 0) {
    std::printf("independence, %s, %d ranks: rank 0 posts an exchange and computes %.0f ms without a call\n",
                name, library.size(), computation * 1e3);
    std::printf("      block  blocking, us  others wait, us    ratio  computation\n");
    std::fflush(stdout);
  }
  bool correct = true;
  for (const std::size_t nbytes : sizes)
    correct = measurement<Library>(library, nbytes, steps).run() && correct;
  if (library.rank() == 0) std::printf("  data: %s\n", correct ? "verified" : "WRONG");
  return correct ? EXIT_SUCCESS : EXIT_FAILURE;
}

} // namespace independence
