// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/bundle_box.hpp"
#include "engine/memory/mailbox.hpp"
#include "engine/memory/ring_list.hpp"
#include "engine/out_of_memory.hpp"
#include "engine/team.hpp"
#include "engine/zeroed_table.hpp"
#include "progress/execution/call_record.hpp"
#include "progress/execution/operation.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::progress {

// What the engine of one member still has to hand on of one operation: to which ranks, and from which cells
// of the shadow of the root.
struct relayed_payload {
  engine::sequence seq = 0;
  std::uint32_t root = 0, radix = 0;
  std::uint32_t bytes = 0;
  std::uint8_t phase = 0;
  std::uint32_t children = 0, unsent = 0;
  std::uint32_t in_flight = 0;
  int failed = 0; // the status of one that could not be sent, and to which rank
  std::uint32_t unreachable = 0;
};

// The same of a channel: one for each slot, for an operation has one root, and the next one of the slot comes
// when this one has gone. A bit for each child says that it has not been sent to. Under progress ownership.
class relay_book {
public:
  explicit relay_book(std::uint32_t far) : words_((far + 63) / 64), unsent_(words_ * engine::slots) {}

  bool empty() const { return busy_ == 0; }
  std::uint32_t busy() const { return busy_; } // slots, a bit each
  relayed_payload& operator[](std::uint32_t slot) { return all_[slot]; }

  // Null if the slot still has another one.
  relayed_payload* begin(const relayed_payload& p) {
    const std::uint32_t slot = engine::slot_of(p.seq);
    if ((busy_ >> slot & 1) != 0) return nullptr;
    busy_ |= 1u << slot;
    all_[slot] = p;
    mark_unsent(all_[slot]);
    return &all_[slot];
  }
  void end(const relayed_payload& p) { busy_ &= ~(1u << engine::slot_of(p.seq)); }

  // To all of them once more: a rank that has it already drops it.
  void mark_unsent(relayed_payload& p) {
    p.unsent = p.children;
    std::uint64_t* const bits = bits_of(p);
    for (std::size_t k = 0; k < words_; ++k)
      bits[k] = k < p.children / 64 ? ~std::uint64_t{0} : 0;
    if (p.children % 64 != 0) bits[p.children / 64] = (std::uint64_t{1} << p.children % 64) - 1;
  }
  void drop(relayed_payload& p) {
    p.unsent = 0;
    std::fill_n(bits_of(p), words_, 0);
  }

  // Calls `send` for each child that it has not been sent to; true: now it has.
  template <class Send> void each_unsent(relayed_payload& p, Send&& send) {
    std::uint64_t* const bits = bits_of(p);
    for (std::size_t k = 0; k < words_ && p.unsent != 0; ++k)
      for (std::uint64_t left = bits[k]; left != 0; left &= left - 1) {
        if (!send(static_cast<std::uint32_t>(k * 64 + static_cast<unsigned>(std::countr_zero(left)))))
          continue;
        bits[k] &= ~(left & -left);
        --p.unsent;
      }
  }

  // The last operation before all that is still to be handed on.
  engine::sequence handed_on(engine::sequence retired) const {
    for (std::uint32_t rest = busy_; rest != 0; rest &= rest - 1)
      retired = std::min(retired, all_[static_cast<unsigned>(std::countr_zero(rest))].seq - 1);
    return retired;
  }

private:
  std::uint64_t* bits_of(const relayed_payload& p) {
    return unsent_.data() + words_ * engine::slot_of(p.seq);
  }

  std::uint32_t busy_ = 0;
  std::array<relayed_payload, engine::slots> all_{};
  std::size_t words_;
  std::vector<std::uint64_t> unsent_;
};

// The operations of one team that are posted and have no slot yet, by sequence number, linked through their
// `next`. Thousands may wait, but they come in order, except for those that several threads post at once: an
// operation goes behind the last one without a search, else it looks for its place.
class waiting_list {
public:
  bool empty() const { return first_ == nullptr; }
  operation& first() { return *first_; }

  void insert(operation& op) {
    if (empty() || op.seq < first_->seq) {
      op.next = first_;
      first_ = &op;
      if (last_ == nullptr) last_ = &op;
      return;
    }
    operation* before = last_->seq < op.seq ? last_ : first_;
    while (before->next != nullptr && before->next->seq < op.seq)
      before = before->next;
    op.next = before->next;
    before->next = &op;
    if (before == last_) last_ = &op;
  }

  operation& take_first() {
    operation& op = *first_;
    first_ = op.next;
    if (first_ == nullptr) last_ = nullptr;
    return op;
  }

private:
  operation* first_ = nullptr;
  operation* last_ = nullptr;
};

// Why nothing can be had from a rank any more, for the errors that name it: "thread 3 " and these words.
struct fate {
  std::string words = "has died";
  // Others may reach it still, and it them: then they must hear that operations with it and this rank fail.
  bool lives = false;
};

// A private copy of a far member's mailbox, kept by its messages; made by the first look at it. Pages are
// taken when touched: most payloads are small, and a mailbox has room for large ones.
class shadow {
public:
  static constexpr bool is_made_of_zeros = true;
  // What it takes of memory where no payload is longer than a head, when all slots have been used.
  static constexpr std::size_t bytes_of_small_payloads =
      (offsetof(engine::mailbox::fixed, body) + 4095) / 4096 * 4096;

  shadow() = default;
  ~shadow() {
    if (memory_ != nullptr) munmap(memory_, bytes());
  }
  shadow(shadow&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
  shadow& operator=(shadow&&) = delete;

  engine::mailbox view() noexcept {
    if (memory_ == nullptr)
      memory_ = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) engine::end_out_of_memory("what is known of another rank");
    return {static_cast<std::byte*>(memory_), 0};
  }

private:
  static std::size_t bytes() { return engine::mailbox::shadow_bytes(); }
  void* memory_ = nullptr;
};

// A far member wants to hear when I have retired (or published my row of) an operation.
struct credit_request {
  std::uint32_t member;
  engine::sequence needed;
};

// The last `retired` that was seen of a member.
struct seen_credit {
  static constexpr bool is_made_of_zeros = true;
  engine::sequence retired = 0;
};

// What I want to hear of a far member: that it has retired an operation.
struct credit_question {
  static constexpr bool is_made_of_zeros = true;
  engine::sequence asked = 0;     // by a message of its own, and not yet answered
  engine::sequence mentioned = 0; // by one that goes there anyway, or is to be
  bool due = false;               // the next message mentions it
};

// What operations belong to, as one of its members works on it: slots, the sequence of their numbers, and
// credit. A team has one, on which every member posts every operation. A rank can have one of its own: it
// alone posts there, and the engines of the others begin their part when they are asked to; see
// progress/control/own_channels.hpp. Everything here is under progress ownership.
struct channel {
  static constexpr std::uint32_t no_rank = ~std::uint32_t{0};
  // Memory for each member: what is taken for each, and what is set aside, of which pages are taken when
  // a member on them is first spoken to.
  static constexpr std::size_t bytes_of_member =
      graph::topology::bytes_of_member + sizeof(std::uint32_t); // info
  static constexpr std::size_t set_aside_for_member = sizeof(engine::mailbox) + sizeof(shadow) +
                                                      sizeof(seen_credit) + sizeof(credit_question) +
                                                      sizeof(credit_request);

  channel(engine::team_info members, std::byte* segment)
      : info(std::move(members)), own(segment + info.mailbox_offset, info.topology.locals()),
        mailboxes(info.size()), shadows(info.size()), credit(info.size()), questions(info.size()),
        relayed(static_cast<std::uint32_t>(info.topology.far().size())) {
    askers.reserve(info.topology.far().size());
  }

  // What far members may take as retired: their payloads lie here until they are handed on.
  engine::sequence told() const { return relayed.empty() ? retired : relayed.handed_on(retired); }

  engine::team_info info;
  bool is_mine = false; // this rank's own: whatever begins on it the others are asked to begin
  engine::mailbox own;
  engine::zeroed_table<engine::mailbox>
      mailboxes;                            // by member: in place, or a shadow; empty until first needed
  engine::zeroed_table<shadow> shadows;     // by member
  engine::zeroed_table<seen_credit> credit; // by member

  engine::sequence retired = 0; // every operation up to this one is finished here
  engine::sequence admitted =
      engine::slots;            // operations up to this one get a slot; none once a member is lost
  std::uint32_t lost = no_rank; // the rank of the job because of which no operation can finish
  fate why_lost;                // what has become of it
  std::uint32_t told_lost = no_rank,
                told_lost_by = no_rank; // the same, by another member that cannot reach it
  bool leaving = false;                 // freed: it is reported quiet when all that is posted is retired
  std::uint32_t finished = 0;           // slots whose operation is finished but not yet retired
  waiting_list waiting;                 // posted, no slot yet
  engine::sequence near_credit = 0;     // all near members have retired at least this

  engine::zeroed_table<credit_question> questions; // by far member
  std::vector<credit_request> askers;              // far members that wait for a retirement of mine
  std::vector<credit_request> waiters;             // far members that wait for a row of mine
  relay_book relayed;                              // payloads of others that I still have to hand on
  // The last operations that had the large places of boxes, which they have in turn.
  std::array<engine::sequence, engine::bundle_box::large_places> in_large_places{};
  std::uint32_t large_place = 0; // the next one's
  struct failure {
    engine::sequence seq = 0;
    int status = 0;
    std::uint32_t unreachable = 0, told_by = 0;
  };
  std::vector<failure> failures; // of operations that have not yet begun here
  struct published {
    engine::sequence seq = 0;
    named_block row;
  };
  std::array<published, engine::slots> rows{}; // mine, by slot: until all members have retired the operation
  struct naming {
    engine::sequence seq = 0;
    std::uint32_t member = 0;
  };
  std::array<naming, engine::slots> namings{}; // by slot: the far member whose row names me
  std::unique_ptr<const call_dispute> dispute; // checked mode: nothing more can be done on this team
};

using channel_map = std::unordered_map<std::uint32_t, std::unique_ptr<channel>>; // by id

} // namespace weft::progress
