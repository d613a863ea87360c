#pragma once
// The way of a communicator through the library: a team, and rings of shared memory at the same places on all
// members, through which its collectives are staged.
//
// All members call the collectives of a communicator in the same order and with the same sizes. So each
// computes by itself where a call's bytes lie: behind those of the call before, in the ring for its size. A
// member posts when what lay there is no longer needed on this member; the others see nothing of it before,
// by UPC_IN_MYSYNC. A call that is larger than a third of its ring is cut into pieces. What has no room yet
// is posted in its order, as soon as there is: by the calls of this process, or by the carrier, a thread that
// sleeps unless there is such a piece.
//
// Everything of a lane is under its mutex. Nothing here calls MPI.

#include <upc_collective_cray.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
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
  allreduce
};

// A call, once its types are bytes. `in` are so many blocks of this rank, `out` so many of its results; a
// block is what one rank gives another, or the whole vector of a reduction.
struct call {
  collective what = collective::barrier;
  int root = 0;
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  std::size_t in_blocks = 0, out_blocks = 0, bytes = 0;
  std::size_t unit = 1; // bytes that no cut may part
  cray_upc_dtype_t element = CRAY_UPC_INT;
  upc_op_t op = UPC_ADD;
};

class lane;
struct ring;

// A part of each block of a call, under way.
struct piece {
  std::size_t from = 0, bytes = 0; // of each block
  ring* in = nullptr;
  std::uint64_t begin = 0, length = 0; // in the ring
  upc_coll_handle_t handle = UPC_HANDLE_COMPLETE;
  enum class state : std::uint8_t { waiting, posted, done } is = state::waiting;
};

// A call under way. Stays where it is until it is done.
struct operation {
  call c;
  lane* on = nullptr;
  std::vector<piece> pieces;
  bool done() const;
};

// Memory that is handed out in turn. Positions grow for ever.
struct ring {
  std::uint64_t base = 0, size = 0, next = 0;
  struct extent {
    std::uint64_t begin;
    bool done;
  };
  std::deque<extent> live; // posted, in order

  std::uint64_t take(std::uint64_t length); // the same on all members
  bool fits(const piece& p) const;
  void leave(const piece& p);
  std::uint64_t place(std::uint64_t position) const { return base + position % size; }
};

class lane {
public:
  struct room {
    std::uint64_t place, size;
  };
  // `threads` by rank in the team. `area` leads to the shared area on thread 0; `rooms` are those of the
  // rings in it, smallest first.
  lane(upc_team_t team, std::vector<std::uint32_t> threads, upc_shared_ptr_t area,
       const std::vector<room>& rooms);
  ~lane();
  lane(const lane&) = delete;
  lane& operator=(const lane&) = delete;

  int size() const { return static_cast<int>(threads_.size()); }
  int rank() const { return rank_; }

  void post(operation& op);
  // Moves things on. True if the operation is done.
  bool test(operation& op);
  // Waits for the first of what is under way, if anything is held up by it; for the carrier. False if nothing
  // is.
  bool carry_one();

private:
  struct entry {
    operation* op;
    piece* part;
  };
  void cut(operation& op);
  bool post_next();
  std::uint64_t place_of_results(const call& c, const piece& p) const;
  void start(const operation& op, piece& p);
  void finish(const operation& op, piece& p);
  bool try_finish(const operation& op, piece& p);
  void compact();
  void reap();
  upc_shared_ptr_t at(int member, std::uint64_t place) const;

  std::mutex mutex_;
  const upc_team_t team_;
  const upc_shared_ptr_t area_;
  std::vector<std::uint32_t> threads_; // by rank
  int rank_ = 0;
  std::vector<ring> rings_;
  std::deque<entry> order_; // not done, in the order of the calls
  std::size_t posted_ = 0;  // of these, from the front
};

// Ends the carrier, before the library ends.
void stop_carrier();

} // namespace weft::mpi
