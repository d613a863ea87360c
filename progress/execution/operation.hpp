// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/checked.hpp"
#include "engine/memory/mailbox.hpp"
#include "engine/operations/operation_kind.hpp"
#include "engine/plan/plan.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <sys/mman.h>
#include <vector>

namespace weft::progress {

// Memory that an execution or its task has asked for, as it comes from the system: no rank writes it but this
// one. Kept from one execution to the next unless it is large.
class task_room {
public:
  std::byte* data() const noexcept { return memory_.get(); }
  std::uint64_t size() const noexcept { return bytes_; }

  // At least so many bytes; false for want of memory. What was there is lost.
  bool reserve(std::uint64_t bytes) noexcept {
    if (bytes <= bytes_) return true;
    memory_.reset();
    bytes_ = 0;
    const std::uint64_t alignment = bytes < page ? line : page;
    const std::uint64_t rounded = (bytes + alignment - 1) / alignment * alignment;
    if (rounded < bytes) return false;
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, rounded)));
    if (!memory_) return false;
    bytes_ = rounded;
    if (large()) ::madvise(memory_.get(), rounded, MADV_HUGEPAGE); // if it can be: a page is touched but once
    return true;
  }
  void done_with() noexcept {
    if (!large()) return;
    memory_.reset();
    bytes_ = 0;
  }

private:
  static constexpr std::uint64_t line = 64, page = 4096, most_kept = 8 << 20;
  bool large() const noexcept { return bytes_ > most_kept; }
  struct giving_back {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<std::byte, giving_back> memory_;
  std::uint64_t bytes_ = 0;
};

using graph::outcome;
struct channel;

// What a rank knows of the values that the members gave to a barrier: the first value that has come and its
// giver, and the first different one. 0 in `known` = no member gave a value, 1 = all the same, 2 = two
// differ.
struct barrier_summary {
  std::uint32_t known = 0;
  std::uint32_t rank = 0, other_rank = 0;
  std::int32_t value = 0, other_value = 0;

  void merge(const barrier_summary& more) {
    if (known == 2 || more.known == 0) return;
    if (known == 0 || more.known == 2) {
      *this = more;
    } else if (more.value != value) {
      known = 2;
      other_rank = more.rank;
      other_value = more.value;
    }
  }
};

// How far a loop is: the iterations [base, base + 64) that are begun and unfinished, and where each stands in
// its body. The window bounds the memory and the transfers in flight.
struct loop_state {
  static constexpr std::uint32_t window = 64;
  std::uint32_t base = 0;
  std::uint32_t next = 0;                  // first iteration not yet begun
  std::uint64_t unfinished = 0;            // bit b: iteration base + b
  std::uint64_t in_flight = 0;             // of those, waiting for a completion
  std::array<std::uint8_t, window> step{}; // by iteration modulo the window
};

// A pointer-to-shared as it lies in the arrays of the operations with indirect operands.
struct shared_pointer {
  static constexpr std::uint32_t ordinary =
      ~std::uint32_t{0} - 1; // phases from here on: memory of one process
  std::uint64_t offset = 0;
  std::uint32_t thread = 0, phase = 0;
};

// One block: bytes from the beginning of the source's segment, and of the destination's.
struct block {
  std::uint64_t src = 0, dst = 0, bytes = 0;
};

// What a member's row says of the one block that it describes, as it is published. Where the other end alone
// knows its address, that is 0.
struct named_block {
  static constexpr std::uint32_t no_rank = ~std::uint32_t{0} - 1;
  std::uint32_t named = no_rank; // the member at the block's other end
  std::uint32_t unused = 0;
  block what;
};

// What a far peer's rows say of the block between us.
struct fetched_row {
  shared_pointer src, dst;
  weft::engine::checked size;
};

// A cycle of a permutation in place, in its order: the block of each goes to the place of the next. See
// progress/execution/in_place.hpp.
struct cycle {
  struct link {
    std::uint32_t member = 0;
    bool moves = true; // its block goes: the next one's place is where it must be
    std::uint64_t place = 0, bytes = 0;
  };
  std::vector<link> links;  // none: a cycle is still to be looked for
  std::vector<bool> seen;   // members whose cycles have been found
  std::uint32_t looked = 0; // at so many members, beginning with me
  bool mine = false;        // I am on one that is rotated as a whole

  void begin(std::uint32_t members) {
    links.clear();
    links.reserve(members);
    seen.assign(members, false);
    looked = 0;
  }
};

// What an execution has read in shared memory of what it is to move.
struct findings {
  static constexpr std::uint32_t unknown = ~std::uint32_t{0}, no_rank = named_block::no_rank;
  named_block own;                                  // my row
  bool own_known = false;                           // it has been read
  std::uint32_t naming = unknown;                   // whose row names me
  std::uint64_t expected = 0;                       // pieces that the members that name me will count
  bool not_root = false;                            // a member named another root
  std::uint64_t piece = 0;                          // in place: of the block that is being moved
  std::uint32_t moving = no_rank;                   // in place: the iteration whose block that is
  std::array<fetched_row, loop_state::window> rows; // by iteration modulo the window
  std::unique_ptr<std::byte[]> scratch;             // in place: room for a piece
  cycle rotated;                                    // in place: of the permutation

  void begin(const graph::plan& p) {
    own_known = false;
    naming = unknown;
    expected = piece = 0;
    moving = no_rank;
    not_root = false;
    if (p.in_place && !scratch) scratch = std::make_unique<std::byte[]>(graph::bounce_bytes);
    rotated.mine = false;
    if (p.rotates()) rotated.begin(p.members);
  }
};

// An operand that was found where it cannot be: nothing is moved for it, and the operation fails at its end.
struct bad_operand {
  enum class what : std::uint8_t { source, destination, member, no_rank, size, gone };
  what which = what::source;
  std::uint32_t from = 0, to = 0; // ranks of the job; `member`: from's element; `no_rank` names from
  shared_pointer value;           // `size`: its offset are the bytes that `from` gives; `gone`: the address,
                                  // and in `to` whether it is the source's
  std::uint64_t bytes = 0;        // `member`: the element
};

// A copy that its rank makes alone and has not finished; see pieces.hpp.
struct begun_copy {
  std::uint64_t name = 0; // 0: there is none
  std::uint64_t bytes = 0;
};

// The words that an execution waits for, noted in a pass over its nodes. Where every node that is ready waits
// for one of them, another pass would find nothing new before one has come: then the list is armed, and only
// they are looked at.
struct watch_list {
  static constexpr std::uint32_t most = 6;
  struct watched {
    const engine::word* at;
    std::uint64_t value;
  };
  bool armed = false;
  std::uint32_t count = 0; // may be more than there is room for
  std::uint32_t nodes = 0; // that wait for one of them
  std::array<watched, most> words;

  void begin() {
    armed = false;
    count = nodes = 0;
  }
  void note(const engine::word& at, std::uint64_t value) {
    ++nodes;
    note_another(at, value);
  }
  // For the same node: it waits for whichever comes first.
  void note_another(const engine::word& at, std::uint64_t value) {
    if (count < most) words[count] = {&at, value};
    ++count;
  }
  // So many nodes stay where they are.
  void arm(std::uint32_t stuck) { armed = stuck == nodes && count <= most; }
};

// The state of one execution of a plan; borrowed from a pool while the operation is active.
struct execution {
  graph::node_set done = 0, ready = 0; // top nodes; one in flight is neither
  watch_list watch;
  std::uint32_t own_pieces = 0; // of my own block, carried without being counted in my mailbox
  std::uint32_t listed = 0;     // in which list of what this rank waits for it stands
  bool rung = false;            // it is to be listed, when this rank is away
  graph::branch choice = graph::branch::either; // either: it has not been made
  std::chrono::nanoseconds choosing_since{0};   // by the root; 0: it has not looked yet
  begun_copy begun;
  std::uint64_t computed = 0; // of the present stage of the task
  std::array<loop_state, graph::all_loops> loops;
  std::unique_ptr<findings> found; // of plans that need it
  task_room scratch;               // of this rank alone
  task_room room;                  // of a task
  std::vector<bool> compared;      // checked mode: by member
  std::uint32_t to_compare = 0;
  struct naming {
    std::uint32_t by = named_block::no_rank, named = named_block::no_rank;
  };
  std::vector<bool> heard;   // the same of operations whose members' rows name members: by member
  std::vector<naming> first; // the first that named a member; that named a root
  std::uint32_t to_hear = 0;
  execution* next = nullptr; // while it is free

  void begin(const graph::plan& p) {
    done = 0;
    ready = p.first;
    own_pieces = listed = 0;
    rung = false;
    choice = graph::branch::either;
    choosing_since = {};
    begun = {};
    computed = 0;
    watch.begin();
  }
  // A top node waits for its completion.
  void launch(std::uint8_t node) { ready &= ~(graph::node_set{1} << node); }
  // It is done, which makes those ready that waited for it alone: they are returned.
  graph::node_set finish(const graph::plan& p, std::uint8_t node) {
    done |= graph::node_set{1} << node;
    ready &= ~(graph::node_set{1} << node);
    graph::node_set now = 0;
    for (graph::node_set behind = p.nodes[node].then; behind != 0; behind &= behind - 1) {
      const int next = std::countr_zero(behind);
      if ((p.nodes[next].after & ~done) == 0) now |= graph::node_set{1} << next;
    }
    ready |= now;
    return now;
  }
};

// Statuses that no transport has: members disagree about the call; user code threw.
inline constexpr int status_disputed = -1000000, status_user_code = -1000001;

// One posted collective: which plan, on which buffers, with which sequence number.
struct operation {
  operation* next = nullptr; // link of the queue, the waiting list or the free list that it is in
  const graph::plan* program = nullptr;
  progress::channel* channel = nullptr;
  execution* run = nullptr;
  engine::sequence seq = 0;
  graph::binding at;
  std::uint64_t handle = 0; // 0: a blocking call watches `finished` itself
  bool lent = false;        // its rank may compute and have no thread that drives: others may carry all of it
  bool light = false;       // it moves nothing large
  bool asked = false;       // another rank has called it, no thread of this one waits for it
  std::uint32_t series_left = 0; // the last of a series: so many of it are not over here
  operation* series = nullptr;   // the last of the series that it is one of
  barrier_summary value;
  barrier_summary* heard =
      nullptr; // where the poster of a barrier reads what it brought, once it is complete
  std::unique_ptr<bad_operand> bad;  // the first one
  std::exception_ptr thrown;         // by code of users, here
  std::uint32_t flights = 0;         // transport requests outstanding
  std::uint32_t large_place = 0;     // of boxes, if it has one, and
  engine::sequence before_there = 0; // the operation that had it before
  int status = 0;                    // first transport error
  std::uint32_t unreachable = 0;     // the rank of the job that it is about
  std::uint32_t told_by = 0;         // the rank that met it, another one or this one
  std::atomic<bool> finished{false}; // for the waiter of a blocking call; the last store to the operation

  // The operation ends, with the first error that it met.
  [[gnu::cold, gnu::noinline]] void fail(int error, std::uint32_t rank, std::uint32_t teller) noexcept {
    if (status != 0) return;
    status = error;
    unreachable = rank;
    told_by = teller;
  }
};

} // namespace weft::progress
