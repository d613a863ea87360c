#include "engine/plan/builder.hpp"

#include <stdexcept>

namespace weft::graph {

builder::builder(std::uint32_t me, std::uint32_t members, std::uint32_t root) {
  plan_.me = me;
  plan_.members = members;
  plan_.root = root;
}

std::uint8_t builder::append(const node& n) {
  if (plan_.size == max_nodes) throw std::logic_error("a plan has at most 64 nodes; fold peers into a loop");
  plan_.nodes[plan_.size] = n;
  return plan_.size++;
}

node_set builder::add(node n, node_set after) {
  n.after = after;
  const node_set self = node_set{1} << append(n);
  plan_.top |= self;
  return self;
}

builder::step_list& builder::step_list::then(node n) {
  steps.at(size++) = n;
  return *this;
}

node_set builder::loop(range over, std::uint32_t iterations, const step_list& body, node_set after,
                       bool ordered, bool hunts) {
  if (iterations == 0 || body.size == 0) return 0;
  if (plan_.loops == max_loops) throw std::logic_error("a plan has at most 6 loops");
  node n;
  n.what = kind::loop;
  n.over = over;
  n.count = iterations;
  n.ordered = ordered;
  n.hunts = hunts;
  n.loop_index = plan_.loops++;
  n.body = plan_.size;
  n.body_size = body.size;
  for (std::uint8_t s = 0; s < body.size; ++s)
    append(body.steps[s]);
  return add(n, after);
}

node_set builder::pipeline(range over, std::uint32_t iterations, const step_list& body, node_set after) {
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
} // namespace

node copy_own() {
  return make(kind::copy, fact::none, peer_rule::self);
}
node get_from_each() {
  return make(kind::get, fact::none, peer_rule::each);
}
node put_to_each() {
  return make(kind::put, fact::none, peer_rule::each);
}
node flush_each() {
  return make(kind::flush, fact::none, peer_rule::each);
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
  return n;
}
node send_payload() {
  return make(kind::signal, fact::payload, peer_rule::each);
}
node take_payload(bool valued) {
  node n = make(kind::take, fact::payload, peer_rule::each);
  n.valued = valued;
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
  node n = make(kind::claim, fact::none, way == direction::self ? peer_rule::self : peer_rule::each);
  n.way = way;
  return n;
}
node count_for_self(fact which, std::uint32_t n) {
  node made = make(kind::signal, which, peer_rule::self);
  made.count = n;
  return made;
}

node fetch_operand(operand which, direction way) {
  node n = make(kind::fetch, fact::none, peer_rule::each);
  n.which = which;
  n.way = way;
  return n;
}
node survey_row() {
  return make(kind::survey, fact::none, peer_rule::each);
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
node take_aside() {
  return make(kind::aside, fact::none, peer_rule::each);
}
node restore_piece() {
  return make(kind::restore, fact::none, peer_rule::each);
}
node rotate_own() {
  return make(kind::rotate, fact::none, peer_rule::self);
}
node rotate_all() {
  return make(kind::rotate, fact::none, peer_rule::group);
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
  return make(kind::assist, fact::landed, peer_rule::group);
}

namespace {
node portioned(node n, portion of) {
  n.of = of;
  return n;
}
// What travels packed goes round by round.
bool in_rounds(portion of) {
  return of == portion::packed || of == portion::transit;
}
} // namespace

node put_portion(portion of, bool from_source) {
  node n = portioned(put_to_each(), of);
  n.from_source = from_source;
  return n;
}
node get_portion(portion of) {
  return portioned(get_from_each(), of);
}
node send_portion(portion of) {
  node n = portioned(send_payload(), of);
  if (in_rounds(of)) n.peer = peer_rule::ahead;
  return n;
}
node take_portion(portion of) {
  node n = portioned(take_payload(), of);
  if (in_rounds(of)) n.peer = peer_rule::behind;
  return n;
}
node publish_portion(portion of) {
  return portioned(publish(), of);
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
node count_portion(portion of) {
  return portioned(count_for_self(fact::landed, 1), of);
}
node await_landed(portion of, peer_rule whose, std::uint32_t lag) {
  node n = make(kind::await, fact::landed, whose);
  n.count = lag;
  return portioned(n, of);
}

node signal_stage(fact which, bool valued) {
  node n = make(kind::signal, which, peer_rule::ahead);
  n.valued = valued;
  return n;
}
node await_stage(fact which, bool valued) {
  node n = make(kind::await, which, peer_rule::behind);
  n.valued = valued;
  return n;
}

} // namespace weft::graph
