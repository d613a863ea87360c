// The collectives that the library carries. Whether it does depends on facts that are the same on all ranks:
// else some would call MPI's and wait for the others for ever.
#include "mpi/shim/real.hpp"
#include "mpi/shim/session.hpp"
#include "mpi/shim/types.hpp"

namespace weft::mpi {

namespace {

// This rank's end of a call: a buffer, and so many elements in each block.
struct side {
  void* buffer = nullptr;
  int count = 0; // in a block
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int blocks = 0;
};

std::size_t bytes_of(const side& s) {
  return extent_of(s.count, s.type).bytes;
}

// The lane that carries it, or null; counted.
lane* carries(collective what, MPI_Comm comm) {
  lane* const way = comm == MPI_COMM_NULL ? nullptr : lane_of(comm);
  int between = 0;
  if (way == nullptr && comm != MPI_COMM_NULL) MPI_Comm_test_inter(comm, &between);
  count(what, way != nullptr ? reason::carried : between != 0 ? reason::between_groups : reason::no_lane);
  return way;
}

void set_in(carried& c, const side& s, MPI_Comm comm) {
  c.op.c.in_blocks = static_cast<std::size_t>(s.blocks);
  c.op.c.in = static_cast<const std::byte*>(s.buffer);
  if (s.blocks == 0 || s.count == 0 || !extent_of(s.count, s.type).packed) return;
  const int count = s.count * s.blocks;
  int room = 0, at = 0;
  MPI_Pack_size(count, s.type, comm, &room);
  c.in.resize(static_cast<std::size_t>(room));
  MPI_Pack(s.buffer, count, s.type, c.in.data(), room, &at, comm);
  c.op.c.in = c.in.data();
}

void set_out(carried& c, const side& s, MPI_Comm comm) {
  c.op.c.out_blocks = static_cast<std::size_t>(s.blocks);
  c.op.c.out = static_cast<std::byte*>(s.buffer);
  if (s.blocks == 0 || s.count == 0 || !extent_of(s.count, s.type).packed) return;
  c.to = s.buffer;
  c.count = s.count * s.blocks;
  c.type = s.type;
  c.comm = comm;
  c.out.resize(extent_of(c.count, s.type).bytes);
  c.op.c.out = c.out.data();
}

carried& begin(collective what, int root) {
  carried& c = new_call();
  c.op.c = {.what = what, .root = root};
  c.in.clear();
  c.out.clear();
  return c;
}

int post(carried& c, lane& way, const side& in, const side& out, MPI_Comm comm, MPI_Request* request) {
  set_in(c, in, comm);
  set_out(c, out, comm);
  way.post(c.op);
  *request = request_of(c);
  return MPI_SUCCESS;
}

void* block(void* buffer, int number, int count, MPI_Datatype type) {
  MPI_Aint lower = 0, span = 0;
  MPI_Type_get_extent(type, &lower, &span);
  return static_cast<char*>(buffer) + span * count * number;
}
void* writable(const void* buffer) {
  return const_cast<void*>(buffer); // MPI has one type for both ends of a call
}

int reduce(collective what, const side& mine, void* results, int root, MPI_Op op, lane& way,
           MPI_Request* request) {
  carried& c = begin(what, root);
  const cray_upc_dtype_t element = *element_of(mine.type);
  int size = 0;
  MPI_Aint lower = 0, span = 0;
  MPI_Type_size(mine.type, &size);
  MPI_Type_get_extent(mine.type, &lower, &span);
  // Pairs are combined where they are, with their gaps.
  c.op.c.unit = static_cast<std::size_t>(span);
  c.op.c.bytes = c.op.c.unit * static_cast<std::size_t>(mine.count);
  c.op.c.element = element;
  c.op.c.op = *operator_of(op);
  c.op.c.in = static_cast<const std::byte*>(mine.buffer);
  c.op.c.in_blocks = 1;
  c.op.c.out = static_cast<std::byte*>(results);
  c.op.c.out_blocks = what == collective::allreduce || way.rank() == root ? 1 : 0;
  way.post(c.op);
  *request = request_of(c);
  return MPI_SUCCESS;
}

// Null if the library has no such reduction; counted.
lane* carries_reduction(collective what, int elements, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const auto which = operator_of(op);
  const auto element = element_of(type);
  if (which && element && go_together(*element, *which) && elements > 0) return carries(what, comm);
  count(what, which ? reason::no_element : reason::operator_of_user);
  return nullptr;
}

} // namespace

} // namespace weft::mpi

using namespace weft::mpi;

extern "C" {

WEFT_SHOW int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  lane* const way = carries(collective::barrier, comm);
  if (way == nullptr) return WEFT_REAL(Ibarrier)(comm, request);
  return post(begin(collective::barrier, 0), *way, {}, {}, comm, request);
}

WEFT_SHOW int MPI_Ibcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm,
                         MPI_Request* request) {
  lane* const way = carries(collective::bcast, comm);
  if (way == nullptr) return WEFT_REAL(Ibcast)(buffer, count, type, root, comm, request);
  carried& c = begin(collective::bcast, root);
  const bool sends = way->rank() == root;
  c.op.c.bytes = bytes_of({buffer, count, type, 1});
  return post(c, *way, {buffer, count, type, sends}, {buffer, count, type, !sends}, comm, request);
}

WEFT_SHOW int MPI_Igather(const void* src, int scount, MPI_Datatype stype, void* dst, int dcount,
                          MPI_Datatype dtype, int root, MPI_Comm comm, MPI_Request* request) {
  lane* const way = carries(collective::gather, comm);
  if (way == nullptr) return WEFT_REAL(Igather)(src, scount, stype, dst, dcount, dtype, root, comm, request);
  carried& c = begin(collective::gather, root);
  side in{writable(src), scount, stype, 1}, out{dst, dcount, dtype, 0};
  if (way->rank() == root) {
    out.blocks = way->size();
    if (src == MPI_IN_PLACE) in = {block(dst, root, dcount, dtype), dcount, dtype, 1};
  }
  c.op.c.bytes = bytes_of(in);
  return post(c, *way, in, out, comm, request);
}

WEFT_SHOW int MPI_Iscatter(const void* src, int scount, MPI_Datatype stype, void* dst, int dcount,
                           MPI_Datatype dtype, int root, MPI_Comm comm, MPI_Request* request) {
  lane* const way = carries(collective::scatter, comm);
  if (way == nullptr) return WEFT_REAL(Iscatter)(src, scount, stype, dst, dcount, dtype, root, comm, request);
  carried& c = begin(collective::scatter, root);
  side in{writable(src), scount, stype, 0}, out{dst, dcount, dtype, 1};
  if (way->rank() == root) {
    in.blocks = way->size();
    if (dst == MPI_IN_PLACE) out.blocks = 0;
  }
  c.op.c.bytes = bytes_of(way->rank() == root ? in : out);
  return post(c, *way, in, out, comm, request);
}

WEFT_SHOW int MPI_Iallgather(const void* src, int scount, MPI_Datatype stype, void* dst, int dcount,
                             MPI_Datatype dtype, MPI_Comm comm, MPI_Request* request) {
  lane* const way = carries(collective::allgather, comm);
  if (way == nullptr) return WEFT_REAL(Iallgather)(src, scount, stype, dst, dcount, dtype, comm, request);
  carried& c = begin(collective::allgather, 0);
  side in{writable(src), scount, stype, 1};
  if (src == MPI_IN_PLACE) in = {block(dst, way->rank(), dcount, dtype), dcount, dtype, 1};
  c.op.c.bytes = bytes_of(in);
  return post(c, *way, in, {dst, dcount, dtype, way->size()}, comm, request);
}

WEFT_SHOW int MPI_Ialltoall(const void* src, int scount, MPI_Datatype stype, void* dst, int dcount,
                            MPI_Datatype dtype, MPI_Comm comm, MPI_Request* request) {
  lane* const way = carries(collective::alltoall, comm);
  if (way == nullptr) return WEFT_REAL(Ialltoall)(src, scount, stype, dst, dcount, dtype, comm, request);
  carried& c = begin(collective::alltoall, 0);
  side in{writable(src), scount, stype, way->size()};
  if (src == MPI_IN_PLACE) in = {dst, dcount, dtype, way->size()};
  c.op.c.bytes = bytes_of(in);
  return post(c, *way, in, {dst, dcount, dtype, way->size()}, comm, request);
}

WEFT_SHOW int MPI_Ireduce(const void* src, void* dst, int count, MPI_Datatype type, MPI_Op op, int root,
                          MPI_Comm comm, MPI_Request* request) {
  lane* const way = carries_reduction(collective::reduce, count, type, op, comm);
  if (way == nullptr) return WEFT_REAL(Ireduce)(src, dst, count, type, op, root, comm, request);
  return reduce(collective::reduce, {src == MPI_IN_PLACE ? dst : writable(src), count, type, 1}, dst, root,
                op, *way, request);
}

WEFT_SHOW int MPI_Iallreduce(const void* src, void* dst, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm, MPI_Request* request) {
  lane* const way = carries_reduction(collective::allreduce, count, type, op, comm);
  if (way == nullptr) return WEFT_REAL(Iallreduce)(src, dst, count, type, op, comm, request);
  return reduce(collective::allreduce, {src == MPI_IN_PLACE ? dst : writable(src), count, type, 1}, dst, 0,
                op, *way, request);
}

} // extern "C"

WEFT_ALSO_PMPI(Ibarrier);
WEFT_ALSO_PMPI(Ibcast);
WEFT_ALSO_PMPI(Igather);
WEFT_ALSO_PMPI(Iscatter);
WEFT_ALSO_PMPI(Iallgather);
WEFT_ALSO_PMPI(Ialltoall);
WEFT_ALSO_PMPI(Ireduce);
WEFT_ALSO_PMPI(Iallreduce);
