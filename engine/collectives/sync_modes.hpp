// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/plan/builder.hpp"
#include "engine/topology/topology.hpp"

namespace weft::collectives {

// The peers on one side of an operation, by lane. A count of 0 is no rank.
struct peers {
  const graph::range* over = &graph::range::others;
  std::uint32_t count = 0;
};

// What the IN and OUT modes of an operation require, said once for all families. An algorithm asks for the
// gate before its first touch of data and for the exit after its last; what lies between is its own.
//
//   IN_NO   nothing.
//   IN_MY   each transfer waits for the entry of the other end. Near members publish it by a word in their
//           mailbox at post; to far members that will touch my data a token is sent.
//   IN_ALL  everything waits for each rank: on one host a scan of the entry words; else the leader of each
//   host
//           makes it, they tell each other in log2(hosts) rounds, and each tells its host.
//   OUT_NO  a rank leaves when what it carries itself is in place, or ordered before what its receiver
//           awaits: once all have left, all is in place.
//   OUT_MY  ... and its own data are quiet: so many pieces delivered in its destination, so many were taken
//   from
//           its source, by any rank that carried them.
//   OUT_ALL ... and so it is everywhere:
//           on one host a look at every destination's count (carrying what is left),
//           else the leaders hear it from their hosts, tell each other, and their hosts.
class sync_modes {
public:
  sync_modes(graph::builder& b, const graph::topology& g, graph::sync in, graph::sync out);

  // Nodes that must be done before any data is touched.
  graph::node_set gate();
  // True if each transfer must wait for its peer's entry.
  bool each_waits() const { return in_ == graph::sync::my; }
  // Tells the far members that will touch my data that I have entered.
  void announce(peers far);

  // True if my own data must be quiet, at least, before I leave.
  bool leaves_quiet() const { return out_ != graph::sync::no; }
  // True if blocks within the host are carried by claims: then their ends can be known quiet.
  bool claims() const { return leaves_quiet(); }
  bool assists() const { return out_ == graph::sync::all && topology_.one_host(); }
  // True if a member's own block may be carried by others too: any rank that waits or leaves looks after
  // those that compute, and knows of all of them.
  bool shares_own() const {
    return assists() || (claims() && topology_.one_host() && !topology_.near().empty());
  }
  // True if the other end of a block must hear from me that it is done. Under OUT_ALL the last rounds say so.
  bool tells_ends() const { return out_ == graph::sync::my; }
  // `data` are the nodes that touch data, `near` those that may share the work with others on the host, and
  // delivered/taken the pieces that others may carry to and from me.
  // `by_boxes`: what far members take of me they take by way of boxes.
  void exit(graph::node_set data, graph::node_set near, std::uint32_t delivered, std::uint32_t taken,
            bool by_boxes = false);

  // The same for those that know on their own when their data are quiet: once `quiet` is done.
  void leave(graph::node_set quiet);

private:
  // Once a leader has heard from its neighbours; the others hear from their leader. Done when all is known.
  graph::node_set rounds(graph::fact stage, graph::node_set heard);
  graph::node_set from_each(const graph::range& over, const graph::node& awaited);
  graph::builder& builder_;
  const graph::topology& topology_;
  graph::sync in_, out_;
};

} // namespace weft::collectives
