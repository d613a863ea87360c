// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <gmock/gmock.h>
#include <vector>
#include <weft/weft.hpp>

namespace {

using weft::per_thread;
using weft::ptr;
using weft::shared_array;

struct cell {
  int writer;
  double value;
};

shared_array<cell, 2> cells(per_thread(6));
shared_array<long, 3> untouched(50);

TEST(memory, static_arrays_are_zero) {
  for (int i = 0; i != 50; ++i)
    EXPECT_EQ(untouched[i], 0);
  EXPECT_EQ(cells.size(), 6u * static_cast<unsigned>(THREADS));
}

TEST(memory, elements_of_all_threads_are_written_and_read) {
  upc_barrier;
  // Every thread writes into the blocks of all.
  for (int i = MYTHREAD; i < static_cast<int>(cells.size()); i += THREADS)
    cells[i] = cell{MYTHREAD, 0.5 * i};
  for (int i = MYTHREAD; i < static_cast<int>(cells.size()); i += THREADS)
    (&cells[i])->writer += 100;
  upc_barrier;
  for (int i = 0; i < static_cast<int>(cells.size()); ++i) {
    const cell c = cells[i];
    EXPECT_EQ(c.writer, 100 + i % THREADS);
    EXPECT_EQ((&cells[i])->value, 0.5 * i);
    EXPECT_EQ((&cells[i]).threadof(), static_cast<std::size_t>(i / 2 % THREADS));
  }
  upc_barrier;
}

TEST(memory, copies_between_all_pairs) {
  const std::size_t bytes = 300000;
  const auto area = upc_all_alloc(static_cast<std::size_t>(THREADS) * 2, bytes);
  const auto on = [&](int thread, std::size_t half) {
    return upc_shared_ptr_t{area.addr + half * bytes, static_cast<std::uint32_t>(thread), 0};
  };
  const int right = (MYTHREAD + 1) % THREADS, far = (MYTHREAD + 2) % THREADS;
  std::vector<unsigned char> data(bytes), back(bytes);
  for (std::size_t i = 0; i != bytes; ++i)
    data[i] = static_cast<unsigned char>(i + i / 251 + static_cast<std::size_t>(MYTHREAD));
  upc_memput(on(right, 0), data.data(), bytes);
  upc_memcpy(on(far, 1), on(right, 0), bytes);
  upc_memget(back.data(), on(far, 1), bytes);
  EXPECT_EQ(back, data);
  upc_memset(on(far, 1), MYTHREAD, bytes);
  upc_memget(back.data(), on(far, 1), bytes);
  EXPECT_EQ(back, std::vector<unsigned char>(bytes, static_cast<unsigned char>(MYTHREAD)));
  upc_barrier;
  const int left = (MYTHREAD + THREADS - 1) % THREADS;
  EXPECT_EQ(*static_cast<unsigned char*>(upc_cast(on(MYTHREAD, 0))), static_cast<unsigned char>(left));
  upc_all_free(area);
}

TEST(memory, every_thread_allocates_for_itself_and_for_all) {
  shared_array<upc_shared_ptr_t> published(per_thread(2));
  published[2 * MYTHREAD] = upc_global_alloc(static_cast<std::size_t>(THREADS), sizeof(int));
  published[2 * MYTHREAD + 1] = upc_alloc(64);
  upc_barrier;
  for (int t = 0; t < THREADS; t++) {
    const ptr<int> global = published[2 * t].get();
    global[MYTHREAD] = 1000 * t + MYTHREAD;
    EXPECT_EQ(upc_threadof(published[2 * t + 1]), static_cast<std::size_t>(t));
  }
  upc_barrier;
  const ptr<int> mine = published[2 * MYTHREAD].get();
  for (int t = 0; t < THREADS; t++)
    EXPECT_EQ(mine[t], 1000 * MYTHREAD + t);
  upc_barrier;
  upc_free(published[2 * MYTHREAD]);
  upc_free(published[2 * MYTHREAD + 1]);
  upc_barrier;
}

// Far more than the heap holds, in all; untouched, so it costs nothing.
TEST(memory, freed_memory_is_used_again) {
  for (int i = 0; i != 200; ++i)
    upc_all_free(upc_all_alloc(static_cast<std::size_t>(THREADS), std::size_t{64} << 20));
}

TEST(memory, too_large_a_request_is_an_error_on_all_threads_and_harmless) {
  for (int i = 0; i != 2; ++i)
    try {
      upc_all_alloc(static_cast<std::size_t>(THREADS), std::size_t{1} << 45);
      ADD_FAILURE() << "no error";
    } catch (const weft::error& e) {
      EXPECT_THAT(e.rule, testing::HasSubstr("WEFT_HEAP_SIZE"));
    }
  upc_all_free(upc_all_alloc(1, 8));
}

// As in the texts: thread 0 fills the source of every thread and calls the collective at once.
TEST(memory, writes_before_a_collective_are_seen_by_it) {
  const auto src = upc_all_alloc(static_cast<std::size_t>(THREADS), 64);
  const auto dst = upc_all_alloc(static_cast<std::size_t>(THREADS), 64 * static_cast<std::size_t>(THREADS));
  for (int round = 1; round != 40; ++round) {
    for (int t = 0; t < THREADS && MYTHREAD == 0; t++)
      for (int i = 0; i != 16; ++i)
        *(ptr<int, 0>(upc_ptradd(src, 64, 1, 64 * t)) + i) = round * 1000 + t * 16 + i;
    upc_all_gather_all(dst, src, 64, UPC_IN_ALLSYNC | UPC_OUT_MYSYNC);
    upc_shared_ptr_t mine = dst;
    mine.thread = static_cast<std::uint32_t>(MYTHREAD);
    for (int i = 0; i != 16 * THREADS; ++i)
      EXPECT_EQ((ptr<int, 0>(mine)[i]), round * 1000 + i);
    upc_barrier;
  }
  upc_all_free(src);
  upc_all_free(dst);
}

TEST(memory, wrong_calls_start_nothing) {
  const auto p = upc_all_alloc(static_cast<std::size_t>(THREADS), 64);
  EXPECT_THROW(upc_all_exchange(p, UPC_SHARED_NULL, 8, 0), weft::error);
  EXPECT_THROW(upc_all_broadcast(p, p, std::size_t{1} << 50, 0), weft::error);
  EXPECT_THROW(upc_all_gather_all(p, p, 1, UPC_IN_MYSYNC | UPC_IN_NOSYNC), weft::error);
  EXPECT_THROW(cray_upc_team_alltoall(p, p, 8, 12345), weft::error);
  upc_barrier;
  upc_all_free(p);
}

} // namespace
