// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "perf/bench/operation.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace perf {

struct unequal_blocks;
enum class way;

// A buffer that every rank has at the same place of its own memory: `local` is the address of this rank's
// part, `token` is how the back end names the whole, `offset` where in the whole this one begins.
struct buffer {
  void* local = nullptr;
  std::size_t token = 0;
  std::size_t offset = 0;

  buffer behind(std::size_t bytes) const {
    return {static_cast<std::byte*>(local) + bytes, token, offset + bytes};
  }
};

// One call of a collective: what, from where to where, and how many bytes each block has.
struct call {
  operation op = operation::barrier;
  buffer destination;
  buffer source;
  std::size_t bytes = 0;
  bool apart = false; // by a second team of all ranks: no other call comes before or behind it
};

// A library under measurement. Everything that is timed goes through these few functions, so that the loops,
// the data and the statistics are the same code for every library. All functions but rank(), size(), name(),
// test(), is_complete(), statistic() are collective. Construction initialises the library, destruction
// finalises it.
class backend {
public:
  virtual ~backend() = default;
  virtual std::string_view name() const = 0;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  virtual buffer allocate(std::size_t bytes) = 0;
  virtual std::uint64_t broadcast_from_zero(std::uint64_t value) = 0;

  virtual void blocking(const call& what) = 0;
  // When it returns my source may be written, my destination is complete. All ranks have written theirs.
  virtual void exchange_unequal(const unequal_blocks& blocks, way by) = 0;
  // Up to `slots` operations may be posted and not yet waited for; each has a slot of its own.
  static constexpr int slots = 1000;
  virtual void post(const call& what, int slot) = 0;
  virtual void wait(int slot) = 0;
  // Moves on what was posted. A wait follows.
  virtual void test(int slot) = 0;
  // Is what was posted complete? Nothing is moved on for the answer, as far as the library can do without.
  virtual bool is_complete(int slot) = 0;
  // Among the first `count` slots, of which at least one is posted: completes one operation and returns its
  // slot, or those that are ready and returns how many. Collectives of MPI's only: no barrier, no
  // permutation.
  virtual int wait_any(int count) = 0;
  virtual int wait_some(int count) = 0;

  // A counter of the library itself, where it has one by this name.
  virtual std::optional<std::uint64_t> statistic(const char* name) const = 0;
};

// Defined once per executable, by its back end.
std::unique_ptr<backend> make_backend(int* argc, char*** argv);
// The environment variable in which the library's launcher tells a process its rank.
extern const char* const rank_variable;

} // namespace perf
