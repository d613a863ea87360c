#include "mpi/shim/prepare.hpp"
#include "mpi/shim/check.hpp"
#include "mpi/shim/operators.hpp"
#include "mpi/shim/real.hpp"
#include "mpi/shim/types.hpp"

#include <upc_castable.h>

#include <algorithm>
#include <cstring>
#include <numeric>
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
  case collective::reduce_scatter_block:
  case collective::reduce_scatter: {
    const int all = std::accumulate(c.elements.begin(), c.elements.end(), 0);
    in = {a.src == MPI_IN_PLACE ? a.dst : writable(a.src), all, a.dtype, 1};
    out = {a.dst, static_cast<int>(c.elements[static_cast<std::size_t>(way.rank())]), a.dtype, 1};
    break;
  }
  default: // reduce, allreduce, scans
    if (a.src == MPI_IN_PLACE) in = {a.dst, a.dcount, a.dtype, 1};
    out = {a.dst, a.dcount, a.dtype,
           what == collective::reduce ? root : what != collective::exscan || way.rank() != 0};
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

// Elements that MPI combines where the library has no operator for them: they lie side by side.
bool may_combine_by_mpi(const arguments& a) {
  MPI_Aint lower = 0, span = 0;
  int size = 0;
  MPI_Type_get_extent(a.dtype, &lower, &span);
  MPI_Type_size(a.dtype, &size);
  constexpr MPI_Aint largest = 4096;
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  MPI_Type_get_envelope(a.dtype, &integers, &addresses, &types, &combiner);
  return lower == 0 && span > 0 && span <= largest && (size == span || combiner == MPI_COMBINER_NAMED);
}
bool by_library(const arguments& a) {
  const auto which = operator_of(a.op);
  const auto element = element_of(a.dtype);
  return which && element && go_together(*element, *which);
}

reason why_not(collective what, const arguments& a, std::size_t members) {
  if (!combines(what)) return reason::carried;
  int all = a.dcount;
  for (std::size_t k = 0; a.counts != nullptr && k != members; ++k)
    all += a.counts[k];
  return all > 0 && (by_library(a) || may_combine_by_mpi(a)) ? reason::carried : reason::no_element;
}

void combine_by_mpi(const void* in, void* inout, std::size_t nelems, void* context) {
  const auto& c = *static_cast<const carried*>(context);
  WEFT_REAL(Reduce_local)(in, inout, static_cast<int>(nelems), c.out_side.type, c.combines_by);
}

// The blocks of one end: of each rank, or one.
void set_blocks(sided_blocks& s, void* buffer, int blocks, const int* counts, const int* places, int count,
                MPI_Datatype type, const MPI_Datatype* types) {
  s.buffer = buffer;
  s.each.clear();
  for (int k = 0; k != blocks; ++k) {
    const MPI_Datatype of = types != nullptr ? types[k] : type;
    MPI_Aint lower = 0, span = 0;
    if (of != MPI_DATATYPE_NULL) MPI_Type_get_extent(of, &lower, &span);
    const MPI_Aint place = places == nullptr ? 0 : places[k];
    s.each.push_back({counts != nullptr ? counts[k] : count, types != nullptr ? place : place * span, of});
  }
}

bool set_ends(collective what, const arguments& a, carried& c) {
  const int members = c.way->size(), me = c.way->rank();
  const bool root = me == a.root, in_place = a.src == MPI_IN_PLACE;
  sided_blocks &in = c.in_blocks, &out = c.out_blocks;
  void* const src = writable(a.src);
  switch (what) {
  case collective::allgatherv:
    set_blocks(out, a.dst, members, a.counts, a.places, 0, a.dtype, nullptr);
    set_blocks(in, src, 1, nullptr, nullptr, a.scount, a.stype, nullptr);
    break;
  case collective::gatherv:
    set_blocks(out, a.dst, root ? members : 0, a.counts, a.places, 0, a.dtype, nullptr);
    set_blocks(in, src, 1, nullptr, nullptr, a.scount, a.stype, nullptr);
    break;
  case collective::scatterv:
    set_blocks(in, src, root ? members : 0, a.scounts, a.splaces, 0, a.stype, nullptr);
    set_blocks(out, a.dst, 1, nullptr, nullptr, a.dcount, a.dtype, nullptr);
    if (root && a.dst == MPI_IN_PLACE) out.each.clear(); // it stays
    break;
  default:
    set_blocks(out, a.dst, members, a.counts, a.places, 0, a.dtype, a.types);
    set_blocks(in, src, members, a.scounts, a.splaces, 0, a.stype, a.stypes);
    if (in_place) in = out;
  }
  if (in_place && in.each.size() == 1 && out.each.size() > 1) { // its own block, where it is
    in.buffer = out.buffer;
    in.each[0] = out.each[static_cast<std::size_t>(me)];
  }
  for (const sided_blocks* const s : {&in, &out})
    for (const sided_blocks::block& b : s->each)
      if (b.count < 0 || (b.count != 0 && b.type == MPI_DATATYPE_NULL)) return false;
  return true;
}

carried* prepare_blocks(collective what, form f, const arguments& a, lane& way) {
  const bool rooted = what == collective::gatherv || what == collective::scatterv;
  if (rooted && (a.root < 0 || a.root >= way.size())) return nullptr;
  carried& c = new_call();
  c.op.c = {.what = what, .root = a.root};
  c.counts.clear();
  c.places.clear();
  c.way = &way;
  c.as = f;
  c.in_side = c.out_side = {};
  c.combines_by = MPI_OP_NULL;
  if (!set_ends(what, a, c)) {
    give_back(c);
    return nullptr;
  }
  count(what, false, f, reason::carried);
  return &c;
}

} // namespace

carried* prepare(collective what, form f, const arguments& a) {
  if (!carries(f) || a.comm == MPI_COMM_NULL) return nullptr;
  lane* const way = lane_of(a.comm);
  if (way == nullptr) {
    int between = 0;
    MPI_Comm_test_inter(a.comm, &between);
    count(what, false, f, between != 0 ? reason::between_groups : reason::no_lane);
    return nullptr;
  }
  const auto members = static_cast<std::size_t>(way->size());
  if (what != collective::gatherv && a.counts != nullptr &&
      std::any_of(a.counts, a.counts + members, [](int n) { return n < 0; }))
    return nullptr;
  if (!by_blocks(what) && !is_right(what, a, *way)) return nullptr;
  // Blocks that are about alike are an allgather of the largest.
  std::optional<std::size_t> unequal;
  const bool own_sizes =
      what == collective::allgatherv && a.dtype != MPI_DATATYPE_NULL && (unequal = block_of(a, members));
  if (own_sizes) what = collective::allgather;
  if (by_blocks(what)) return prepare_blocks(what, f, a, *way);
  if (const reason no = why_not(what, a, members); no != reason::carried) {
    count(what, false, f, no);
    return nullptr;
  }
  carried& c = new_call();
  c.op.c = {.what = what, .root = a.root};
  c.counts.assign(a.counts, a.counts + (own_sizes ? members : 0));
  c.places.assign(a.places, a.places + (own_sizes ? members : 0));
  c.elements.assign(is_scattered(what) ? members : 0, static_cast<std::size_t>(a.dcount));
  if (what == collective::reduce_scatter) c.elements.assign(a.counts, a.counts + members);
  c.combines_by = MPI_OP_NULL;
  c.way = way;
  c.as = f;
  set_sides(what, a, c);
  if (unequal) c.op.c.bytes = *unequal;
  if (combines(what)) {
    MPI_Aint lower = 0, span = 0;
    MPI_Type_get_extent(a.dtype, &lower, &span);
    // Pairs are combined where they are, with their gaps.
    c.op.c.unit = static_cast<std::size_t>(span);
    c.op.c.bytes = c.op.c.unit * static_cast<std::size_t>(c.in_side.count);
    c.op.c.element = by_library(a) ? *element_of(a.dtype) : WEFT_OPAQUE;
    if (by_library(a))
      c.op.c.op = *operator_of(a.op);
    else
      c.combines_by = a.op;
  }
  if (c.op.c.bytes > most_carried()) {
    count(what, own_sizes, f, reason::too_large);
    give_back(c);
    return nullptr;
  }
  count(what, own_sizes, f, reason::carried);
  return &c;
}

namespace {
void keep_types(sided_blocks& s);
void release_types(sided_blocks& s);
} // namespace

void keep_types(carried& c) {
  for (sided_blocks* const s : {&c.in_blocks, &c.out_blocks})
    if (by_blocks(c.op.c.what)) keep_types(*s);
  for (side* const s : {&c.in_side, &c.out_side})
    if (s->type != MPI_DATATYPE_NULL && extent_of(1, s->type).packed) {
      MPI_Type_dup(s->type, &s->type);
      s->kept = true;
    }
}

void release_types(carried& c) {
  for (sided_blocks* const s : {&c.in_blocks, &c.out_blocks})
    release_types(*s);
  for (side* const s : {&c.in_side, &c.out_side})
    if (std::exchange(s->kept, false)) MPI_Type_free(&s->type);
}

namespace {

// Of a block, in a packed message.
std::size_t bytes_of(const sided_blocks::block& b) {
  return b.count == 0 ? 0 : extent_of(b.count, b.type).bytes;
}

// One behind the other in memory of the library: those that arrive behind those that are given. In the place
// of the first ones the second ones lie where the blocks of alltoallv are.
void lay_out(sided_blocks& s, std::size_t& end) {
  s.staged.bytes.clear();
  s.staged.places.clear();
  const std::size_t begin = end;
  for (const sided_blocks::block& b : s.each) {
    s.staged.places.push_back(static_cast<std::ptrdiff_t>(end - begin));
    s.staged.bytes.push_back(bytes_of(b));
    end += s.staged.bytes.back();
  }
}

void move_block(const sided_blocks& s, std::size_t k, bool out) {
  const sided_blocks::block& b = s.each[k];
  if (s.staged.bytes[k] == 0) return;
  auto* const staged = static_cast<char*>(upc_cast(s.staged.at)) + s.staged.places[k];
  const auto bytes = static_cast<int>(s.staged.bytes[k]);
  if (!extent_of(b.count, b.type).packed) {
    char* const own = static_cast<char*>(s.buffer) + b.place;
    std::memcpy(out ? own : staged, out ? staged : own, s.staged.bytes[k]);
    return;
  }
  const side_from_bottom from({static_cast<char*>(s.buffer) + b.place, b.count, b.type, 1});
  int at = 0;
  if (out)
    MPI_Unpack(staged, bytes, &at, from->buffer, from.count(), from->type, MPI_COMM_SELF);
  else
    MPI_Pack(from->buffer, from.count(), from->type, staged, bytes, &at, MPI_COMM_SELF);
}

void keep_types(sided_blocks& s) {
  for (sided_blocks::block& b : s.each)
    if (b.count != 0 && extent_of(1, b.type).packed) {
      MPI_Type_dup(b.type, &b.type);
      s.kept.push_back(b.type);
    }
}
void release_types(sided_blocks& s) {
  for (MPI_Datatype& type : s.kept)
    MPI_Type_free(&type);
  s.kept.clear();
}

void post_blocks(carried& c) {
  if (!c.persistent) keep_types(c.out_blocks);
  std::size_t end = 0;
  lay_out(c.in_blocks, end);
  const std::size_t given = end = (end + 63) / 64 * 64;
  lay_out(c.out_blocks, end);
  if (end != 0) {
    c.in_blocks.staged.at = upc_alloc(end);
    c.out_blocks.staged.at = c.in_blocks.staged.at;
    c.out_blocks.staged.at.addr += given;
  } else {
    c.in_blocks.staged.at = c.out_blocks.staged.at = UPC_SHARED_NULL;
  }
  for (std::size_t k = 0; k != c.in_blocks.each.size(); ++k)
    move_block(c.in_blocks, k, false);
  c.op.c.given = &c.in_blocks.staged;
  c.op.c.taken = &c.out_blocks.staged;
  c.way->post(c.op);
}

void conclude_blocks(carried& c) {
  for (std::size_t k = 0; k != c.out_blocks.each.size(); ++k)
    move_block(c.out_blocks, k, true);
  if (!upc_isnull(c.in_blocks.staged.at)) upc_free(c.in_blocks.staged.at);
  if (!c.persistent) release_types(c.out_blocks);
}

} // namespace

void post(carried& c) {
  if (by_blocks(c.op.c.what)) return post_blocks(c);
  // MPI_COMM_SELF: a program may free the communicator before the call ends, and the format is the same.
  const bool combined = combines(c.op.c.what);
  const bool unequal = !c.counts.empty();
  const auto packed = [&](const side& s) {
    return unequal || (!combined && s.blocks != 0 && s.count != 0 && extent_of(s.count, s.type).packed);
  };
  c.op.c.in_blocks = static_cast<std::size_t>(c.in_side.blocks);
  c.op.c.in = static_cast<const std::byte*>(c.in_side.buffer);
  c.op.c.out_blocks = static_cast<std::size_t>(c.out_side.blocks);
  c.op.c.out = static_cast<std::byte*>(c.out_side.buffer);
  c.op.c.elements = c.elements.data();
  if (c.combines_by != MPI_OP_NULL) {
    if (!c.persistent) keep_types(c);
    int commutes = 0;
    MPI_Op_commutative(c.combines_by, &commutes);
    hold_operator(c.combines_by);
    weft_op_create(combine_by_mpi, &c, c.op.c.unit, commutes, &c.op.c.op);
  }
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
  if (by_blocks(c.op.c.what)) return conclude_blocks(c);
  if (c.combines_by != MPI_OP_NULL) {
    cray_upc_op_free(c.op.c.op);
    give_back_operator(c.combines_by);
  }
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
