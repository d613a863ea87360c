// SPDX-License-Identifier: BSD-3-Clause
// Blocks that lie at the member that gives them, until those that take them have copied them: in its ring, or
// where its program has them.
#include "mpi/shim/lane.hpp"

#include <upc_castable.h>
#include <weft/weft.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

namespace weft::mpi {

namespace {

// As long as a giver would copy them, and a little more: in nanoseconds.
std::uint64_t time_to_copy(std::size_t bytes) {
  constexpr std::uint64_t least = 2000, bytes_in_a_nanosecond = 6;
  return least + bytes / bytes_in_a_nanosecond;
}

[[noreturn]] void end_in_error(const std::string& why) {
  std::fprintf(stderr, "weft: error: %s\n", why.c_str());
  std::fflush(nullptr);
  _exit(1);
}
[[noreturn]] void end_of_unlike_blocks(collective what, int giver, std::uint64_t given, int taker,
                                       std::uint64_t taken) {
  constexpr const char* names[] = {"allgatherv", "gatherv", "scatterv", "alltoallv", "alltoallw"};
  const char* const name = names[static_cast<int>(what) - static_cast<int>(collective::allgatherv)];
  end_in_error("MPI_I" + std::string(name) + ": rank " + std::to_string(giver) +
               " of a communicator gives rank " + std::to_string(taker) + " " + std::to_string(given) +
               " bytes, where that rank takes " + std::to_string(taken) + ": both must say the same");
}

[[noreturn]] void end_without_room() {
  end_in_error("the kernel refuses to copy a block that has no room in shared memory: raise WEFT_HEAP_SIZE");
}

bool lies_inside(std::size_t bytes) {
  return bytes <= slot::most_inside;
}

std::atomic<claim>* claims_in(std::byte* room) {
  return reinterpret_cast<std::atomic<claim>*>(room);
}
// Behind the claims of so many members: where the room's giver has staged what the heap has no room for, or
// 0.
std::uint64_t* staged_in(std::byte* room, int members) {
  return reinterpret_cast<std::uint64_t*>(claims_in(room) + members);
}
std::uint64_t bytes_of_claims(int members) {
  return whole_lines(static_cast<std::uint64_t>(members) * sizeof(claim) + sizeof(std::uint64_t));
}

} // namespace

// This member's own one, and a line behind it those that it is sent.
token* lane::tokens(const piece& p) const {
  return reinterpret_cast<token*>(memory_of(rank_, p.got));
}

// Do both ways lead there, so that what they cost is measured?
bool lane::is_compared(std::size_t bytes) const {
  return bytes >= costs_of_ways::least && !processes_.empty();
}

// At the member that gives, one for each that takes.
std::atomic<claim>* lane::claims(int giver, const piece& p) const {
  const std::uint64_t place = p.got + line + whole_lines(threads_.size() * sizeof(token));
  return reinterpret_cast<std::atomic<claim>*>(memory_of(giver, place));
}

bool lane::takes_from_this(const call& c, int member) const {
  if (member == rank_) return false;
  if (by_blocks(c.what)) {
    const std::vector<std::size_t>& bytes = c.given->bytes;
    if (bytes.empty() || (c.what == collective::gatherv && member != c.root)) return false;
    return !lies_inside(bytes[bytes.size() == 1 ? 0 : static_cast<std::size_t>(member)]);
  }
  if (from_root(c.what)) return rank_ == c.root;
  return c.what != collective::gather || member == c.root;
}

// How many blocks a member gets from others.
std::uint64_t lane::taken_by_one(const call& c) const {
  return from_root(c.what) ? 1 : threads_.size() - 1;
}

void lane::lend(const call& c, piece& p) {
  copy_own(c, p);
  std::uint64_t takers = 0;
  for (int member = 0; member != size(); ++member)
    takers += takes_from_this(c, member);
  // A root's blocks go to as many members, each of which takes one.
  const std::uint64_t given = differ(c.what) ? takers : 1;
  // In place what is given is overwritten.
  const bool stays = c.what != collective::alltoall || c.in != c.out;
  p.by_kernel = takers != 0 && stays && !refused_ && is_compared(p.bytes) &&
                costs_.by_kernel_is_cheaper(p.bytes, given, taken_by_one(c));
  by_kernel_ += p.by_kernel;
  *tokens(p) = p.by_kernel ? reinterpret_cast<token>(c.in + p.from) : 0;
  p.lent_at = takers != 0 && is_compared(p.bytes) ? nanoseconds_now() : 0;
  if (p.by_kernel) {
    for (std::size_t member = 0; member != threads_.size(); ++member)
      claims(rank_, p)[member].store(claim::free, std::memory_order_relaxed);
  } else if (takers != 0) {
    stage(c, p);
    if (is_compared(p.bytes))
      costs_.note(costs_of_ways::by_ring, costs_of_ways::giving, p.bytes,
                  (nanoseconds_now() - p.lent_at) / given);
  }
  signal(c, p);
}

// Where a lent block is, for the member that gets it.
struct lane::lent_copy {
  const std::byte *there, *staged; // in the giver's program, and in its segment
  std::byte* room;                 // there: of unequal blocks
  std::atomic<claim>* mine;        // null: it is staged, and the ring knows when it is read
  bool compared;
};

// False if it cannot be copied yet.
bool lane::copy_lent(int giver, const lent_copy& from, std::byte* to, std::size_t bytes) {
  const std::uint64_t begin = from.compared ? nanoseconds_now() : 0;
  costs_of_ways::way by = costs_of_ways::by_ring;
  claim is = claim::free;
  const pid_t process = processes_.empty() ? 0 : processes_[static_cast<std::size_t>(giver)];
  if (from.mine == nullptr) {
    copy_block(to, from.staged, bytes);
  } else if (from.mine->compare_exchange_strong(is, claim::taking, std::memory_order_acq_rel,
                                                std::memory_order_acquire)) {
    const bool read = read_of_process(process, from.there, to, bytes);
    from.mine->store(read ? claim::taken : claim::refused, std::memory_order_release);
    if (!read) return false;
    bytes_copied.fetch_add(bytes, std::memory_order_relaxed);
    by = costs_of_ways::by_kernel;
  } else if (is == claim::staged) {
    const std::uint64_t own = from.room == nullptr ? 0 : *staged_in(from.room, size());
    if (own == 0)
      copy_block(to, from.staged, bytes);
    else if (!read_of_process(process, reinterpret_cast<const std::byte*>(own) + (from.staged - from.room),
                              to, bytes))
      end_without_room();
    from.mine->store(claim::taken, std::memory_order_release);
  } else {
    return false; // refused, and not copied yet
  }
  if (from.compared) costs_.note(by, costs_of_ways::taking, bytes, nanoseconds_now() - begin);
  return true;
}

// A block that member `giver` gives. False if it is not there yet.
bool lane::take(const call& c, const piece& p, int giver, std::byte* to) {
  const token* const told = tokens(p) + line / sizeof(token);
  const token there = told[from_root(c.what) ? 0 : giver];
  const std::size_t block = differ(c.what) ? static_cast<std::size_t>(rank_) * c.bytes : 0;
  const lent_copy from{.there = reinterpret_cast<const std::byte*>(there + block),
                       .staged = lent_by(giver, c, p),
                       .room = nullptr,
                       .mine = there == 0 ? nullptr : claims(giver, p) + rank_,
                       .compared = is_compared(p.bytes)};
  return copy_lent(giver, from, to, p.bytes);
}

// Does no member need this one's memory any more? What is not read in time this member copies into its ring.
bool lane::has_given(const call& c, piece& p) {
  if (!p.by_kernel) return true;
  const bool blocks = by_blocks(c.what);
  std::atomic<claim>* const words = blocks ? claims_in(p.room.memory) : claims(rank_, p);
  bool unclaimed = false, reading = false;
  for (int member = 0; member != size(); ++member) {
    if (!takes_from_this(c, member)) continue;
    const claim is = words[member].load(std::memory_order_acquire);
    refused_ |= is == claim::refused;
    unclaimed |= is == claim::free || is == claim::refused;
    reading |= is == claim::taking;
  }
  const std::uint64_t now = unclaimed || reading || p.looked_at != 0 ? nanoseconds_now() : 0;
  if (p.looked_at == 0) p.looked_at = now;
  if (unclaimed) {
    const std::size_t given = blocks ? p.in_rooms : p.bytes * c.in_blocks;
    const bool late = now - p.lent_at >= time_to_copy(given);
    if (!refused_ && !late) return false;
    if (!p.staged) blocks ? stage_blocks(c, p) : stage(c, p);
    p.staged = true;
    for (int member = 0; member != size(); ++member) {
      claim is = claim::free;
      while (takes_from_this(c, member) && (is == claim::free || is == claim::refused) &&
             !words[member].compare_exchange_weak(is, claim::staged, std::memory_order_acq_rel,
                                                  std::memory_order_acquire))
        ;
      reading |= is == claim::taking;
    }
  }
  if (reading) return false;
  costs_.note(costs_of_ways::by_kernel, costs_of_ways::giving, blocks ? p.longest : p.bytes,
              p.looked_at == 0 ? 0 : nanoseconds_now() - p.looked_at);
  return true;
}

std::byte* lane::reached(int member, std::uint64_t place) const {
  upc_shared_ptr_t p = area_;
  p.thread = threads_[static_cast<std::size_t>(member)];
  p.addr = place;
  return static_cast<std::byte*>(upc_cast(p));
}

slot* lane::slots(std::uint64_t place) const {
  return reinterpret_cast<slot*>(memory_of(rank_, place));
}

// A member's block for itself is copied at once.
void lane::copy_own_block(const call& c) {
  const staged_blocks &in = *c.given, &out = *c.taken;
  const auto me = static_cast<std::size_t>(rank_);
  if (in.bytes.empty() || out.bytes.empty()) return;
  const std::size_t given = in.bytes.size() == 1 ? 0 : me, got = out.bytes.size() == 1 ? 0 : me;
  if (in.bytes[given] != out.bytes[got])
    end_of_unlike_blocks(c.what, rank_, in.bytes[given], rank_, out.bytes[got]);
  if (in.block(given) != out.block(got)) copy_block(out.block(got), in.block(given), in.bytes[given]);
}

void lane::write_slots(const call& c, piece& p) {
  const staged_blocks& in = *c.given;
  copy_own_block(c);
  const std::span<slot> all(slots(p.given), in.bytes.size());
  bool inside = true;
  for (std::size_t k = 0; k != all.size(); ++k) {
    const bool own = all.size() != 1 && k == static_cast<std::size_t>(rank_);
    all[k].bytes = own ? 0 : in.bytes[k];
    if (lies_inside(all[k].bytes))
      std::copy_n(in.block(k), all[k].bytes, all[k].inside);
    else
      inside = false;
  }
  if (!inside) lend_blocks(c, p, all);
}

// Those that do not lie in their slots.
void lane::lend_blocks(const call& c, piece& p, std::span<slot> slots) {
  if (c.what == collective::gatherv && rank_ == c.root) return; // its block is for itself
  std::uint64_t blocks = 0, room = bytes_of_claims(size());
  for (slot& s : slots) {
    if (lies_inside(s.bytes)) continue;
    s.staged = room;
    room += whole_lines(s.bytes);
    p.longest = std::max<std::size_t>(p.longest, s.bytes);
    p.in_rooms += s.bytes;
    ++blocks;
  }
  const bool compared = is_compared(p.longest);
  p.room = room_of(room);
  if (!p.room.stages && (refused_ || processes_.empty())) end_without_room();
  constexpr std::size_t always_by_kernel = 8 << 20; // sooner than the heap is filled with what is staged
  p.by_kernel =
      !p.room.stages ||
      (compared && !refused_ &&
       (p.longest > always_by_kernel || costs_.by_kernel_is_cheaper(p.longest, blocks, taken_by_one(c))));
  by_kernel_ += p.by_kernel;
  p.lent_at = compared ? nanoseconds_now() : 0;
  for (std::size_t k = 0; k != slots.size(); ++k) {
    if (lies_inside(slots[k].bytes)) continue;
    const bool read = p.by_kernel && (slots[k].bytes >= costs_of_ways::least || !p.room.stages);
    slots[k].there = read ? reinterpret_cast<std::uint64_t>(c.given->block(k)) : 0;
    slots[k].claims = p.room.at.addr;
    if (!read) copy_block(p.room.memory + slots[k].staged, c.given->block(k), slots[k].bytes);
  }
  if (!p.by_kernel && compared)
    costs_.note(costs_of_ways::by_ring, costs_of_ways::giving, p.longest,
                (nanoseconds_now() - p.lent_at) / blocks);
  std::atomic<claim>* const words = claims_in(p.room.memory);
  *staged_in(p.room.memory, size()) = 0;
  for (int member = 0; member != size(); ++member) {
    const slot& of = slots[slots.size() == 1 ? 0 : static_cast<std::size_t>(member)];
    const claim begins = !takes_from_this(c, member) ? claim::taken
                         : of.there != 0             ? claim::free
                                                     : claim::staged;
    words[member].store(begins, std::memory_order_relaxed);
  }
}

// Copies into the room what the others could not read in time: a giver never waits for calls of the takers,
// which may wait for it in another communicator.
void lane::stage_blocks(const call& c, piece& p) {
  const slot* const all = slots(p.given);
  std::byte* to = p.room.memory;
  if (!p.room.stages) {
    to = p.room.own = refused_ ? nullptr : static_cast<std::byte*>(std::malloc(p.room.bytes));
    if (to == nullptr) end_without_room();
    *staged_in(p.room.memory, size()) = reinterpret_cast<std::uint64_t>(to);
  }
  for (std::size_t k = 0; k != c.given->bytes.size(); ++k) {
    if (lies_inside(all[k].bytes) || all[k].there == 0) continue;
    copy_block(to + all[k].staged, c.given->block(k), all[k].bytes);
  }
}

// What this member gets, where the program wants it. False if some of it is not there yet.
bool lane::take_blocks(const call& c, piece& p) {
  const staged_blocks& out = *c.taken;
  const int blocks = p.in == nullptr ? 0 : static_cast<int>(out.bytes.size());
  for (; p.brought < blocks; ++p.brought) {
    const auto k = static_cast<std::size_t>((rank_ + p.brought) % blocks);
    const int giver = c.what == collective::scatterv ? c.root : static_cast<int>(k);
    if (giver == rank_) continue;
    const slot& from = slots(p.got)[k];
    if (from.bytes != out.bytes[k]) end_of_unlike_blocks(c.what, giver, from.bytes, rank_, out.bytes[k]);
    if (lies_inside(from.bytes)) {
      std::copy_n(from.inside, from.bytes, out.block(k));
      continue;
    }
    std::byte* const room = reached(giver, from.claims);
    const lent_copy lent{.there = reinterpret_cast<const std::byte*>(from.there),
                         .staged = room + from.staged,
                         .room = room,
                         .mine = reinterpret_cast<std::atomic<claim>*>(room) + rank_,
                         .compared = is_compared(from.bytes)};
    if (!copy_lent(giver, lent, out.block(k), from.bytes)) return false;
  }
  return true;
}

// Of those whose blocks have all been taken, from the oldest on: back to the heap, up to one that has as many
// bytes or some more.
lent_room lane::take_back_rooms(std::uint64_t bytes) {
  const auto is_taken = [](const std::atomic<claim>& c) {
    return c.load(std::memory_order_acquire) == claim::taken;
  };
  while (!rooms_.empty()) {
    const lent_room room = rooms_.front();
    const std::atomic<claim>* const words = claims_in(room.memory);
    if (!std::all_of(words, words + size(), is_taken)) break;
    rooms_.pop_front();
    if (room.stages && room.bytes >= bytes && room.bytes / 2 <= bytes) return room;
    upc_free(room.at);
    std::free(room.own);
  }
  return {};
}

// For claims alone, if the heap has no more.
lent_room lane::room_of(std::uint64_t bytes) {
  lent_room room = take_back_rooms(bytes);
  if (room.memory != nullptr) return room;
  room.bytes = bytes;
  room.stages = true;
  try {
    room.at = weft::upc_alloc(bytes);
  } catch (const weft::error&) {
    room.stages = false;
    room.at = upc_alloc(bytes_of_claims(size()));
  }
  room.memory = static_cast<std::byte*>(upc_cast(room.at));
  return room;
}

} // namespace weft::mpi
