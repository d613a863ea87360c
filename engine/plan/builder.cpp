// SPDX-License-Identifier: BSD-3-Clause
#include "engine/plan/builder.hpp"

#include "engine/plan/resolve.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

namespace weft::graph {

builder::builder(std::uint32_t me, std::uint32_t members, std::uint32_t root) {
  plan_.me = me;
  plan_.members = members;
  plan_.root = root;
}

std::uint8_t builder::append(const node& n) {
  if (plan_.size == max_nodes) throw std::logic_error("a plan has at most 64 nodes; fold peers into a loop");
  plan_.nodes[plan_.size] = n;
  if (!is_of_operation(n.about)) plan_.nodes[plan_.size].phase = std::max(phase_, n.phase);
  return plan_.size++;
}

node_set builder::add(node n, node_set after) {
  n.after = after;
  n.on = branch_;
  const node_set self = node_set{1} << append(n);
  plan_.top |= self;
  return self;
}

void builder::blocks_of(const block_rule& rule, std::uint64_t front, std::uint64_t slice) {
  plan_.places[in_source] = {.from = rule.src_i, .to = rule.src_j, .bytes = rule.bytes};
  plan_.places[in_destination] = {.from = rule.dst_i, .to = rule.dst_j, .bytes = rule.bytes};
  plan_.places[in_mailbox] = {.base = front, .turn = slice, .bytes = rule.bytes};
}

plan builder::finish() const {
  plan made = plan_;
  prepare(made);
  return made;
}

void prepare(plan& p) {
  p.by_rows = static_cast<bool>(p.indirect());
  p.dynamic = p.by_rows || p.names != naming::none || p.in_place;
  p.steady = std::all_of(p.places.begin(), p.places.begin() + p.place_count,
                         [](const place& at) { return at.is_steady(); });
  const auto awaits_entry = [](const node& n) { return n.what == kind::await && n.about == fact::entry; };
  // Under IN_ALL the leader of a host looks at its neighbours' entries. A rank that only publishes wakes them
  // by that; parts of a task are brought instead, as soon as their owner has entered.
  p.awaited = !(p.eager || p.valued) || p.parts || (p.in == sync::all && !p.valued) ||
              std::any_of(p.nodes.begin(), p.nodes.begin() + p.size, awaits_entry);
  p.first = 0;
  for (node& n : p.nodes) {
    n.then = 0;
    n.single = n.what == kind::loop && n.count == 1 && n.body_size == 1 && !n.searches;
  }
  for (unsigned k = 0; k < p.size; ++k) {
    if ((p.top >> k & 1) == 0) continue;
    const node_set self = node_set{1} << k, after = p.nodes[k].after & p.top;
    if (after == 0) p.first |= self;
    for (node_set rest = after; rest != 0; rest &= rest - 1)
      p.nodes[static_cast<unsigned>(std::countr_zero(rest))].then |= self;
  }
}

void builder::begin_phase(std::uint8_t phase) {
  if (phase >= max_phases) throw std::logic_error("a plan has at most 2 phases");
  phase_ = phase;
}

node_set builder::use(const plan& part, as_part how) {
  how.phase = phase_;
  return include(plan_, part, how);
}

std::uint8_t builder::add_place(const place& at) {
  if (plan_.place_count == max_places) throw std::logic_error("a plan has at most 8 places");
  plan_.places[plan_.place_count] = at;
  return plan_.place_count++;
}

builder::step_list& builder::step_list::then(node n) {
  if (n.orders && size != 0 && steps[size - 1u].what == kind::put) steps[size - 1u].orders = true;
  steps.at(size++) = n;
  return *this;
}

node_set builder::loop(const range& over, std::uint32_t iterations, const step_list& body, node_set after,
                       std::uint8_t ordered, bool searches) {
  if (iterations == 0 || body.size == 0) return 0;
  if (plan_.loops == max_loops)
    throw std::logic_error("a plan has at most " + std::to_string(max_loops) + " loops");
  node n;
  n.what = kind::loop;
  n.over = &over;
  n.count = iterations;
  n.ordered = ordered;
  n.searches = searches;
  n.loop_index = plan_.loops++;
  n.body = plan_.size;
  n.body_size = body.size;
  for (std::uint8_t s = 0; s < body.size; ++s)
    append(body.steps[s]);
  return add(n, after);
}

node_set builder::pipeline(const range& over, std::uint32_t iterations, const step_list& body,
                           node_set after) {
  const node_set made = loop(over, iterations, body, after);
  if (made != 0) plan_.nodes[plan_.size - 1u].pipelined = true;
  return made;
}

namespace {
node make(kind what, fact about, peer_rule peer) {
  node n;
  n.what = what;
  n.about = about;
  n.peer = peer;
  return n;
}
// Of the block between two members.
node moves(node n, buffer from = buffer::source, buffer to = buffer::destination) {
  const auto entry = [](buffer in) {
    return in == buffer::source ? in_source : in == buffer::mailbox ? in_mailbox : in_destination;
  };
  n.read = {from, entry(from)};
  n.write = {to, entry(to)};
  return n;
}
} // namespace

node copy_own() {
  return moves(make(kind::copy, fact::none, peer_rule::self));
}
node compute(std::uint32_t stage, bool quick) {
  node n = moves(make(kind::compute, fact::none, peer_rule::self));
  n.count = stage;
  n.quick = quick;
  return n;
}
node at_stage(std::uint32_t stage, node n) {
  n.count = stage;
  return n;
}
node combine_all() {
  return moves(make(kind::reduce, fact::none, peer_rule::group));
}
node combine_or_keep() {
  return moves(make(kind::reduce, fact::none, peer_rule::each));
}
node combine_until_read() {
  node n = await_count(fact::consumed, 1);
  n.what = kind::reduce;
  n.way = direction::out;
  return n;
}
node combine_kept() {
  return moves(make(kind::reduce, fact::none, peer_rule::self));
}
node choose_when_all(fact known) {
  return make(kind::choose, known, peer_rule::self);
}
node hear_choice() {
  node n = await_count(fact::consumed, 1);
  n.what = kind::choose;
  n.way = direction::out;
  return n;
}
node in_phase(std::uint8_t phase, node n) {
  n.phase = phase;
  return n;
}
node get_from_each() {
  return moves(make(kind::get, fact::none, peer_rule::each));
}
node put_to_each() {
  return moves(make(kind::put, fact::none, peer_rule::each));
}
node flush_each() {
  return make(kind::flush, fact::none, peer_rule::each);
}
node order_each() {
  node n = flush_each();
  n.orders = true;
  return n;
}
node await_entry() {
  return make(kind::await, fact::entry, peer_rule::each);
}
node signal_entry() {
  return make(kind::signal, fact::entry, peer_rule::each);
}

node publish(bool valued) {
  node n = make(kind::signal, fact::payload, peer_rule::group);
  n.valued = valued;
  return valued ? n : moves(n, buffer::source, buffer::mailbox);
}
node publish_slices() {
  return of_blocks(publish(), blocks::readers);
}
node send_payload() {
  return moves(make(kind::signal, fact::payload, peer_rule::each), buffer::source, buffer::mailbox);
}
node take_payload(bool valued) {
  node n = make(kind::take, fact::payload, peer_rule::each);
  n.valued = valued;
  return valued ? n : moves(n, buffer::mailbox, buffer::destination);
}

node send_bundled() {
  return by_boxes(send_payload());
}
node take_bundled() {
  return by_boxes(take_payload());
}

node by_boxes(node n) {
  n.bundled = true;
  return n;
}

node count_for_each(fact which, std::uint32_t n) {
  node made = make(kind::signal, which, peer_rule::each);
  made.count = n;
  return made;
}
node await_count(fact which, std::uint32_t n) {
  node made = make(kind::await, which, peer_rule::self);
  made.count = n;
  return made;
}

node claim_block(direction way) {
  node n = moves(make(kind::claim, fact::none, way == direction::self ? peer_rule::self : peer_rule::each));
  n.way = way;
  return n;
}
node count_for_self(fact which, std::uint32_t n) {
  node made = make(kind::signal, which, peer_rule::self);
  made.count = n;
  return made;
}

node fetch_operand(descriptor which, direction way) {
  node n = make(kind::fetch, fact::none, peer_rule::each);
  n.which = which;
  n.way = way;
  return n;
}
node discover_root() {
  return make(kind::discover, fact::none, peer_rule::each);
}
node ask_for_row() {
  return make(kind::signal, fact::asked, peer_rule::each);
}
node publish_row() {
  return make(kind::signal, fact::row, peer_rule::group);
}
node send_row() {
  return make(kind::signal, fact::row, peer_rule::each);
}
node await_row() {
  return make(kind::await, fact::row, peer_rule::each);
}
node await_named() {
  return make(kind::await, fact::named, peer_rule::each);
}
node save_piece() {
  return moves(make(kind::save, fact::none, peer_rule::each));
}
node restore_piece() {
  return moves(make(kind::restore, fact::none, peer_rule::each));
}
node rotate_own() {
  return moves(make(kind::rotate, fact::none, peer_rule::self));
}
node rotate_all() {
  return moves(make(kind::rotate, fact::none, peer_rule::group));
}
node near_only(node n) {
  n.only = lane::near;
  return n;
}
node far_only(node n) {
  n.only = lane::far;
  return n;
}

node assist_all() {
  return moves(make(kind::assist, fact::delivered, peer_rule::group));
}

node of_blocks(node n, const blocks& of) {
  n.of = &of;
  return n;
}
node reading(node n, buffer from, std::uint8_t at) {
  n.read = {from, at};
  return n;
}
node writing(node n, buffer to, std::uint8_t at) {
  n.write = {to, at};
  return n;
}

node get_handed_on(std::uint8_t at) {
  return reading(writing(get_from_each(), buffer::destination, at), buffer::destination, at);
}
node put_handed_on(std::uint8_t at) {
  return reading(writing(put_to_each(), buffer::destination, at), buffer::destination, at);
}
node send_packed(const blocks& of, buffer from, std::uint8_t at, std::uint8_t in_message) {
  node n = of_blocks(reading(send_payload(), from, at), of);
  n.peer = peer_rule::ahead;
  return writing(n, buffer::mailbox, in_message);
}
node take_packed(const blocks& of, buffer to, std::uint8_t at, std::uint8_t in_message) {
  node n = of_blocks(writing(take_payload(), to, at), of);
  n.peer = peer_rule::behind;
  return reading(n, buffer::mailbox, in_message);
}
node publish_ready() {
  return make(kind::signal, fact::ready, peer_rule::group);
}
node await_ready() {
  return make(kind::await, fact::ready, peer_rule::each);
}
node announce_puts() {
  return make(kind::signal, fact::ready, peer_rule::each);
}
node count_step() {
  node n = count_for_self(fact::delivered, 1);
  n.stepwise = true;
  return n;
}
node await_steps(peer_rule whose, std::uint32_t lag) {
  node n = make(kind::await, fact::delivered, whose);
  n.count = lag;
  n.stepwise = true;
  return n;
}

node signal_stage(fact which, bool valued) {
  node n = make(kind::signal, which, peer_rule::ahead);
  n.valued = valued;
  return n;
}
node publish_stage(fact which) {
  return make(kind::signal, which, peer_rule::group);
}
node await_published_stage(fact which) {
  return make(kind::await, which, peer_rule::each);
}
node await_stage(fact which, bool valued) {
  node n = make(kind::await, which, peer_rule::behind);
  n.valued = valued;
  return n;
}

} // namespace weft::graph
