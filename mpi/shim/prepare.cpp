#include "mpi/shim/prepare.hpp"
#include "mpi/shim/check.hpp"
#include "mpi/shim/types.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace weft::mpi {

namespace {

// A side whose type has the addresses, from somewhere else than MPI_BOTTOM, where MPICH does not pack from.
class side_from_bottom {
public:
  explicit side_from_bottom(const side& s) : is_(s) {
    if (s.buffer != MPI_BOTTOM) return;
    const int one = 1;
    const MPI_Aint back = -reinterpret_cast<MPI_Aint>(&is_);
    MPI_Aint lower = 0, span = 0;
    MPI_Datatype moved = MPI_DATATYPE_NULL;
    MPI_Type_get_extent(s.type, &lower, &span);
    MPI_Type_create_hindexed(1, &one, &back, s.type, &moved);
    MPI_Type_create_resized(moved, lower, span, &is_.type);
    MPI_Type_free(&moved);
    MPI_Type_commit(&is_.type);
    is_.buffer = &is_;
  }
  ~side_from_bottom() {
    if (is_.buffer == &is_) MPI_Type_free(&is_.type);
  }
  side_from_bottom(const side_from_bottom&) = delete;
  side_from_bottom& operator=(const side_from_bottom&) = delete;
  const side* operator->() const { return &is_; }
  int count() const { return is_.count * is_.blocks; }

private:
  side is_;
};

std::size_t bytes_of(const side& s) {
  return extent_of(s.count, s.type).bytes;
}

void* block(void* buffer, int number, int count, MPI_Datatype type) {
  MPI_Aint lower = 0, span = 0;
  MPI_Type_get_extent(type, &lower, &span);
  return static_cast<char*>(buffer) + span * count * number;
}
void* writable(const void* buffer) {
  return const_cast<void*>(buffer); // MPI has one type for both ends of a call
}

bool is_right(collective what, const arguments& a, const lane& way) {
  const bool sends = a.src != MPI_IN_PLACE && a.stype != MPI_DATATYPE_NULL;
  const bool rooted = what == collective::bcast || what == collective::gather ||
                      what == collective::scatter || what == collective::reduce;
  return a.scount >= 0 && a.dcount >= 0 && (!rooted || (a.root >= 0 && a.root < way.size())) &&
         (what == collective::barrier || sends || a.dtype != MPI_DATATYPE_NULL);
}

// The sides of a call, and what one rank gives another.
void set_sides(collective what, const arguments& a, carried& c) {
  const lane& way = *c.way;
  const bool root = way.rank() == a.root;
  side in{writable(a.src), a.scount, a.stype, 1}, out{a.dst, a.dcount, a.dtype, 1};
  bool by_out = false; // the bytes of a block are those of the other side
  switch (what) {
  case collective::barrier:
    in.blocks = out.blocks = 0;
    break;
  case collective::bcast:
    out = in;
    in.blocks = root;
    out.blocks = !root;
    break;
  case collective::gather:
    out.blocks = root ? way.size() : 0;
    if (a.src == MPI_IN_PLACE) in = {block(a.dst, a.root, a.dcount, a.dtype), a.dcount, a.dtype, 1};
    break;
  case collective::scatter:
    in.blocks = root ? way.size() : 0;
    if (a.dst == MPI_IN_PLACE) out.blocks = 0;
    by_out = !root;
    break;
  case collective::allgather:
    out.blocks = way.size();
    if (a.src != MPI_IN_PLACE) break;
    if (a.counts == nullptr)
      in = {block(a.dst, way.rank(), a.dcount, a.dtype), a.dcount, a.dtype, 1};
    else
      in = {block(a.dst, 1, a.places[way.rank()], a.dtype), a.counts[way.rank()], a.dtype, 1};
    break;
  case collective::alltoall:
    out.blocks = way.size();
    in.blocks = way.size();
    if (a.src == MPI_IN_PLACE) in = out;
    break;
  case collective::reduce:
  case collective::allreduce:
    if (a.src == MPI_IN_PLACE) in = {a.dst, a.dcount, a.dtype, 1};
    out = {a.dst, a.dcount, a.dtype, what == collective::allreduce || root};
  }
  c.in_side = in;
  c.out_side = out;
  c.op.c.bytes = what == collective::barrier ? 0 : bytes_of(by_out ? out : in);
}

// The largest of them, as all are; nothing if that would be too much for the others.
std::optional<std::size_t> block_of(const arguments& a, std::size_t members) {
  constexpr std::size_t small = 64 << 10; // of all together
  const std::size_t element = extent_of(1, a.dtype).bytes;
  std::size_t most = 0, sum = 0;
  for (std::size_t k = 0; k != members; ++k) {
    most = std::max(most, element * static_cast<std::size_t>(a.counts[k]));
    sum += element * static_cast<std::size_t>(a.counts[k]);
  }
  if (most * members > small && most * members > 2 * sum) return std::nullopt;
  return most;
}

reason why_not(collective what, const arguments& a) {
  if (what != collective::reduce && what != collective::allreduce) return reason::carried;
  const auto which = operator_of(a.op);
  const auto element = element_of(a.dtype);
  if (!which) return reason::operator_of_user;
  return element && go_together(*element, *which) && a.dcount > 0 ? reason::carried : reason::no_element;
}

} // namespace

carried* prepare(collective what, form f, const arguments& a) {
  if (!carries(f) || a.comm == MPI_COMM_NULL) return nullptr;
  lane* const way = lane_of(a.comm);
  if (way == nullptr) {
    int between = 0;
    MPI_Comm_test_inter(a.comm, &between);
    count(what, a.counts != nullptr, f, between != 0 ? reason::between_groups : reason::no_lane);
    return nullptr;
  }
  if (const reason no = why_not(what, a); no != reason::carried) {
    count(what, a.counts != nullptr, f, no);
    return nullptr;
  }
  const auto members = static_cast<std::size_t>(way->size());
  if (!is_right(what, a, *way)) return nullptr;
  std::optional<std::size_t> unequal;
  if (a.counts != nullptr && !(unequal = block_of(a, members))) {
    count(what, a.counts != nullptr, f, reason::unequal);
    return nullptr;
  }
  carried& c = new_call();
  c.op.c = {.what = what, .root = a.root};
  c.counts.assign(a.counts, a.counts + (a.counts != nullptr ? members : 0));
  c.places.assign(a.places, a.places + (a.counts != nullptr ? members : 0));
  c.way = way;
  c.as = f;
  set_sides(what, a, c);
  if (unequal) c.op.c.bytes = *unequal;
  if (what == collective::reduce || what == collective::allreduce) {
    MPI_Aint lower = 0, span = 0;
    MPI_Type_get_extent(a.dtype, &lower, &span);
    // Pairs are combined where they are, with their gaps.
    c.op.c.unit = static_cast<std::size_t>(span);
    c.op.c.bytes = c.op.c.unit * static_cast<std::size_t>(a.dcount);
    c.op.c.element = *element_of(a.dtype);
    c.op.c.op = *operator_of(a.op);
  }
  if (c.op.c.bytes > most_carried()) {
    count(what, a.counts != nullptr, f, reason::too_large);
    give_back(c);
    return nullptr;
  }
  count(what, a.counts != nullptr, f, reason::carried);
  return &c;
}

void keep_types(carried& c) {
  for (side* const s : {&c.in_side, &c.out_side})
    if (s->type != MPI_DATATYPE_NULL && extent_of(1, s->type).packed) {
      MPI_Type_dup(s->type, &s->type);
      s->kept = true;
    }
}

void release_types(carried& c) {
  for (side* const s : {&c.in_side, &c.out_side})
    if (std::exchange(s->kept, false)) MPI_Type_free(&s->type);
}

void post(carried& c) {
  // MPI_COMM_SELF: a program may free the communicator before the call ends, and the format is the same.
  const bool combines = c.op.c.what >= collective::reduce;
  const bool unequal = !c.counts.empty();
  const auto packed = [&](const side& s) {
    return unequal || (!combines && s.blocks != 0 && s.count != 0 && extent_of(s.count, s.type).packed);
  };
  c.op.c.in_blocks = static_cast<std::size_t>(c.in_side.blocks);
  c.op.c.in = static_cast<const std::byte*>(c.in_side.buffer);
  c.op.c.out_blocks = static_cast<std::size_t>(c.out_side.blocks);
  c.op.c.out = static_cast<std::byte*>(c.out_side.buffer);
  c.in.clear();
  c.out.clear();
  if (packed(c.in_side)) {
    const side_from_bottom s(c.in_side);
    int room = 0, at = 0;
    MPI_Pack_size(s.count(), s->type, MPI_COMM_SELF, &room);
    c.in.resize(std::max(static_cast<std::size_t>(room), c.op.c.bytes));
    if (s.count() != 0) MPI_Pack(s->buffer, s.count(), s->type, c.in.data(), room, &at, MPI_COMM_SELF);
    c.op.c.in = c.in.data();
  }
  if (packed(c.out_side)) {
    if (!c.persistent) keep_types(c);
    c.out.resize(c.op.c.out_blocks * c.op.c.bytes);
    c.op.c.out = c.out.data();
  }
  remember_buffers(c);
  c.way->post(c.op);
}

void conclude(carried& c) {
  c.way->forget(c.op);
  if (!c.out.empty()) {
    const side_from_bottom s(c.out_side);
    int at = 0;
    if (c.counts.empty())
      MPI_Unpack(c.out.data(), static_cast<int>(c.out.size()), &at, s->buffer, s.count(), s->type,
                 MPI_COMM_SELF);
    for (std::size_t k = 0; k != c.counts.size(); ++k, at = 0)
      if (c.counts[k] != 0)
        MPI_Unpack(c.out.data() + k * c.op.c.bytes, static_cast<int>(c.op.c.bytes), &at,
                   block(s->buffer, 1, c.places[k], s->type), c.counts[k], s->type, MPI_COMM_SELF);
  }
  if (!c.persistent) release_types(c);
}

} // namespace weft::mpi
