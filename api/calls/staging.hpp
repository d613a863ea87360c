// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "api/checks/checks.hpp"
#include "api/runtime/runtime.hpp"
#include "engine/plan/task.hpp"
#include "include/weft/types.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft::api {

// Whether all of these bytes are memory of this process. A system call for each 4 MiB: in checked mode only.
bool is_mapped(const std::byte* memory, std::uint64_t bytes);
// Counts an operand of so many bytes that is not copied.
void count_operand(runtime& rt, upc_shared_ptr_t p, std::uint64_t bytes);
// An operand of the calling rank's own: it must lie in the heap, or in ordinary memory, at which checked mode
// looks whether it is mapped.
void require_operand(const runtime& rt, const char* call, const char* argument, upc_shared_ptr_t p,
                     checked bytes);

// A block of the calling rank's part of the shared heap that stands for operands in ordinary memory of its
// process, which no other rank reaches. Its first line is this; the operands follow.
struct staged_block : graph::stand_in {
  static constexpr std::uint64_t line = 64;

  std::atomic<std::uint64_t> next{0}; // while it is free
  std::uint32_t size_class = 0;
  bool of_caller = false;       // the call that waits gives it back, however it ends
  std::byte* results = nullptr; // where the program wants them
  const std::byte* made = nullptr;
  std::uint64_t result_bytes = 0;
  std::uint64_t place = 0; // of itself, in lines from the beginning of the segment

  std::byte* memory() { return reinterpret_cast<std::byte*>(this) + line; }
};
static_assert(sizeof(staged_block) == staged_block::line);

// The blocks of one rank. Those that are given back are kept, by size, for the next operation: so a loop
// finds memory that has been touched, and asks the heap once.
//
// The free blocks of a size are a stack. Its head is {moves, place}: the place of the first block in lines
// from the beginning of the segment, and how often the head has moved. So a thread that was stopped between
// its load of the head and its compare-and-swap takes no block that others have taken and given back
// meanwhile. Giving back releases, taking acquires: what the last operation wrote into a block comes before
// what the next writes.
class staging_pool {
public:
  // Room for so many bytes; null if the heap has none.
  staged_block* take(runtime& rt, std::uint64_t bytes);
  void give_back(staged_block& b) noexcept;

private:
  // Four sizes from each power of two to the next, from 256 bytes on.
  static constexpr std::uint32_t size_classes = 160;
  static std::uint32_t class_of(std::uint64_t bytes);
  static std::uint64_t size_of(std::uint32_t size_class) {
    return std::uint64_t{4 + size_class % 4} << (6 + size_class / 4);
  }
  staged_block* pop(runtime& rt, std::uint32_t size_class);
  std::uint64_t allocate(runtime& rt, std::uint64_t bytes);

  std::array<std::atomic<std::uint64_t>, size_classes> free_{};
  std::atomic<std::uint32_t> job_{0}; // of those that this process has begun
};
staging_pool& staged_blocks() noexcept;

// The room of one call for its operands in ordinary memory. What is to be given is copied into it before the
// call posts, so the program's memory is its own again; results are copied out when the operation is over,
// before its handle is complete.
class staging {
public:
  staging(runtime& rt, const char* call, bool async) : rt_(rt), call_(call), async_(async) {}
  staging(const staging&) = delete;
  staging& operator=(const staging&) = delete;
  ~staging();

  // A block of the pool, for operands or for what other members are to find. Errors: the heap has no room for
  // so many bytes.
  static staged_block* take(runtime& rt, const char* call, std::uint64_t bytes, bool of_operands = true);
  // Once, so many bytes. Errors: as of take().
  void reserve(std::uint64_t bytes);
  // The next bytes of it, whole lines: their place in the segment. `copy_in` fills them.
  std::uint64_t place(std::uint64_t bytes);
  std::uint64_t copy_in(std::uint64_t from, std::uint64_t bytes);
  // What is made at this place of it is to come to ordinary memory. Both count from the segment.
  void results(std::uint64_t to, std::uint64_t made, std::uint64_t bytes);
  // For the task of the operation; null if nothing is staged.
  graph::stand_in* block() const { return block_; }
  // The operation has begun.
  void hand_on() { handed_on_ = async_; }

  static std::uint64_t lines(std::uint64_t bytes) {
    return (bytes + staged_block::line - 1) / staged_block::line * staged_block::line;
  }

private:
  runtime& rt_;
  const char* call_;
  bool async_, handed_on_ = false;
  staged_block* block_ = nullptr;
  std::uint64_t next_ = 0; // in the segment
};

// Posts a movement of equal blocks, IN_MY and OUT_MY, between operands of the calling rank's own;
// own_moves.cpp. They are null where the rank has none. In place for an exchange, and on the root of a
// broadcast.
upc_coll_handle_t move_own(const char* name, collectives::operation op, upc_shared_ptr_t dst,
                           upc_shared_ptr_t src, std::size_t nbytes, std::uint32_t root, upc_team_t team);

} // namespace weft::api
