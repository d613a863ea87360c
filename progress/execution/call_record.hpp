#pragma once
#include "engine/collectives/request.hpp"
#include "engine/memory/mailbox.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>

namespace weft::progress {

// Checked mode. What all members of a team must say alike when they post an operation; the offsets too, for
// every operand lies at the same place on all. And whom the member's row names, said later, when its mode
// lets the row be read: a permutation names everybody once, rows that name the root the same one.
// In words, as it is written and compared word by word: a copy as a whole would wait for the words that were
// just stored.
class call_record {
public:
  static constexpr std::uint32_t not_said = ~std::uint32_t{0}, nobody = not_said - 1;
  static constexpr std::size_t words = 7;

  call_record() = default;
  call_record(const collectives::request& r, const graph::binding& at)
      : words_{byte(r.op, 0) | byte(r.in, 1) | byte(r.out, 2) | byte(r.direction, 3) | byte(r.in_place, 4) |
                   byte(r.wide_perm, 5) | byte(r.by, 6),
               r.bytes,
               std::uint64_t{not_said} << 32 | r.root,
               r.apart ? 0 : at.dst,
               r.apart ? 0 : at.src,
               at.sizes,
               at.perm} {}

  std::uint64_t word(std::size_t k) const { return words_[k]; }
  // Of two calls that are the same these bits of the word are.
  static constexpr std::uint64_t common(std::size_t k) {
    return k == naming ? 0xffffffffu : ~std::uint64_t{0};
  }

  collectives::request what() const {
    return {.op = static_cast<collectives::operation>(byte(0)),
            .in = static_cast<graph::sync>(byte(1)),
            .out = static_cast<graph::sync>(byte(2)),
            .direction = static_cast<graph::hint>(byte(3)),
            .root = static_cast<std::uint32_t>(words_[naming]),
            .bytes = words_[1],
            .in_place = byte(4) != 0,
            .wide_perm = byte(5) != 0,
            .by = static_cast<collectives::caller>(byte(6))};
  }
  graph::binding at() const { return {words_[3], words_[4], words_[5], words_[6]}; }

  // A member; in a dispute a rank of the job.
  std::uint32_t named() const { return static_cast<std::uint32_t>(words_[naming] >> 32); }
  void name(std::uint32_t whom) {
    words_[naming] = (words_[naming] & common(naming)) | std::uint64_t{whom} << 32;
  }

  bool same_call(const call_record& other) const {
    for (std::size_t k = 0; k < words; ++k)
      if (((words_[k] ^ other.words_[k]) & common(k)) != 0) return false;
    return true;
  }
  bool permutes() const {
    const collectives::operation op = what().op;
    return op == collectives::operation::permute || op == collectives::operation::permute_x;
  }
  // Can both names stand in one call?
  bool goes_with(const call_record& other) const {
    if (named() >= nobody || other.named() >= nobody) return true;
    return (named() == other.named()) != permutes();
  }

private:
  static constexpr std::size_t naming = 2;
  template <class Small> static constexpr std::uint64_t byte(Small value, unsigned at) {
    return std::uint64_t{static_cast<std::uint8_t>(value)} << 8 * at;
  }
  std::uint8_t byte(unsigned at) const { return static_cast<std::uint8_t>(words_[0] >> 8 * at); }

  std::array<std::uint64_t, words> words_{};
};

// Two members whose records of one operation differ; or one that names nobody in a permutation.
struct call_dispute {
  engine::sequence seq = 0;
  std::uint32_t team = 0;
  std::uint32_t unused = 0;
  std::uint32_t rank = 0, other_rank = 0; // of the job
  call_record call, other_call;
};

static_assert(std::is_trivially_copyable_v<call_dispute>);
static_assert(sizeof(call_record) == sizeof(engine::mailbox::call_line::record),
              "a record and its stamp are one line");
static_assert(sizeof(call_dispute) <= sizeof(engine::mailbox::dispute_lines::record));

// "upc_all_broadcast", and with its arguments: "upc_all_broadcast(dst 0x1040, src 0x2040, nbytes 64, root 1,
// MY/MY)".
std::string call_name(const collectives::request& r);
std::string text_of(const call_record& call);
// What operation `now` of the team fails with.
std::string text_of(const call_dispute& d, engine::sequence now);

} // namespace weft::progress
