// SPDX-License-Identifier: BSD-3-Clause
// Operations in which a member's row in shared memory names the other end of its block. A row is data of its
// owner: it is read when the owner may be read, never at post, and not after the owner has left. So the owner
// publishes it (near members read its copy, or the row itself as long as that copy is not there), and far
// members are sent it, or ask for it.
#include "engine/collectives/algorithm.hpp"
#include "engine/collectives/sync_modes.hpp"

namespace weft::collectives {
using namespace graph;

namespace {

class by_rows {
public:
  by_rows(const request& r, pattern pairs, naming names, const block_rule& rule, const topology& g,
          const tuning& t, const indirection& indirect)
      : request_(r), g_(g), builder_(g.me(), g.size(), 0), modes_(builder_, g, r.in, r.out),
        many_nodes_(!g.one_host()) {
    p().pairs = pairs;
    p().names = names;
    builder_.blocks_of(rule, name_bytes);
    p().find(indirect);
    p().in_place = r.in_place;
    p().far = many_nodes_ || (r.in_place && !p().rotates()); // else no rank can do my part for me
    cut_blocks(p(), t);
    decide_eager(t);
  }

  plan permuted() {
    if (p().eager) return permuted_eagerly();
    const node_set gate = modes_.gate();
    if (both_ends_carry() && !g_.near().empty()) builder_.add(publish_row(), gate);
    const node_set data = send_block(gate) | receive_block(gate);
    modes_.exit(data, 0, both_ends_carry() ? all_pieces() : 0, modes_.tells_ends() ? all_pieces() : 0);
    return builder_.finish();
  }

  plan permuted_in_place() {
    const node_set gate = modes_.gate();
    const bool lonely = g_.near().empty();
    // A rank that comes late looks for its cycle when those that rotated it have left.
    if ((modes_.claims() || p().rotates()) && !lonely) builder_.add(publish_row(), gate);
    if (p().rotates() && !many_nodes_) {
      builder_.add(modes_.assists() ? rotate_all() : rotate_own(), gate);
      return builder_.finish();
    }
    const node_set rotated = p().rotates() && !lonely ? builder_.add(rotate_own(), gate) : 0;
    modes_.leave(handed_along(gate, rotated) | rotated);
    return builder_.finish();
  }

  plan rooted() {
    const node_set gate = modes_.gate();
    if (modes_.tells_ends() || modes_.assists() || pulls()) builder_.add(publish_row(), gate);
    const node_set own = own_block(gate);
    if (modes_.assists())
      builder_.add(assist_all(), own | gate);
    else
      modes_.leave(own | serve_if_root(gate));
    return builder_.finish();
  }

private:
  plan& p() { return builder_.draft(); }

  // As in relocate.cpp: a payload may travel before its reader has entered.
  void decide_eager(const tuning& t) {
    const bool names_one = by_source() && p().names == naming::rank;
    p().eager = names_one && !request_.in_place && request_.in == sync::my && request_.out != sync::all &&
                request_.bytes + name_bytes <= t.eager_bytes;
    if (p().eager) p().eager_bytes[0] = static_cast<std::uint32_t>(request_.bytes + name_bytes);
  }

  // My own block, if it stays with me, goes the same way.
  plan permuted_eagerly() {
    const node_set published = builder_.add(publish());
    builder::step_list out;
    out.then(far_only(send_payload()));
    if (many_nodes_) builder_.loop(range::named, 1, out, published);
    builder::step_list in;
    in.then(await_named()).then(take_payload());
    builder_.loop(range::naming, 1, in);
    return builder_.finish();
  }

  // Each block aside in turn, along a cycle that is not rotated.
  node_set handed_along(node_set gate, node_set rotated) {
    builder::step_list out;
    out.then(far_only(send_row()));
    if (many_nodes_) builder_.loop(range::named, 1, out, gate);
    builder::step_list in;
    in.then(await_named()).then(save_piece()).then(count_for_each(fact::consumed, 1)).then(restore_piece());
    const node_set here = builder_.loop(range::naming, 1, in, gate | rotated);
    // Blocks of one length are gone when the last piece is restored.
    const bool may_be_longer = static_cast<bool>(p().indirect());
    return modes_.claims() && may_be_longer
               ? here | builder_.add(await_count(fact::consumed, 0), gate | rotated)
               : here;
  }

  bool by_source() { return p().pairs == pattern::by_source; }
  std::uint32_t all_pieces() { return p().chunks; }
  // Between hosts under IN_MY, one end must hear of the other.
  bool pulls() const { return many_nodes_ && modes_.each_waits(); }
  // Near members look for the one that names them, and help. Under OUT_ALL between hosts the last rounds tell
  // them that their blocks are here, and need not be preceded by a count of each far one.
  bool both_ends_carry() const {
    return modes_.claims() && (modes_.tells_ends() || modes_.assists() || pulls());
  }

  // To the member that my row names: near by claims, so that either end may carry it. A far one cannot know
  // that it is meant: under IN_MY it is told and pulls when it has entered, else I push.
  node_set send_block(node_set gate) {
    builder::step_list steps;
    steps.then_if(modes_.each_waits(), near_only(await_entry()));
    steps.then(near_only(modes_.claims() ? claim_block(direction::out) : put_to_each()));
    if (pulls()) {
      steps.then(far_only(send_row()));
    } else if (many_nodes_) {
      fetch_rows(steps, p().indirect(), direction::out);
      steps.then(far_only(put_to_each())).then(far_only(flush_each()));
      steps.then_if(modes_.tells_ends(), far_only(count_for_each(fact::delivered, all_pieces())));
      steps.then_if(modes_.tells_ends(), far_only(count_for_self(fact::consumed, all_pieces())));
    }
    if (modes_.claims() && !both_ends_carry())
      steps.then(near_only(await_count(fact::consumed, all_pieces())));
    return builder_.loop(range::named, 1, steps, gate);
  }

  node_set receive_block(node_set gate) {
    if (!both_ends_carry() && !pulls()) return 0;
    builder::step_list steps;
    steps.then(await_named());
    steps.then_if(both_ends_carry(), near_only(claim_block(direction::in)));
    if (pulls()) {
      steps.then(far_only(get_from_each()));
      steps.then_if(modes_.tells_ends(), far_only(count_for_each(fact::consumed, all_pieces())));
      steps.then_if(both_ends_carry(), far_only(count_for_self(fact::delivered, all_pieces())));
    }
    return builder_.loop(range::naming, 1, steps, gate);
  }

  // The block that my own row describes, from or to the root that it names.
  node_set own_block(node_set gate) {
    const direction way = by_source() ? direction::out : direction::in;
    builder::step_list steps;
    if (modes_.each_waits()) steps.then(near_only(await_entry()));
    if (pulls()) steps.then(far_only(ask_for_row())).then(far_only(await_row()));
    const node alone = by_source() ? put_to_each() : get_from_each();
    steps.then(near_only(modes_.claims() ? claim_block(way) : alone));
    if (many_nodes_) {
      steps.then(far_only(alone));
      steps.then_if(by_source(), far_only(flush_each()));
      steps.then_if(modes_.tells_ends(), far_only(count_for_each(counted_at_root(), all_pieces())));
    }
    const fact mine = by_source() ? fact::consumed : fact::delivered;
    if (modes_.claims() && !modes_.assists()) steps.then(near_only(await_count(mine, all_pieces())));
    return builder_.loop(range::named, 1, steps, gate);
  }

  fact counted_at_root() { return by_source() ? fact::delivered : fact::consumed; }

  // The root may not leave before all blocks that name it are done, and helps with those of its host.
  node_set serve_if_root(node_set gate) {
    if (request_.out != sync::my || g_.size() == 1) return 0;
    const direction way = by_source() ? direction::in : direction::out;
    builder::step_list steps;
    steps.then_if(many_nodes_, far_only(ask_for_row()));
    steps.then(await_row()).then(discover_root()).then(near_only(claim_block(way)));
    const node_set known = builder_.loop(range::others, g_.size() - 1, steps, gate, false, true);
    return builder_.add(await_count(counted_at_root(), 0), known);
  }

  const request& request_;
  const topology& g_;
  builder builder_;
  sync_modes modes_;
  const bool many_nodes_;
};

// Each member's row names where its block goes; each rank is named once (a permutation).
//
// Steps and bytes (n bytes a block):
//   eager  (small, IN_MY, not OUT_ALL) each rank publishes which rank it names and its block, n + 8 bytes, or
//          sends them to a far one.
//   near   the entry word, one copy of n by either end, two counts; the named one finds which rank names it
//          by reading its neighbours' rows.
//   far    IN_MY: one token from the source, which tells the destination which rank it is, one get of n, one
//          count. Otherwise one put of n, flush, one count.
// In place a cycle of the permutation that lies on one host is rotated, piece after piece, by any rank of
// it that has come (n*(L + 1) bytes for L members); so no rank of it waits for another under IN_NO. Along
// other cycles, and under IN_MY, each block moves on in pieces of 64 KiB, taken aside by its destination
// before that one gives its own away (2n bytes a member).
plan relocate_permuted(const request& r, naming names, const block_rule& rule, const topology& g,
                       const tuning& t, const indirection& indirect) {
  by_rows made(r, pattern::by_source, names, rule, g, t, indirect);
  return r.in_place ? made.permuted_in_place() : made.permuted();
}

// Each member's row names the root as the source (by_destination) or the destination (by_source) of its
// block, or no rank where the block is empty. No other rank knows the root: so a member carries its own
// block, and the rank that may be the root reads the rows of the others when they have entered, until it
// knows that it is not, or how much it has to expect.
//
// Steps and bytes: each member one copy, get or put of n and one count; under IN_MY between hosts one
// question and one answer. The root (and under OUT_MY a member with an empty block) one row of each other
// member.
plan relocate_rooted_by_rows(const request& r, pattern pairs, const block_rule& rule, const topology& g,
                             const tuning& t, const indirection& indirect) {
  return by_rows(r, pairs, naming::pointer, rule, g, t, indirect).rooted();
}

} // namespace

// Permute: member i's block goes to member perm[i]. Cray's upc_all_permute; UPC collectives before V1.0 had
// it too. Source and destination: n bytes on each; the permutation: one int on each, read there. One step,
// P*n bytes in all.
plan compile_permute(const request& r, const topology& g, const tuning& t) {
  return relocate_permuted(r, naming::rank, {.bytes = r.bytes}, g, t, {});
}

// V0.3, 5.3.6: nbytes[i] bytes at src[i] go to dst[perm[i]], of which only that thread knows the address.
plan compile_permute_x(const request& r, const topology& g, const tuning& t) {
  return relocate_permuted(
      r, r.wide_perm ? naming::wide_thread : naming::thread, {.bytes = 1}, g, t,
      {.src = {found::at_source}, .dst = {found::at_destination}, .size = {found::at_source}});
}

// V0.3, 5.3.2: thread i's row says where its block lies on the root, how long it is and where it goes; the
// root may find itself named by others only.
plan compile_scatter_x(const request& r, const topology& g, const tuning& t) {
  return relocate_rooted_by_rows(
      r, pattern::by_destination, {.bytes = 1, .src_j = 1}, g, t,
      {.src = {found::at_destination}, .dst = {found::at_destination}, .size = {found::at_destination}});
}

// V0.3, 5.3.3: thread i's row says where its block lies, how long it is and where on the root it goes; the
// root may find itself named by others only.
plan compile_gather_x(const request& r, const topology& g, const tuning& t) {
  return relocate_rooted_by_rows(
      r, pattern::by_source, {.bytes = 1, .dst_i = 1}, g, t,
      {.src = {found::at_source}, .dst = {found::at_source}, .size = {found::at_source}});
}

} // namespace weft::collectives
