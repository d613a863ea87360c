// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

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

} // namespace weft::engine
