// SPDX-License-Identifier: BSD-3-Clause
#include "engine/unequal/exchange.hpp"

#include <cstring>

namespace weft::unequal {

namespace {

// A member's table of notes that have come has its own at its own place. Behind it is the one of those that
// it sends.
class notes {
public:
  notes(const exchange& b, const graph::work& w)
      : b_(b), w_(w), length_(w.scratch_bytes / w.members / (w.message == 0 ? 2 : 1)) {}

  void write_notes() const {
    for (std::uint32_t member = 0; member != w_.members; ++member) {
      const block* const mine = b_.given_to(member, w_.me);
      if (mine == nullptr || w_.where->is_near(member)) continue;
      if (b_.from_one) keep(member, not_come);
      const bool along = travels(member, mine->bytes);
      const note n{along ? note::along : mine->at, mine->bytes};
      std::memcpy(sent(member), &n, sizeof n);
      if (along) std::memcpy(sent(member) + sizeof n, w_.segment + mine->at, mine->bytes);
    }
    std::uint64_t readers = 0;
    for (const std::uint32_t member : w_.where->far())
      if (const block* const b = b_.given_to(member, w_.me); b != nullptr && !travels(member, b->bytes))
        ++readers;
    keep_readers(far_word, readers);
  }
  // Of my one block, or of my table.
  void write_own_note(bool packed) const {
    if (b_.from_one)
      for (std::uint32_t member = 0; member != w_.members; ++member)
        if (packed || w_.where->is_near(member)) keep(member, not_come);
    const note n = own_note();
    std::memcpy(arrived(w_.me), &n, sizeof n);
    if (!packed) return;
    const graph::topology& g = *w_.where;
    const packed_blocks mine(b_, w_, w_.me, n);
    std::uint64_t readers = 0;
    for (std::uint32_t host = 0; host != g.hosts(); ++host)
      if (host != g.host(w_.me)) readers += mine.left_to_readers(host);
    keep_readers(far_word, readers);
  }
  // The note, and what is packed behind it.
  std::uint64_t write_for_neighbours(std::byte* to) const {
    if (b_.from_one && w_.where->one_host()) // else stage 7 or 8 has
      for (const std::uint32_t member : w_.where->near())
        keep(member, not_come);
    const note n = own_note();
    std::memcpy(to, &n, sizeof n);
    const packed_blocks mine(b_, w_, w_.me, n);
    const std::uint32_t here = w_.where->host(w_.me);
    keep_readers(near_word, mine.left_to_readers(here));
    const std::uint64_t packed = mine.write(here, to + sizeof n);
    constexpr std::uint32_t nothing = 0;
    if (packed == 0) std::memcpy(to + sizeof n, &nothing, sizeof nothing);
    return sizeof n + std::max(packed, sizeof nothing);
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
      if (mine == nullptr || w_.where->is_near(member) || !travels(member, mine->bytes)) continue;
      place(member, {arrived(member) + sizeof(note), come(member).bytes});
    }
  }
  // A block that came, if it is as long as I expect.
  bool place(std::uint32_t member, std::span<const std::byte> bytes) const {
    const block* const mine = b_.taken_of(member, w_.me);
    if (bytes.size() != mine->bytes || !usable(*mine)) return false;
    std::memcpy(w_.segment + mine->at, bytes.data(), bytes.size());
    return true;
  }
  void keep(std::uint32_t member, const note& n) const { std::memcpy(arrived(member), &n, sizeof n); }

  // Of me: what I send.
  graph::part payload_for(std::uint32_t peer) const {
    return {0, sent(peer), message_of_note(carried(peer, b_.given_to(peer, w_.me)))};
  }
  // Its note first. Behind it is a block as long as I expect, if it says so.
  graph::part payload_of(std::uint32_t peer) const {
    const std::uint64_t expected = carried(peer, b_.taken_of(peer, w_.me));
    const bool comes = w_.done != 0 && come(peer).bytes == expected;
    return {0, arrived(peer), comes ? message_of_note(expected) : shortest_message};
  }
  graph::part brought(std::uint32_t peer) const {
    const block* const mine = b_.taken_of(peer, w_.me);
    const note said = come(peer);
    if (b_.from_one) keep(peer, said); // its table may be gone when another member is asked about
    graph::part p{said.at, w_.segment + mine->at, mine->bytes};
    if (b_.from_one && said.bytes == 0)
      p.bytes = 0, p.last_of_none = mine->bytes != 0 && comes_from_none();
    else if (b_.from_one && comes_from_another(peer))
      p.second = true;
    else if (said.bytes != mine->bytes)
      p.given = said.bytes;
    else if (!usable(*mine))
      p.gone = true;
    else if (said.at == note::along)
      p.bytes = 0;
    return p;
  }
  std::uint64_t left(std::uint32_t member) const {
    if (member != w_.me) return arrived_note(member).at == note::along ? 0 : 1;
    const graph::topology& g = *w_.where;
    const bool near = b_.to_root ? g.is_near(b_.root) : !g.near().empty();
    const bool far = b_.to_root ? !near : !g.far().empty();
    return (near ? readers(near_word) : 0) + (far ? readers(far_word) : 0);
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
  note own_note() const {
    if (b_.gives_one()) return {b_.given->at, b_.given->bytes};
    return {static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(b_.given) - w_.segment),
            note::in_table};
  }
  // How many members bring a block of mine, behind my own note.
  enum word : std::uint8_t { near_word, far_word };
  std::byte* place_of(word w) const { return arrived(w_.me) + sizeof(note) + w * sizeof(std::uint64_t); }
  void keep_readers(word w, std::uint64_t n) const { std::memcpy(place_of(w), &n, sizeof n); }
  std::uint64_t readers(word w) const {
    std::uint64_t n = 0;
    std::memcpy(&n, place_of(w), sizeof n);
    return n;
  }
  std::byte* sent(std::uint32_t member) const { return w_.scratch + (w_.members + member) * length_; }
  std::byte* arrived(std::uint32_t member) const { return w_.scratch + member * length_; }
  note arrived_note(std::uint32_t member) const {
    note n;
    std::memcpy(&n, arrived(member), sizeof n);
    return n;
  }
  // What a member has said of its block for me: a near one in its table.
  note come(std::uint32_t member) const {
    const note n = arrived_note(member);
    if (n.bytes != note::in_table || !w_.where->is_near(member)) return n;
    const block given = entry_of(w_, member, n.at, w_.me);
    return {given.at, given.bytes};
  }

  const exchange& b_;
  const graph::work& w_;
  std::uint64_t length_;
};

const exchange& of(const graph::task& t) {
  return static_cast<const exchange&>(t);
}

bool run(const graph::task& t, graph::work& w) {
  const notes e(of(t), w);
  switch (w.stage) {
  case 4:
    return e.place_own(w);
  case 1:
    e.write_notes();
    break;
  case 6:
    e.place_what_came();
    break;
  default:
    e.write_own_note(w.stage == 8);
  }
  return true;
}
graph::part part_of(const graph::task& t, const graph::work& w, std::uint32_t peer) {
  const notes e(of(t), w);
  return w.stage == 2 ? e.payload_for(peer) : w.stage == 5 ? e.payload_of(peer) : e.brought(peer);
}
std::uint64_t pack(const graph::task& t, const graph::work& w, std::uint32_t member, std::uint32_t host,
                   const std::byte* published, std::byte* to) {
  if (host == w.where->host(w.me)) return notes(of(t), w).write_for_neighbours(to);
  note n;
  std::memcpy(&n, published, sizeof n);
  return packed_blocks(of(t), w, member, n).write(host, to);
}
bool unpack(const graph::task& t, const graph::work& w, std::uint32_t member,
            std::span<const std::byte> packed) {
  const notes e(of(t), w);
  const packed_entry mine = read_packed(packed, of(t).gives_one() ? 0 : w.where->local_index(w.me));
  e.keep(member, mine.what);
  return mine.what.at == note::along && e.place(member, mine.bytes) && !of(t).from_one;
}
std::uint64_t brought(const graph::task& t, const graph::work& w, std::uint32_t member) {
  return notes(of(t), w).left(member);
}
void release(const graph::task& t) {
  of(t).release_blocks(of(t).kept);
}

} // namespace

void prepare(exchange& b) {
  b.run = run;
  b.part_of = part_of;
  b.pack = pack;
  b.unpack = unpack;
  b.brought = brought;
  b.bytes = sizeof b;
  if (b.release_blocks != nullptr) b.release = release;
}

} // namespace weft::unequal
