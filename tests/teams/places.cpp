// SPDX-License-Identifier: BSD-3-Clause
// Where places are few: all the memory of teams taken, freed and wanted again at once; and blocking calls
// while as many operations as allowed are outstanding and another thread of the program drives.
//
//   places memory | operations
#include "tests/jobs/suite.h"

#include <cstdio>
#include <cstring>
#include <thread>
#include <upc_collective.h>
#include <upc_collective_cray.h>
#include <vector>
#include <weft/weft.hpp>

namespace {

int failures = 0;
void expect(bool ok, const char* what) {
  if (ok) return;
  std::printf("thread %d of %d: %s\n", int(MYTHREAD), int(THREADS), what);
  ++failures;
}

// The first of each team is the last thread: what it says goes to thread 0, which hands memory out.
bool make(upc_team_t& team) {
  return cray_upc_team_split(UPC_TEAM_ALL, 0, -MYTHREAD, &team) == CRAY_UPC_SUCCESS;
}

void all_memory_again_and_again() {
  std::vector<upc_team_t> teams;
  for (upc_team_t team = 0; make(team);)
    teams.push_back(team);
  expect(teams.size() > 500, "room for hundreds of teams"); // beside those that other suites have left alive
  for (int round = 0; round != 3; ++round) {
    for (const upc_team_t team : teams)
      cray_upc_team_free(team);
    for (upc_team_t& team : teams)
      expect(make(team), "the memory of freed teams is there again");
    if (failures != 0) return;
  }
  // One by one: there is no other memory than what is on its way back.
  for (int round = 0; round != 300 && failures == 0; ++round) {
    cray_upc_team_free(teams.back());
    expect(make(teams.back()), "the memory of the team that was just freed is waited for");
  }
}

void blocking_calls_beside_a_driver() {
  const upc_shared_ptr_t area = upc_all_alloc(THREADS, 16u * static_cast<std::size_t>(THREADS));
  upc_team_t alone = 0, all = 0;
  cray_upc_team_split(UPC_TEAM_ALL, MYTHREAD, 0, &alone);
  cray_upc_team_split(UPC_TEAM_ALL, 0, 0, &all);
  const auto exchange = [&] {
    upc_shared_ptr_t src = area;
    src.addr += 8u * static_cast<std::uint64_t>(THREADS);
    return upc_all_exchange(area, src, 8, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC | UPC_ASYNC);
  };
  if (MYTHREAD == 0) {
    const upc_coll_handle_t only_place = exchange();
    std::thread driver([only_place] { upc_wait(upc_coll_handle_t{only_place}); });
    for (int round = 0; round != 2000; ++round)
      cray_upc_team_barrier(alone);
    cray_upc_team_barrier(all);
    driver.join();
  } else {
    cray_upc_team_barrier(all);
    upc_wait(exchange());
  }
  upc_barrier();
}

} // namespace

WEFT_SUITE(teams_places) {
  if (argc > 1 && std::strcmp(argv[1], "memory") == 0)
    all_memory_again_and_again();
  else
    blocking_calls_beside_a_driver();
  return failures == 0 ? 0 : 1;
}
