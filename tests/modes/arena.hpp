#pragma once
#include "tests/modes/trial.hpp"

#include <cstring>
#include <upc_castable.h>
#include <vector>

namespace modes {

// The shared memory of all trials, the same on every rank:
//   arrays       this rank's elements of the arrays of pointers, sizes and permutations
//   source       blocks to send
//   destination  blocks to receive, and a margin
//   aside        two blocks for each rank, of an exchange beside the trial
//   trap         where the pointers of a rank lead that has not entered: nobody may follow them
class arena {
public:
  static constexpr std::size_t margin = 64;
  static constexpr std::size_t bounce_bytes = 64;

  explicit arena(std::size_t largest_block);

  upc_shared_ptr_t places_of_destinations(int rank) const { return at(0, rank); }
  upc_shared_ptr_t places_of_sources(int rank) const {
    return at(threads() * sizeof(upc_shared_ptr_t), rank);
  }
  upc_shared_ptr_t sizes(int rank) const { return at(2 * threads() * sizeof(upc_shared_ptr_t), rank); }
  upc_shared_ptr_t permutation(int rank) const;
  upc_shared_ptr_t source(const trial& t, int rank) const;
  upc_shared_ptr_t destination(int rank) const { return at(destination_, rank); }
  upc_shared_ptr_t source_aside(int rank) const { return at(aside_, rank); }
  upc_shared_ptr_t destination_aside(int rank) const { return at(aside_ + threads() * bounce_bytes, rank); }
  upc_shared_ptr_t trap(int rank) const { return at(trap_, rank); }

  std::byte* local(upc_shared_ptr_t p) const { return static_cast<std::byte*>(upc_cast(p)); }
  // True if this rank reaches the other by loads and stores.
  bool near(int rank) const { return upc_cast(at(0, rank)) != nullptr; }

private:
  static std::size_t threads() { return static_cast<std::size_t>(THREADS); }
  upc_shared_ptr_t at(std::size_t offset, int rank) const {
    return {memory_.addr + offset, static_cast<std::uint32_t>(rank), 0};
  }

  std::size_t source_, destination_, aside_, trap_;
  upc_shared_ptr_t memory_;
};

// The bytes of blocks: which trial, rank and block they are of can be told from them.
enum class content : std::uint64_t {
  true_data,  // what a rank gives
  not_yet,    // in a source before its owner allows it to be read
  no_more,    // in a source after its owner has left
  untouched,  // in a destination before
  taken_back, // in a destination after its owner has left
  trap
};

void fill(std::byte* to, std::size_t bytes, const trial& t, content what, int rank = 0, int block = 0);
bool holds(const std::byte* at, std::size_t bytes, const trial& t, content what, int rank = 0, int block = 0);

} // namespace modes
