// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>
#include <weft/weft.hpp>

// One collective call with all of its arguments, as every rank derives it from the seed.
namespace calls {

enum class kind : std::uint8_t {
  broadcast,
  scatter,
  gather,
  gather_all,
  exchange,
  permute,
  broadcast_x,
  scatter_x,
  gather_x,
  gather_all_x,
  exchange_x,
  permute_x,
  permute_xi,
  alltoall,
  alltoall_nb,
  alltoall_nbi,
  reduce, // of arrays of elements
  reduce_all,
  prefix_reduce,
  exclusive_prefix,
  sort,
  team_reduce, // of vectors
  team_allreduce,
  team_scan,
  team_exscan,
  team_reduce_scatter,
  team_alltoallv, // of blocks, each of a size of its own
  team_allgatherv,
  team_gatherv,
  team_scatterv,
};
inline constexpr std::size_t kinds = 30;

const char* name_of(kind what);

inline bool is_cray(kind what) {
  return what >= kind::alltoall && what <= kind::alltoall_nbi;
}
inline bool is_array(kind what) {
  return what >= kind::reduce && what <= kind::sort;
}
inline bool is_prefix(kind what) {
  return what == kind::prefix_reduce || what == kind::exclusive_prefix;
}
inline bool is_vector(kind what) {
  return what >= kind::team_reduce && what <= kind::team_reduce_scatter;
}
inline bool is_unequal(kind what) {
  return what >= kind::team_alltoallv;
}
// With pointers and sizes in shared memory, indexed by thread.
inline bool is_x(kind what) {
  return what >= kind::broadcast_x && what <= kind::permute_xi;
}
inline bool is_permute_x(kind what) {
  return what == kind::permute_x || what == kind::permute_xi;
}

// The threads of a team by rank.
using members = std::vector<std::uint32_t>;
inline constexpr std::uint32_t no_thread = ~std::uint32_t{0};

// A pointer-to-shared; the offset is from the beginning of the arena.
struct place {
  std::uint64_t offset = 0;
  std::uint32_t thread = 0;
  std::uint32_t phase = 0;
  bool null = false;
};

enum class sync : std::uint8_t { no, my, all };
const char* name_of(sync mode);
// root_block: only the root's own block is where it belongs; the others: all of the source is in the
// destination.
enum class in_place : std::uint8_t { no, root_block, flag_and_null, flag_and_same, instead_of_source };
enum class form : std::uint8_t { plain, team_name, team_overload, list };

struct call;

// What a computation has to know of its elements.
struct elements {
  const char* name;
  std::size_t size, alignment;
  // The element of this index: of an array, or of the vector of this thread.
  void (*put)(std::byte* to, const call& c, std::uint32_t thread, std::uint64_t index);
  // Of all elements of an array: its prefixes, or what a sort leaves. Of two vectors: what the first becomes.
  void (*compute)(std::byte* all, const std::byte* other, const call& c);
  // Not of all types the same value has the same bytes. Null: of this one it has.
  bool (*same)(const std::byte* a, const std::byte* b);
  // Of arrays.
  unsigned long long (*post)(const call& c, const upc_shared_ptr_t& dst, const upc_shared_ptr_t& src,
                             upc_flag_t mode, upc_team_t team);
  std::span<const upc_op_t> operators; // of a sort none
  int type = 0;                        // as Cray's team reductions call it
  bool defined = true;                 // the result; else only that no element is lost
  // Of an operator of the program: makes it.
  upc_op_t (*make)(upc_op_t op) = nullptr;
};

struct call {
  kind what = kind::broadcast;
  form spelling = form::plain;
  std::size_t team = 0; // in the list of all teams that the scenario knows
  sync in = sync::all, out = sync::all;
  bool say_in = true, say_out = true; // false: the default, which is the same, is left unsaid
  int hints = 0;
  bool async = false;
  in_place own = in_place::no;

  std::uint64_t nbytes = 0;
  place dst, src; // V1.0, Cray: the area; broadcast_x: src is the block; arrays: the first element

  // One thread calls it, and the others compute.
  std::uint32_t caller = no_thread;
  bool one_sided() const { return caller != no_thread; }

  // Computations: of `nelems` elements, of arrays in blocks of `blk_size` over all threads or, of a one-sided
  // call, over those of the team. `key` says what the elements are, and by which form it is called.
  const elements* of = nullptr;
  std::uint32_t op = 0;
  std::uint64_t nelems = 0, blk_size = 0, key = 0;
  std::size_t root = 0; // team rank, of a reduction of vectors

  // Arrays in shared memory: where they begin, on every thread, and their elements. A row of a matrix has as
  // many elements as there are threads.
  std::uint64_t dst_at = 0, src_at = 0, sizes_at = 0, perm_at = 0;
  std::vector<place> dst_table, src_table; // and of vectors the place of each thread's
  std::vector<std::uint64_t> sizes, perm;  // of a reduce-scatter: elements of each rank's block;
                                           // of unequal blocks: T * T, from row to column, in bytes

  // The source is what the destination held.
  bool in_own_place() const { return own >= in_place::flag_and_null; }
};

std::string describe(const call& c, const members& team);

} // namespace calls
