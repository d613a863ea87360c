// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

// The words by which ranks tell each other how far they are. None is ever reset: each carries the operation
// that it speaks of, so that a late reader or writer of an older operation recognises that it is late.
//
// A team numbers its operations 1, 2, 3 ... in posting order. Operation n uses slot n mod S of the team's
// ring, in its epoch n div S; a rank has at most S operations active, and touches the cells of another only
// when that one has retired operation n - S (the previous user of the slot).
namespace weft::engine {

using sequence = std::uint64_t;
using word = std::atomic<std::uint64_t>;
static_assert(word::is_always_lock_free);

inline constexpr std::uint32_t slot_bits = 5;
inline constexpr std::uint32_t slots = 1u << slot_bits;

inline std::uint32_t slot_of(sequence n) {
  return static_cast<std::uint32_t>(n) & (slots - 1);
}
// A slot has cells for each phase of an operation: parts of a plan that follow each other, and must not hear
// of each other's payloads and counts, have one each.
inline constexpr std::uint32_t phases = 2;
inline constexpr std::uint32_t phased_slots = phases * slots;
inline std::uint32_t cells_of(sequence n, std::uint32_t phase = 0) {
  return phase * slots + slot_of(n);
}
inline std::uint64_t epoch_of(sequence n) {
  return n >> slot_bits;
}

// {epoch:40, count:24}. Any writer, by CAS. A word of an older epoch counts from 0; one of a newer epoch has
// seen everything of mine.
namespace counter {
inline constexpr unsigned count_bits = 24;
inline std::uint64_t make(sequence n, std::uint64_t count) {
  return epoch_of(n) << count_bits | count;
}
inline bool reached(std::uint64_t value, sequence n, std::uint64_t count) {
  return value >= make(n, count);
}
// The word after `by` more, or the same word if it has moved on to a newer epoch.
inline std::uint64_t plus(std::uint64_t value, sequence n, std::uint64_t by) {
  const std::uint64_t epoch = value >> count_bits;
  if (epoch > epoch_of(n)) return value;
  return (epoch == epoch_of(n) ? value : make(n, 0)) + by;
}
} // namespace counter

// {epoch:38, front:13, back:13}: pieces claimed from the front (by the destination's side) and from the back
// (by the source's side) of one block. Changes only by CAS; a word of another epoch means skip.
namespace claim_word {
inline constexpr unsigned side_bits = 13;
inline constexpr std::uint64_t side_mask = (1u << side_bits) - 1;
inline constexpr std::uint32_t max_pieces = 1u << side_bits;

struct state {
  std::uint32_t front = 0, back = 0;
  bool stale = false; // the word belongs to a newer operation: everything of mine is long done
};
// From 1: a word that no rank has written speaks of no operation.
inline std::uint64_t epoch_in(sequence n) {
  return epoch_of(n) + 1;
}
inline state read(std::uint64_t value, sequence n) {
  const std::uint64_t epoch = value >> (2 * side_bits);
  if (epoch > epoch_in(n)) return {0, 0, true};
  if (epoch < epoch_in(n)) return {};
  return {static_cast<std::uint32_t>(value >> side_bits & side_mask),
          static_cast<std::uint32_t>(value & side_mask), false};
}
// True if a rank has written it for operation n.
inline bool speaks_of(std::uint64_t value, sequence n) {
  return value >> (2 * side_bits) == epoch_in(n);
}
inline std::uint64_t make(sequence n, std::uint32_t front, std::uint32_t back) {
  return epoch_in(n) << (2 * side_bits) | std::uint64_t{front} << side_bits | back;
}
} // namespace claim_word

// {operation:48, stage:16}. One writer. A newer operation is beyond every stage of an older one.
namespace stage_word {
inline constexpr unsigned stage_bits = 16;
inline std::uint64_t make(sequence n, std::uint32_t stage) {
  return n << stage_bits | stage;
}
} // namespace stage_word

// One rank's mailbox in one team: everything that it tells the other members, and the counters that they
// raise for it. It lies in the rank's segment at an offset that is the same on all members. Near members read
// and write it in place; for a far member there is a private copy of the same shape (a shadow), which
// incoming messages keep. So a reader need not know which lane a fact came by.
//
//   entered   last operation posted          writer: the rank, under progress ownership
//   retired   all operations up to it are finished here    writer: the rank, under progress ownership
//   lent      last operation whose poster may be computing   writer: the rank, under progress ownership
//
// For each phase of each slot (see cells_of):
//   head      eager payload of up to 56 bytes behind its stamp (the sequence number)   writer: the rank
//   body      larger eager payload, valid when the head's stamp says so               writer: the rank
//   delivered, consumed    counters              writers: any member, by CAS
//   stage_in, stage_out   rounds reached   writer: the rank
//
// For each slot
//   claim[i]  claimed pieces of the block from local member i    writers: members of the host, by CAS
//   call      checked mode: which call the operation is, and which rank its row names, behind its stamp
//             writer: the rank
//
//   dispute   checked mode: two calls that differ; once per team           writer: the rank
//
// Behind a shadow lie places for payloads that are larger than a body: no rank but a far member sends such.
// An operation shares its place with the one that is large_places before it, hence their credit is shorter;
// and what a peer may send ahead of me is bounded, whatever the operations.
class mailbox {
public:
  static constexpr bool is_made_of_zeros = true; // empty: see zeroed_table
  static constexpr std::size_t line = 64;
  static constexpr std::size_t head_bytes = 56;
  static constexpr std::size_t body_bytes = 2048;
  static constexpr std::size_t large_bytes = 128 * 1024;        // fits into a segment of UCX's sockets
  static constexpr std::size_t large_room = large_bytes + line; // with a note in front
  static constexpr std::uint32_t large_places = 8;

  struct alignas(line) head_line {
    word stamp;
    std::byte payload[head_bytes];
  };
  struct alignas(line) count_line {
    word delivered, consumed, stage_in, stage_out;
  };
  // Stamped like a head: 0 while it is being written, so that a rank that copies it while it changes finds
  // out.
  template <std::size_t Lines> struct alignas(line) stamped_words {
    word stamp;
    std::array<word, Lines * line / sizeof(word) - 1> record;
  };
  using call_lines = stamped_words<2>;
  using dispute_lines = stamped_words<5>;
  struct alignas(line) fixed {
    alignas(line) word entered;
    alignas(line) word retired;
    head_line head[phased_slots];
    count_line counts[phased_slots];
    call_lines call[slots];
    dispute_lines dispute;
    alignas(line) word lent;
    alignas(line) std::byte body[phased_slots][body_bytes]; // the last: it is not cleared
  };

  static std::size_t bytes(std::uint32_t locals) {
    const std::size_t claims = (slots * locals * sizeof(word) + line - 1) / line * line;
    return sizeof(fixed) + claims;
  }

  // Of a shadow.
  static std::size_t shadow_bytes() { return large_begin + phases * large_places * large_room; }

  // What must be zero before the first operation: a body is read only when a word says that it is written.
  static void clear(std::byte* base, std::uint32_t locals) {
    std::memset(base, 0, offsetof(fixed, body));
    std::memset(base + sizeof(fixed), 0, bytes(locals) - sizeof(fixed));
  }

  mailbox() = default;
  mailbox(std::byte* base, std::uint32_t locals) : fixed_(reinterpret_cast<fixed*>(base)), locals_(locals) {}

  explicit operator bool() const { return fixed_ != nullptr; }
  word& entered() const { return fixed_->entered; }
  word& retired() const { return fixed_->retired; }
  word& lent() const { return fixed_->lent; }
  head_line& head(std::uint32_t cells) const { return fixed_->head[cells]; }
  count_line& counts(std::uint32_t cells) const { return fixed_->counts[cells]; }
  std::byte* body(std::uint32_t cells) const { return fixed_->body[cells]; }
  call_lines& call(std::uint32_t slot) const { return fixed_->call[slot]; }
  dispute_lines& dispute() const { return fixed_->dispute; }
  // Where a payload of this many bytes lies.
  std::byte* payload(std::uint32_t cells, std::size_t size) const {
    if (size <= head_bytes) return head(cells).payload;
    return size <= body_bytes ? body(cells) : large(cells);
  }
  word& claim(std::uint32_t slot, std::uint32_t local) const {
    return reinterpret_cast<word*>(fixed_ + 1)[slot * locals_ + local];
  }

private:
  static constexpr std::size_t large_begin = (sizeof(fixed) + 4095) / 4096 * 4096;
  std::byte* large(std::uint32_t cells) const {
    const std::uint32_t phase = cells / slots, place = cells % large_places;
    return reinterpret_cast<std::byte*>(fixed_) + large_begin + (phase * large_places + place) * large_room;
  }

  fixed* fixed_ = nullptr;
  std::uint32_t locals_ = 0;
};

} // namespace weft::engine
