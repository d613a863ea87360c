#pragma once
#include "engine/memory/segment_layout.hpp"
#include "engine/team.hpp"
#include "progress/operation.hpp"

#include <memory>
#include <new>
#include <vector>

namespace weft::progress {

// A private copy of a far member's board, kept by its messages.
class mirror {
public:
  mirror() : memory_(new(std::align_val_t{engine::board::line}) std::byte[engine::board::bytes(0)]()) {}
  engine::board view() const { return {memory_.get(), 0}; }

private:
  struct aligned_delete {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{engine::board::line}); }
  };
  std::unique_ptr<std::byte[], aligned_delete> memory_;
};

// A team as its member's executor works on it. Everything here is under the baton, except own.entered(), which
// the posting threads raise.
struct team_state {
  engine::team_info info;
  engine::board own;
  std::vector<engine::board> boards;           // by member: in place, or a mirror; empty until first needed
  std::vector<std::unique_ptr<mirror>> mirrors; // by member
  std::vector<engine::sequence> credit;         // by member: the last `retired` seen

  engine::sequence retired = 0;   // every operation up to this one is finished here
  std::uint32_t finished = 0;     // slots whose operation is finished but not yet retired
  operation* waiting = nullptr;   // posted, no slot yet; by sequence
  engine::sequence near_credit = 0; // all near members have retired at least this

  std::vector<std::uint32_t> owed;    // far members to whom a credit message may be due
  std::vector<std::uint8_t> is_owed;  // by member

  engine::sequence next_sequence() { return own.entered().fetch_add(1, std::memory_order_seq_cst) + 1; }
};

} // namespace weft::progress
