#pragma once
#include "tests/soak/character.hpp"

#include <string>
#include <vector>
#include <weft/weft.hpp>

namespace soak {

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
  cray_blocking,
  cray_nb,
  cray_barrier,
};
inline constexpr unsigned kinds = 16;

// The threads of one color of a split, in the order of their team ranks.
using members = std::vector<std::uint32_t>;

// One operation. It, and every byte that it moves, follows from the seed and its number.
struct call {
  std::uint64_t number = 0;
  kind what = kind::exchange;
  std::uint32_t team = 0;
  const members* who = nullptr;
  std::uint32_t root = 0;  // team rank
  std::uint32_t bytes = 0; // of a block, at most in the _x forms
  std::uint32_t shift = 0; // of a permutation
  upc_flag_t mode = 0;     // IN, OUT and hints
  bool in_place = false, blocking = false, loose = false;
  std::uint32_t berth = 0;

  std::uint32_t size() const { return static_cast<std::uint32_t>(who->size()); }
  bool x() const { return what >= kind::broadcast_x && what <= kind::permute_xi; }
  bool cray() const { return what >= kind::cray_blocking; }
  bool moves() const { return what != kind::cray_barrier; }
};

std::string describe(const call& c);

// What a call means, as closed formulas over team ranks: is there a block from i to j, how long is it, where
// does it lie in the area of its source and of its destination, and what is its byte k.
bool sends(const call& c, std::uint32_t i, std::uint32_t j);
std::uint32_t target_of(const call& c, std::uint32_t i); // of a permutation
std::uint32_t length(const call& c, std::uint32_t i, std::uint32_t j);
std::uint64_t source_place(const call& c, std::uint32_t i, std::uint32_t j);
std::uint64_t target_place(const call& c, std::uint32_t i, std::uint32_t j);
std::uint64_t area(const call& c); // bytes of an area of one thread
// The bytes of the member's two areas before and after the call.
using image = std::vector<unsigned char>;
image source_image(const call& c, std::uint32_t me);
image target_before(const call& c, std::uint32_t me);
image target_after(const call& c, std::uint32_t me);

// All calls of a round, the same on every thread.
std::vector<call> calls_of_round(const character& job, std::uint64_t round,
                                 const std::vector<members>& teams);

} // namespace soak
