// SPDX-License-Identifier: BSD-3-Clause
#include "engine/unequal/exchange.hpp"

#include "engine/topology/topology.hpp"

#include <cstring>

namespace weft::unequal {

namespace {

class notes {
public:
  notes(const exchange& b, const graph::work& w) : b_(b), w_(w), length_(longest_note(w.members)) {}

  void write_notes() const {
    for (std::uint32_t member = 0; member != w_.members; ++member) {
      const block* const mine = b_.given_to(member, w_.me);
      if (mine == nullptr || member == w_.me) continue;
      const note n{mine->at, mine->bytes};
      if (b_.from_one) std::memcpy(arrived(member), &not_come, sizeof not_come);
      std::memcpy(sent(member), &n, sizeof n);
      if (travels(member, n.bytes)) std::memcpy(sent(member) + sizeof n, w_.segment + n.at, n.bytes);
    }
  }
  // Piece by piece.
  bool place_own(graph::work& w) const {
    const block *const own = b_.given_to(w_.me, w_.me), *const to = b_.taken_of(w_.me, w_.me);
    if (own != nullptr && to != nullptr && own->at != to->at && w.done != own->bytes && usable(*to) &&
        usable(*own)) {
      const std::uint64_t now = std::min(w.budget, own->bytes - w.done);
      std::memcpy(w_.segment + to->at + w.done, w_.segment + own->at + w.done, now);
      w.done += now;
      return w.done == own->bytes;
    }
    return true;
  }
  void place_what_came() const {
    for (std::uint32_t member = 0; member != w_.members; ++member) {
      const block* const mine = b_.taken_of(member, w_.me);
      if (mine == nullptr || member == w_.me || !travels(member, mine->bytes)) continue;
      if (come(member).bytes == mine->bytes && usable(*mine))
        std::memcpy(w_.segment + mine->at, arrived(member) + sizeof(note), mine->bytes);
    }
  }

  // Of me: what I send.
  graph::part payload_for(std::uint32_t peer) const {
    return {0, sent(peer), sizeof(note) + carried(peer, b_.given_to(peer, w_.me))};
  }
  graph::part payload_of(std::uint32_t peer) const {
    return {0, arrived(peer), sizeof(note) + carried(peer, b_.taken_of(peer, w_.me))};
  }
  graph::part brought(std::uint32_t peer) const {
    const block* const mine = b_.taken_of(peer, w_.me);
    const note said = come(peer);
    graph::part p{said.at, w_.segment + mine->at, mine->bytes};
    if (b_.from_one && said.bytes == 0)
      p.bytes = 0, p.last_of_none = mine->bytes != 0 && comes_from_none();
    else if (b_.from_one && comes_from_another(peer))
      p.second = true;
    else if (said.bytes != mine->bytes)
      p.given = said.bytes;
    else if (!usable(*mine))
      p.gone = true;
    else if (travels(peer, mine->bytes))
      p.bytes = 0; // it has come
    return p;
  }

private:
  // In the place of a note.
  static constexpr note not_come{~std::uint64_t{0}, ~std::uint64_t{0}};
  static bool gives(const note& n) { return n.bytes != 0 && n.bytes != not_come.bytes; }
  const block* own_given() const {
    const block* const own = b_.given_to(w_.me, w_.me);
    return own->bytes == 0 ? nullptr : own;
  }
  bool comes_from_another(std::uint32_t peer) const {
    for (std::uint32_t member = 0; member != w_.members; ++member)
      if (member != peer && member != w_.me && gives(come(member))) return true;
    return own_given() != nullptr;
  }
  // All have said so.
  bool comes_from_none() const {
    if (own_given() != nullptr) return false;
    for (std::uint32_t member = 0; member != w_.members; ++member)
      if (member != w_.me && come(member).bytes != 0) return false;
    return true;
  }
  bool usable(const block& b) const { return b_.usable == nullptr || b_.usable(w_.segment + b.at, b.bytes); }
  bool travels(std::uint32_t peer, std::uint64_t bytes) const {
    return !w_.where->is_near(peer) && bytes <= length_ - sizeof(note);
  }
  std::uint64_t carried(std::uint32_t peer, const block* b) const {
    return travels(peer, b->bytes) ? b->bytes : 0;
  }
  std::byte* sent(std::uint32_t member) const { return w_.scratch + member * length_; }
  std::byte* arrived(std::uint32_t member) const { return w_.scratch + (w_.members + member) * length_; }
  note come(std::uint32_t member) const {
    note n;
    std::memcpy(&n, arrived(member), sizeof n);
    return n;
  }

  const exchange& b_;
  const graph::work& w_;
  std::uint64_t length_;
};

bool run(const graph::task& t, graph::work& w) {
  const notes e(static_cast<const exchange&>(t), w);
  if (w.stage == 4) return e.place_own(w);
  w.stage == 1 ? e.write_notes() : e.place_what_came();
  return true;
}
graph::part part_of(const graph::task& t, const graph::work& w, std::uint32_t peer) {
  const notes e(static_cast<const exchange&>(t), w);
  return w.stage == 2 ? e.payload_for(peer) : w.stage == 5 ? e.payload_of(peer) : e.brought(peer);
}
void release(const graph::task& t) {
  const auto& b = static_cast<const exchange&>(t);
  b.release_blocks(b.given);
}

} // namespace

void prepare(exchange& b) {
  b.run = run;
  b.part_of = part_of;
  b.bytes = sizeof b;
  if (b.release_blocks != nullptr) b.release = release;
}

} // namespace weft::unequal
