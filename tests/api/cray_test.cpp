// SPDX-License-Identifier: BSD-3-Clause
#include "api/calls/staging.hpp"
#include "tests/api/collective_forms.hpp"

namespace {

using weft::collectives::operation;
using weft::graph::hint;
using weft::graph::sync;

TEST_F(collective_test, cray_blocking_returns_when_all_is_complete) {
  fake_runtime& rt = begin();
  cray_upc_team_alltoall(dst, src, 8, CRAY_UPC_TEAM_ALL);
  const fake_runtime::recorded& last = rt.collectives.back();
  EXPECT_TRUE(last.blocking);
  EXPECT_EQ(last.r.op, operation::exchange);
  EXPECT_EQ(last.r.in, sync::my);
  EXPECT_EQ(last.r.out, sync::all);
}

TEST_F(collective_test, cray_nonblocking_returns_when_all_have_entered) {
  fake_runtime& rt = begin();
  const upc_handle_t h = cray_upc_team_alltoall_nb(dst, src, 8, CRAY_UPC_TEAM_ALL);
  EXPECT_THAT(rt.entered, testing::ElementsAre(h));
  EXPECT_EQ(rt.collectives.back().r.in, sync::my);
  EXPECT_EQ(rt.collectives.back().r.out, sync::no);
  EXPECT_EQ(rt.collectives.back().r.direction, hint::pull);
  EXPECT_EQ(upc_sync_attempt(h), 0);
  rt.finish(h);
  EXPECT_NE(upc_sync_attempt(h), 0);
  upc_sync(h);
}

TEST_F(collective_test, cray_implicit_handles_are_completed_by_synci) {
  fake_runtime& rt = begin();
  EXPECT_NE(upc_synci_attempt(), 0);
  EXPECT_EQ(cray_upc_team_alltoall_nbi(dst, src, 8, CRAY_UPC_TEAM_ALL), UPC_COMPLETE_HANDLE);
  EXPECT_EQ(cray_upc_team_alltoall_nbi(dst, src, 8, CRAY_UPC_TEAM_ALL), UPC_COMPLETE_HANDLE);
  EXPECT_EQ(rt.entered.size(), 2u);
  EXPECT_EQ(upc_synci_attempt(), 0);
  rt.finish(rt.entered[1]);
  EXPECT_EQ(upc_synci_attempt(), 0);
  rt.finish(rt.entered[0]);
  EXPECT_NE(upc_synci_attempt(), 0);
  cray_upc_team_alltoall_nbi(dst, src, 8, CRAY_UPC_TEAM_ALL);
  upc_synci();
  EXPECT_EQ(rt.waited.back(), rt.entered.back());
  EXPECT_NE(upc_synci_attempt(), 0);
}

TEST_F(collective_test, synci_ends_all_operations_and_reports_the_first_failure) {
  fake_runtime& rt = begin();
  for (int i = 0; i != 3; ++i)
    cray_upc_team_alltoall_nbi(dst, src, 8, CRAY_UPC_TEAM_ALL);
  rt.failures = {{rt.entered[0], "thread 3 died"}, {rt.entered[1], "later"}};
  EXPECT_THAT(error_of([] { upc_synci(); }).what(), testing::StartsWith("upc_synci: thread 3 died"));
  EXPECT_EQ(rt.waited.size(), 3u);
  EXPECT_NE(upc_synci_attempt(), 0);
}

TEST_F(collective_test, cray_teams_and_pointers_are_checked) {
  begin();
  const cray_upc_team_t unknown = 77;
  using alltoall = std::function<void(upc_shared_ptr_t, upc_shared_ptr_t, size_t, cray_upc_team_t)>;
  for (const alltoall& call : {alltoall(cray_upc_team_alltoall), alltoall(cray_upc_team_alltoall_nb),
                               alltoall(cray_upc_team_alltoall_nbi)}) {
    EXPECT_THAT(error_of([&] { call(dst, src, 8, unknown); }).rule,
                testing::HasSubstr("unknown or freed team"));
    EXPECT_EQ(error_of([&] { call(dst, on(src, 1), 8, CRAY_UPC_TEAM_ALL); }).argument, "src");
    EXPECT_EQ(error_of([&] { call(on(dst, 1), src, 8, CRAY_UPC_TEAM_ALL); }).argument, "dst");
    EXPECT_EQ(error_of([&] { call(dst, UPC_SHARED_NULL, 8, CRAY_UPC_TEAM_ALL); }).argument, "src");
    EXPECT_EQ(error_of([&] { call(UPC_SHARED_NULL, src, 8, CRAY_UPC_TEAM_ALL); }).argument, "dst");
    EXPECT_THAT(error_of([&] { call(dst, dst, 8, CRAY_UPC_TEAM_ALL); }).rule, testing::HasSubstr("overlaps"));
    EXPECT_EQ(error_of([&] { call(dst, src, SIZE_MAX, CRAY_UPC_TEAM_ALL); }).argument,
              "nbytes * threads of the team");
  }
  EXPECT_EQ(error_of([&] { cray_upc_team_barrier(unknown); }).value, "77");
  EXPECT_EQ(error_of([&] { cray_upc_team_barrier(0); }).value, "0");
}

using weft::api::staged_block;

// The block that stands for an operand of the last call.
staged_block& block_of_last(fake_runtime& rt) {
  return *reinterpret_cast<staged_block*>(rt.own_memory(rt.collectives.back().at.src - staged_block::line));
}
upc_handle_t sum(const std::vector<long>& from, std::vector<long>& to) {
  upc_handle_t h = 0;
  cray_upc_team_allreduce(weft_pointer_to(to.data()), weft_pointer_to(from.data()), from.size(),
                          CRAY_UPC_LONG, UPC_ADD, CRAY_UPC_TEAM_ALL, &h);
  return h;
}

TEST_F(collective_test, a_pointer_to_memory_of_the_process_says_where_it_lies) {
  fake_runtime& rt = begin();
  EXPECT_TRUE(upc_isnull(weft_pointer_to(nullptr)));
  const upc_shared_ptr_t shared = weft_pointer_to(rt.memory(0, dst.addr + 8));
  EXPECT_EQ(shared.addr, dst.addr + 8);
  EXPECT_EQ(shared.phase, 0u);
  long ordinary = 0;
  const upc_shared_ptr_t own = weft_pointer_to(&ordinary);
  EXPECT_EQ(own.thread, 0u);
  EXPECT_EQ(rt.own_memory(own.addr), reinterpret_cast<std::byte*>(&ordinary));
  EXPECT_TRUE(weft::api::is_ordinary(own));
  // Other calls do not take it, and say what does.
  const auto refused = [](const char* argument, auto&& call) {
    const weft::error e = error_of(call);
    EXPECT_EQ(e.argument, argument);
    EXPECT_THAT(e.value, testing::StartsWith("(ordinary memory at 0x"));
    EXPECT_THAT(e.rule, testing::HasSubstr("shared memory only")) << e.what();
  };
  refused("src", [&] { upc_all_broadcast(dst, own, 8, 0); });
  refused("dst", [&] { upc_all_broadcast(own, src, 8, 0); });
  refused("dst", [&] { upc_all_reduceL(own, src, UPC_ADD, 1, 1, nullptr, 0); });
  refused("src", [&] { upc_all_reduceL(dst, own, UPC_ADD, 1, 1, nullptr, 0); });
  refused("dst", [&] { upc_memput(own, &ordinary, 8); });
  refused("src", [&] { upc_broadcast(dst, own, 8); });
  refused("dst", [&] { upc_broadcast(own, src, 8); });
  EXPECT_THAT(error_of([&] { upc_free(own); }).value, testing::StartsWith("(ordinary memory at 0x"));
}

TEST_F(collective_test, places_and_sizes_of_ordinary_memory_that_none_holds_are_errors) {
  begin();
  std::vector<long> from(8), to(8);
  const std::size_t sizes[] = {8, 8, 8, 8};
  const std::ptrdiff_t right[] = {0, 8, 16, 24}, far[] = {0, 8, PTRDIFF_MAX, 24};
  const auto exchange = [&](const std::ptrdiff_t* taken, const std::ptrdiff_t* given) {
    return error_of([&] {
      cray_upc_team_alltoallv(weft_pointer_to(to.data()), sizes, taken, weft_pointer_to(from.data()), sizes,
                              given, CRAY_UPC_TEAM_ALL, nullptr);
    });
  };
  EXPECT_EQ(exchange(right, far).argument, "src");
  EXPECT_THAT(exchange(far, right).rule, testing::HasSubstr("more than any memory holds"));
  const weft::error e = error_of([&] {
    cray_upc_team_allreduce(UPC_SHARED_NULL, weft_pointer_to(from.data()), std::size_t{1} << 60,
                            CRAY_UPC_LONG, UPC_ADD, CRAY_UPC_TEAM_ALL, nullptr);
  });
  EXPECT_THAT(e.rule, testing::HasSubstr("more than any memory holds"));
}

TEST_F(collective_test, vectors_in_ordinary_memory_are_copied_and_their_room_is_used_again) {
  fake_runtime& rt = begin();
  std::vector<long> from{1, 2, 3}, to(3, -1);
  upc_wait(sum(from, to));
  from.assign(3, 0); // it has been copied
  const weft::graph::binding at = rt.collectives.back().at;
  EXPECT_EQ(reinterpret_cast<const long*>(rt.own_memory(at.src))[2], 3);
  reinterpret_cast<long*>(rt.own_memory(at.dst))[2] = 7;
  staged_block& block = block_of_last(rt);
  EXPECT_EQ(block.end(block, true).gone, nullptr);
  EXPECT_EQ(to[2], 7);
  EXPECT_EQ(rt.counted.bytes_staged.value(), 2 * 3 * sizeof(long));
  upc_wait(sum(from, to));
  EXPECT_EQ(&block_of_last(rt), &block);
  reinterpret_cast<long*>(rt.own_memory(rt.collectives.back().at.dst))[2] = 8;
  block.end(block, false); // an operation that failed writes nothing
  EXPECT_EQ(to[2], 7);
  // A call that waits gives its room back itself.
  cray_upc_team_allreduce(UPC_SHARED_NULL, weft_pointer_to(from.data()), 3, CRAY_UPC_LONG, UPC_ADD,
                          CRAY_UPC_TEAM_ALL, nullptr);
  upc_wait(sum(from, to));
  EXPECT_EQ(&block_of_last(rt), &block);
}

// Where each rank touches its own operands only: what is lent stays where it is, and of other memory dst
// does.
TEST_F(collective_test, lent_memory_is_not_copied_where_no_other_rank_reaches_it) {
  fake_runtime& rt = begin();
  rt.message = 64;
  std::vector<long> from(8, 1), to(8);
  const auto reduce = [&](upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t n) {
    upc_handle_t h = 0;
    cray_upc_team_allreduce(dst, src, n, CRAY_UPC_LONG, UPC_ADD, CRAY_UPC_TEAM_ALL, &h);
    upc_wait(h);
    return rt.collectives.back().at;
  };
  weft::graph::binding at = reduce(weft_lend(to.data()), weft_lend(from.data()), 8);
  EXPECT_EQ(rt.own_memory(at.src), reinterpret_cast<std::byte*>(from.data()));
  EXPECT_EQ(rt.own_memory(at.dst), reinterpret_cast<std::byte*>(to.data()));
  at = reduce(UPC_SHARED_NULL, weft_pointer_to(from.data()), 8);
  EXPECT_EQ(rt.own_memory(at.src), reinterpret_cast<std::byte*>(from.data()));
  EXPECT_EQ(at.src, at.dst);
  EXPECT_EQ(rt.counted.bytes_staged.value(), 0U);
  at = reduce(weft_lend(to.data()), weft_pointer_to(from.data()), 8); // it may be changed at once
  EXPECT_NE(rt.own_memory(at.src), reinterpret_cast<std::byte*>(from.data()));
  EXPECT_EQ(rt.own_memory(at.dst), reinterpret_cast<std::byte*>(to.data()));
  EXPECT_EQ(rt.counted.bytes_staged.value(), 64U);
  rt.message = 32; // in a series of two
  const std::size_t before = rt.collectives.size();
  at = reduce(weft_lend(to.data()), weft_lend(from.data()), 6);
  ASSERT_EQ(rt.collectives.size(), before + 2);
  EXPECT_EQ(rt.own_memory(at.src), reinterpret_cast<std::byte*>(from.data() + 4));
  EXPECT_EQ(rt.own_memory(at.dst), reinterpret_cast<std::byte*>(to.data() + 4));
  EXPECT_EQ(rt.collectives.back().r.bytes, 16U);
  EXPECT_EQ(rt.counted.bytes_staged.value(), 64U);
}

// Elements that fill no message: so many messages would be more than a series has.
TEST_F(collective_test, a_series_of_vectors_has_no_more_messages_than_there_may_be) {
  fake_runtime& rt = begin();
  rt.message = 64;
  const auto messages = [&](std::size_t elements) {
    std::vector<std::byte> from(elements * 24), to(from.size());
    upc_op_t op = 0;
    weft_op_create([](const void*, void*, std::size_t, void*) {}, nullptr, 24, 1, &op);
    const std::size_t before = rt.collectives.size();
    upc_handle_t h = 0;
    cray_upc_team_allreduce(weft_lend(to.data()), weft_lend(from.data()), elements, WEFT_OPAQUE, op,
                            CRAY_UPC_TEAM_ALL, &h);
    upc_wait(h);
    cray_upc_op_free(op);
    return rt.collectives.size() - before;
  };
  EXPECT_EQ(messages(32), 16U); // two in each
  EXPECT_EQ(messages(33), 1U);
}

// Between hosts in messages, each of which says how much of the blocks those before it have.
TEST_F(collective_test, blocks_where_rows_say_go_in_a_series_of_messages) {
  fake_runtime& rt = begin();
  EXPECT_EQ(weft_message_bytes(UPC_TEAM_ALL), 0U);
  rt.message = 64;
  EXPECT_EQ(weft_message_bytes(UPC_TEAM_ALL), 16U * 64);
  const std::size_t row = rt.size() * sizeof(upc_shared_ptr_t);
  const upc_shared_ptr_t to = upc_all_alloc(rt.size(), row), from = upc_all_alloc(rt.size(), row);
  const auto posted_by = [&](std::size_t nbytes, upc_flag_t mode) {
    const std::size_t before = rt.collectives.size();
    weft_all_move_x(WEFT_MOVE_EXCHANGE, to, from, nbytes, 0, mode, UPC_TEAM_ALL);
    return std::span(rt.collectives).subspan(before);
  };
  const auto all = posted_by(150, UPC_IN_MYSYNC);
  ASSERT_EQ(all.size(), 3U);
  for (std::size_t k = 0; k != 3; ++k) {
    EXPECT_EQ(all[k].r.bytes, k == 2 ? 22U : 64U);
    EXPECT_EQ(all[k].at.sizes, 64 * k);
    EXPECT_EQ(all[k].at.dst, to.addr);
  }
  EXPECT_EQ(rt.waited.size(), 1U); // the call waits for all of them
  EXPECT_EQ(posted_by(64, UPC_IN_MYSYNC).size(), 1U);
  EXPECT_EQ(posted_by(16 * 64, UPC_IN_ALLSYNC).size(), 16U);
  EXPECT_EQ(posted_by(16 * 64 + 1, UPC_IN_ALLSYNC).size(), 1U);
  EXPECT_EQ(posted_by(150, UPC_IN_NOSYNC).size(), 1U);
}

// Of blocks of unequal sizes those stay that go along with notes.
TEST_F(collective_test, lent_blocks_that_go_along_are_not_copied) {
  fake_runtime& rt = begin();
  rt.message = 64;
  std::vector<long> from(64), to(64);
  std::vector<std::size_t> sizes(rt.size(), 64);
  sizes.back() = 128;
  std::vector<std::ptrdiff_t> places;
  for (std::size_t k = 0; k != sizes.size(); ++k)
    places.push_back(static_cast<std::ptrdiff_t>(k * 64));
  const auto staged_by = [&](upc_shared_ptr_t src) {
    const std::uint64_t before = rt.counted.bytes_staged.value();
    upc_handle_t h = 0;
    cray_upc_team_alltoallv(weft_pointer_to(to.data()), sizes.data(), places.data(), src, sizes.data(),
                            places.data(), CRAY_UPC_TEAM_ALL, &h);
    upc_wait(h);
    return rt.counted.bytes_staged.value() - before;
  };
  EXPECT_EQ(staged_by(weft_pointer_to(from.data())), 64 * (rt.size() - 2) + 128);
  EXPECT_EQ(staged_by(weft_lend(from.data())), 128U);
}

TEST_F(collective_test, no_room_for_ordinary_memory_is_an_error_and_starts_nothing) {
  fake_runtime& rt = begin();
  const std::vector<long> from(fake_runtime::local_size / sizeof(long) / 8);
  std::vector<long> to(from.size());
  std::vector<staged_block*> blocks;
  const auto fill = [&] { upc_wait(sum(from, to)), blocks.push_back(&block_of_last(rt)); };
  for (int k = 0; k != 3; ++k)
    fill();
  const std::uint64_t posts = rt.posts;
  const weft::error e = error_of([&] { sum(from, to); });
  EXPECT_THAT(e.rule, testing::HasSubstr("raise WEFT_HEAP_SIZE"));
  EXPECT_EQ(e.call, "cray_upc_team_allreduce");
  EXPECT_EQ(rt.posts, posts);
  blocks.back()->end(*blocks.back(), true);
  fill();
  // What is kept goes back to the heap when another size finds no room there.
  for (staged_block* const b : {blocks[0], blocks[1]})
    b->end(*b, true);
  const std::vector<long> larger(2 * from.size());
  std::vector<long> result(larger.size());
  EXPECT_THAT(error_of([&] { sum(larger, result); }).rule, testing::HasSubstr("raise WEFT_HEAP_SIZE"));
  EXPECT_EQ(rt.freed.size(), 2u);
}

} // namespace
