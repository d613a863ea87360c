// SPDX-License-Identifier: BSD-3-Clause
#include "tests/api/collective_forms.hpp"

namespace {

using weft::collectives::operation;

// A job of 6 threads seen from thread 3, and a team of three of them, whose first thread is 5.
class team_test : public collective_test {
protected:
  fake_runtime& begin_teams() {
    fake_runtime& rt = begin(6, 3);
    team = rt.make_team({5, 3, 0});
    dst.thread = src.thread = the_permutation.thread = 5;
    return rt;
  }
  upc_team_t team = 0;
};

TEST_F(team_test, calls_are_posted_on_their_team) {
  fake_runtime& rt = begin_teams();
  for (const form& c : forms_on(team)) {
    EXPECT_EQ(c.call(dst, src, 8, 0), UPC_HANDLE_COMPLETE);
    EXPECT_NE(c.call(dst, src, 8, UPC_ASYNC), UPC_HANDLE_COMPLETE);
    for (const std::size_t back : {1, 2}) {
      const fake_runtime::recorded& r = rt.collectives[rt.collectives.size() - back];
      EXPECT_EQ(r.team, team);
      EXPECT_EQ(r.r.op, c.of->op);
      EXPECT_EQ(r.r.root, 0u);
      EXPECT_EQ(r.at.dst, dst.addr);
      EXPECT_EQ(r.at.src, src.addr);
    }
  }
  dst.thread = src.thread = the_permutation.thread = 0;
  for (const form& c : forms_on(CRAY_UPC_TEAM_NODE)) {
    c.call(dst, src, 8, 0);
    EXPECT_EQ(rt.collectives.back().team, CRAY_UPC_TEAM_NODE);
  }
}

TEST_F(team_test, pointers_are_tied_to_the_thread_of_rank_0) {
  fake_runtime& rt = begin_teams();
  for (const form& c : forms_on(team))
    for (const std::uint32_t thread : {0u, 1u, 3u})
      for (const bool is_dst : {true, false}) {
        if (is_dst ? c.of->any_dst : c.of->any_src) continue;
        const weft::error e =
            error_of([&] { c.call(is_dst ? on(dst, thread) : dst, is_dst ? src : on(src, thread), 8, 0); });
        EXPECT_EQ(e.call, c.name);
        EXPECT_EQ(e.argument, is_dst ? "dst" : "src");
        EXPECT_THAT(e.rule, testing::HasSubstr("thread of rank 0 of the team"));
      }
  the_permutation.thread = 0;
  EXPECT_EQ(error_of([&] { permute_named(dst, src, 8, 0, team); }).argument, "perm");
  EXPECT_TRUE(rt.collectives.empty());
}

TEST_F(team_test, the_root_is_a_rank_of_the_team) {
  fake_runtime& rt = begin_teams();
  for (const form& c : forms_on(team)) {
    if (!c.of->rooted()) continue;
    const auto call = [&](std::uint32_t thread) {
      c.call(c.of->any_dst ? on(dst, thread) : dst, c.of->any_src ? on(src, thread) : src, 8, 0);
    };
    const std::uint32_t members[] = {5, 3, 0};
    for (std::uint32_t rank = 0; rank != 3; ++rank) {
      call(members[rank]);
      EXPECT_EQ(rt.collectives.back().r.root, rank);
    }
    const std::size_t good = rt.collectives.size();
    for (const std::uint32_t outsider : {1u, 2u, 4u}) {
      const weft::error e = error_of([&] { call(outsider); });
      EXPECT_EQ(e.argument, c.of->any_dst ? "dst" : "src");
      EXPECT_EQ(e.value, "thread " + std::to_string(outsider));
      EXPECT_THAT(e.rule, testing::HasSubstr("no member of the team"));
    }
    EXPECT_THAT(error_of([&] { call(6); }).rule, testing::HasSubstr("no such thread"));
    EXPECT_EQ(rt.collectives.size(), good);
  }
}

TEST_F(team_test, sizes_count_the_threads_of_the_team) {
  fake_runtime& rt = begin_teams();
  const std::uint64_t end = fake_runtime::heap_begin + fake_runtime::heap_size;
  const upc_shared_ptr_t last{end - 48, 5, 0};
  upc_all_gather_all(last, src, 16, 0, team);
  upc_all_scatter(dst, last, 16, 0, team);
  EXPECT_EQ(error_of([&] { upc_all_gather_all(last, src, 17, 0, team); }).argument, "dst");
  EXPECT_EQ(error_of([&] { upc_all_scatter(dst, last, 17, 0, team); }).argument, "src");
  for (const form& c : forms_on(team)) {
    const weft::error e = error_of([&] { c.call(dst, src, SIZE_MAX / 2, 0); });
    EXPECT_EQ(e.argument, "nbytes * threads of the team");
    EXPECT_EQ(e.value, std::to_string(SIZE_MAX / 2) + " * 3");
  }
  // In place the root's block is the one of its rank, not of its thread: rank 1 is thread 3.
  upc_all_scatter(behind(src, 8), on(src, 3), 8, UPC_IN_PLACE, team);
  EXPECT_THAT(error_of([&] { upc_all_scatter(behind(src, 16), on(src, 3), 8, UPC_IN_PLACE, team); }).rule,
              testing::HasSubstr("overlaps"));
  EXPECT_EQ(rt.collectives.size(), 3u);
}

TEST_F(team_test, unknown_and_freed_teams_are_errors_of_every_call) {
  fake_runtime& rt = begin_teams();
  const auto refused = [](const auto& call) {
    const weft::error e = error_of(call);
    EXPECT_EQ(e.argument, "team");
    EXPECT_THAT(e.rule, testing::HasSubstr("unknown or freed team"));
    return e;
  };
  for (const form& c : forms_on(team)) // what has been called once is refused all the same
    c.call(dst, src, 8, 0);
  const std::size_t called = rt.collectives.size();
  cray_upc_team_free(team);
  for (const form& c : forms_on(team))
    refused([&] { c.call(dst, src, 8, 0); });
  for (const upc_team_t gone : {team, upc_team_t(0), upc_team_t(1) << 40}) {
    for (const form& c : forms_on(gone))
      EXPECT_EQ(refused([&] { c.call(dst, src, 8, 0); }).call, c.name);
    upc_team_t made = 0;
    const int one = 3;
    refused([&] { cray_upc_team_alltoall(dst, src, 8, gone); });
    refused([&] { upc_sync(cray_upc_team_alltoall_nb(dst, src, 8, gone)); });
    refused([&] { cray_upc_team_alltoall_nbi(dst, src, 8, gone); });
    refused([&] { cray_upc_team_barrier(gone); });
    refused([&] { upc_sync(cray_upc_team_barrier_nb(gone)); });
    refused([&] { cray_upc_team_split(gone, 0, 0, &made); });
    refused([&] { cray_upc_team_rank(gone); });
    refused([&] { cray_upc_team_size(gone); });
    refused([&] { cray_upc_team_free(gone); });
    EXPECT_EQ(refused([&] { weft_team_from_threads(gone, 1, &one, &made); }).value, std::to_string(gone));
    const upc_shared_ptr_t array = on(dst, 0), sizes = on(src, 0);
    refused([&] { upc_all_broadcast_x(array, src, 8, 0, gone); });
    refused([&] { upc_all_scatter_x(array, sizes, sizes, 0, gone); });
    refused([&] { upc_all_gather_x(array, sizes, sizes, 0, gone); });
    refused([&] { upc_all_gather_all_x(array, sizes, sizes, 0, gone); });
    refused([&] { upc_all_exchange_x(array, sizes, sizes, 0, gone); });
    refused([&] { upc_all_permute_x(array, sizes, sizes, sizes, 0, gone); });
    refused([&] { upc_all_permute_xi(array, sizes, sizes, sizes, 0, gone); });
  }
  EXPECT_EQ(rt.collectives.size(), called);
}

TEST_F(team_test, no_collective_between_notify_and_wait) {
  fake_runtime& rt = begin_teams();
  upc_notify;
  const auto refused = [](const auto& call) {
    EXPECT_THAT(error_of(call).rule, testing::HasSubstr("between upc_notify and upc_wait"));
  };
  for (const form& c : forms_on(team))
    refused([&] { c.call(dst, src, 8, 0); });
  upc_team_t made = 0;
  const int one = 3;
  refused([&] { upc_all_broadcast_x(on(dst, 0), src, 8, 0, team); });
  refused([&] { upc_all_exchange_x(on(dst, 0), on(src, 0), on(src, 0), 0, team); });
  refused([&] { upc_all_permute_x(on(dst, 0), on(src, 0), on(src, 0), on(src, 0), 0, team); });
  refused([&] { weft_team_from_threads(team, 1, &one, &made); });
  refused([&] { cray_upc_team_barrier(team); });
  EXPECT_TRUE(rt.collectives.empty());
  upc_wait;
}

TEST_F(team_test, a_list_of_threads_makes_a_team) {
  fake_runtime& rt = begin_teams();
  const int list[] = {4, 3, 1};
  upc_team_t made = 77;
  EXPECT_EQ(weft_team_from_threads(UPC_TEAM_ALL, 3, list, &made), 0);
  EXPECT_THAT(rt.members(made), testing::ElementsAre(4, 3, 1));
  EXPECT_EQ(cray_upc_team_size(made), 3);
  EXPECT_EQ(cray_upc_team_rank(made), 1);
  upc_all_broadcast(on(dst, 4), on(src, 1), 8, 0, made);
  EXPECT_EQ(rt.collectives.back().r.root, 2u);

  const int of_team[] = {0, 3};
  EXPECT_EQ(weft_team_from_threads(team, 2, of_team, &made), 0);
  EXPECT_THAT(rt.members(made), testing::ElementsAre(0, 3));
}

TEST_F(team_test, who_is_not_in_the_list_gets_no_team) {
  begin_teams();
  const int others[] = {1, 2};
  upc_team_t made = 77;
  EXPECT_EQ(weft_team_from_threads(UPC_TEAM_ALL, 2, others, &made), 0);
  EXPECT_EQ(made, 0u);
}

TEST_F(team_test, no_room_for_a_team_is_a_result) {
  begin_teams().room_for_teams = false;
  const int list[] = {3};
  upc_team_t made = 77;
  EXPECT_EQ(weft_team_from_threads(UPC_TEAM_ALL, 1, list, &made), 1);
  EXPECT_EQ(made, 0u);
}

TEST_F(team_test, lists_are_checked) {
  begin_teams();
  upc_team_t made = 77;
  const auto refused = [&](upc_team_t parent, std::vector<int> list, const char* argument, const char* value,
                           const char* rule) {
    const weft::error e =
        error_of([&] { weft_team_from_threads(parent, static_cast<int>(list.size()), list.data(), &made); });
    EXPECT_EQ(e.call, "weft_team_from_threads");
    EXPECT_EQ(e.argument, argument);
    EXPECT_EQ(e.value, value);
    EXPECT_THAT(e.rule, testing::HasSubstr(rule));
  };
  refused(UPC_TEAM_ALL, {}, "count", "0", "at least 1");
  refused(UPC_TEAM_ALL, {3, 6}, "threads[1]", "6", "no thread of the parent");
  refused(UPC_TEAM_ALL, {-1, 3}, "threads[0]", "-1", "no thread of the parent");
  refused(UPC_TEAM_ALL, {3, 1, 3}, "threads[2]", "3", "twice");
  refused(team, {3, 5, 1}, "threads[2]", "1", "no thread of the parent");
  const int one = 3;
  EXPECT_EQ(error_of([&] { weft_team_from_threads(team, -2, &one, &made); }).value, "-2");
  EXPECT_EQ(error_of([&] { weft_team_from_threads(team, 1, nullptr, &made); }).argument, "threads");
  EXPECT_EQ(error_of([&] { weft_team_from_threads(team, 1, &one, nullptr); }).argument, "new_team");
  EXPECT_EQ(made, 77u);
}

} // namespace
