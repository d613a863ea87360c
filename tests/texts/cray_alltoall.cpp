// SPDX-License-Identifier: BSD-3-Clause
// The pipelined loop of cray_upc_team_alltoall(3c), line by line; the source of a round is a function of the
// round, the sender and the receiver, and every round's result is checked.
#include <cstring>
#include <gtest/gtest.h>
#include <upc_collective_cray.h>
#include <weft/weft.hpp>

namespace {

using weft::ptr;

class pipeline {
public:
  explicit pipeline(int nbytes) : nbytes(nbytes) {}

  void operator()(int rounds) {
    int i;
    upc_handle_t h = UPC_COMPLETE_HANDLE;
    ptr<char> d[2], s[2];

    // Allocate and initialize symmetric memory for pipe-lined alltoall
    d[0] = upc_all_alloc(static_cast<std::size_t>(4 * THREADS), static_cast<std::size_t>(THREADS * nbytes));
    d[1] = d[0] + THREADS * THREADS * nbytes;
    s[0] = d[1] + THREADS * THREADS * nbytes;
    s[1] = s[0] + THREADS * THREADS * nbytes;
    initialize_data(d, s);

    for (i = 0;; i = 1 - i) {
      // Check for completion and prepare this round's data
      if (round == rounds) break;
      compute_local_source(s[i]);

      // Wait for results of previous round's alltoall
      upc_sync(h);

      // d[1-i] is ready
      update_local_from_global(d[1 - i]);

      // Start this round's alltoall and take advantage of the
      // synchronization implict in the call to recognize that
      // all ranks have called upc_sync() on the previous round's
      // alltoall.
      h = cray_upc_team_alltoall_nb(d[i], s[i], static_cast<std::size_t>(nbytes), CRAY_UPC_TEAM_ALL);

      // s[1-i] is free to reuse as s[i] in next iteration
      round++;
    }
    upc_sync(h);
    cray_upc_team_barrier(CRAY_UPC_TEAM_ALL);

    update_local_from_global(d[1 - i]);
    EXPECT_EQ(received, rounds);
    upc_all_free(d[0]);
  }

private:
  // This thread's blocks of an array that begins on thread 0.
  static char* mine(const ptr<char>& p) { return (p + MYTHREAD).local(); }
  static char value(int round, int from, int to) { return static_cast<char>(round * 37 + from * 11 + to); }

  void initialize_data(const ptr<char>* d, const ptr<char>* s) const {
    for (int k = 0; k != 2; k++) {
      std::memset(mine(d[k]), '?', static_cast<std::size_t>(THREADS * nbytes));
      std::memset(mine(s[k]), '!', static_cast<std::size_t>(THREADS * nbytes));
    }
  }
  void compute_local_source(const ptr<char>& s) const {
    for (int t = 0; t < THREADS; t++)
      std::memset(mine(s) + t * nbytes, value(round, MYTHREAD, t), static_cast<std::size_t>(nbytes));
  }
  void update_local_from_global(const ptr<char>& d) {
    if (round == 0) return;
    received++;
    for (int t = 0; t < THREADS; t++)
      for (int b = 0; b != nbytes; ++b)
        ASSERT_EQ(mine(d)[t * nbytes + b], value(round - 1, t, MYTHREAD))
            << "round " << round << " from " << t;
  }

  int nbytes;
  int round = 0;
  int received = 0;
};

TEST(cray_alltoall, pipelining) {
  for (const int nbytes : {8, 1000, 40000})
    pipeline{nbytes}(20);
}

} // namespace
