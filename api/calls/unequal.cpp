// SPDX-License-Identifier: BSD-3-Clause
// Exchanges of blocks of unequal sizes, which only the threads at their two ends know.
#include "api/calls/staged_series.hpp"
#include "api/calls/unequal_call.hpp"
#include "engine/memory/copy.hpp"
#include "include/upc_collective_cray.h"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

namespace weft {
namespace api {
namespace {

// Where the blocks of an end lie that are not empty: from here to there, in the order of their ranks unless
// one begins in front of the end of another one.
struct blocks_seen {
  std::uint64_t begin = ~std::uint64_t{0}, end = 0;
  bool in_order = true;
  std::span<const block> all{};

  bool none() const { return begin > end; }
  void note(const block& b) {
    in_order &= b.at >= end;
    begin = std::min(begin, b.at);
    end = std::max(end, b.at + b.bytes);
  }
  bool apart_from(const blocks_seen& other) const {
    return none() || other.none() || end <= other.begin || other.end <= begin;
  }
  void list(std::vector<block>& to) const {
    to.assign(all.begin(), all.end());
    std::erase_if(to, [](const block& b) { return b.bytes == 0; });
    std::ranges::sort(to, [](const block& a, const block& b) { return a.at < b.at; });
  }
};

// Fills `to` with where they are.
blocks_seen look_at(const collective_call& c, const blocks_of_end& end, block* to) {
  if (end.nbytes == nullptr)
    fail(c.name, end.sizes, "null", "must be the address of a size for each thread of the team");
  if (end.places == nullptr && end.count > 1)
    fail(c.name, end.offsets, "null", "must be the address of a place for each thread of the team");
  blocks_seen seen{.all = {to, end.count}};
  std::uint64_t last = 0;
  for (std::uint32_t k = 0; k != end.count; ++k) {
    const std::ptrdiff_t place = end.places == nullptr ? 0 : end.places[k];
    if (place < 0 && end.nbytes[k] != 0)
      fail(c.name, end.offsets, std::to_string(place),
           "the place of block " + std::to_string(k) + " must be 0 bytes or more behind " + end.pointer);
    const std::uint64_t from = place < 0 ? 0 : static_cast<std::uint64_t>(place);
    to[k] = {end.at.addr + from, end.nbytes[k]};
    if (end.nbytes[k] == 0) continue;
    seen.note(to[k]);
    std::uint64_t behind = 0;
    if (__builtin_add_overflow(from, end.nbytes[k], &behind))
      fail(c.name, end.sizes, std::to_string(end.nbytes[k]), "is more than there can be");
    last = std::max(last, behind);
  }
  if (!seen.none()) {
    require_not_null(c.name, end.pointer, end.at);
    if (end.at.thread != c.rt.rank())
      fail_pointer(c.name, end.pointer, end.at,
                   "must have affinity to the calling thread: each thread passes its own blocks");
    if (block_check::on && is_ordinary(end.at)) // what lies between the blocks is not touched
      for (const block& b : seen.all) {
        if (b.bytes != 0)
          require_operand(c.rt, c.name, end.pointer, {b.at, end.at.thread, end.at.phase}, b.bytes);
      }
    else
      require_operand(c.rt, c.name, end.pointer, end.at, last);
  }
  return seen;
}

// What is written is written once, and nothing of it is read.
void require_distinct(const collective_call& c, const blocks_of_end& dst, const blocks_seen& taken,
                      const blocks_seen& given, const block* own, const block* own_to) {
  if (taken.in_order && taken.apart_from(given)) return;
  thread_local std::vector<block> written, read; // keep their memory
  taken.list(written);
  given.list(read);
  for (std::size_t k = 1; k < written.size(); ++k)
    if (written[k - 1].at + written[k - 1].bytes > written[k].at)
      fail(c.name, dst.offsets == nullptr ? dst.sizes : dst.offsets,
           std::to_string(written[k].at - dst.at.addr),
           "two blocks of dst overlap there: blocks that are received have no byte in common");
  const bool in_place = own != nullptr && own_to != nullptr && own->at == own_to->at;
  auto next = written.begin();
  for (const block& b : read) {
    if (in_place && b.at == own->at && b.bytes == own->bytes) continue;
    while (next != written.end() && next->at + next->bytes <= b.at)
      ++next;
    if (next != written.end() && next->at < b.at + b.bytes)
      fail(c.name, "src", describe({b.at, c.rt.rank(), c.rt.in_heap(b.at, 1) ? 0 : phase_of_ordinary}),
           "a block of src overlaps one of dst: they have no byte in common, unless the thread's own block "
           "stays "
           "where it is");
  }
}

// Other members read in the segment what they get. My own block is not for them; of blocks that follow each
// other and are the same one there is one copy.
template <class CopyOf>
void each_staged(std::span<block> given, const block* own, std::uint64_t along, CopyOf&& copy_of) {
  block original, copy;
  for (block& b : given) {
    if (&b == own || b.bytes <= along) continue;
    if (original.bytes != b.bytes || original.at != b.at) copy = copy_of(original = b);
    b.at = copy.at;
  }
}
std::uint64_t staged_bytes(std::span<block> given, const block* own, std::uint64_t along) {
  std::uint64_t bytes = 0;
  each_staged(given, own, along, [&](const block& b) {
    bytes += staging::lines(b.bytes);
    return b;
  });
  return bytes;
}
void stage(staging& room, std::span<block> given, const block* own, std::uint64_t along,
           std::uint64_t bytes) {
  room.reserve(bytes);
  if (bytes != 0)
    each_staged(given, own, along, [&](const block& b) {
      return block{room.copy_in(b.at, b.bytes), b.bytes};
    });
}

// In front of the blocks that lie in the shared heap.
staged_block& room_of(const block* all) {
  const auto* const memory = reinterpret_cast<const std::byte*>(all);
  return *reinterpret_cast<staged_block*>(const_cast<std::byte*>(memory - staged_block::line));
}

} // namespace

block_list::held block_list::take(runtime& rt, const char* call, std::size_t count, bool shown) {
  if (!shown) return {new block[count], {}};
  staged_block& room = *staging::take(rt, call, count * sizeof(block), false);
  auto* const all = reinterpret_cast<block*>(room.memory());
  std::uninitialized_default_construct_n(all, count);
  return {all, {true}};
}
void block_list::giving_back::operator()(const block* all) const noexcept {
  if (!shown)
    delete[] all;
  else
    staged_blocks().give_back(room_of(all));
}

namespace {
template <bool Shown> void give_up(const block* all) {
  block_list::giving_back{Shown}(all);
}
} // namespace

checked_exchange check_unequal(const collective_call& c, const unequal_call& call) {
  const std::uint32_t me = c.rank(c.rt.rank());
  const bool same = call.op == operation::team_gatherv || call.by == caller::allgatherv;
  const bool shown = !same && call.src.count > 1;
  checked_exchange made{.all = block_list::take(c.rt, c.name, call.src.count + call.dst.count + 2, shown),
                        .ready = {}};
  unequal::exchange& e = made.ready.task;
  block *const given = made.all.get(), *const taken = given + call.src.count + 1;
  e.given = given;
  e.taken = taken;
  e.same = same;
  e.from_root = call.op == operation::team_scatterv;
  e.to_root = call.op == operation::team_gatherv;
  e.from_one = call.from_one;
  e.root = static_cast<std::uint32_t>(call.root);
  blocks_seen written, read;
  if (call.dst.count != 0) written = look_at(c, call.dst, taken);
  const block* const own_to = call.dst.count == 0 ? nullptr : e.taken_of(me, me);
  if (call.src.count == 1 && e.same && own_to != nullptr && upc_isnull(call.src.at) != 0)
    *given = *own_to; // in place
  else if (call.src.count != 0)
    read = look_at(c, call.src, given);
  block* const own = call.src.count == 0 ? nullptr : given + (e.same ? 0 : me);
  if (e.from_root && own != nullptr && own_to != nullptr && upc_isnull(call.dst.at) != 0) *taken = *own;
  const bool both = own != nullptr && own_to != nullptr && !(e.from_one && own->bytes == 0);
  if (both && own->bytes != own_to->bytes)
    fail(c.name, call.dst.sizes, std::to_string(own_to->bytes),
         "the thread's block for itself has " + std::to_string(own->bytes) +
             " bytes in src: both must say the same");
  if (!call.copied) require_distinct(c, call.dst, written, read, own, own_to);
  made.giver = e.same && upc_isnull(call.src.at) != 0 ? call.dst.at : call.src.at;
  made.stages = call.copied || is_ordinary(made.giver);
  if (is_lent(made.giver) && !call.copied && !block_check::on)
    made.along = c.rt.teams().longest_along(call.team);
  made.own = own;
  made.own_to = both ? taken + (own_to - taken) : nullptr;
  if (!made.stages) count_operand(c.rt, made.giver, read.none() ? 0 : 1);
  count_operand(c.rt, call.dst.at, written.none() ? 0 : 1);
  if (block_check::on && (is_ordinary(call.dst.at) || made.stages)) e.usable = is_mapped;
  const std::uint64_t entries = e.gives_one() ? 1 : c.threads; // at most, of a neighbour
  e.along = !e.from_one && std::all_of(taken, taken + call.dst.count, [&](const block& b) {
    return unequal::comes_along(b.bytes, entries);
  });
  e.kept = made.all.get();
  e.release_blocks = shown ? give_up<true> : give_up<false>;
  prepare(e);
  made.ready.call =
      c.ready({.op = call.op, .root = e.root, .bytes = collectives::any_size, .by = call.by, .apart = true},
              {.dst = call.dst.at.addr, .src = call.src.at.addr});
  return made;
}

namespace {

// Behind the copies is the list of where they are copied from.
upc_handle_t start_staged_later(const collective_call& c, const unequal_call& call, checked_exchange& made,
                                const block* stays, std::uint64_t bytes) {
  unequal::exchange& e = made.ready.task;
  const std::span<block> given = made.given(call);
  staged_series::held series =
      staged_series::take(c.rt, c.name, {.pieces = 1}, bytes + given.size() * sizeof(block));
  staged_piece& p = series->piece(0);
  auto* const from = new (p.room + bytes) block[given.size()];
  std::ranges::copy(given, from);
  p.in = {.count = static_cast<std::uint32_t>(given.size()), .listed = from};
  if (stays != nullptr) p.in.but = static_cast<std::uint32_t>(stays - given.data());
  p.given = given.data();
  std::uint64_t at = series->place_of(p);
  each_staged(given, stays, made.along, [&](const block& b) {
    return block{std::exchange(at, at + staging::lines(b.bytes)), b.bytes};
  });
  e.aside = &p;
  const upc_handle_t h = post_series(
      c, series, std::span(&made, 1), [](checked_exchange & one) -> auto& { return one.ready; });
  static_cast<void>(made.all.release());
  return h;
}

} // namespace

cray_upc_return_t start_unequal(const collective_call& c, const unequal_call& call) {
  checked_exchange made = check_unequal(c, call);
  unequal::exchange& e = made.ready.task;
  const block* const stays =
      !e.same || (e.to_root && made.own_to != nullptr) ? made.own : nullptr; // is for me alone
  const std::uint64_t staged = made.stages ? staged_bytes(made.given(call), stays, made.along) : 0;
  if (call.handle != nullptr && series_cut::is_copied_later(staged)) {
    *call.handle = start_staged_later(c, call, made, stays, staged);
    return CRAY_UPC_SUCCESS;
  }
  staging room(c.rt, c.name, call.handle != nullptr);
  if (made.stages) stage(room, made.given(call), stays, made.along, staged);
  // The others need what is staged: the own block is copied behind the post. A large one the engine copies.
  const bool moves_own = stays != nullptr && made.stages && !call.copied && made.own_to != nullptr &&
                         made.own->at != made.own_to->at && !series_cut::is_copied_later(made.own->bytes);
  const block own_from = moves_own ? *made.own : block{};
  const std::uint64_t own_to = moves_own ? made.own_to->at : 0;
  if (moves_own) made.own->at = own_to;
  e.aside = room.block();
  static_cast<void>(made.all.release());
  kept_function blocks(e, call.handle != nullptr);
  const upc_handle_t h = start(c.name, c.rt, call.team, made.ready);
  blocks.hand_on();
  room.hand_on();
  if (moves_own) engine::copy_bytes(c.rt.own_memory(own_to), c.rt.own_memory(own_from.at), own_from.bytes);
  if (call.handle != nullptr) *call.handle = h;
  return CRAY_UPC_SUCCESS;
}

namespace {

collective_call begin_unequal(const char* name, upc_team_t team, int root, bool async) {
  const mode m{.in = graph::sync::my, .out = graph::sync::my, .async = async};
  const collective_call c = begin_collective(name, m, team);
  require_root_rank(c, root);
  return c;
}
bool is_root(const collective_call& c, int root) {
  return c.rank(c.rt.rank()) == static_cast<std::uint32_t>(root);
}

} // namespace

} // namespace api

cray_upc_return_t cray_upc_team_alltoallv(upc_shared_ptr_t dst, const size_t* dst_nbytes,
                                          const ptrdiff_t* dst_places, upc_shared_ptr_t src,
                                          const size_t* src_nbytes, const ptrdiff_t* src_places,
                                          cray_upc_team_t team, upc_handle_t* handle) {
  const api::collective_call c = api::begin_unequal("cray_upc_team_alltoallv", team, 0, handle != nullptr);
  return api::start_unequal(c, {c.name,
                                api::operation::team_alltoallv,
                                team,
                                0,
                                handle,
                                {dst, dst_nbytes, dst_places, c.threads, "dst", "dst_nbytes", "dst_places"},
                                {src, src_nbytes, src_places, c.threads, "src", "src_nbytes", "src_places"}});
}

cray_upc_return_t cray_upc_team_allgatherv(upc_shared_ptr_t dst, const size_t* dst_nbytes,
                                           const ptrdiff_t* dst_places, upc_shared_ptr_t src,
                                           size_t src_nbytes, cray_upc_team_t team, upc_handle_t* handle) {
  const api::collective_call c = api::begin_unequal("cray_upc_team_allgatherv", team, 0, handle != nullptr);
  return api::start_unequal(c, {c.name,
                                api::operation::team_alltoallv,
                                team,
                                0,
                                handle,
                                {dst, dst_nbytes, dst_places, c.threads, "dst", "dst_nbytes", "dst_places"},
                                {src, &src_nbytes, nullptr, 1, "src", "src_nbytes", nullptr},
                                api::caller::allgatherv});
}

cray_upc_return_t cray_upc_team_gatherv(upc_shared_ptr_t dst, const size_t* dst_nbytes,
                                        const ptrdiff_t* dst_places, upc_shared_ptr_t src, size_t src_nbytes,
                                        int root, cray_upc_team_t team, upc_handle_t* handle) {
  const api::collective_call c = api::begin_unequal("cray_upc_team_gatherv", team, root, handle != nullptr);
  const std::uint32_t taken = api::is_root(c, root) ? c.threads : 0;
  return api::start_unequal(c, {c.name,
                                api::operation::team_gatherv,
                                team,
                                root,
                                handle,
                                {dst, dst_nbytes, dst_places, taken, "dst", "dst_nbytes", "dst_places"},
                                {src, &src_nbytes, nullptr, 1, "src", "src_nbytes", nullptr}});
}

cray_upc_return_t cray_upc_team_scatterv(upc_shared_ptr_t dst, size_t dst_nbytes, upc_shared_ptr_t src,
                                         const size_t* src_nbytes, const ptrdiff_t* src_places, int root,
                                         cray_upc_team_t team, upc_handle_t* handle) {
  const api::collective_call c = api::begin_unequal("cray_upc_team_scatterv", team, root, handle != nullptr);
  const bool is_root = api::is_root(c, root), in_place = is_root && upc_isnull(dst) != 0;
  if (in_place && src_nbytes != nullptr) dst_nbytes = 0; // it is looked at in src
  const std::uint32_t given = is_root ? c.threads : 0;
  return api::start_unequal(c, {c.name,
                                api::operation::team_scatterv,
                                team,
                                root,
                                handle,
                                {dst, &dst_nbytes, nullptr, 1, "dst", "dst_nbytes", nullptr},
                                {src, src_nbytes, src_places, given, "src", "src_nbytes", "src_places"}});
}

} // namespace weft
