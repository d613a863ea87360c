// SPDX-License-Identifier: BSD-3-Clause
/* The collectives in C over a runtime that only records: every name in all its forms. With a number as its
 * argument it makes the wrong call of that number under the default handler, which ends the job. */
#include "tests/api/c_check.h"

#include <stdlib.h>
#include <upc.h>
#include <upc_collective.h>
#include <upc_collective_cray.h>

static upc_shared_ptr_t dst, src, perm, nbytes, nothing;

static const upc_flag_t async = UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_PULL | UPC_ASYNC;
static const upc_team_t all = UPC_TEAM_ALL;

static void check_posted(upc_coll_handle_t h, int line) {
  check(h != UPC_HANDLE_COMPLETE, "posted", line);
  check(handled == 0, "without an error", line);
  upc_wait(h);
}
#define POSTED(call) check_posted(call, __LINE__)

static void every_name(void) {
  POSTED(upc_all_broadcast(dst, src, 8, async));
  POSTED(upc_all_scatter(dst, src, 8, async));
  POSTED(upc_all_gather(dst, src, 8, async));
  POSTED(upc_all_gather_all(dst, src, 8, async));
  POSTED(upc_all_exchange(dst, src, 8, async));
  POSTED(upc_all_permute(dst, src, perm, 8, async));
  POSTED(upc_all_broadcast_team(dst, src, 8, async, all));
  POSTED(upc_all_scatter_team(dst, src, 8, async, all));
  POSTED(upc_all_gather_team(dst, src, 8, async, all));
  POSTED(upc_all_gather_all_team(dst, src, 8, async, all));
  POSTED(upc_all_exchange_team(dst, src, 8, async, all));
  POSTED(upc_all_permute_team(dst, src, perm, 8, async, all));
  POSTED(upc_all_broadcast_x(dst, src, 8, async, all));
  POSTED(upc_all_scatter_x(dst, src, nbytes, async, all));
  POSTED(upc_all_gather_x(dst, src, nbytes, async, all));
  POSTED(upc_all_gather_all_x(dst, src, nbytes, async, all));
  POSTED(upc_all_exchange_x(dst, src, nbytes, async, all));
  POSTED(upc_all_permute_x(dst, src, perm, nbytes, async, all));
  POSTED(upc_all_permute_xi(dst, src, perm, nbytes, async, all));
  CHECK(upc_all_exchange(dst, src, 8, 0) == UPC_HANDLE_COMPLETE);
  CHECK(handled == 0);
}

static void in_place(void) {
  static const upc_flag_t flag = UPC_IN_PLACE | UPC_ASYNC;
  CHECK(UPC_IN_PLACE == 512);
  POSTED(upc_all_exchange(dst, UPC_SHARED_NULL, 8, flag));
  POSTED(upc_all_exchange(dst, dst, 8, flag));
  POSTED(upc_all_exchange(dst, UPC_IN_PLACE_SRC, 8, UPC_ASYNC));
  POSTED(upc_all_gather_all(dst, UPC_IN_PLACE_SRC, 8, UPC_ASYNC));
  POSTED(upc_all_permute(dst, UPC_IN_PLACE_SRC, perm, 8, UPC_ASYNC));
  POSTED(upc_all_exchange_x(dst, UPC_IN_PLACE_SRC, nbytes, UPC_ASYNC, all));
  POSTED(upc_all_broadcast(dst, dst, 8, flag));
}

static void teams(void) {
  const int list[1] = {0};
  upc_team_t team = 0;
  CHECK(weft_team_from_threads(all, 1, list, &team) == 0);
  CHECK(team != 0 && cray_upc_team_size(team) == 1 && cray_upc_team_rank(team) == 0);
  POSTED(upc_all_exchange_team(dst, src, 8, async, team));
  cray_upc_team_free(team);
  CHECK(upc_all_exchange_team(dst, src, 8, async, team) == UPC_HANDLE_COMPLETE);
  CHECK(reported("upc_all_exchange_team", "team"));
  CHECK(weft_team_from_threads(team, 1, list, &team) == -1);
  CHECK(reported("weft_team_from_threads", "team"));
}

static void errors(void) {
  CHECK(upc_all_broadcast(nothing, src, 8, 0) == 0 && reported("upc_all_broadcast", "dst"));
  CHECK(upc_all_scatter(nothing, src, 8, 0) == 0 && reported("upc_all_scatter", "dst"));
  CHECK(upc_all_gather(nothing, src, 8, 0) == 0 && reported("upc_all_gather", "dst"));
  CHECK(upc_all_gather_all(nothing, src, 8, 0) == 0 && reported("upc_all_gather_all", "dst"));
  CHECK(upc_all_exchange(nothing, src, 8, 0) == 0 && reported("upc_all_exchange", "dst"));
  CHECK(upc_all_permute(dst, src, nothing, 8, 0) == 0 && reported("upc_all_permute", "perm"));
  CHECK(upc_all_broadcast_team(nothing, src, 8, 0, all) == 0 && reported("upc_all_broadcast_team", "dst"));
  CHECK(upc_all_scatter_team(nothing, src, 8, 0, all) == 0 && reported("upc_all_scatter_team", "dst"));
  CHECK(upc_all_gather_team(nothing, src, 8, 0, all) == 0 && reported("upc_all_gather_team", "dst"));
  CHECK(upc_all_gather_all_team(nothing, src, 8, 0, all) == 0 && reported("upc_all_gather_all_team", "dst"));
  CHECK(upc_all_exchange_team(nothing, src, 8, 0, all) == 0 && reported("upc_all_exchange_team", "dst"));
  CHECK(upc_all_permute_team(dst, src, nothing, 8, 0, all) == 0 && reported("upc_all_permute_team", "perm"));
  CHECK(upc_all_broadcast_x(nothing, src, 8, 0, all) == 0 && reported("upc_all_broadcast_x", "dst"));
  CHECK(upc_all_scatter_x(dst, nothing, nbytes, 0, all) == 0 && reported("upc_all_scatter_x", "src"));
  CHECK(upc_all_gather_x(dst, nothing, nbytes, 0, all) == 0 && reported("upc_all_gather_x", "src"));
  CHECK(upc_all_gather_all_x(dst, src, nothing, 0, all) == 0 && reported("upc_all_gather_all_x", "nbytes"));
  CHECK(upc_all_exchange_x(dst, src, nothing, 0, all) == 0 && reported("upc_all_exchange_x", "nbytes"));
  CHECK(upc_all_permute_x(dst, src, nothing, nbytes, 0, all) == 0 && reported("upc_all_permute_x", "perm"));
  CHECK(upc_all_permute_xi(dst, src, nothing, nbytes, 0, all) == 0 && reported("upc_all_permute_xi", "perm"));
}

static upc_shared_ptr_t changed(upc_shared_ptr_t p, int addr, unsigned thread, unsigned phase) {
  p.addr += (uint64_t)(int64_t)addr;
  p.thread = thread;
  p.phase = phase;
  return p;
}

/* One wrong call for every rule. */
static void wrong_call(int number) {
  const int twice[2] = {1, 1}, outside[1] = {4}, first[1] = {0};
  const upc_shared_ptr_t beyond = {(uint64_t)1 << 40, 0, 0};
  upc_team_t team;
  switch (number) {
  case 0:
    upc_all_permute(nothing, src, perm, 8, 0);
    break;
  case 1:
    upc_all_permute(dst, nothing, perm, 8, 0);
    break;
  case 2:
    upc_all_permute(dst, changed(src, 0, 2, 0), perm, 8, 0);
    break;
  case 3:
    upc_all_permute(dst, src, changed(perm, 2, 0, 0), 8, 0);
    break;
  case 4:
    upc_all_permute(dst, src, dst, 8, 0);
    break;
  case 5:
    upc_all_permute(dst, src, perm, (size_t)-1, 0);
    break;
  case 6:
    upc_all_scatter(dst, changed(src, 0, 4, 0), 8, 0);
    break;
  case 7:
    upc_all_gather(beyond, src, 8, 0);
    break;
  case 8:
    upc_all_exchange(changed(src, 1, 0, 0), src, 8, 0);
    break;
  case 9:
    upc_all_exchange(dst, dst, 8, 0);
    break;
  case 10:
    upc_all_exchange(dst, src, 8, UPC_IN_PLACE);
    break;
  case 11:
    upc_all_broadcast(dst, UPC_IN_PLACE_SRC, 8, 0);
    break;
  case 12:
    upc_all_scatter(changed(src, 8, 0, 0), src, 8, UPC_IN_PLACE);
    break;
  case 13:
    upc_all_gather_all(dst, src, 8, UPC_OUT_NOSYNC | UPC_OUT_MYSYNC);
    break;
  case 14:
    upc_all_gather_all(dst, src, 8, 1024);
    break;
  case 15:
    upc_all_exchange_team(dst, src, 8, 0, 99);
    break;
  case 16:
    upc_notify();
    upc_all_scatter_x(dst, src, nbytes, 0, all);
    break;
  case 17:
    upc_all_scatter_x(dst, src, changed(nbytes, 0, 1, 0), 0, all);
    break;
  case 18:
    upc_all_scatter_x(dst, upc_alloc(64), nbytes, 0, all);
    break;
  case 19:
    upc_all_scatter_x(changed(dst, 4, 0, 0), src, nbytes, 0, all);
    break;
  case 20:
    upc_all_gather_x(dst, src, beyond, 0, all);
    break;
  case 21:
    upc_all_gather_x(dst, UPC_IN_PLACE_SRC, nbytes, 0, all);
    break;
  case 22:
    upc_all_permute_x(dst, src, changed(perm, 4, 0, 0), nbytes, 0, all);
    break;
  case 23:
    weft_team_from_threads(all, 2, twice, &team);
    break;
  case 24:
    weft_team_from_threads(all, 1, outside, &team);
    break;
  case 25:
    weft_team_from_threads(all, 0, first, &team);
    break;
  case 26:
    weft_team_from_threads(all, 1, first, &team);
    upc_all_broadcast_team(dst, changed(src, 0, 1, 0), 8, 0, team);
    break;
  }
}

int main(int argc, char** argv) {
  weft_init(&argc, &argv);
  dst = upc_all_alloc((size_t)THREADS, 64);
  src = upc_all_alloc((size_t)THREADS, 64);
  perm = upc_all_alloc((size_t)THREADS, 8);
  nbytes = upc_all_alloc((size_t)THREADS, 64);
  if (argc > 1) {
    wrong_call(atoi(argv[1]));
    printf("went on\n");
    return 0;
  }
  weft_set_error_handler(keep);
  every_name();
  in_place();
  teams();
  errors();
  CHECK(handled == 0);
  weft_finalize();
  return failures == 0 ? 0 : 1;
}
