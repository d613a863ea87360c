#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// One collective call with all of its arguments, as every rank derives it from the seed.
namespace differential {

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
};
inline constexpr std::size_t kinds = 16;

const char* name_of(kind what);

inline bool is_cray(kind what) {
  return what >= kind::alltoall;
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

// A pointer-to-shared; the offset is from the beginning of the arena.
struct place {
  std::uint64_t offset = 0;
  std::uint32_t thread = 0;
  std::uint32_t phase = 0;
  bool null = false;
};

enum class sync : std::uint8_t { no, my, all };
// root_block: only the root's own block is where it belongs; the others: all of the source is in the
// destination.
enum class in_place : std::uint8_t { no, root_block, flag_and_null, flag_and_same, instead_of_source };
enum class form : std::uint8_t { plain, team_name, team_overload };

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
  place dst, src; // V1.0, Cray: the area; broadcast_x: src is the block

  // Arrays in shared memory: where they begin, on every thread, and their elements. A row of a matrix has as
  // many elements as there are threads.
  std::uint64_t dst_at = 0, src_at = 0, sizes_at = 0, perm_at = 0;
  std::vector<place> dst_table, src_table;
  std::vector<std::uint64_t> sizes, perm;

  // The source is what the destination held.
  bool in_own_place() const { return own >= in_place::flag_and_null; }
};

std::string describe(const call& c, const members& team);

} // namespace differential
