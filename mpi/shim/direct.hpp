// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Lent blocks, equal or unequal, that the kernel copies from one program's memory to another's, once.
//
// The giver says where its blocks lie, and has a word for each member that takes one. A taker claims its
// block (free -> taking), reads it, and says so (taken). A giver that has nothing else to wait for gives the
// takers as long as it would copy; then it copies what is left into its ring and says so (free -> staged), so
// that it ends without them. A taker that finds `staged` reads the ring. The kernel may refuse to read
// (refused): then the taker waits until the giver has copied, in any of its calls that waits.
//
// Order: the program's writes, the address, the library's signal; its completion, the claim, the copy; the
// store of `taken` (release), its load by the giver (acquire), the program's next writes. What is copied into
// the ring comes before the release that says `staged`.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <sys/types.h>

namespace weft::mpi {

enum class claim : std::uint64_t { free, taking, taken, staged, refused };

// False if the kernel does not let this process read there.
bool read_of_process(pid_t process, const void* from, void* to, std::size_t bytes);

// What others read of this process to see whether they may.
struct sample {
  std::uint64_t process, address, is;
};
sample own_sample();
bool is_readable(const sample& of);

std::uint64_t nanoseconds_now();

// What each way has cost this rank, by size, so that a giver can choose.
class costs_of_ways {
public:
  enum way : std::uint8_t { by_ring, by_kernel };
  enum end : std::uint8_t { giving, taking };
  static constexpr std::size_t least = 16 << 10; // smaller blocks go by the ring

  // Of a call in which a rank gives and takes so many blocks of this size.
  bool by_kernel_is_cheaper(std::size_t bytes, std::uint64_t given, std::uint64_t taken);
  void note(way w, end e, std::size_t bytes, std::uint64_t nanoseconds);

private:
  static constexpr std::size_t first = std::bit_width(least), sizes = 16; // powers of two
  struct of_size {
    std::array<std::array<std::uint64_t, 2>, 2> picoseconds{}; // for a byte of a block, by way and end
    std::uint32_t asked = 0;
  };
  of_size& of(std::size_t bytes);
  std::array<of_size, sizes> costs_{};
};

} // namespace weft::mpi
