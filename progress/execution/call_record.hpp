// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/operations.hpp"
#include "engine/memory/mailbox.hpp"
#include "engine/plan/call_fields.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

namespace weft::progress {

// Checked mode. What all members of a team must say alike when they post an operation: a list of arguments,
// which is compared and printed as it is. And which member the row names, said later, when its mode lets the
// row be read: a permutation names each member once, rows that name the root the same one.
// In words, as it is written and compared word by word: a copy as a whole would wait for the words that were
// just stored.
class call_record : public graph::call_fields {
public:
  static constexpr std::uint32_t not_said = ~std::uint32_t{0}, no_rank = not_said - 1;
  static constexpr std::size_t words = (sizeof(graph::call_fields) + sizeof(std::uint64_t)) / 8;

  call_record() = default;
  call_record(const collectives::request& r, const graph::binding& at);

  std::uint64_t word(std::size_t k) const {
    std::uint64_t w;
    std::memcpy(&w, reinterpret_cast<const std::byte*>(this) + k * sizeof w, sizeof w);
    return w;
  }
  // Of two calls that are the same this word is.
  static constexpr bool common(std::size_t k) { return k != words - 1; }

  collectives::operation op() const { return static_cast<collectives::operation>(of_[0]); }
  collectives::caller by() const { return static_cast<collectives::caller>(of_[1]); }
  bool wide_perm() const { return of_[2] != 0; }

  // A member; in a dispute a rank of the job.
  std::uint32_t named() const { return named_; }
  void name(std::uint32_t member) { named_ = member; }
  // Where it stands in the program (engine::call_place); 0: not known. Of no other meaning.
  std::uint32_t from() const { return from_; }
  // The same of the last word.
  static std::uint32_t place_of(std::uint64_t word) {
    call_record r;
    std::memcpy(&r.named_, &word, sizeof word);
    return r.from_;
  }

  bool same_call(const call_record& other) const {
    return std::memcmp(this, &other, (words - 1) * sizeof(std::uint64_t)) == 0;
  }
  bool permutes() const { return collectives::permutes(op()); }
  // Can both names stand in one call?
  bool goes_with(const call_record& other) const {
    if (named() >= no_rank || other.named() >= no_rank) return true;
    return (named() == other.named()) != permutes();
  }

private:
  std::uint32_t named_ = not_said, from_ = 0;
};

// Two members whose records of one operation differ; or one that names no rank in a permutation.
struct call_dispute {
  engine::sequence seq = 0;
  std::uint32_t team = 0;
  std::uint32_t unused = 0;
  std::uint32_t rank = 0, other_rank = 0; // of the job
  call_record call, other_call;
};

static_assert(std::is_trivially_copyable_v<call_dispute>);
static_assert(std::has_unique_object_representations_v<call_record>);
static_assert(sizeof(call_record) == sizeof(engine::mailbox::call_lines::record),
              "a record and its stamp are two lines");
static_assert(sizeof(call_dispute) <= sizeof(engine::mailbox::dispute_lines::record));

// "upc_all_broadcast", and with its arguments: "upc_all_broadcast(dst 0x1040, src 0x2040, nbytes 64, root 1,
// MY/MY)".
std::string call_name(const collectives::request& r);
std::string call_name(collectives::operation op, collectives::caller by, bool wide_perm);
std::string text_of(const call_record& call);
// What operation `now` of the team fails with.
std::string text_of(const call_dispute& d, engine::sequence now);

} // namespace weft::progress
