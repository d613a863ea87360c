// The examples of the specifications, line by line, with their results checked.
#include <cstring>
#include <gtest/gtest.h>
#include <vector>
#include <weft/weft.hpp>

namespace {

constexpr int NELEMS = 10;
using weft::per_thread;
using weft::ptr;
using weft::shared_array;

// shared int A[THREADS]; shared int B[THREADS];
shared_array<int> A1(per_thread(1)), B1(per_thread(1));
// shared [] int A[NELEMS]; shared [NELEMS] int B[NELEMS*THREADS];
shared_array<int, 0> A2(NELEMS);
shared_array<int, NELEMS> B2(per_thread(NELEMS));
// shared [NELEMS] int A[NELEMS*THREADS];
shared_array<int, NELEMS> A3(per_thread(NELEMS));
// shared [] int A[NELEMS*THREADS];
shared_array<int, 0> A5(per_thread(NELEMS));
// shared [NELEMS*THREADS] int A[THREADS][NELEMS*THREADS], B[THREADS][NELEMS*THREADS];
shared_array<int, weft::dynamic_block> A4(per_thread(NELEMS), per_thread(per_thread(NELEMS)));
shared_array<int, weft::dynamic_block> B4(per_thread(NELEMS), per_thread(per_thread(NELEMS)));

TEST(v1_0, broadcast_1) {
  // Initialize A.
  if (THREADS > 1) {
    A1[MYTHREAD] = 10 + MYTHREAD;
    upc_barrier;
    upc_all_broadcast(B1, &A1[1], sizeof(int), UPC_IN_NOSYNC | UPC_OUT_NOSYNC);
    upc_barrier;
    EXPECT_EQ(B1[MYTHREAD], 11);
    for (int i = 0; i < THREADS; i++)
      EXPECT_EQ(B1[i], 11);
    upc_barrier;
  }
}

TEST(v1_0, broadcast_2) {
  if (MYTHREAD == THREADS - 1)
    for (int i = 0; i < NELEMS; i++)
      A2[i] = 100 + i;
  upc_all_broadcast(B2, A2, sizeof(int) * NELEMS, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  for (int i = 0; i < NELEMS * THREADS; i++)
    EXPECT_EQ(B2[i], 100 + i % NELEMS);
  upc_barrier;
}

TEST(v1_0, broadcast_3) {
  for (int i = 0; i < NELEMS * THREADS; i++)
    if ((&A3[i]).threadof() == static_cast<std::size_t>(MYTHREAD)) {
      A3[i] = i;
      B2[i] = -1;
    }
  upc_barrier;
  upc_all_broadcast(B2, &A3[3], sizeof(int) * 2, UPC_IN_NOSYNC | UPC_OUT_NOSYNC);
  upc_barrier;
  for (int t = 0; t < THREADS; t++) {
    EXPECT_EQ(B2[NELEMS * t], 3);
    EXPECT_EQ(B2[NELEMS * t + 1], 4);
    EXPECT_EQ(B2[NELEMS * t + 2], -1);
  }
  upc_barrier;
}

TEST(v1_0, scatter_1) {
  constexpr int NUMELEMS = 10;
  const int SRC_THREAD = THREADS > 1 ? 1 : 0;
  ptr<int> A;
  ptr<int, 0> myA, srcA;
  shared_array<int, NUMELEMS> B(per_thread(NUMELEMS));
  int i;

  // allocate and initialize an array distributed across all threads
  A = upc_all_alloc(THREADS, THREADS * NUMELEMS * sizeof(int));
  myA = ptr<int, 0>(&A[MYTHREAD]);
  for (i = 0; i < NUMELEMS * THREADS; i++)
    myA[i] = i + NUMELEMS * THREADS * MYTHREAD; // (for example)
  // scatter the SRC_THREAD's row of the array
  srcA = ptr<int, 0>(&A[SRC_THREAD]);
  upc_barrier;
  upc_all_scatter(B, srcA, sizeof(int) * NUMELEMS, UPC_IN_NOSYNC | UPC_OUT_NOSYNC);
  upc_barrier;
  for (i = 0; i < NUMELEMS * THREADS; i++)
    EXPECT_EQ(B[i], i + NUMELEMS * THREADS * SRC_THREAD);
  upc_all_free(A);
}

TEST(v1_0, scatter_2) {
  if (MYTHREAD == THREADS - 1)
    for (int i = 0; i < NELEMS * THREADS; i++)
      A5[i] = 300 + i;
  upc_all_scatter(B2, A5, sizeof(int) * NELEMS, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  for (int i = 0; i < NELEMS * THREADS; i++)
    EXPECT_EQ(B2[i], 300 + i);
  upc_barrier;
}

TEST(v1_0, gather_1) {
  for (int i = 0; i < NELEMS; i++)
    A3[NELEMS * MYTHREAD + i] = 3000 * MYTHREAD + i;
  upc_all_gather(A5, A3, sizeof(int) * NELEMS, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  for (int i = 0; i < NELEMS * THREADS; i++)
    EXPECT_EQ(A5[i], 3000 * (i / NELEMS) + i % NELEMS);
  upc_barrier;
}

TEST(v1_0, gather_2) {
  ptr<int, 0> B;
  B = upc_all_alloc(1, NELEMS * THREADS * sizeof(int));
  for (int i = 0; i < NELEMS; i++)
    A3[NELEMS * MYTHREAD + i] = 4000 * MYTHREAD + i;
  upc_barrier;
  upc_all_gather(B, A3, sizeof(int) * NELEMS, UPC_IN_NOSYNC | UPC_OUT_NOSYNC);
  upc_barrier;
  for (int i = 0; i < NELEMS * THREADS; i++)
    EXPECT_EQ(B[i], 4000 * (i / NELEMS) + i % NELEMS);
  upc_all_free(B);
}

TEST(v1_0, gather_all_1) {
  for (int i = 0; i < NELEMS; i++)
    A3[NELEMS * MYTHREAD + i] = 1000 * MYTHREAD + i;
  upc_barrier;
  upc_all_gather_all(B4, A3, sizeof(int) * NELEMS, UPC_IN_NOSYNC | UPC_OUT_NOSYNC);
  upc_barrier;
  for (int t = 0; t < THREADS; t++)
    for (int i = 0; i < NELEMS * THREADS; i++)
      EXPECT_EQ(B4[NELEMS * THREADS * t + i], 1000 * (i / NELEMS) + i % NELEMS);
  upc_barrier;
}

TEST(v1_0, gather_all_2) {
  ptr<int> Bdata;
  ptr<int, 0> myB;

  Bdata = upc_all_alloc(THREADS * THREADS, NELEMS * sizeof(int));
  myB = ptr<int, 0>(&Bdata[MYTHREAD]);
  for (int i = 0; i < NELEMS; i++)
    A3[NELEMS * MYTHREAD + i] = 2000 * MYTHREAD + i;
  upc_all_gather_all(Bdata, A3, NELEMS * sizeof(int), UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  for (int i = 0; i < NELEMS * THREADS; i++)
    EXPECT_EQ(myB[i], 2000 * (i / NELEMS) + i % NELEMS);
  upc_all_free(Bdata);
}

TEST(v1_0, exchange_1) {
  for (int i = 0; i < NELEMS * THREADS; i++)
    A4[NELEMS * THREADS * MYTHREAD + i] = 10000 * MYTHREAD + i;
  upc_barrier;
  upc_all_exchange(B4, A4, NELEMS * sizeof(int), UPC_IN_NOSYNC | UPC_OUT_NOSYNC);
  upc_barrier;
  for (int t = 0; t < THREADS; t++)
    for (int i = 0; i < NELEMS * THREADS; i++)
      EXPECT_EQ(B4[NELEMS * THREADS * t + i], 10000 * (i / NELEMS) + NELEMS * t + i % NELEMS);
  upc_barrier;
}

TEST(v1_0, exchange_2) {
  ptr<int> Adata, Bdata;
  ptr<int, 0> myA, myB;
  int i;

  Adata = upc_all_alloc(THREADS * THREADS, NELEMS * sizeof(int));
  myA = ptr<int, 0>(&Adata[MYTHREAD]);
  Bdata = upc_all_alloc(THREADS * THREADS, NELEMS * sizeof(int));
  myB = ptr<int, 0>(&Bdata[MYTHREAD]);
  for (i = 0; i < NELEMS * THREADS; i++)
    myA[i] = MYTHREAD * 10 + i;
  upc_all_exchange(Bdata, Adata, NELEMS * sizeof(int), UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  for (i = 0; i < NELEMS * THREADS; i++)
    EXPECT_EQ(myB[i], i / NELEMS * 10 + NELEMS * MYTHREAD + i % NELEMS);
  upc_all_free(Adata);
  upc_all_free(Bdata);
}

// Cray's pipelined loop. The source of a round is a function of the round, the sender and the receiver.
class pipeline {
public:
  explicit pipeline(std::size_t nbytes) : nbytes(nbytes) {}
  void operator()(int rounds) {
    int i;
    upc_handle_t h = UPC_COMPLETE_HANDLE;
    ptr<char> d[2], s[2];

    d[0] = upc_all_alloc(4 * THREADS, THREADS * nbytes);
    // One share per thread each: the blocks of the allocation go round the threads.
    d[1] = share(d[0], 1);
    s[0] = share(d[0], 2);
    s[1] = share(d[0], 3);

    for (i = 0;; i = 1 - i) {
      if (round_ == rounds) break;
      compute_local_source(s[i]);

      // Wait for results of previous round's alltoall
      upc_sync(h);
      // d[1-i] is ready
      update_local_from_global(d[1 - i]);

      h = cray_upc_team_alltoall_nb(d[i], s[i], nbytes, CRAY_UPC_TEAM_ALL);
      // s[1-i] is free to reuse as s[i] in next iteration
      ++round_;
    }
    upc_sync(h);
    update_local_from_global(d[1 - i]);
    cray_upc_team_barrier(CRAY_UPC_TEAM_ALL);
    EXPECT_EQ(received_, rounds);
    upc_all_free(d[0]);
  }

private:
  // The k-th of the four areas: every thread has THREADS * nbytes bytes of each.
  upc_shared_ptr_t share(upc_shared_ptr_t base, int k) const {
    return upc_ptradd(base, nbytes * THREADS, 1, static_cast<std::ptrdiff_t>(nbytes) * THREADS * THREADS * k);
  }
  char* mine(upc_shared_ptr_t p) const {
    p.thread = static_cast<std::uint32_t>(MYTHREAD);
    return static_cast<char*>(upc_cast(p));
  }
  static char value(int round, int from, int to) { return static_cast<char>(round * 37 + from * 11 + to); }
  void compute_local_source(upc_shared_ptr_t s) const {
    for (int t = 0; t < THREADS; t++)
      std::memset(mine(s) + t * nbytes, value(round_, MYTHREAD, t), nbytes);
  }
  void update_local_from_global(upc_shared_ptr_t d) {
    if (round_ == 0) return;
    ++received_;
    const char* const got = mine(d);
    for (int t = 0; t < THREADS; t++)
      for (std::size_t b = 0; b != nbytes; ++b)
        ASSERT_EQ(got[t * nbytes + b], value(round_ - 1, t, MYTHREAD)) << "round " << round_ << " from " << t;
  }

  std::size_t nbytes;
  int round_ = 0;
  int received_ = 0;
};

TEST(cray, pipeline) {
  for (const std::size_t nbytes : {std::size_t{8}, std::size_t{1000}, std::size_t{40000}})
    pipeline{nbytes}(20);
}

} // namespace
