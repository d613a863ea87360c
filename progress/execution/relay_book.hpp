// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/memory/cells.hpp"

#include <algorithm>
#include <array>
#include <bit>
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

} // namespace weft::progress
