// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/checked.hpp"
#include "engine/collectives/request.hpp"
#include "engine/memory/heap.hpp"
#include "include/weft/direct.h"
#include "include/weft/types.h"
#include "progress/control/atomic_operation.hpp"
#include "progress/control/lock_calls.hpp"
#include "progress/control/team_calls.hpp"
#include "progress/driving/idle.hpp"
#include "progress/execution/one_sided.hpp"
#include "progress/execution/statistics.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft::boot {
struct exchange;
}

namespace weft::api {

using handle = std::uint64_t; // 0 = complete
using control::team_calls;

// A value that a rank gave to a barrier.
struct given_value {
  std::uint32_t rank = 0;
  int value = 0;
};

// The one rank that this process is: the only place where an engine, its transport and its job are tied
// together, and the only global of the library. Offsets are bytes from the beginning of a segment, the same
// on every rank; ranks are ranks of the job. Arguments have been checked by the caller.
class runtime {
public:
  virtual ~runtime() {
    if (with_reach == this) with_reach = nullptr;
  }

  // Throws weft::error if the library is not initialised; `call` names the caller in the message.
  static runtime& get(const char* call);
  static bool initialised() noexcept;
  // With the exchange that the program brings, or else as the launcher says.
  static void init(const boot::exchange* brought = nullptr);
  static void finalize();
  static inline std::uint32_t begun = 0; // how many this process has had

  virtual std::uint32_t rank() const = 0;
  virtual std::uint32_t size() const = 0;

  virtual team_calls& teams() = 0; // and all collectives
  virtual control::lock_calls& locks() = 0;
  // By the engine of the rank whose memory it is; returns what was there. See control::atomic_service.
  virtual control::atomic_value apply_by_owner(std::uint32_t rank, std::uint64_t offset,
                                               const control::atomic_operation& op) = 0;

  // Barrier of all ranks with an optional value; completing it throws if two ranks gave different values.
  virtual handle post_barrier(std::optional<int> value) = 0;
  // The value that the ranks gave to the barrier that was posted last, once that is complete, and one of
  // them.
  virtual std::optional<given_value> heard() const = 0;
  virtual void run_barrier(std::optional<int> value) = 0;

  enum class state { complete, pending, never_issued };
  virtual state query(handle h) noexcept = 0; // no progress
  virtual state test(handle h) = 0;           // drives progress once; rethrows what the operation failed with
  virtual void wait(handle h) = 0;            // rethrows what the operation failed with

  // For those that look at several handles. None of them takes an error away.
  virtual std::uint64_t completions() const noexcept = 0; // moves with every completion in this process
  // The index of the first that is neither 0 nor pending, or their number. No progress.
  virtual std::size_t find_ready(std::span<const upc_coll_handle_t> handles) const noexcept = 0;
  virtual void progress() = 0;                                   // drives once, if no other thread does
  virtual std::size_t outstanding() const noexcept { return 0; } // handles of operations under way
  virtual bool moved_by_calls() const { return false; } // no thread of the library's own is awake meanwhile
  virtual bool has_no_thread() const { return false; }  // of the library's own at all
  // Drives until the fact has said yes, once. It is asked often, on the calling thread, perhaps while it
  // drives, and at least every `nap`: it must neither throw nor wait.
  virtual void drive_until(const std::function<bool(progress::look)>& fact,
                           std::chrono::nanoseconds nap = std::chrono::nanoseconds::max()) = 0;

  // Memory that every rank has, of those whose memory is reached by loads and stores: comparators of sorts
  // cast two pointers for each comparison. Null if it is not such memory.
  std::byte* cast(std::uint32_t rank, std::uint64_t offset, std::uint64_t bytes) const {
    if (rank >= castable_.memory.size() || offset - castable_.begin >= castable_.bytes) return nullptr;
    if (bytes > castable_.bytes - (offset - castable_.begin) || castable_.memory[rank] == nullptr)
      return nullptr;
    return castable_.memory[rank] + offset;
  }
  // Where it is, in the segment of each rank.
  struct area {
    std::uint64_t begin = 0, bytes = 0;
  };
  area symmetric() const { return {castable_.begin, castable_.bytes}; }
  // The whole shared heap of a rank whose memory is reached by loads and stores, its own part too. None of it
  // may be reached without a call where every access is to be looked at. The base stands for offset 0.
  weft_direct_t reach_of(std::uint32_t rank) {
    void* const base = direct(rank, 0);
    if (base == nullptr) return {nullptr, 0, 0};
    return {static_cast<unsigned char*>(base), castable_.begin, checks_calls() ? 0 : castable_.whole_heap};
  }
  // The same of all ranks at present, see weft_reach; from the first call on it is kept up to date by the two
  // below. Only the thread that calls the library writes there.
  const std::uint64_t* reach();
  inline static runtime* with_reach = nullptr; // whose posts and polls are to be noted
  [[gnu::cold, gnu::noinline]] void note_posted(handle h) noexcept {
    if (closed_ || !moved_by_calls() || query(h) != state::pending) return;
    closed_ = true;
    std::ranges::fill(reach_, 0);
  }
  void note_polled() {
    if (closed_ && outstanding() == 0) fill_reach();
  }
  // All ranks' memory is reached so.
  bool all_near() const { return castable_.everywhere; }

  // Memory of any rank. All are complete, locally and remotely, on return.
  virtual void* direct(std::uint32_t rank,
                       std::uint64_t offset) = 0; // null if not reachable by loads and stores
  virtual void put(std::uint32_t rank, std::uint64_t offset, const void* from, std::size_t bytes) = 0;
  virtual void get(void* to, std::uint32_t rank, std::uint64_t offset, std::size_t bytes) = 0;
  // Begins it and returns. Its own memory must stay until the handle is complete, and what it writes is in
  // place then. 0: as many operations as allowed are outstanding, and nothing was begun.
  virtual handle post_transfer(const progress::one_sided_request& r) = 0;

  // The same for a fact that is no operation and no answer; `text` says in a report what it is.
  virtual void await(const std::function<bool(progress::look)>& fact,
                     const std::function<std::string()>& text, std::chrono::nanoseconds nap) {
    static_cast<void>(text);
    drive_until(fact, nap);
  }
  // This thread has stored into memory of its host what another rank there may wait for, asleep.
  virtual void tell_host() {}

  // Of private memory, as a distance from the beginning of this rank's segment: for operations that only this
  // rank touches it for.
  virtual std::uint64_t private_offset(const void* memory) const = 0;
  // What that is the distance of.
  std::byte* own_memory(std::uint64_t offset) const {
    return reinterpret_cast<std::byte*>(offset - private_offset(nullptr));
  }
  virtual progress::statistics& counts() = 0;

  // The shared heap. Offsets; 0 = no room.
  virtual std::uint64_t allocate_all(std::size_t bytes_per_rank) = 0;    // collective, symmetric
  virtual std::uint64_t allocate_global(std::size_t bytes_per_rank) = 0; // one caller, symmetric
  virtual std::uint64_t allocate_local(std::size_t bytes) = 0;           // on this rank only
  // Any of the above, any caller, once; or collective, when all have called. The answer is the offset if it
  // was freed, the beginning of the block if it is inside of one, and 0 if no block is there: nothing was
  // freed then.
  virtual std::uint64_t free_block(std::uint32_t rank, std::uint64_t offset) = 0;
  virtual std::uint64_t free_block_of_all(std::uint32_t rank, std::uint64_t offset) = 0;
  virtual bool in_heap(std::uint64_t offset, engine::checked bytes) const = 0;
  // The same of memory that every rank has there: not of allocate_local's.
  virtual bool in_symmetric_heap(std::uint64_t offset, engine::checked bytes) const = 0;
  virtual std::size_t heap_bytes() const = 0; // what WEFT_HEAP_SIZE asked for

  virtual bool checks_calls() const { return false; } // WEFT_CHECK
  // The last block of a rank's memory that begins at this place or before it, {0, 0} if none does; nothing if
  // that is not known. Asks the rank that keeps the books of it.
  virtual std::optional<engine::heap::block> block_below(std::uint32_t, std::uint64_t) const { return {}; }

  virtual std::uint64_t statistic(const std::string& name) const = 0; // 0 for an unknown name
  [[noreturn]] virtual void abort_job(int status, const std::string& message) = 0;
  [[noreturn]] virtual void end_job(int status, const std::string& message) = 0; // on purpose

protected:
  struct castable {
    std::vector<std::byte*> memory; // segments, by rank; null: not reached so
    std::uint64_t begin = 0, bytes = 0;
    std::uint64_t whole_heap = 0; // bytes, from the same beginning, with what is of one rank alone
    bool everywhere = false;
  };
  castable castable_;

private:
  void fill_reach();
  std::vector<std::uint64_t> reach_;
  bool closed_ = false; // to loads and stores, see weft_reach
};

// For the headers' detail::own; null: the library has ended.
void note_own_process(const runtime* rt);

} // namespace weft::api
