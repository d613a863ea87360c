// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/operations.hpp"
#include "engine/memory/mailbox.hpp"
#include "engine/reductions/reduction.hpp"
#include "engine/transport/transport.hpp"
#include "progress/control/atomic_operation.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <variant>

namespace weft::control {

// What ranks ask of each other beside the operations of teams, a struct each. One travels as the payload of a
// message of kind `request`, behind a word that says which it is. An answer has the id of its request, which
// the asker has never used before. Each says whether its numbers can be right where memory ends at `end`.

enum class mailbox_use : std::uint64_t { team, channel };

// To the keeper of the books: memory that is free on all ranks.
struct allocate {
  std::uint64_t id = 0, bytes = 0;
  bool fits(std::uint64_t) const { return id != 0; }
};
struct allocated {
  std::uint64_t id = 0, offset = 0; // 0: there is no room
  bool fits(std::uint64_t end) const { return offset < end; }
};

// To the keeper of the books in which the block stands.
struct free_block {
  std::uint64_t id = 0, offset = 0;
  bool fits(std::uint64_t end) const { return id != 0 && offset < end; }
};
struct freed {
  std::uint64_t id = 0;
  std::uint64_t block = 0; // the one that the offset lay in, 0 if in none: free now if it begins there
  bool fits(std::uint64_t end) const { return block < end; }
};

// As `allocate`, but memory for a team, or for a channel of the sender's own, which comes with a number.
struct allocate_mailbox {
  std::uint64_t id = 0, bytes = 0;
  mailbox_use use = mailbox_use::team;
  bool fits(std::uint64_t) const { return id != 0 && use <= mailbox_use::channel; }
};
struct allocated_mailbox {
  std::uint64_t id = 0, offset = 0, team = 0; // offset 0: there is no room
  bool fits(std::uint64_t end) const { return offset < end && team == static_cast<std::uint32_t>(team); }
};
// Has no answer.
struct free_mailbox {
  std::uint64_t offset = 0;
  bool fits(std::uint64_t end) const { return offset < end; }
};

// To the first member of a team: the sender touches no rank's mailbox of it by itself any more. Has no
// answer.
struct left {
  std::uint64_t team = 0, mailbox = 0;
  bool fits(std::uint64_t end) const { return mailbox < end; }
};

// To every member: this place in its segment is the mailbox of a channel of the sender's own, from now on.
// The members are all ranks of the job, or a list, of which this is a piece.
struct open_channel {
  static constexpr std::uint32_t piece = 32;
  std::uint64_t channel = 0, mailbox = 0;
  std::uint32_t members = 0, first = 0; // members of the list, 0: all ranks; the place of the piece in it
  std::array<std::uint32_t, piece> ranks{};

  std::uint32_t in_piece() const { return members - first < piece ? members - first : piece; }
  bool fits(std::uint64_t end) const {
    const bool in_list = members == 0 ? first == 0 : first < members && first % piece == 0;
    return in_list && mailbox != 0 && mailbox < end && channel == static_cast<std::uint32_t>(channel);
  }
};
struct opened {
  std::uint64_t channel = 0;
  bool fits(std::uint64_t) const { return true; }
};

// Begin your part of this operation of my channel. Has no answer: the operation itself is one.
struct begin_part {
  std::uint64_t channel = 0, number = 0;
  std::uint8_t op = 0, in = 0, out = 0, direction = 0, in_place = 0, wide_perm = 0, by = 0, unused = 0;
  std::uint64_t root = 0, bytes = 0;
  std::uint64_t dst = 0, src = 0, sizes = 0, perm = 0;

  begin_part() = default;
  begin_part(std::uint64_t on, std::uint64_t n, const collectives::request& r, const graph::binding& at)
      : channel(on), number(n), op(static_cast<std::uint8_t>(r.op)), in(static_cast<std::uint8_t>(r.in)),
        out(static_cast<std::uint8_t>(r.out)), direction(static_cast<std::uint8_t>(r.direction)),
        in_place(r.in_place), wide_perm(r.wide_perm), by(static_cast<std::uint8_t>(r.by)), root(r.root),
        bytes(r.bytes), dst(at.dst), src(at.src), sizes(at.sizes), perm(at.perm) {}
  collectives::request request() const {
    return {static_cast<collectives::operation>(op),
            static_cast<graph::sync>(in),
            static_cast<graph::sync>(out),
            static_cast<graph::hint>(direction),
            static_cast<std::uint32_t>(root),
            bytes,
            in_place != 0,
            wide_perm != 0,
            static_cast<collectives::caller>(by)};
  }
  graph::binding where() const { return {dst, src, sizes, perm}; }
  bool fits(std::uint64_t end) const {
    constexpr auto most_mode = static_cast<std::uint8_t>(graph::sync::all);
    constexpr auto most_hint = static_cast<std::uint8_t>(graph::hint::pull);
    return op < std::size(collectives::all_operations) && in <= most_mode && out <= most_mode &&
           direction <= most_hint && root == static_cast<std::uint32_t>(root) && dst < end && src < end &&
           sizes < end && perm < end;
  }
};

// The same of a reduction.
struct begin_reduction {
  begin_part part;
  reductions::description task;
  std::uint64_t large = 0;
  bool fits(std::uint64_t end) const { return part.fits(end) && task.fits(end); }
};

// To a rank that has called an operation of which it is no member: it is over, everywhere.
struct part_done {
  std::uint64_t channel = 0, number = 0;
  std::int32_t status = 0;
  std::uint32_t unreachable = 0, told_by = 0, lost = 0; // as in progress::operation; lost: a rank + 1, dead
  bool fits(std::uint64_t) const { return number != 0; }
};

// To the home of a lock, see locks.hpp; `serial` is that of the lock. Give it to me, now or when it is my
// turn.
struct want_lock {
  std::uint64_t id = 0, offset = 0;
  std::uint32_t serial = 0, only_try = 0;
  bool fits(std::uint64_t end) const { return id != 0 && offset < end && offset % 64 == 0; }
};
// I hold it no more; the word of the lock may say so already. Has no answer.
struct return_lock {
  std::uint64_t offset = 0;
  std::uint32_t serial = 0, by_word = 0;
  bool fits(std::uint64_t end) const { return offset < end && offset % 64 == 0; }
};
// The same, in checked mode: it has an answer.
struct unlock {
  std::uint64_t id = 0, offset = 0, serial = 0;
  bool fits(std::uint64_t end) const { return id != 0 && offset < end && offset % 64 == 0; }
};
struct free_lock {
  std::uint64_t id = 0, offset = 0, serial = 0;
  bool fits(std::uint64_t end) const { return id != 0 && offset < end && offset % 64 == 0; }
};

// To the owner of memory: do this to the value there, and tell me what was there.
struct do_atomic {
  std::uint64_t id = 0, offset = 0;
  std::uint8_t type = 0, kind = 0;
  std::array<std::uint8_t, 6> unused{};
  atomic_value operand1{}, operand2{};

  do_atomic() = default;
  do_atomic(std::uint64_t at, const atomic_operation& op)
      : offset(at), type(static_cast<std::uint8_t>(op.type)), kind(static_cast<std::uint8_t>(op.kind)),
        operand1(op.operand1), operand2(op.operand2) {}
  atomic_operation operation() const {
    return {static_cast<atomic_type>(type), static_cast<atomic_kind>(kind), operand1, operand2};
  }
  bool fits(std::uint64_t end) const {
    const auto t = static_cast<atomic_type>(type);
    const auto k = static_cast<atomic_kind>(kind);
    return id != 0 && offset < end && t <= atomic_type::pointer && k <= atomic_kind::xor_ &&
           is_defined(k, t) && offset % (is_word(t) ? size_of(t) : 8) == 0;
  }
};

// To the owner of memory: what I have put there is in place, so raise the signal behind it. Has no answer.
struct raise_signal {
  std::uint64_t offset = 0, value = 0, adds = 0;
  bool fits(std::uint64_t end) const { return offset < end && offset % sizeof(offset) == 0 && adds <= 1; }
};

// Checked mode, to the keeper of the books: which block is at this place, or before it?
struct find_block {
  std::uint64_t id = 0, offset = 0;
  bool fits(std::uint64_t end) const { return id != 0 && offset < end; }
};

// To all: the sender has left by weft_finalize behind a death, and answers nothing from now on. Has no
// answer.
struct departed {
  std::uint64_t unused = 0;
  bool fits(std::uint64_t) const { return unused == 0; }
};

// The answer to an inquiry, see inquiries.hpp.
struct answered {
  std::uint64_t id = 0, status = 0;
  std::array<std::uint64_t, 2> value{};
  bool fits(std::uint64_t) const { return id != 0; }
};

using request =
    std::variant<allocate, allocated, free_block, freed, allocate_mailbox, allocated_mailbox, free_mailbox,
                 left, open_channel, opened, begin_part, begin_reduction, part_done, want_lock, return_lock,
                 free_lock, answered, do_atomic, find_block, unlock, departed, raise_signal>;
using request_kind = std::uint64_t; // which of them

// What a message without an owner may carry, see progress/execution/flights.hpp.
constexpr std::size_t longest_request = sizeof(engine::mailbox::dispute_lines);

namespace detail {

template <class Request, std::size_t kind = 0> constexpr request_kind kind_of() {
  if constexpr (std::is_same_v<Request, std::variant_alternative_t<kind, request>>)
    return kind;
  else
    return kind_of<Request, kind + 1>();
}

template <std::size_t kind = 0>
std::optional<request> decode(request_kind what, std::span<const std::byte> body, std::uint64_t end) {
  if constexpr (kind < std::variant_size_v<request>) {
    if (what != kind) return decode<kind + 1>(what, body, end);
    std::variant_alternative_t<kind, request> r;
    if (body.size() != sizeof r) return std::nullopt;
    std::memcpy(&r, body.data(), sizeof r);
    if (r.fits(end)) return r;
  }
  return std::nullopt;
}

} // namespace detail

// The payload of a message.
template <class Request> auto encoded(const Request& r) {
  static_assert(std::has_unique_object_representations_v<Request>, "no padding goes out");
  constexpr request_kind what = detail::kind_of<Request>();
  std::array<std::byte, sizeof what + sizeof r> bytes;
  static_assert(sizeof bytes <= longest_request);
  std::memcpy(bytes.data(), &what, sizeof what);
  std::memcpy(bytes.data() + sizeof what, &r, sizeof r);
  return bytes;
}

// Nothing if it is none, or cannot be right: such a message is dropped.
inline std::optional<request> decoded(std::span<const std::byte> payload, std::uint64_t end) {
  request_kind what = 0;
  if (payload.size() < sizeof what) return std::nullopt;
  std::memcpy(&what, payload.data(), sizeof what);
  return detail::decode(what, payload.subspan(sizeof what), end);
}

// What a thread waits for that has asked a rank for something, in the words of a report.

inline std::string place(std::uint64_t offset) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "offset 0x%llx", static_cast<unsigned long long>(offset));
  return text.data();
}

inline std::string answer_of(std::uint32_t peer, const std::string& to) {
  return "an answer of thread " + std::to_string(peer) + " to " + to;
}
inline std::string wait_text(std::uint32_t peer, const allocate& r) {
  return answer_of(peer, "upc_global_alloc of " + std::to_string(r.bytes) + " bytes per thread");
}
inline std::string wait_text(std::uint32_t peer, const free_block& r) {
  return answer_of(peer, "upc_free at " + place(r.offset));
}
inline std::string wait_text(std::uint32_t peer, const allocate_mailbox&) {
  return answer_of(peer, "a request for the memory of a team");
}
inline std::string wait_text(std::uint32_t peer, const want_lock& r) {
  return "a lock of thread " + std::to_string(peer) + " at " + place(r.offset);
}
inline std::string wait_text(std::uint32_t peer, const unlock& r) {
  return answer_of(peer, "upc_unlock at " + place(r.offset));
}
inline std::string wait_text(std::uint32_t peer, const free_lock& r) {
  return answer_of(peer, "upc_lock_free at " + place(r.offset));
}
inline std::string wait_text(std::uint32_t peer, const do_atomic& r) {
  return answer_of(peer, "an atomic operation at " + place(r.offset));
}
inline std::string wait_text(std::uint32_t peer, const find_block& r) {
  return answer_of(peer, "which block is at " + place(r.offset) + " (WEFT_CHECK)");
}

} // namespace weft::control
