#pragma once
#include <cstddef>
#include <span>
#include <upc.h>
#include <upc_collective.h>

namespace modes {

enum class in_mode { no, my, all };
enum class out_mode {
  no,
  my,
  all,
  local // Cray's: my destination is full, my source may still be read
};

enum class pattern { from_root, to_root, all_pairs, permuted };

enum class family {
  plain,    // V1.0
  extended, // with pointers, sizes and permutations in shared memory
  cray,
  barrier // no data at all
};

enum class operation {
  broadcast,
  scatter,
  gather,
  gather_all,
  exchange,
  permute,
  alltoall,
  alltoall_nb,
  alltoall_nbi,
  barrier,
  split_barrier,
  team_barrier,
  team_barrier_nb
};

struct function {
  const char* name;
  operation op;
  family kind;
  pattern shape;
  bool slices; // a rank's source has a block for each rank; else one for all
  bool in_place = false;
  bool scalar_size = true; // the size is an argument, not an array
  bool has_modes = true;   // else IN_MY and this one
  out_mode fixed_out = out_mode::all;
  bool has_root() const { return shape == pattern::from_root || shape == pattern::to_root; }
  bool has_data() const { return kind != family::barrier; }
};

// All functions, in the order of the tests.
std::span<const function> functions();

// Which block goes where.
struct flow {
  const function& what;
  int threads, root, turn;

  // Where the block of `rank` goes to: in turn a rotation, a reversal, and an exchange of neighbours.
  int permuted(int rank) const;
  // True if a block goes from i to j.
  bool sends(int i, int j) const;
  // Blocks in the source and in the destination of each rank.
  int source_blocks() const { return what.slices ? threads : 1; }
  int destination_blocks() const;
  // Which block of i's source, and which of j's destination, the block from i to j is.
  int source_block(int i, int j) const;
  int destination_block(int i) const;
  // Who fills block k of j's destination; -1: nobody.
  int sender(int j, int k) const;
};

} // namespace modes
