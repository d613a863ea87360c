// SPDX-License-Identifier: BSD-3-Clause
// Whom may a late rank L hold up? The derivation, for another rank e. "Partners" are ranks between
// which the function moves a block; what a rank copies to itself makes no rank a partner.
//
// IN_ALLSYNC: no data are touched before L has entered, so every rank may be held up.
//   - OUT_MY, OUT_ALL: every rank owns data in every function, which are yet to be touched.
//     Every rank must be.
//   - OUT_NO: who has carried nothing may go, whoever that is: L itself may carry all.
//
// IN_NOSYNC: the data of L are in place, so its absence delays nothing by itself.
//   - OUT_NO: a rank does its part, or none, and goes. No rank is held up.
//   - OUT_MY: a block between e and L may be L's to carry, and e's data are then busy until L has
//     come: partners. Near ranks carry each other's blocks, so among them it is none.
//   - OUT_ALL: L's own part of the work is a part of all. Every rank may be.
//
// IN_MYSYNC: the data of L are neither read nor written before it has entered; other data are free.
//   - OUT_ALL: all includes L's data. Every rank must be.
//   - OUT_MY: if e receives from L, its destination cannot be full: it must be held up. If e only
//     sends to L, its source cannot have been read: it must be held up, unless it could send ahead.
//     Up to 2 KiB, or what suits the path between hosts, broadcast, scatter and gather do, and then it must
//     be free; others may or may not. The root of a scatter_x cannot: what L will read of it is written in
//     L's arrays. With no block between them e must be free: in exchange and gather_all that is no rank, in
//     broadcast, scatter and gather every rank but the root, in permute every rank but the two partners. Only
//     the arrays say who the root of a scatter_x or gather_x is: a rank whose own block is empty
//     may be it for all that it knows, as long as L's arrays have not been read.
//   - OUT_NO: a rank goes when what it carries itself is in place. Who carries a block is the
//     library's choice, so partners may be held up. With a hint it is the reader (pull) or the
//     writer (push) who carries, and the other end goes. What was sent ahead is always taken by the
//     reader.
//
// In place, a block can move on only when the block in its destination has: along a permutation's
// cycle a late rank may hold up all. Not under IN_NOSYNC on one node, where those who have come rotate
// the whole cycle.
//
// Blocks of 0 bytes are no data: no rank must be held up for their sake, but one that may be still
// may.
//
// The barriers and Cray's all-to-all, whose call does not return before all have entered: every rank
// must be.
#include "tests/modes/rules.hpp"

namespace modes {
namespace {

// On e's cycle of the permutation.
bool on_cycle(const situation& s, int rank) {
  int at = s.late;
  do {
    at = s.of().permuted(at);
    if (at == rank) return true;
  } while (at != s.late);
  return false;
}

bool on_one_node(const situation& s, const neighbourhood& near) {
  for (int rank = 0; rank < s.threads; ++rank)
    if (on_cycle(s, rank) && !near(rank)) return false;
  return true;
}

bool rooted(const situation& s) {
  return s.what.shape() == pattern::from_root || s.what.shape() == pattern::to_root;
}
bool plain(const situation& s) {
  return s.what.plain();
}
bool may_be_root_of_late(const situation& s) {
  return s.empty && s.what.extended() && rooted(s) && !s.what.scalar_size() && s.out == out_mode::my;
}
bool sent_ahead(const situation& s) {
  return s.small && plain(s) && rooted(s);
}
bool could_be_sent_ahead(const situation& s) {
  const bool known = !s.what.extended() || s.what.shape() != pattern::from_root || s.what.scalar_size();
  return s.small && known;
}

verdict in_nosync(const situation& s, bool partner, bool near) {
  if (s.out == out_mode::all) return verdict::may;
  if (s.out == out_mode::no || !partner) return verdict::free;
  return near ? verdict::free : verdict::may;
}

verdict in_mysync(const situation& s, bool receives, bool sends) {
  const bool moved_by_hint = plain(s) && s.what.shape() != pattern::permuted && !sent_ahead(s);
  if (s.out == out_mode::all) return verdict::must;
  if (!receives && !sends) return verdict::free;
  if (!receives && sent_ahead(s)) return verdict::free;
  if (s.out == out_mode::no) {
    if (moved_by_hint && s.hint == UPC_PULL && !receives) return verdict::free;
    if (moved_by_hint && s.hint == UPC_PUSH && !sends) return verdict::free;
    return verdict::may;
  }
  if (receives) return verdict::must;
  return could_be_sent_ahead(s) ? verdict::may : verdict::must;
}

verdict judge_data(const situation& s, int rank, const neighbourhood& near) {
  if (s.in == in_mode::all) return s.out == out_mode::no ? verdict::may : verdict::must;
  const bool receives = s.of().sends(s.late, rank);
  const bool sends = s.of().sends(rank, s.late) || may_be_root_of_late(s);
  const verdict v = s.in == in_mode::no ? in_nosync(s, receives || sends, near(rank) && near(s.late))
                                        : in_mysync(s, receives, sends);
  const bool stuck_behind = on_cycle(s, rank) && waits_along_its_cycle(s, near);
  return v == verdict::free && stuck_behind ? verdict::may : v;
}

} // namespace

bool waits_along_its_cycle(const situation& s, const neighbourhood& near) {
  if (!s.what.in_place || s.what.shape() != pattern::permuted) return false;
  return s.in != in_mode::no || !on_one_node(s, near);
}

verdict judge(const situation& s, int rank, const neighbourhood& near) {
  if (s.what.wait != barrier::none || s.out == out_mode::local) return verdict::must;
  const verdict v = s.what.cray() ? verdict::must : judge_data(s, rank, near);
  return v == verdict::must && s.empty ? verdict::may : v;
}

} // namespace modes
