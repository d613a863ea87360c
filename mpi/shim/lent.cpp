// SPDX-License-Identifier: BSD-3-Clause
// Blocks that lie at the member that gives them, until those that take them have copied them: in its ring, or
// where its program has them.
#include "mpi/shim/lane.hpp"

#include <upc_castable.h>
#include <weft/weft.hpp>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <unistd.h>

namespace weft::mpi {

namespace {

// As long as a giver would copy them, and a little more: in nanoseconds.
std::uint64_t time_to_copy(std::size_t bytes) {
  constexpr std::uint64_t least = 2000, bytes_in_a_nanosecond = 6;
  return least + bytes / bytes_in_a_nanosecond;
}

// Null if the heap has no room.
upc_shared_ptr_t room_of(std::uint64_t bytes) {
  try {
    return weft::upc_alloc(bytes);
  } catch (const weft::error&) {
    return UPC_SHARED_NULL;
  }
}
[[noreturn]] void end_in_error(const std::string& why) {
  std::fprintf(stderr, "weft: error: %s\n", why.c_str());
  std::fflush(nullptr);
  _exit(1);
}
[[noreturn]] void end_of_unlike_blocks(int giver, std::uint64_t given, int taker, std::uint64_t taken) {
  end_in_error("rank " + std::to_string(giver) + " of a communicator gives rank " + std::to_string(taker) +
               " " + std::to_string(given) + " bytes, where that rank takes " + std::to_string(taken) +
               ": both must say the same");
}

std::uint64_t blocks_lent(const staged_blocks& s) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(s.lent, [](const lent_block& b) { return b.bytes != 0 && !b.brought; }));
}

std::atomic<claim>* claims_in(upc_shared_ptr_t room) {
  return static_cast<std::atomic<claim>*>(upc_cast(room));
}

} // namespace

// This member's own one, and a line behind it those that it is sent.
token* lane::tokens(const piece& p) const {
  return reinterpret_cast<token*>(memory_of(rank_, p.got));
}

// Do both ways lead there, so that what they cost is measured?
bool lane::is_compared(const piece& p) const {
  return p.bytes >= costs_of_ways::least && !processes_.empty();
}

// At the member that gives, one for each that takes.
std::atomic<claim>* lane::claims(int giver, const piece& p) const {
  const std::uint64_t place = p.got + line + whole_lines(threads_.size() * sizeof(token));
  return reinterpret_cast<std::atomic<claim>*>(memory_of(giver, place));
}

bool lane::takes_from_this(const call& c, int member) const {
  if (member == rank_) return false;
  if (by_blocks(c.what)) {
    const std::vector<lent_block>& lent = c.given->lent;
    if (lent.empty() || (c.what == collective::gatherv && member != c.root)) return false;
    return lent[lent.size() == 1 ? 0 : static_cast<std::size_t>(member)].bytes != 0;
  }
  if (from_root(c.what)) return rank_ == c.root;
  return c.what != collective::gather || member == c.root;
}

void lane::lend(const call& c, piece& p) {
  copy_own(c, p);
  std::uint64_t takers = 0;
  for (int member = 0; member != size(); ++member)
    takers += takes_from_this(c, member);
  // A root's blocks go to as many members, each of which takes one.
  const std::uint64_t given = differ(c.what) ? takers : 1;
  const std::uint64_t taken = from_root(c.what) ? 1 : threads_.size() - 1;
  // In place what is given is overwritten.
  const bool stays = c.what != collective::alltoall || c.in != c.out;
  p.by_kernel = takers != 0 && stays && !refused_ && is_compared(p) &&
                costs_.by_kernel_is_cheaper(p.bytes, given, taken);
  by_kernel_ += p.by_kernel;
  *tokens(p) = p.by_kernel ? reinterpret_cast<token>(c.in + p.from) : 0;
  p.lent_at = takers != 0 && is_compared(p) ? nanoseconds_now() : 0;
  if (p.by_kernel) {
    for (std::size_t member = 0; member != threads_.size(); ++member)
      claims(rank_, p)[member].store(claim::free, std::memory_order_relaxed);
  } else if (takers != 0) {
    stage(c, p);
    if (is_compared(p))
      costs_.note(costs_of_ways::by_ring, costs_of_ways::giving, p.bytes,
                  (nanoseconds_now() - p.lent_at) / given);
  }
  signal(c, p);
}

// Where a lent block is, for the member that gets it.
struct lane::lent_copy {
  const std::byte *there, *staged; // in the giver's program, and in its segment
  std::atomic<claim>* mine;        // null: it is staged, and the ring knows when it is read
  bool compared;
};

// False if it cannot be copied yet.
bool lane::copy_lent(int giver, const lent_copy& from, std::byte* to, std::size_t bytes) {
  const std::uint64_t begin = from.compared ? nanoseconds_now() : 0;
  costs_of_ways::way by = costs_of_ways::by_ring;
  claim is = claim::free;
  if (from.mine == nullptr) {
    copy_block(to, from.staged, bytes);
  } else if (from.mine->compare_exchange_strong(is, claim::taking, std::memory_order_acq_rel,
                                                std::memory_order_acquire)) {
    const bool read = read_of_process(processes_[static_cast<std::size_t>(giver)], from.there, to, bytes);
    from.mine->store(read ? claim::taken : claim::refused, std::memory_order_release);
    if (!read) return false;
    bytes_copied.fetch_add(bytes, std::memory_order_relaxed);
    by = costs_of_ways::by_kernel;
  } else if (is == claim::staged) {
    copy_block(to, from.staged, bytes);
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
                       .mine = there == 0 ? nullptr : claims(giver, p) + rank_,
                       .compared = is_compared(p)};
  return copy_lent(giver, from, to, p.bytes);
}

// Does no member need this one's memory any more? What is not read in time this member copies into its ring.
bool lane::has_given(const call& c, piece& p) {
  if (!p.by_kernel) return true;
  const bool blocks = by_blocks(c.what);
  std::atomic<claim>* const words = blocks ? claims_in(p.room) : claims(rank_, p);
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
    const std::uint64_t given = blocks ? blocks_lent(*c.given) : c.in_blocks;
    const bool late = now - p.lent_at >= time_to_copy(p.bytes * given);
    const bool has_room = !blocks || p.has_room;
    if (!refused_ && (!late || !has_room)) return false;
    if (!has_room)
      end_in_error(
          "the kernel refuses to copy a block that has no room in shared memory: raise WEFT_HEAP_SIZE");
    if (!p.staged) blocks ? stage_blocks(c) : stage(c, p);
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
  costs_.note(costs_of_ways::by_kernel, costs_of_ways::giving, p.bytes,
              p.looked_at == 0 ? 0 : nanoseconds_now() - p.looked_at);
  return true;
}

void lane::lend(staged_blocks& s, loan* notes) const {
  s.lent.resize(s.bytes.size());
  s.notes = notes;
  std::byte *const blocks = s.base, *const first = reinterpret_cast<std::byte*>(notes);
  // One block is where the pointer leads; several lie behind it.
  s.base = s.bytes.size() == 1 ? first : std::min(blocks, first, std::less<>());
  s.at = weft_pointer_to(s.base);
  for (std::size_t k = 0; k != s.bytes.size(); ++k) {
    if (s.bytes[k] == 0) continue;
    const bool lent = lends(s.bytes[k]);
    std::byte* const at = blocks + s.places[k];
    if (lent) s.lent[k] = {at, s.bytes[k], false};
    if (lent) s.bytes[k] = sizeof(loan);
    s.places[k] = (lent ? first + k * sizeof(loan) : at) - s.base;
  }
}

std::byte* lane::reached(int member, std::uint64_t place) const {
  upc_shared_ptr_t p = area_;
  p.thread = threads_[static_cast<std::size_t>(member)];
  p.addr = place;
  return static_cast<std::byte*>(upc_cast(p));
}

// Copies into the room what is lent to others.
void lane::stage_blocks(const call& c) {
  const staged_blocks& in = *c.given;
  for (std::size_t k = 0; k != in.lent.size(); ++k)
    if (in.notes[k].staged != 0)
      copy_block(reached(rank_, in.notes[k].staged), in.lent[k].at, in.lent[k].bytes);
}

// Blocks of sizes that each member knows of its own only: what the notes say of them, before the library
// carries these. A member's block for itself is copied at once.
void lane::lend_blocks(const call& c, piece& p) {
  take_back_rooms();
  staged_blocks &in = *c.given, &out = *c.taken;
  const auto me = static_cast<std::size_t>(rank_);
  const std::size_t given = in.lent.size() == 1 ? 0 : me, got = out.lent.size() == 1 ? 0 : me;
  const bool gets_own = c.what != collective::scatterv || rank_ == c.root;
  if (gets_own && given < in.lent.size() && got < out.lent.size() && in.lent[given].bytes != 0) {
    const std::size_t bytes = std::min(in.lent[given].bytes, out.lent[got].bytes);
    if (in.lent[given].at != out.lent[got].at) copy_block(out.lent[got].at, in.lent[given].at, bytes);
    out.lent[got].brought = true;
  }
  std::uint64_t takers = 0, blocks = 0, largest = 0, room = whole_lines(threads_.size() * sizeof(claim));
  for (int member = 0; !in.lent.empty() && member != size(); ++member)
    takers += takes_from_this(c, member);
  if (takers == 0) return;
  for (std::size_t k = 0; k != in.lent.size(); ++k) {
    lent_block& b = in.lent[k];
    in.notes[k] = {};
    if (b.bytes == 0 || (in.lent.size() != 1 && k == me)) continue;
    in.notes[k] = {.bytes = b.bytes, .staged = room};
    room += whole_lines(b.bytes);
    largest = std::max<std::uint64_t>(largest, b.bytes);
    ++blocks;
  }
  const std::uint64_t taken = blocks_lent(out);
  p.bytes = largest;
  p.by_kernel = !refused_ && costs_.by_kernel_is_cheaper(largest, blocks, taken);
  p.room = room_of(room);
  p.has_room = upc_isnull(p.room) == 0;
  if (!p.has_room) { // then the others have to come
    p.by_kernel = true;
    p.room = upc_alloc(threads_.size() * sizeof(claim));
  }
  by_kernel_ += p.by_kernel;
  p.lent_at = nanoseconds_now();
  for (std::size_t k = 0; k != in.lent.size(); ++k) {
    loan& n = in.notes[k];
    if (n.bytes == 0) continue;
    n.there = p.by_kernel ? reinterpret_cast<std::uint64_t>(in.lent[k].at) : 0;
    n.claims = p.room.addr;
    n.staged = p.has_room ? p.room.addr + n.staged : 0;
  }
  if (!p.by_kernel) {
    stage_blocks(c);
    costs_.note(costs_of_ways::by_ring, costs_of_ways::giving, largest,
                (nanoseconds_now() - p.lent_at) / blocks);
  }
  std::atomic<claim>* const words = claims_in(p.room);
  for (int member = 0; member != size(); ++member) {
    const claim begins = p.by_kernel ? claim::free : claim::staged;
    words[member].store(takes_from_this(c, member) ? begins : claim::taken, std::memory_order_relaxed);
  }
}

// What notes speak of. False if some of it is not there yet.
bool lane::take_blocks(const call& c) {
  staged_blocks& out = *c.taken;
  bool all = true;
  for (std::size_t n = 0; n != out.lent.size(); ++n) {
    const std::size_t k = (n + static_cast<std::size_t>(rank_)) % out.lent.size();
    lent_block& b = out.lent[k];
    if (b.bytes == 0 || b.brought) continue;
    const loan& from = out.notes[k];
    const int giver = c.what == collective::scatterv ? c.root : static_cast<int>(k);
    if (from.bytes != b.bytes) end_of_unlike_blocks(giver, from.bytes, rank_, b.bytes);
    auto* const words = reinterpret_cast<std::atomic<claim>*>(reached(giver, from.claims));
    const lent_copy copy{.there = reinterpret_cast<const std::byte*>(from.there),
                         .staged = from.staged == 0 ? nullptr : reached(giver, from.staged),
                         .mine = words + rank_,
                         .compared = true};
    b.brought = copy_lent(giver, copy, b.at, b.bytes);
    all &= b.brought;
  }
  return all;
}

void lane::take_back_rooms() {
  std::erase_if(rooms_, [&](upc_shared_ptr_t room) {
    const std::atomic<claim>* const words = claims_in(room);
    for (int member = 0; member != size(); ++member)
      if (words[member].load(std::memory_order_acquire) != claim::taken) return false;
    upc_free(room);
    return true;
  });
}

} // namespace weft::mpi
