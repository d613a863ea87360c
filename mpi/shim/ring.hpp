// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <upc_types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace weft::mpi {

struct ring;

// Memory of the heap: claims, and behind them what is staged of unequal blocks. If the heap has no room for
// that it is staged in memory of this process, and a word behind the claims says where.
struct lent_room {
  upc_shared_ptr_t at{};
  std::byte* memory = nullptr;
  std::byte* own = nullptr; // of malloc()
  std::uint64_t bytes = 0;
  bool stages = false; // in the heap
};

// A part of each block of a call, under way.
struct piece {
  std::size_t from = 0, bytes = 0; // of each block
  bool lent = false;               // read by the others where it lies
  bool by_kernel = false;          // there: where the program has it
  bool staged = false;             // and it was copied to the ring all the same
  bool found = false;              // its operands lie where rows say
  bool shared = false;             // what a member gives and what it gets are one place
  bool to_program = false;         // its results have come to where the program wants them
  ring* in = nullptr;
  std::uint64_t window = 0;                 // bytes of the ring that calls like its own take turns in
  std::uint64_t begin = 0, length = 0;      // in the ring
  std::uint64_t at = 0;                     // in the memory of each member
  std::uint64_t given = 0, got = 0;         // there: what this one gives, and what it gets
  int brought = 0;                          // of the blocks that this one gets
  std::size_t longest = 0, in_rooms = 0;    // of the blocks of unequal sizes that do not lie in slots: bytes
  lent_room room{};                         // of these
  std::uint64_t lent_at = 0, looked_at = 0; // nanoseconds: by the kernel, and first found not read by all
  upc_coll_handle_t handle = UPC_HANDLE_COMPLETE;
  enum class state : std::uint8_t { waiting, posted, done } is = state::waiting;

  void begin_again(); // as it lay before, where the ring is now
};

// Memory that is handed out in turn. Positions grow for ever.
struct ring {
  std::uint64_t base = 0, size = 0, next = 0;
  struct extent {
    std::uint64_t begin, end;
    bool lent, done;
  };
  std::deque<extent> live{};                        // posted and still needed, in order
  std::uint64_t read = 0;                           // this member needs nothing before it
  std::vector<std::atomic<std::uint64_t>*> words{}; // `read` of each member, if pieces are lent
  std::uint64_t read_by_all = 0;                    // by what the words have said

  // From the first so many bytes of it, if it has more. The same on all members.
  std::uint64_t take(std::uint64_t length, std::uint64_t window);
  bool fits(const piece& p);
  void leave(const piece& p);
  void drop();
  std::uint64_t place(std::uint64_t position) const { return base + position % size; }
};

} // namespace weft::mpi
