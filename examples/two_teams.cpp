// Every thread collects numbers from its half of the threads and from all, at once: two operations in flight.
#include <cstdio>
#include <weft/weft.hpp>

int main(int argc, char** argv) {
  weft_init(&argc, &argv);
  const int half = MYTHREAD % 2; // the even threads are one team, the odd ones another
  upc_team_t team;
  cray_upc_team_split(UPC_TEAM_ALL, half, MYTHREAD, &team);
  const int members[] = {THREADS, cray_upc_team_size(team)};
  const std::size_t row = THREADS * sizeof(int);
  upc_shared_ptr_t src = upc_all_alloc(THREADS, sizeof(int));
  upc_shared_ptr_t dst[] = {upc_all_alloc(THREADS, row), upc_all_alloc(THREADS, row)};
  *static_cast<int*>(upc_cast(upc_ptradd(src, 1, sizeof(int), MYTHREAD))) = MYTHREAD;

  const upc_flag_t mode = UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC;
  upc_coll_handle_t h[] = {upc_all_gather_all(dst[0], src, sizeof(int), mode),
                           upc_all_gather_all(upc_ptradd(dst[1], 1, row, half), // on the team's first thread
                                              upc_ptradd(src, 1, sizeof(int), half), sizeof(int), mode,
                                              team)};
  int sums[] = {0, 0};
  for (int i = upc_waitany(2, h); i >= 0; i = upc_waitany(2, h)) { // whichever is complete first
    auto got = static_cast<int*>(upc_cast(upc_ptradd(dst[i], 1, row, MYTHREAD)));
    for (int k = 0; k < members[i]; ++k)
      sums[i] += got[k];
  }
  const int all = THREADS * (THREADS - 1) / 2, ours = members[1] * (members[1] - 1 + half);
  std::printf("thread %d of %d: sum of all %d, of its team %d\n", MYTHREAD, THREADS, sums[0], sums[1]);
  cray_upc_team_free(team);
  weft_finalize();
  return sums[0] == all && sums[1] == ours ? 0 : 1;
}
