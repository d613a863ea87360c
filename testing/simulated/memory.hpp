// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "testing/simulated/scheduler.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::transport::sim {

using word = std::atomic<std::uint64_t>;

// The segments of all ranks, and the order in which what one rank writes is seen by the others.
//
// A store releases: any rank that sees it sees all copies and stores that its rank made before. Nothing else
// is promised: a copy may be seen late, and later copies before an earlier store, until the rank stores,
// swaps, adds or fences; a store too may be seen late, after its rank has gone on to load something else,
// until the rank swaps, adds or fences. A rank sees its own writes at once.
//
// Copies into another rank's segment wait in a buffer. Copies into the own segment are made at once, because
// the rank's program may look at them with its own eyes; others that read them through the transport
// meanwhile get the old or the new bytes.
class memory {
public:
  memory(const simulation_options& options, seeded_random& random, scheduler& scheduler);
  ~memory();
  memory(const memory&) = delete;
  memory& operator=(const memory&) = delete;

  std::byte* segment(std::uint32_t rank) const { return arena_ + rank * options_.segment_bytes; }
  bool near(std::uint32_t a, std::uint32_t b) const { return node_[a] == node_[b]; }

  std::uint64_t load(std::uint32_t rank, const word& w);
  void store(std::uint32_t rank, word& w, std::uint64_t value);
  bool cas(std::uint32_t rank, word& w, std::uint64_t& expected, std::uint64_t desired);
  std::uint64_t add(std::uint32_t rank, word& w, std::uint64_t value);
  void fence(std::uint32_t rank);
  void copy(std::uint32_t rank, void* to, const void* from, std::uint64_t bytes);

  // Everything that the rank has written is visible from here on.
  void publish(std::uint32_t rank);
  // For the network: what another rank than the writer may find there, and a write that all see.
  void read(void* to, const void* from, std::uint64_t bytes);
  void write(std::uint32_t rank, void* to, const void* from, std::uint64_t bytes);
  std::byte* at(std::uint32_t rank, std::uint64_t offset, std::uint64_t bytes) const;

private:
  struct pending {
    enum class kind : std::uint8_t { store, copy, shadow } what;
    std::uint64_t id = 0;
    word* target = nullptr; // store
    std::uint64_t value = 0;
    std::byte* place = nullptr;        // copy, shadow
    std::vector<std::byte> bytes = {}; // copy: the new ones; shadow: the old ones
  };
  struct rank_buffer {
    std::vector<pending> entries; // oldest first
    std::size_t shadows = 0;
  };

  void check(std::uint32_t rank, const void* at, std::uint64_t bytes) const;
  bool in_arena(const void* at) const;
  std::uint32_t owner(const void* at) const;
  bool coin(double probability);
  void put_off(std::uint32_t rank, pending entry, std::int64_t at_most);
  void apply(std::uint32_t rank, const pending& entry);
  void expire(std::uint32_t rank, std::uint64_t id);
  void settle(std::uint32_t rank, const void* at, std::uint64_t bytes);
  void copy_piece(std::uint32_t rank, std::byte* to, const std::byte* from, std::uint64_t bytes);
  void read_as(std::uint32_t reader, void* to, const void* from, std::uint64_t bytes);
  std::vector<std::uint64_t> cut(std::uint64_t bytes);

  const simulation_options& options_;
  seeded_random& random_;
  scheduler& scheduler_;
  std::vector<std::uint32_t> node_;
  std::vector<rank_buffer> buffers_;
  std::vector<std::byte> scratch_;
  std::byte* arena_ = nullptr;
  std::size_t arena_bytes_ = 0;
  std::size_t shadows_ = 0;
  std::uint64_t ids_ = 0;
};

} // namespace weft::transport::sim
