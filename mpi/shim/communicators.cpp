// SPDX-License-Identifier: BSD-3-Clause
// The beginning of MPI, and the communicators that a program makes: each gets its lane in the call that
// makes it.
#include "mpi/shim/real.hpp"
#include "mpi/shim/session.hpp"
#include "mpi/shim/start.hpp"

#include <array>

using weft::mpi::begin_session;
using weft::mpi::make_lane;
using weft::mpi::require_right_mpi;

namespace {

int with_lane(int status, MPI_Comm* made) {
  if (status == MPI_SUCCESS) make_lane(*made);
  return status;
}

// MPI begins with the level that the program asks for, MPI_THREAD_SINGLE too: the library has threads of its
// own, but none of them calls MPI, except to end the job. A higher level takes every message of the program
// longer, with Open MPI even MPI_THREAD_FUNNELED.
int begin(int* argc, char*** argv, int required, int* provided) {
  require_right_mpi();
  const int status = WEFT_REAL(Init_thread)(argc, argv, required, provided);
  if (status == MPI_SUCCESS) begin_session();
  return status;
}

// Open MPI sends the edges of a graph with the 24th and the 25th tag that its collectives take on a
// communicator (its issue 13918). A collective that comes to them meanwhile never ends, and which one does
// depends on how many of the program's collectives the library carries. So these tags are used up before.
void use_tags_of_edges([[maybe_unused]] MPI_Comm comm) {
#ifdef OPEN_MPI
  if (comm == MPI_COMM_NULL) return;
  std::array<MPI_Request, 26> barriers{};
  for (MPI_Request& barrier : barriers)
    if (WEFT_REAL(Ibarrier)(comm, &barrier) != MPI_SUCCESS) return;
  WEFT_REAL(Waitall)(barriers.size(), barriers.data(), MPI_STATUSES_IGNORE);
#endif
}

} // namespace

extern "C" {

WEFT_SHOW int MPI_Init(int* argc, char*** argv) {
  int provided = MPI_THREAD_SINGLE;
  return begin(argc, argv, MPI_THREAD_SINGLE, &provided);
}
WEFT_SHOW int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return begin(argc, argv, required, provided);
}

WEFT_SHOW int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  return with_lane(WEFT_REAL(Comm_dup)(comm, made), made);
}
WEFT_SHOW int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made) {
  return with_lane(WEFT_REAL(Comm_dup_with_info)(comm, info, made), made);
}
WEFT_SHOW int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  return with_lane(WEFT_REAL(Comm_split)(comm, color, key, made), made);
}
WEFT_SHOW int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  return with_lane(WEFT_REAL(Comm_split_type)(comm, type, key, info, made), made);
}
WEFT_SHOW int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made) {
  return with_lane(WEFT_REAL(Comm_create)(comm, group, made), made);
}
WEFT_SHOW int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made) {
  return with_lane(WEFT_REAL(Comm_create_group)(comm, group, tag, made), made);
}
WEFT_SHOW int MPI_Cart_create(MPI_Comm comm, int ndims, const int dims[], const int periods[], int reorder,
                              MPI_Comm* made) {
  return with_lane(WEFT_REAL(Cart_create)(comm, ndims, dims, periods, reorder, made), made);
}
WEFT_SHOW int MPI_Cart_sub(MPI_Comm comm, const int remain[], MPI_Comm* made) {
  return with_lane(WEFT_REAL(Cart_sub)(comm, remain, made), made);
}
WEFT_SHOW int MPI_Graph_create(MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder,
                               MPI_Comm* made) {
  return with_lane(WEFT_REAL(Graph_create)(comm, nodes, index, edges, reorder, made), made);
}
WEFT_SHOW int MPI_Dist_graph_create(MPI_Comm comm, int n, const int nodes[], const int degrees[],
                                    const int targets[], const int weights[], MPI_Info info, int reorder,
                                    MPI_Comm* made) {
  use_tags_of_edges(comm);
  return with_lane(
      WEFT_REAL(Dist_graph_create)(comm, n, nodes, degrees, targets, weights, info, reorder, made), made);
}
WEFT_SHOW int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int sources[],
                                             const int sourceweights[], int outdegree,
                                             const int destinations[], const int destweights[], MPI_Info info,
                                             int reorder, MPI_Comm* made) {
  return with_lane(WEFT_REAL(Dist_graph_create_adjacent)(comm, indegree, sources, sourceweights, outdegree,
                                                         destinations, destweights, info, reorder, made),
                   made);
}
WEFT_SHOW int MPI_Intercomm_merge(MPI_Comm comm, int high, MPI_Comm* made) {
  return with_lane(WEFT_REAL(Intercomm_merge)(comm, high, made), made);
}

} // extern "C"

WEFT_ALSO_PMPI(Init);
WEFT_ALSO_PMPI(Init_thread);
WEFT_ALSO_PMPI(Comm_dup);
WEFT_ALSO_PMPI(Comm_dup_with_info);
WEFT_ALSO_PMPI(Comm_split);
WEFT_ALSO_PMPI(Comm_split_type);
WEFT_ALSO_PMPI(Comm_create);
WEFT_ALSO_PMPI(Comm_create_group);
WEFT_ALSO_PMPI(Cart_create);
WEFT_ALSO_PMPI(Cart_sub);
WEFT_ALSO_PMPI(Graph_create);
WEFT_ALSO_PMPI(Dist_graph_create);
WEFT_ALSO_PMPI(Dist_graph_create_adjacent);
WEFT_ALSO_PMPI(Intercomm_merge);
