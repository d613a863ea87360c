#pragma once
#include "engine/plan/stages.hpp"
#include "engine/verify/events.hpp"

namespace weft::graph::checking {

// The accesses of the nodes that hand data on: they read in a destination (or in the root's source), and
// write to the same place of another one.
class portion_events {
public:
  portion_events(event_graph& g, report& out) : graph_(g), out_(out) {}

  // Bytes from the destination (if forwarded, else the source) of i to that of j; returns the access.
  struct transfer {
    std::uint32_t executor, source, destination;
    extent part;
    bool reads = true, writes = true, forwards = true, complete = true;
  };
  std::uint32_t move(event_id e, const transfer& t);

  // What a payload is made of, and what is made of it.
  void send(event_id e, const node& n, bool in_order);
  void take(event_id e, const node& n);

private:
  void forward(event_id e, std::uint32_t from, std::uint32_t to, extent part, bool reads);
  void direct(event_id e, std::uint32_t from, std::uint32_t to, bool reads);
  extent block_of(std::uint32_t me, std::uint32_t place_in_node_order) const;

  event_graph& graph_;
  report& out_;
};

} // namespace weft::graph::checking
