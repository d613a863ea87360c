// SPDX-License-Identifier: BSD-3-Clause
// The examples of Extended Collective Operations V0.3, 5.3, line by line, whose results are its figures, and
// what 5.4 says of completion; results checked.
#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <vector>
#include <weft/weft.hpp>

namespace {

using weft::dynamic_block;
using weft::per_thread;
using weft::ptr;
using weft::shared_array;

constexpr int BLK = 9;
#define NELEMS (BLK * THREADS)

// shared [] char * shared [1] A[THREADS], B[THREADS];
shared_array<ptr<char, 0>> A(per_thread(1)), B(per_thread(1));
// shared [] char * shared [THREADS] A[THREADS*THREADS], B[THREADS*THREADS];
shared_array<ptr<char, 0>, dynamic_block> AA(per_thread(1), per_thread(per_thread(1)));
shared_array<ptr<char, 0>, dynamic_block> BB(per_thread(1), per_thread(per_thread(1)));
// shared [1] size_t nBytes[THREADS]; shared [THREADS] size_t nbytes[THREADS*THREADS];
shared_array<std::size_t> nBytes(per_thread(1));
shared_array<std::size_t, dynamic_block> nbytes(per_thread(1), per_thread(per_thread(1)));
// shared [1] int P[THREADS]; and as the prototype has it
shared_array<int> P(per_thread(1));
shared_array<std::size_t> P_as_size(per_thread(1));
// shared [BLK] char C1[NELEMS], C2[NELEMS], D1[NELEMS], D2[NELEMS];
shared_array<char, BLK> C1(per_thread(BLK)), C2(per_thread(BLK));
shared_array<char, BLK> D1(per_thread(BLK)), D2(per_thread(BLK));

// Every example is called as it stands, in all modes, and posted and waited for.
std::vector<upc_flag_t> modes(upc_flag_t hint) {
  std::vector<upc_flag_t> all{UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC | hint};
  for (const int in : {UPC_IN_NOSYNC, UPC_IN_MYSYNC, UPC_IN_ALLSYNC})
    for (const int out : {UPC_OUT_NOSYNC, UPC_OUT_MYSYNC, UPC_OUT_ALLSYNC})
      for (const int more : {0, UPC_ASYNC})
        all.push_back(in | out | hint | more);
  return all;
}

// The examples and figures have three threads.
class v0_3 : public testing::TestWithParam<upc_flag_t> {
protected:
  void SetUp() override {
    if (THREADS != 3) GTEST_SKIP() << "the examples have three threads";
    const std::string upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ@", lower = "abcdefghijklmnopqrstuvwxyz#";
    for (int i = BLK * MYTHREAD; i != BLK * (MYTHREAD + 1); i++) {
      C1[i] = upper[static_cast<std::size_t>(i)];
      C2[i] = lower[static_cast<std::size_t>(i)];
      D1[i] = D2[i] = '.';
    }
    // What another example left must not help.
    A[MYTHREAD] = B[MYTHREAD] = nullptr;
    for (int i = 0; i != THREADS; i++)
      AA[THREADS * MYTHREAD + i] = BB[THREADS * MYTHREAD + i] = nullptr;
    upc_barrier;
  }
  // Thread 0 wrote what belongs to others: only IN_ALLSYNC waits for its entry before any thread looks at it.
  static void enter() {
    if (mode() & (UPC_IN_NOSYNC | UPC_IN_MYSYNC)) upc_barrier;
  }
  static upc_flag_t mode() { return GetParam(); }
  static void complete(upc_coll_handle_t handle) {
    EXPECT_EQ(handle != UPC_HANDLE_COMPLETE, (mode() & UPC_ASYNC) != 0);
    upc_wait(handle);
    EXPECT_EQ(handle, UPC_HANDLE_COMPLETE);
  }
  // The figure, thread by thread.
  static void expect_figure(const std::string& d1, const std::string& d2) {
    if ((mode() & UPC_OUT_ALLSYNC) == 0) upc_barrier;
    EXPECT_EQ(shown(D1), d1);
    EXPECT_EQ(shown(D2), d2);
    upc_barrier;
  }

private:
  static std::string shown(const shared_array<char, BLK>& array) {
    std::string all;
    for (int i = 0; i < NELEMS; i++) {
      if (i != 0 && i % BLK == 0) all += ' ';
      all += array[i].get();
    }
    return all;
  }
};

class v0_3_pull : public v0_3 {};
class v0_3_push : public v0_3 {};
INSTANTIATE_TEST_SUITE_P(all_modes, v0_3_pull, testing::ValuesIn(modes(UPC_PULL)));
INSTANTIATE_TEST_SUITE_P(all_modes, v0_3_push, testing::ValuesIn(modes(UPC_PUSH)));

TEST_P(v0_3_pull, figure_1_broadcast_x) {
  if (MYTHREAD == 0) {
    B[0] = ptr<char, 0>(&(D1[0]));
    B[1] = ptr<char, 0>(&(D2[11]));
    B[2] = ptr<char, 0>(&(D2[23]));
  }
  enter();

  complete(upc_all_broadcast_x(B, &C1[1], 4 * sizeof(char), mode(), UPC_TEAM_ALL));

  expect_figure("BCDE..... ......... .........", "......... ..BCDE... .....BCDE");
}

TEST_P(v0_3_pull, figure_2_scatter_x) {
  if (MYTHREAD == 0) {
    nBytes[0] = 2 * sizeof(char);
    nBytes[1] = 3 * sizeof(char);
    nBytes[2] = 1 * sizeof(char);

    A[0] = ptr<char, 0>(&(C1[1]));
    A[1] = ptr<char, 0>(&(C2[3]));
    A[2] = ptr<char, 0>(&(C2[8]));

    B[0] = ptr<char, 0>(&(D1[5]));
    B[1] = ptr<char, 0>(&(D2[9]));
    B[2] = ptr<char, 0>(&(D1[19]));
  }
  enter();

  complete(upc_all_scatter_x(B, A, nBytes, mode(), UPC_TEAM_ALL));

  expect_figure(".....BC.. ......... .i.......", "......... def...... .........");
}

TEST_P(v0_3_push, figure_3_gather_x) {
  if (MYTHREAD == 0) {
    nBytes[0] = 2 * sizeof(char);
    nBytes[1] = 3 * sizeof(char);
    nBytes[2] = 1 * sizeof(char);

    A[0] = ptr<char, 0>(&(C1[5]));
    A[1] = ptr<char, 0>(&(C2[9]));
    A[2] = ptr<char, 0>(&(C1[19]));

    B[0] = ptr<char, 0>(&(D1[1]));
    B[1] = ptr<char, 0>(&(D2[3]));
    B[2] = ptr<char, 0>(&(D2[8]));
  }
  enter();

  complete(upc_all_gather_x(B, A, nBytes, mode(), UPC_TEAM_ALL));

  expect_figure(".FG...... ......... .........", "...jkl..T ......... .........");
}

TEST_P(v0_3_push, figure_4_gather_all_x) {
  if (MYTHREAD == 0) {
    nBytes[0] = 2 * sizeof(char);
    nBytes[1] = 3 * sizeof(char);
    nBytes[2] = 1 * sizeof(char);

    A[0] = ptr<char, 0>(&(C1[5]));
    A[1] = ptr<char, 0>(&(C2[9]));
    A[2] = ptr<char, 0>(&(C1[19]));

    BB[0] = ptr<char, 0>(&(D1[1]));
    BB[1] = ptr<char, 0>(&(D2[3]));
    BB[2] = ptr<char, 0>(&(D2[8]));
    BB[3] = ptr<char, 0>(&(D2[10]));
    BB[4] = ptr<char, 0>(&(D1[12]));
    BB[5] = ptr<char, 0>(&(D1[17]));
    BB[6] = ptr<char, 0>(&(D2[18]));
    BB[7] = ptr<char, 0>(&(D2[21]));
    BB[8] = ptr<char, 0>(&(D2[25]));
  }
  enter();

  complete(upc_all_gather_all_x(BB, A, nBytes, mode(), UPC_TEAM_ALL));

  expect_figure(".FG...... ...jkl..T .........", "...jkl..T .FG...... FG.jkl.T.");
}

TEST_P(v0_3_pull, figure_5_exchange_x) {
  if (MYTHREAD == 0) {
    nbytes[0] = 2 * sizeof(char);
    nbytes[1] = 3 * sizeof(char);
    nbytes[2] = 1 * sizeof(char);
    nbytes[3] = 4 * sizeof(char);
    nbytes[4] = 2 * sizeof(char);
    nbytes[5] = 3 * sizeof(char);
    nbytes[6] = 1 * sizeof(char);
    nbytes[7] = 3 * sizeof(char);
    nbytes[8] = 4 * sizeof(char);

    AA[0] = ptr<char, 0>(&(C1[1]));
    AA[1] = ptr<char, 0>(&(C2[3]));
    AA[2] = ptr<char, 0>(&(C1[7]));
    AA[3] = ptr<char, 0>(&(C2[9]));
    AA[4] = ptr<char, 0>(&(C1[13]));
    AA[5] = ptr<char, 0>(&(C2[15]));
    AA[6] = ptr<char, 0>(&(C1[18]));
    AA[7] = ptr<char, 0>(&(C1[24]));
    AA[8] = ptr<char, 0>(&(C2[20]));

    BB[0] = ptr<char, 0>(&(D2[0]));
    BB[1] = ptr<char, 0>(&(D2[3]));
    BB[2] = ptr<char, 0>(&(D1[6]));
    BB[3] = ptr<char, 0>(&(D1[9]));
    BB[4] = ptr<char, 0>(&(D2[13]));
    BB[5] = ptr<char, 0>(&(D1[15]));
    BB[6] = ptr<char, 0>(&(D2[19]));
    BB[7] = ptr<char, 0>(&(D2[22]));
    BB[8] = ptr<char, 0>(&(D1[23]));
  }
  enter();

  complete(upc_all_exchange_x(BB, AA, nbytes, mode(), UPC_TEAM_ALL));

  expect_figure("......S.. def...YZ@ .....uvwx", "BC.jklm.. ....NO... .H..pqr..");
}

void fill_permute_x() {
  if (MYTHREAD == 0) {
    P[0] = 2;
    P[1] = 0;
    P[2] = 1;

    nBytes[0] = 3 * sizeof(char);
    nBytes[1] = 4 * sizeof(char);
    nBytes[2] = 5 * sizeof(char);

    A[0] = ptr<char, 0>(&(C1[2]));
    A[1] = ptr<char, 0>(&(C2[14]));
    A[2] = ptr<char, 0>(&(C1[21]));

    B[0] = ptr<char, 0>(&(D2[0]));
    B[1] = ptr<char, 0>(&(D1[9]));
    B[2] = ptr<char, 0>(&(D1[19]));

    for (int i = 0; i != 3; i++)
      P_as_size[i] = static_cast<std::size_t>(P[i].get());
  }
}

TEST_P(v0_3_pull, figure_6_permute_x) {
  fill_permute_x();
  enter();

  complete(upc_all_permute_x(B, A, P, nBytes, mode(), UPC_TEAM_ALL));

  expect_figure("......... VWXYZ.... .CDE.....", "opqr..... ......... .........");
}

TEST_P(v0_3_pull, figure_6_permute_x_as_the_prototype_has_it) {
  fill_permute_x();
  enter();

  complete(upc_all_permute_x(B, A, P_as_size, nBytes, mode(), UPC_TEAM_ALL));

  expect_figure("......... VWXYZ.... .CDE.....", "opqr..... ......... .........");
}

// 5.4: what it says of each function, over operations that all threads have to enter.
class v0_3_completion : public testing::Test {
protected:
  static constexpr int count = 4;
  shared_array<int> from{per_thread(count)}, to{per_thread(count)};
  upc_coll_handle_t handles[count];

  // Operation k sends 10 * k + 1 to every thread.
  void post() {
    for (int k = 0; k != count; k++) {
      if (MYTHREAD == 0) from[k * THREADS] = 10 * k + 1;
      to[k * THREADS + MYTHREAD] = 0;
      handles[k] = upc_all_broadcast(&to[k * THREADS], &from[k * THREADS], sizeof(int),
                                     UPC_IN_ALLSYNC | UPC_OUT_MYSYNC | UPC_ASYNC);
    }
  }
  bool active() const {
    return std::any_of(handles, handles + count,
                       [](upc_coll_handle_t h) { return h != UPC_HANDLE_COMPLETE; });
  }
  void expect_arrived(int k) { EXPECT_EQ(to[k * THREADS + MYTHREAD], 10 * k + 1); }
  void expect_all_arrived() {
    for (int k = 0; k != count; k++) {
      EXPECT_EQ(handles[k], UPC_HANDLE_COMPLETE);
      expect_arrived(k);
    }
    upc_barrier;
  }
};

TEST_F(v0_3_completion, wait) {
  post();
  for (int k = count; k-- != 0;) {
    upc_wait(handles[k]);
    expect_arrived(k);
    upc_wait(handles[k]); // of UPC_HANDLE_COMPLETE: a no-op
  }
  expect_all_arrived();
}

TEST_F(v0_3_completion, test) {
  post();
  for (int k = 0; k != count; k++) {
    while (upc_test(handles[k]) < 0)
      EXPECT_NE(handles[k], UPC_HANDLE_COMPLETE);
    expect_arrived(k);
    EXPECT_GT(upc_test(handles[k]), 0);
  }
  expect_all_arrived();
}

TEST_F(v0_3_completion, waitany) {
  post();
  for (int left = count; left != 0; left--) {
    const int k = upc_waitany(count, handles);
    ASSERT_TRUE(k >= 0 && k < count);
    EXPECT_EQ(handles[k], UPC_HANDLE_COMPLETE);
    expect_arrived(k);
  }
  expect_all_arrived();
}

TEST_F(v0_3_completion, testany) {
  post();
  for (int left = count; left != 0; left--) {
    int k;
    while ((k = upc_testany(count, handles)) == -1) // until one is complete
      ;
    ASSERT_TRUE(k >= 0 && k < count);
    EXPECT_EQ(handles[k], UPC_HANDLE_COMPLETE);
    expect_arrived(k);
  }
  EXPECT_LT(upc_testany(count, handles), 0);
  expect_all_arrived();
}

TEST_F(v0_3_completion, waitall) {
  post();
  upc_waitall(count, handles);
  expect_all_arrived();
}

TEST_F(v0_3_completion, testall) {
  post();
  const std::vector<upc_coll_handle_t> posted(handles, handles + count);
  int done;
  while ((done = upc_testall(count, handles)) < 0)
    EXPECT_EQ(std::vector<upc_coll_handle_t>(handles, handles + count), posted); // no handle is modified
  EXPECT_GT(done, 0);
  expect_all_arrived();
}

TEST_F(v0_3_completion, waitsome) {
  post();
  for (int left = count; left > 0;) {
    const int some = upc_waitsome(count, handles);
    ASSERT_GT(some, 0);
    left -= some;
  }
  expect_all_arrived();
}

TEST_F(v0_3_completion, testsome) {
  post();
  int completed = 0;
  while (active())
    completed += upc_testsome(count, handles);
  EXPECT_EQ(completed, count);
  EXPECT_EQ(upc_testsome(count, handles), 0);
  expect_all_arrived();
}

TEST_F(v0_3_completion, get_status) {
  post();
  for (int k = 0; k != count; k++) {
    while (upc_get_status(handles[k]) < 0)
      ;
    EXPECT_NE(handles[k], UPC_HANDLE_COMPLETE); // a call that completes is still to come
    EXPECT_GT(upc_test(handles[k]), 0);
    expect_arrived(k);
  }
  expect_all_arrived();
}

} // namespace
