// SPDX-License-Identifier: BSD-3-Clause
/* Asks the launcher for what a job needs: the rank, the size, the node, and a fence that hands data around.
   usage: pmix_probe [STATUS]   exits with STATUS, "hang" never ends */
#define _GNU_SOURCE /* pmix.h needs it */
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check(pmix_status_t status, const char* what) {
  if (status == PMIX_SUCCESS)
    return;
  fprintf(stderr, "%s: %s\n", what, PMIx_Error_string(status));
  exit(3);
}

static unsigned get_number(const pmix_proc_t* proc, const char* key) {
  pmix_value_t* value = NULL;
  check(PMIx_Get(proc, key, NULL, 0, &value), key);
  if (value->type != PMIX_UINT32) {
    fprintf(stderr, "%s has type %d\n", key, value->type);
    exit(3);
  }
  unsigned number = value->data.uint32;
  PMIX_VALUE_RELEASE(value);
  return number;
}

static void fence(void) {
  pmix_info_t info;
  bool collect = true;
  PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
  check(PMIx_Fence(NULL, 0, &info, 1), "fence");
}

int main(int argc, char** argv) {
  pmix_proc_t me;
  check(PMIx_Init(&me, NULL, 0), "init");
  pmix_proc_t peer = me;
  peer.rank = PMIX_RANK_WILDCARD;
  unsigned size = get_number(&peer, PMIX_JOB_SIZE);

  pmix_value_t mine = {.type = PMIX_UINT32, .data.uint32 = 100 + me.rank};
  check(PMIx_Put(PMIX_GLOBAL, "weft.probe", &mine), "put");
  check(PMIx_Commit(), "commit");
  fence();
  for (peer.rank = 0; peer.rank < size; ++peer.rank)
    if (get_number(&peer, "weft.probe") != 100 + peer.rank)
      return 4;

  printf("rank %u of %u on node %u\n", me.rank, size, get_number(&me, PMIX_NODEID));
  fflush(stdout);
  if (argc > 1 && strcmp(argv[1], "hang") == 0)
    for (;;)
      pause();
  check(PMIx_Finalize(NULL, 0), "finalize");
  return argc > 1 ? atoi(argv[1]) : 0;
}
