// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// The way of a communicator through the library: a team, and rings of shared memory at the same places on all
// members, through which its collectives are staged.
//
// All members call the collectives of a communicator in the same order and with the same sizes. So each
// computes by itself where a call's bytes lie: behind those of the call before, in the ring for its size.
// A member posts when what lay there is no longer needed; the others see nothing of it before, by
// UPC_IN_MYSYNC. A call that is larger than the caches or a third of its ring is cut into pieces. What has
// no room yet is posted in its order, as soon as there is: by the calls of this process, or by the
// carrier, a thread that sleeps unless there is such a piece.
//
// Small blocks go through the library's collective, from ring to ring. Between hosts larger ones, up to what
// goes in a series of messages, are left where the program has them, but for those that neighbours read or
// write: rows in the ring say where each block lies. Vectors are, too, where a member is alone on its host.
// Of still larger blocks what a member gives and what it gets are one place in the ring, if the collective
// can be in place, so that the member's own block is not copied there. Larger ones on a host lie in the ring
// of the member that gives them, and those that take them copy them from there to where the program wants
// them, if all members are on one host: the library's collective is then only the signal that they lie there.
// Or they stay where the program of that member has them, and the kernel copies them from there (direct.hpp).
// Each ring has a word that says how far this member has read at the others; what has been lent is free again
// when all words have passed it.
//
// Of blocks whose sizes each member knows of its own only, the members of one host give each other slots of
// one size, as an equal collective. A short block lies in its slot. Of a longer one the slot says where it
// lies: in a room of the heap, with the claims of the members, which the giver takes back when all have been
// taken; or where the program has it. If the heap has no room, and the others do not take it in time, it lies
// in other memory of that member, which the kernel reads as well. Between hosts, and with WEFT_MALLOC=1, the
// library's collectives of unequal blocks carry them.
//
// With WEFT_MALLOC=1 large operands of the program lie in memory that the other ranks reach. Then, on one
// host, no block of such calls is lent: each member has rows in the ring, with pointers to where its blocks
// lie, and the library's collective moves them from one program's memory to the other's, by whichever end
// comes first. What of a member lies elsewhere all the same is copied through its ring, and the pointers lead
// there; so members need not have operands alike. Vectors that are combined are found by the library in any
// call.
//
// Order: copy in, post; completion, copy out, store of the word (release); load of the word (acquire), copy
// in of what comes next. A member's block for itself is copied once, when it is posted.
//
// Everything of a lane is under its mutex, but the words. Calls of the program take it where another of its
// threads may be in MPI, or while a piece is held up, which the carrier looks at. `held_up_` is set by the
// call that then asks the carrier, as the last thing that it does here. The carrier alone clears it, under
// the mutex, as the last thing that it does here. Nothing here calls MPI.

#include "mpi/shim/direct.hpp"
#include "mpi/shim/ring.hpp"
#include "mpi/shim/threads.hpp"

#include <upc_collective_cray.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace weft::mpi {

enum class collective : std::uint8_t {
  barrier,
  bcast,
  gather,
  scatter,
  allgather,
  alltoall,
  reduce,
  allreduce,
  scan,
  exscan,
  reduce_scatter_block,
  reduce_scatter,
  allgatherv, // and what follows: of blocks that each rank knows of its own only
  gatherv,
  scatterv,
  alltoallv,
  alltoallw,
};
inline bool combines(collective what) {
  return what >= collective::reduce && what <= collective::reduce_scatter;
}
inline bool is_scattered(collective what) {
  return what == collective::reduce_scatter_block || what == collective::reduce_scatter;
}
inline bool by_blocks(collective what) {
  return what >= collective::allgatherv;
}
bool from_root(collective what); // else from each member
bool differ(collective what);    // does a member give each another block?

// Blocks of sizes of their own: by rank, as bytes from `base`. `at` is where the library finds them.
struct staged_blocks {
  upc_shared_ptr_t at{};
  std::byte* base = nullptr;
  std::vector<std::size_t> bytes{};
  std::vector<std::ptrdiff_t> places{};

  std::byte* block(std::size_t k) const { return base + places[k]; }
};

// What a member gives another one of such a block: the block itself, or where it lies. Places are those in
// the giver's segment.
struct slot {
  static constexpr std::size_t most_inside = 248;
  std::uint64_t bytes;
  union {
    std::byte inside[most_inside];
    struct {
      std::uint64_t there;          // in the giver's program; 0: copied to `staged` already
      std::uint64_t claims, staged; // its room, and where it lies there
    };
  };
};

// A call, once its types are bytes. `in` are so many blocks of this rank, `out` so many of its results; a
// block is what one rank gives another, or the whole vector of a reduction.
struct call {
  collective what = collective::barrier;
  int root = 0;
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  std::size_t in_blocks = 0, out_blocks = 0, bytes = 0;
  std::size_t out_bytes = 0; // of all results
  std::size_t unit = 1;      // bytes that no cut may part
  cray_upc_dtype_t element = CRAY_UPC_INT;
  upc_op_t op = UPC_ADD;
  const std::size_t* elements = nullptr;            // of a reduce-scatter: in the block of each rank
  staged_blocks *given = nullptr, *taken = nullptr; // by blocks
};

// What a signal sends, and where.
using token = std::uint64_t;
inline constexpr std::uint64_t line = 64;
inline std::uint64_t whole_lines(std::uint64_t bytes) {
  return (bytes + line - 1) / line * line;
}

// A member's block for itself: its number among those that the member gives, and among those that it gets.
struct own_block {
  std::size_t given, got;
  bool taken; // by the others too
};

class lane;

// A call under way. Stays where it is until it is done. It may be posted again, as it is.
struct operation {
  call c;
  lane* on = nullptr;
  std::vector<piece> pieces; // none: it is cut when it is posted
  void set(const call& other) {
    c = other;
    pieces.clear();
  }
  bool done() const;
};

class lane {
public:
  struct room {
    std::uint64_t place, size;
  };
  // What there is of shared memory: `area` leads to it on thread 0. A word of each ring comes first, at
  // `words`; `rooms` are those of the rings, smallest first; positions begin at `begin`, which is behind all
  // that any member has used in them.
  struct memory {
    upc_shared_ptr_t area;
    std::uint64_t words, begin;
    std::vector<room> rooms;
    bool on_one_host;               // all members, and all of them see it so
    std::uint64_t least_found;      // bytes of operands from which on rows say where they lie
    std::vector<pid_t> processes{}; // by rank in the team, if each may read the others' memory
  };
  // `threads` by rank in the team.
  lane(upc_team_t team, std::vector<std::uint32_t> threads, const memory& m);
  ~lane();
  lane(const lane&) = delete;
  lane& operator=(const lane&) = delete;

  int size() const { return static_cast<int>(threads_.size()); }
  int rank() const { return rank_; }
  // Are blocks of sizes that each rank knows of its own only given in slots? Else the library carries them.
  bool has_slots() const { return has_slots_; }

  void post(operation& op);
  // Of an operation that the program may post again and again, as if it were under way.
  void keep() { add(known_, std::size_t{1}); }
  // Of an operation that is done: the lane does not know it any more.
  void forget(const operation&) { add(known_, ~std::size_t{0}); }
  // Moves things on. True if the operation is done.
  bool test(operation& op);
  // Adds what to wait for. False if other members read, or are about to: a look soon brings more.
  bool list(const operation& op, std::vector<upc_coll_handle_t>& handles);
  // Waits for what is held up; for the carrier. False if nothing is.
  bool carry_one();
  // It knows no operation, and no other member reads here.
  bool quiet();
  // Behind all that it has used.
  std::uint64_t end() const;

private:
  struct entry {
    operation* op;
    piece* part;
  };
  // How the pieces of a call lie in the ring, on all members alike.
  struct layout {
    bool lent = false, found = false, shared = false; // as of a piece
    std::uint64_t rows = 0;                           // bytes in front, of pointers to a block of each thread
    std::uint64_t given = 0, got = 0;                 // blocks for which a member has room
  };
  static constexpr std::uint64_t pieces_of_a_ring = 3; // that are under way together, of a call that is cut
  bool needs_turn() const { return several_threads || held_up_.load(std::memory_order_acquire); }
  void cut(operation& op);
  bool post_next();
  layout layout_of(const call& c) const;
  std::uint64_t length(const layout& l, std::size_t bytes) const;
  void place(const call& c, const layout& l, piece& p) const;
  std::optional<own_block> own(const call& c) const;
  void stage(const call& c, const piece& p);
  void copy_own(const call& c, const piece& p);
  token* tokens(const piece& p) const;
  bool is_compared(std::size_t bytes) const;
  std::atomic<claim>* claims(int giver, const piece& p) const;
  bool takes_from_this(const call& c, int member) const;
  std::uint64_t taken_by_one(const call& c) const;
  void lend(const call& c, piece& p);
  struct lent_copy;
  bool copy_lent(int giver, const lent_copy& from, std::byte* to, std::size_t bytes);
  bool take(const call& c, const piece& p, int giver, std::byte* to);
  bool has_given(const call& c, piece& p);
  void write_slots(const call& c, piece& p);
  void copy_own_block(const call& c);
  void lend_blocks(const call& c, piece& p, std::span<slot> slots);
  bool take_blocks(const call& c, piece& p);
  void stage_blocks(const call& c, piece& p);
  slot* slots(std::uint64_t place) const;
  lent_room take_back_rooms(std::uint64_t bytes);
  lent_room room_of(std::uint64_t bytes);
  std::byte* reached(int member, std::uint64_t place) const;
  void start(const operation& op, piece& p);
  bool is_reached(int member) const { return areas_[static_cast<std::size_t>(member)] != nullptr; }
  bool brings(const call& c, const piece& p, int block) const;
  void start_found(const call& c, piece& p);
  void start_vectors(const call& c, piece& p);
  void start_by_blocks(const call& c, piece& p);
  std::vector<std::size_t> clipped(const call& c, const piece& p) const;
  std::span<std::byte> scattered_to(const call& c, const piece& p) const;
  void signal(const call& c, piece& p);
  static std::size_t place_of_block(const call& c, const piece& p, int giver, int taker);
  const std::byte* lent_by(int giver, const call& c, const piece& p) const;
  bool bring(const call& c, piece& p);
  static bool ends_in_order(const call& c);
  bool try_finish(const operation& op, piece& p);
  void compact();
  void reap();
  upc_shared_ptr_t at(int member, std::uint64_t place) const;
  std::byte* memory_of(int member, std::uint64_t place) const;

  std::mutex mutex_;
  std::atomic<bool> held_up_{false}; // the carrier may be here
  const upc_team_t team_;
  const upc_shared_ptr_t area_;
  std::vector<std::uint32_t> threads_; // by rank
  std::vector<std::byte*> areas_;      // of all members, if they are on this host; else of this one only
  const bool on_one_host_;
  const std::uint64_t least_found_,
      message_; // bytes; the second: of blocks that come from the program between hosts, and go there
  bool has_slots_ = false;
  bool alone_ = false; // on its host
  const int rank_;
  const std::vector<pid_t> processes_;
  bool refused_ = false;      // the kernel has not let another member read here
  std::size_t by_kernel_ = 0; // pieces of this member under way that the others read so
  costs_of_ways costs_;
  std::deque<lent_room> rooms_; // of loans of calls that are done here: until all have been taken
  std::vector<ring> rings_;
  std::vector<entry> order_; // not done, in the order of the calls
  std::size_t posted_ = 0;   // of these, from the front
  std::atomic<std::size_t> known_{0};
};

// Smaller blocks travel with their signal.
inline constexpr std::size_t least_lent = 4096;

// Bytes of operands of 4 KiB and more: that others have read or written where the program has them, and that
// were copied to other memory or from there.
inline std::atomic<std::uint64_t> bytes_in_place{0}, bytes_copied{0};

// Past the caches nothing is copied, where another member would find it late.
void copy_block(std::byte* to, const std::byte* from, std::size_t bytes);

// Waits until one of them may have gone on, for about so many nanoseconds at most.
void wait_for_any(std::span<operation* const> operations, std::uint64_t nanoseconds);

} // namespace weft::mpi
