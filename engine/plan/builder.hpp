// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/plan/resolve.hpp"

#include <span>
#include <vector>

namespace weft::graph {

// A plan as a part of another one. Its nodes move behind those that are there, into phases of their own, so
// that no rank hears of another part's payloads and counts. It works on buffers of the whole: what gathers in
// place that which an earlier part has brought reads the destination of the whole as its source.
struct as_part {
  node_set after = 0;     // it begins when these are done
  std::uint8_t phase = 0; // the first of its phases
  buffer source = buffer::source, destination = buffer::destination;
  // Which of its top nodes wait for `after`; those that wait for none of their own, unless told otherwise.
  bool (*waits)(const plan& part, const node& n) = [](const plan&, const node& n) { return n.after == 0; };
};

// Returns the nodes with which the part is done. Both are of the same members, and have the same root and
// tree; one of all parts may share its work (claims, assists), in phase 0, and its pieces are those of the
// whole. What rows name belongs to a whole plan. Throws std::logic_error where there is no room.
node_set include(plan& all, const plan& part, const as_part& how);

// Assembles a plan. Every add returns the set that holds the new node alone, so that edges are written as
// unions: `b.add(n, first | second)`.
class builder {
public:
  builder(std::uint32_t me, std::uint32_t members, std::uint32_t root);

  node_set add(node n, node_set after = 0);

  // A chain of nodes run once for every peer of the range; a range without peers adds nothing.
  struct step_list {
    std::array<node, 12> steps{};
    std::uint8_t size = 0;
    step_list& then(node n);
    step_list& then_if(bool wanted, node n) { return wanted ? then(n) : *this; }
  };
  // `ordered`: so many iterations at a time, 0 = all.
  node_set loop(const range& over, std::uint32_t iterations, const step_list& body, node_set after = 0,
                std::uint8_t ordered = 0, bool searches = false);
  // A step waits for the same step of the iteration before: so counts arrive in order, and transfers overlap.
  node_set pipeline(const range& over, std::uint32_t iterations, const step_list& body, node_set after = 0);

  // Another plan as a part of this one, in phases that begin with the present one.
  node_set use(const plan& part, as_part how = {});

  // Where the block between two members lies, and where it lies in an eager payload: behind `front` bytes,
  // with the next reader's `slice` bytes further on (0: all read the same).
  void blocks_of(const block_rule& rule, std::uint64_t front = 0, std::uint64_t slice = 0);
  // An entry of the table of places.
  std::uint8_t add_place(const place& at);

  // Which cells the nodes use that are added from now on: parts of a plan that must not hear of each other's
  // payloads and counts have one phase each. The exit of a plan is in the first, 0.
  void begin_phase(std::uint8_t phase);
  std::uint8_t phase() const { return phase_; }
  // Of which way the top nodes are that are added from now on.
  void begin_branch(branch on) { branch_ = on; }

  plan& draft() { return plan_; }
  plan finish() const;

private:
  std::uint8_t append(const node& n);
  plan plan_;
  std::uint8_t phase_ = 0;
  branch branch_ = branch::either;
};

// The plans of all members when their root has chosen that way: for the verifier.
std::vector<plan> decided(std::span<const plan> plans, branch way);

// Where the root has a choice the members have two sets of plans, one for each way.
template <class Check> void each_way(std::span<const plan> plans, Check&& check) {
  if (plans.empty() || plans.front().patience == 0) return check(plans);
  for (const branch way : {branch::together, branch::alone})
    check(std::span<const plan>(decided(plans, way)));
}

// Notes what follows from the rest, for its executions; the last thing that is done to a plan.
void prepare(plan& p);

// The vocabulary of nodes, so that algorithms read as sentences.
node copy_own();
node compute(std::uint32_t stage, bool quick = false); // what the operation's task says
node at_stage(std::uint32_t stage, node n);            // the same node, of a part of that stage
node combine_all();                                    // of all members of my host, by those that are there
node combine_or_keep();    // the same into a root's destination: the root, of each
node combine_until_read(); // and the others
node combine_kept();       // and what the root has kept
// The choice between two ways: of the root, which waits for this fact of all others for a while; and of
// another member, which hears it: the root's payload, or that it is ready, says together, what it has
// consumed alone.
node choose_when_all(fact known);
node hear_choice();
node in_phase(std::uint8_t phase, node n); // the same node, with cells of a later phase than the present one
node get_from_each();
node put_to_each();
node flush_each();
node order_each(); // enough for what the peer itself is told next
node await_entry();
node signal_entry();
node publish(bool valued = false);
node publish_slices(); // one for each reader
node send_payload();
node take_payload(bool valued = false);
// The same between hosts, by way of boxes: one block for all members of a host, or (to_host) one for each.
node send_bundled();
node take_bundled();
// The same node, of blocks that a far member gets by way of a box; a count of them does without those that
// came along.
node by_boxes(node n);
node count_for_each(fact which, std::uint32_t n);
node await_count(fact which, std::uint32_t n);
node count_for_self(fact which, std::uint32_t n);
node claim_block(direction way);
node assist_all();
node fetch_operand(descriptor which, direction way);
node discover_root();
node ask_for_row();
node publish_row();
node send_row();
node await_row();
node await_named();
node save_piece();
node restore_piece();
node rotate_own();
node rotate_all();
// The same node, for peers of one lane.
node near_only(node n);
node far_only(node n);
// The same node for other blocks, or from and to other places.
node of_blocks(node n, const blocks& of);
node reading(node n, buffer from, std::uint8_t at);
node writing(node n, buffer to, std::uint8_t at);
// What is handed on between hosts lies at the same place of two destinations.
node get_handed_on(std::uint8_t at);
node put_handed_on(std::uint8_t at);
// A round of a dissemination: packed into one message, and out of it.
node send_packed(const blocks& of, buffer from, std::uint8_t at, std::uint8_t in_message);
node take_packed(const blocks& of, buffer to, std::uint8_t at, std::uint8_t in_message);
node publish_ready();
node await_ready();
// To a far peer: my puts, if there are any, are in its destination.
node announce_puts();
// To those that watch my count: what this step brings is here.
node count_step();
// In step k: what k + 1 - lag steps bring has been delivered to me, or on the peer.
node await_steps(peer_rule whose, std::uint32_t lag = 0);
node signal_stage(fact which, bool valued = false);
node await_stage(fact which, bool valued = false);
// To my host at once, and of one of its members.
node publish_stage(fact which);
node await_published_stage(fact which);

} // namespace weft::graph
