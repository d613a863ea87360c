// SPDX-License-Identifier: BSD-3-Clause
// The examples of UPC Collective Operations V1.0, 4.2, line by line, and its figures; results checked.
#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <string>
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
// shared int P[THREADS];
shared_array<int> P6(per_thread(1));
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

TEST(v1_0, permute_1) {
  for (int i = 0; i < NELEMS; i++)
    A3[NELEMS * MYTHREAD + i] = 5000 * MYTHREAD + i;
  P6[MYTHREAD] = (MYTHREAD + 1) % THREADS;
  upc_barrier;
  upc_all_permute(B2, A3, P6, sizeof(int) * NELEMS, UPC_IN_NOSYNC | UPC_OUT_NOSYNC);
  upc_barrier;
  for (int t = 0; t < THREADS; t++)
    for (int i = 0; i < NELEMS; i++)
      EXPECT_EQ(B2[NELEMS * P6[t] + i], 5000 * t + i);
  upc_barrier;
}

// The figures: what the blocks on the four threads are before and after, a letter for a block.
class figure : public testing::Test {
protected:
  using picture = std::array<std::string, 4>;
  static constexpr std::size_t nbytes = 5;
  static constexpr upc_flag_t mode = UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC;

  void SetUp() override {
    if (THREADS != 4) GTEST_SKIP() << "the figures show four threads";
  }
  // Every thread has room for four blocks, and so have src and dst.
  shared_array<char, 4 * nbytes> src{per_thread(4 * nbytes)}, dst{per_thread(4 * nbytes)};

  ptr<char, 0> row(const shared_array<char, 4 * nbytes>& area, int thread) const {
    return ptr<char, 0>(&area[thread * 4 * static_cast<int>(nbytes)]);
  }
  void before(const picture& blocks) {
    for (std::size_t i = 0; i != 4 * nbytes; ++i) {
      row(src, MYTHREAD)[static_cast<int>(i)] = blocks[static_cast<std::size_t>(MYTHREAD)][i / nbytes];
      row(dst, MYTHREAD)[static_cast<int>(i)] = '.';
    }
  }
  // Every thread looks at everything.
  void expect_after(const picture& blocks) {
    picture seen;
    for (int t = 0; t < 4; t++)
      for (std::size_t i = 0; i != 4 * nbytes; ++i) {
        const char byte = row(dst, t)[static_cast<int>(i)];
        if (i % nbytes == 0) seen[static_cast<std::size_t>(t)] += byte;
        EXPECT_EQ(byte, seen[static_cast<std::size_t>(t)].back()) << "within a block";
      }
    EXPECT_EQ(seen, blocks);
    upc_barrier;
  }
};

TEST_F(figure, broadcast) {
  before({"....", "D...", "....", "...."});
  upc_all_broadcast(dst, row(src, 1), nbytes, mode);
  expect_after({"D...", "D...", "D...", "D..."});
}

TEST_F(figure, scatter) {
  before({"....", "0123", "....", "...."});
  upc_all_scatter(dst, row(src, 1), nbytes, mode);
  expect_after({"0...", "1...", "2...", "3..."});
}

TEST_F(figure, gather) {
  before({"0...", "1...", "2...", "3..."});
  upc_all_gather(row(dst, 0), src, nbytes, mode);
  expect_after({"0123", "....", "....", "...."});
}

TEST_F(figure, gather_all) {
  before({"0...", "1...", "2...", "3..."});
  upc_all_gather_all(dst, src, nbytes, mode);
  expect_after({"0123", "0123", "0123", "0123"});
}

TEST_F(figure, exchange) {
  before({"0123", "4567", "89AB", "CDEF"});
  upc_all_exchange(dst, src, nbytes, mode);
  expect_after({"048C", "159D", "26AE", "37BF"});
}

// With every permutation of four threads.
TEST_F(figure, permute) {
  std::array<int, 4> order{0, 1, 2, 3};
  do {
    P6[MYTHREAD] = order[static_cast<std::size_t>(MYTHREAD)];
    before({"0...", "1...", "2...", "3..."});
    upc_all_permute(dst, src, P6, nbytes, mode);
    picture after;
    for (std::size_t i = 0; i != 4; ++i)
      after[static_cast<std::size_t>(order[i])] = std::to_string(i) + "...";
    expect_after(after);
  } while (std::next_permutation(order.begin(), order.end()));
}

// 4.3.2 and 4.3.3: the sum, and the prefix sums, of 1, 2, 3 ... in blocks of three.
TEST(v1_0, reduce_1) {
  constexpr std::size_t BLK_SIZE = 3;
  weft::shared_array<long, BLK_SIZE> A(weft::per_thread(NELEMS));
  weft::shared_array<long> B(weft::per_thread(1));
  const std::ptrdiff_t n = NELEMS * THREADS;
  for (std::ptrdiff_t i = 0; i < n; ++i)
    if ((A + i).threadof() == static_cast<std::size_t>(MYTHREAD)) A[i] = i + 1;
  upc_barrier;
  upc_all_reduceL(B, A, UPC_ADD, NELEMS * THREADS, BLK_SIZE, NULL, UPC_IN_NOSYNC | UPC_OUT_NOSYNC);
  upc_barrier;
  EXPECT_EQ(static_cast<long>(B[0]), n * (n + 1) / 2);
  upc_barrier;
}

TEST(v1_0, prefix_reduce_1) {
  constexpr std::size_t BLK_SIZE = 3;
  weft::shared_array<long, BLK_SIZE> A(weft::per_thread(NELEMS)), B(weft::per_thread(NELEMS));
  for (std::ptrdiff_t i = 0; i < NELEMS * THREADS; ++i)
    if ((A + i).threadof() == static_cast<std::size_t>(MYTHREAD)) A[i] = i + 1;
  upc_all_prefix_reduceL(B, A, UPC_ADD, NELEMS * THREADS, BLK_SIZE, NULL, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  for (std::ptrdiff_t i = 0; i < NELEMS * THREADS; ++i)
    EXPECT_EQ(static_cast<long>(B[i]), (i + 1) * (i + 2) / 2);
  upc_barrier;
}

// 4.3.4: greater elements first.
int lt_int(upc_shared_ptr_t x, upc_shared_ptr_t y) {
  const int x_val = *weft::ptr<int>(x), y_val = *weft::ptr<int>(y);
  return x_val > y_val ? -1 : x_val < y_val ? 1 : 0;
}

TEST(v1_0, sort_1) {
  weft::shared_array<int, NELEMS> A(weft::per_thread(NELEMS));
  const std::ptrdiff_t n = NELEMS * THREADS;
  for (std::ptrdiff_t i = 0; i < n; ++i)
    if ((A + i).threadof() == static_cast<std::size_t>(MYTHREAD)) A[i] = static_cast<int>(i * 7 % 11);
  upc_barrier;
  upc_all_sort(A, sizeof(int), NELEMS * THREADS, NELEMS, lt_int, UPC_IN_NOSYNC | UPC_OUT_NOSYNC);
  upc_barrier;
  for (std::ptrdiff_t i = 0; i + 1 < n; ++i)
    EXPECT_GE(static_cast<int>(A[i]), static_cast<int>(A[i + 1]));
  upc_barrier;
}

} // namespace
