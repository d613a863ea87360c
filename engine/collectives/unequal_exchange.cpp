// SPDX-License-Identifier: BSD-3-Clause
// Exchanges, gathers and scatters of blocks whose sizes only their two ends know: alltoallv, allgatherv,
// gatherv and scatterv. IN_MY, OUT_MY. P members, blocks of n bytes.
//
// A member tells each that gets a block of it where that lies and how long it is; those bring the blocks and
// tell their givers so. So nothing has to be agreed on before, and a rank that gives may compute. A short
// block comes along with its note, and no answer goes back: its giver has copied it.
//
// flat     Each note is a message, and so is the answer for a long block: P-1 of them to hosts of their own.
// bundled  What the members of a host that have entered tell those of another one goes in one message, each
//          member's part with as many of its blocks as have room: N-1 of them for N hosts. To the verifier
//          the notes go so.
//
// To the verifier a block has the size of the request, whatever it has, and each is brought. Notes are bytes
// of the source.
#include "engine/bundle_box.hpp"
#include "engine/collectives/algorithm.hpp"
#include "engine/collectives/operations.hpp"
#include "engine/collectives/relocate.hpp"
#include "engine/collectives/request.hpp"
#include "engine/plan/builder.hpp"
#include "engine/unequal/exchange.hpp"

#include <cmath>

namespace weft::collectives {
using namespace graph;

namespace {

static_assert(unequal::shortest_message > engine::mailbox::head_bytes);
static_assert(sizeof(unequal::note) + unequal::near_room == engine::mailbox::body_bytes);

std::uint64_t packed_room(const request& r, const topology& g) {
  using layout = engine::bundle_box::layout;
  return engine::bundle_box::part_room(g, r.op == operation::team_gatherv    ? layout::of_each
                                          : r.op == operation::team_scatterv ? layout::of_one
                                                                             : layout::large);
}
// A bundle has the blocks behind the notes of all.
std::uint64_t longest_note(const topology& g, const tuning& t, bool bundled) {
  const std::uint64_t far = bundled || g.one_host() ? 0 : far_payload(t, g);
  constexpr std::uint64_t body = engine::mailbox::body_bytes;
  return unequal::longest_note(g.size(), far <= body ? body : far + sizeof(unequal::note));
}
// Members of a host for which a member has something else.
std::uint64_t packed_entries(const request& r, const topology& g) {
  return r.op == operation::team_gatherv || r.by == caller::allgatherv ? 1 : g.largest_host();
}

class unequal_plan {
public:
  unequal_plan(const request& r, const topology& g, const tuning& t, bool bundled)
      : request_(r), g_(g), bundled_(bundled), b_(g.me(), g.size(), r.root) {
    plan& p = b_.draft();
    const bool from_root = r.op == operation::team_scatterv;
    p.pairs = from_root ? pattern::from_root : to_root() ? pattern::to_root : pattern::all_pairs;
    p.in = p.out = sync::my;
    block_rule rule{.bytes = r.bytes};
    if (!to_root()) rule.src_j = r.bytes;
    if (!from_root) rule.dst_i = r.bytes;
    b_.blocks_of(rule);
    p.chunk = r.bytes;
    p.chunks = 1;
    p.window = static_cast<std::uint8_t>(t.window);
    p.parts = p.computes = p.large = true;
    p.far = !g.one_host();
    p.unequal = true;
    p.in_places = bundled && p.pairs == pattern::all_pairs;
    if (bundled) p.packed = packed_room(r, g);
    const std::uint64_t length = longest_note(g, t, bundled), came = g.size() * length;
    p.scratch = (bundled ? 1 : 2) * came;
    if (length > engine::mailbox::body_bytes) p.credit = engine::mailbox::large_places;
    came_ = b_.add_place({.from = length, .bytes = told});
    payload_ = b_.add_place({.bytes = told});
    if (bundled) return;
    each_note_ = b_.add_place({.base = came, .owner = length, .bytes = told});
    note_ = b_.add_place(to_root() ? place{.base = came + r.root * length, .bytes = told}
                                   : place{.base = came, .to = length, .bytes = told});
  }

  plan make() {
    const bool root = g_.me() == request_.root;
    const bool gives = !rooted(request_.op) || root != to_root();
    const bool takes = !rooted(request_.op) || root == to_root();
    const node_set noted = gives ? tell() : 0;
    node_set brought = 0;
    if (takes)
      brought = rooted(request_.op) && !root ? bring(range::root, 1, 0)
                                             : bring(range::others, others(), g_.one_host() ? noted : 0);
    if (!rooted(request_.op) || root) b_.add(compute(4));
    if (takes && !bundled_ && brings_from_far(root)) b_.add(place_what_came(), brought);
    if (gives) await_readers(noted);
    return b_.finish();
  }

private:
  static constexpr std::uint64_t told = sizeof(unequal::note);

  bool to_root() const { return request_.op == operation::team_gatherv; }
  std::uint32_t others() const { return g_.size() - 1; }

  bool brings_from_far(bool root) const {
    return rooted(request_.op) && !root ? !g_.is_near(request_.root) : !g_.far().empty();
  }
  // With notes: to the verifier I have brought that.
  node place_what_came() {
    const std::uint8_t nothing = b_.add_place({});
    return writing(reading(compute(6), buffer::source, nothing), buffer::destination, nothing);
  }
  // How many bring a block follows from the notes.
  void await_readers(node_set noted) {
    const std::uint32_t readers = to_root() ? 1 : others();
    const node_set known = published_ | (bundled_ ? 0 : noted);
    if (readers != 0) b_.add(by_boxes(await_count(fact::consumed, readers)), known);
  }
  bool tells_far() const { return to_root() ? !g_.is_near(request_.root) : !g_.far().empty(); }

  // The steps that write down what far members are told.
  node_set tell() {
    if (!tells_far()) { // the payload says it all
      if (g_.near().empty()) return 0;
      b_.draft().eager_bytes[0] = told;
      return published_ =
                 b_.add(writing(reading(publish(), buffer::source, payload_), buffer::mailbox, payload_));
    }
    const bool packed = bundled_, to_near = !g_.near().empty() && !to_root();
    node_set noted = 0;
    if (to_near || packed)
      noted = b_.add(
          writing(reading(compute(packed ? 8 : 7, true), buffer::source, payload_), buffer::scratch, came_));
    if (to_near || (packed && !g_.near().empty() && request_.op != operation::team_scatterv)) {
      b_.draft().eager_bytes[0] = told;
      published_ = b_.add(travelling(publish(), came_), noted);
    }
    if (!packed) return send_notes();
    send_packed_notes(noted);
    return noted;
  }
  void send_packed_notes(node_set noted) {
    builder::step_list send;
    send.then(travelling(send_bundled(), came_));
    b_.loop(to_root() ? range::root : range::hosts, to_root() ? 1 : g_.hosts() - 1, send, noted);
  }
  node_set send_notes() {
    const node all = of_blocks(compute(1, true), blocks::members);
    const node_set noted =
        b_.add(writing(reading(all, buffer::source, each_note_), buffer::scratch, each_note_));
    builder::step_list send;
    send.then(at_stage(2, travelling(send_payload(), note_)));
    b_.loop(to_root() ? range::root : range::far, to_root() ? 1 : static_cast<std::uint32_t>(g_.far().size()),
            send, noted);
    return noted;
  }
  // Stages 1, 7 and 8 are quick and stand before this, or my own payload does: they have noted what has not
  // come when the first one is taken (unequal::exchange::from_one).
  node_set bring(const range& of, std::uint32_t count, node_set after) {
    builder::step_list steps;
    const node take = writing(reading(take_payload(), buffer::mailbox, payload_), buffer::scratch, came_);
    const bool near = &of == &range::root ? g_.is_near(request_.root) : !g_.near().empty();
    const bool far = &of == &range::root ? !near : !g_.far().empty();
    steps.then_if(near, near_only(take));
    steps.then_if(far, far_only(bundled_ ? by_boxes(take) : at_stage(5, take)));
    steps.then(at_stage(3, get_from_each()));
    steps.then(by_boxes(count_for_each(fact::consumed, 1)));
    return b_.loop(of, count, steps, after);
  }
  node travelling(const node& n, std::uint8_t from) const {
    return writing(reading(n, buffer::scratch, from), buffer::mailbox, payload_);
  }

  const request& request_;
  const topology& g_;
  bool bundled_;
  builder b_;
  node_set published_ = 0;
  std::uint8_t each_note_ = 0, note_ = 0, came_ = 0, payload_ = 0;
};

} // namespace

std::uint64_t longest_along(const topology& g, const tuning& t) {
  return g.one_on_each_host() ? longest_note(g, t, false) - sizeof(unequal::note) : 0;
}

plan compile_flat_unequal(const request& r, const topology& g, const tuning& t) {
  return unequal_plan(r, g, t, false).make();
}
plan compile_bundled_unequal(const request& r, const topology& g, const tuning& t) {
  return unequal_plan(r, g, t, true).make();
}

bool fits_bundled_unequal(const request& r, const topology& g, const tuning& t) {
  return has_boxes(g, t) && unequal::least_packed(packed_entries(r, g)) <= packed_room(r, g);
}

namespace {

std::uint64_t time_of_flat(const request& r, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  const std::uint64_t locals = rooted(r.op) ? 1 : g.largest_host(), far = g.size() - g.largest_host();
  const bool short_ones = r.bytes <= longest_note(g, t, false) - sizeof(unequal::note);
  const std::uint64_t note = sizeof(unequal::note) + (short_ones ? r.bytes : 0);
  const std::uint64_t near = c.copies(2 * g.size(), note) + c.copies(g.largest_host(), r.bytes);
  if (far == 0) return near;
  const std::uint64_t bring = short_ones ? 0 : c.gets(locals * far, r.bytes, true);
  return near + c.message() + c.wire(locals * far, note) + bring;
}

// As of equal blocks: the member that has the turn packs for all of its host; of a root's blocks there are as
// many messages, on its host. What has no room is brought. Of a gather the owner of the box may have left;
// else the members of its host wait for blocks, and are awake.
std::uint64_t time_of_bundles(const request& r, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  const std::uint64_t locals = g.largest_host(), hosts = g.hosts() - 1, far = g.size() - g.largest_host();
  const std::uint64_t senders = r.op == operation::team_scatterv ? 1 : locals, entries = packed_entries(r, g);
  const std::uint64_t front = 4 + entries * 4;
  unequal::along_blocks short_ones(packed_room(r, g) - front, static_cast<std::uint32_t>(entries),
                                   [&](std::uint32_t) { return r.bytes; });
  std::uint64_t along = 0;
  while (along != entries && short_ones.has(r.bytes))
    ++along;
  const std::uint64_t part = front + along * r.bytes + (entries - along) * sizeof(unequal::note);
  const std::uint64_t messages = hosts * engine::bundle_box::messages(g, senders, part);
  const std::uint64_t near = c.copies(locals, r.bytes) + c.copies(rooted(r.op) ? locals : g.size(), r.bytes);
  const std::uint64_t brought = (rooted(r.op) ? 1 : locals) * far * (entries - along) / entries;
  const std::uint64_t bring = brought == 0 ? 0 : c.gets(brought, r.bytes, true);
  const std::uint64_t rung = r.op == operation::team_gatherv ? wake : 0;
  const std::uint64_t looks = c.copies(4 * senders, engine::mailbox::line); // stamp, note, table, credit
  return near + rung + looks + c.messages(messages, hosts * senders * part / messages) +
         c.packs(hosts * senders * entries, part / entries) + c.packs(most_led(g) * senders, part) + bring;
}

// Where no rank knows all sizes, blocks may be short or longer: the geometric mean of what both take, so that
// what costs twice as much for ones has to cost half for the others.
std::uint64_t of_any_size(const request& r, const topology& g, const tuning& t, cost_of cost) {
  if (r.bytes != any_size) return cost(r, g, t);
  request one = r;
  one.bytes = 8;
  const auto of_short = static_cast<double>(cost(one, g, t));
  one.bytes = 1024;
  return static_cast<std::uint64_t>(std::sqrt(of_short * static_cast<double>(cost(one, g, t))));
}

} // namespace

std::uint64_t cost_of_flat_unequal(const request& r, const topology& g, const tuning& t) {
  return of_any_size(r, g, t, time_of_flat);
}
std::uint64_t cost_of_bundled_unequal(const request& r, const topology& g, const tuning& t) {
  return of_any_size(r, g, t, time_of_bundles);
}

} // namespace weft::collectives
