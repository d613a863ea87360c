// SPDX-License-Identifier: BSD-3-Clause
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
  EXPECT_THAT(error_of([] { upc_synci(); }).what(), testing::StrEq("upc_synci: thread 3 died"));
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

} // namespace
