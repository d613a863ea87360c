// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// The calls that lanes.cpp plays, and what comes of them.
#include "mpi/shim/lane.hpp"

#include <upc.h>

#include <array>
#include <cstdint>
#include <random>

namespace lanes_of_test {

using namespace weft::mpi;
using word = std::uint32_t;
using enum collective;

constexpr std::array kinds{barrier,   bcast,      gather,    scatter, allgather,
                           alltoall,  reduce,     allreduce, scan,    reduce_scatter_block,
                           alltoallv, allgatherv, gatherv,   scatterv};
constexpr std::size_t most_words = 17000, depth = 12;
constexpr std::uint64_t small = 4 << 10, large = 256 << 10, page = 4096;
// Blocks that the kernel may read are smaller, and those of which rows say where they lie are larger.
constexpr std::uint64_t least_found = 64 << 10;
constexpr std::size_t middling = 8000;

inline int ranks() {
  return static_cast<int>(THREADS);
}
inline int me() {
  return static_cast<int>(MYTHREAD);
}

// The same on all ranks.
struct plan {
  plan(unsigned seed, unsigned of_call) : number(of_call) {
    const unsigned like = of_call / (2 * depth) * depth + of_call % depth; // a task plays each twice
    std::mt19937 r(seed * 1000003 + like);
    what = kinds[r() % kinds.size()];
    root = static_cast<int>(r() % static_cast<unsigned>(ranks()));
    constexpr std::array<std::size_t, 6> sizes{1, 1, 7, 7, 64, 1500};
    const unsigned long draw = r() % 200;
    words = what == barrier ? 0 : draw == 0 ? most_words : draw < 24 ? middling : sizes[r() % sizes.size()];
  }
  // Of root 0.
  plan(unsigned of_call, collective of_kind, std::size_t of_words)
      : number(of_call), what(of_kind), words(of_words) {}
  word given(int by, int to, std::size_t at) const {
    return number * 2654435761U + static_cast<word>(by * 1009 + to * 31) + static_cast<word>(at) * 40503U;
  }
  // In the block that this rank gets from rank `from`.
  word got(int from, std::size_t at) const {
    const auto of_all = [&](int end, std::size_t k) {
      word x = 0;
      for (int by = 0; by != end; ++by)
        x ^= given(by, 0, k);
      return x;
    };
    switch (what) {
    case bcast:
      return given(root, 0, at);
    case scatter:
      return given(root, me(), at);
    case alltoall:
    case alltoallv:
      return given(from, me(), at);
    case scatterv:
      return given(root, me(), at);
    case gather:
    case allgather:
    case gatherv:
    case allgatherv:
      return given(from, 0, at);
    case scan:
      return of_all(me() + 1, at);
    case reduce_scatter_block:
      return of_all(ranks(), static_cast<std::size_t>(me()) * words + at);
    default:
      return of_all(ranks(), at);
    }
  }
  // Of unequal blocks: of one that rank `by` gives rank `to`, or all.
  std::size_t words_of(int by, int to) const {
    const bool one = what == allgatherv || what == gatherv;
    const unsigned draw = number * 7 + static_cast<unsigned>(by * 3 + (one ? 0 : to * 5));
    return draw % 4 == 0 ? 0 : words - words / (2 + draw % 5);
  }
  bool is_like(const plan& other) const {
    return what == other.what && root == other.root && words == other.words;
  }
  bool is_root() const { return me() == root; }
  bool combined() const { return combines(what); }
  int blocks_given() const {
    if (what == barrier || (what == bcast && !is_root())) return 0;
    const bool from_root = what == scatter || what == scatterv;
    if (what == alltoall || what == alltoallv || (from_root && is_root())) return ranks();
    return from_root ? 0 : 1;
  }
  int blocks_got() const {
    if (what == barrier || (what == bcast && is_root())) return 0;
    const bool to_root = what == gather || what == gatherv;
    const bool of_all = what == alltoall || what == allgather || what == alltoallv || what == allgatherv;
    if (of_all || (to_root && is_root())) return ranks();
    return to_root || (what == reduce && !is_root()) ? 0 : 1;
  }
  // Of a block, as a call counts it.
  std::size_t words_given() const { return words * (what == reduce_scatter_block ? THREADS : 1); }

  unsigned number;
  collective what = barrier;
  int root = 0;
  std::size_t words = 0;
};

} // namespace lanes_of_test
