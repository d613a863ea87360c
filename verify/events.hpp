// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/format.hpp"
#include "engine/topology/topology.hpp"
#include "verify/verifier.hpp"

#include <optional>
#include <utility>

namespace weft::graph::checking {

// Collects findings. One mistake in a compiler shows on every member, so it stops at a number that a person
// reads.
class report {
public:
  static constexpr std::size_t limit = 64;

  template <class... Values>
  void add(fault what, engine::format_text<std::type_identity_t<Values>...> text, const Values&... values) {
    if (!full()) found_.findings.push_back({what, engine::format(text, values...)});
  }
  bool full() const { return found_.findings.size() >= limit; }
  bool empty() const { return found_.findings.empty(); }
  verdict take() { return std::move(found_); }

private:
  verdict found_;
};

using event_id = std::uint32_t;
inline constexpr event_id no_event = ~event_id{0};
inline constexpr std::uint32_t no_rank = movement::no_rank;

// What an event is, and when it happens.
enum class role : std::uint8_t {
  post,     // a member enters
  exit,     // a member may leave: all its top nodes are done
  step,     // a node, for one peer or round if it is in a loop
  join,     // several events together: a loop begins or ends
  helpers,  // one of the members that assist on a host is there
  block,    // a claimed block, or all blocks of a rotated cycle, are in place: any of the carriers has come
  counter,  // a counter has reached its total
  arrival,  // any message from a far peer has arrived: so the peer has entered
  landing,  // a signal has come behind puts that were only ordered: they are in place
  answer,   // a far member has sent its row to one that asked for it
  found,    // a search is over: a rank's row names another root
  assisted, // an assisting member has seen every destination full
  rotated,  // a member has seen its cycle, or all cycles, rotated
  never,    // what no rank sends
};

struct event {
  role as = role::step;
  std::uint8_t node = 0;        // step: its index in the plan
  std::uint8_t top = 0;         // step, join and what a member has seen: the top node that it belongs to
  fact about = fact::none;      // counter
  std::uint32_t member = 0;     // whose event; block: the source; counter: its owner
  std::uint32_t peer = no_rank; // block: the destination; arrival: the rank that is known
  std::uint32_t iteration = 0;  // step in a loop
  event_id landing = no_event;  // of a signal: where it has come, if puts come before it

  bool any() const {
    return as == role::helpers || as == role::block || as == role::arrival || as == role::found;
  }
  // It happens only if its member runs.
  bool takes_its_member() const {
    return as == role::step || as == role::exit || as == role::assisted || as == role::rotated ||
           as == role::join || as == role::answer || as == role::found;
  }
};

struct edge {
  event_id from, to;
};

// An access to no bytes of a block, but to the row of the source. Others read the row itself as long as its
// copy is not there, so a rank that publishes one may leave and change the row.
enum class row_access : std::uint8_t { none, in_place, published };

// Bytes that a rank touches: read at `from` on member `source`, written at `to` on member `destination`.
struct access {
  event_id begin = no_event;
  std::uint32_t executor = no_rank; // no rank: any rank that claims it
  std::uint32_t source = no_rank;   // where the bytes come from
  std::uint32_t destination = no_rank;
  std::uint64_t from = 0, to = 0, bytes = 0;
  bool reads = false, writes = false; // user data of the source, of the destination
  row_access row = row_access::none;
  bool forwards = false; // handed on: `from` lies in the destination of `source`
};

// An access is complete, in its place, once this event has happened.
struct completion {
  event_id when;
  std::uint32_t which;
};

// A possible carrier of a block.
struct carrier {
  event_id when;
  std::uint32_t source, destination;
};

struct event_graph {
  std::span<const plan> plans;
  std::vector<topology> places;
  movement moved;
  std::vector<event> events;
  std::vector<edge> edges;
  std::vector<access> accesses;
  std::vector<completion> completions;
  std::vector<carrier> carriers;
  std::vector<event_id> posts, exits;
  std::vector<event_id> at_post;  // publications that wait for nothing
  std::vector<event_id> rewrites; // a member's source becomes another thing

  std::uint32_t members() const { return static_cast<std::uint32_t>(plans.size()); }
  event_id add(role as, std::uint32_t member, std::uint32_t peer = no_rank);
  std::string text(event_id e) const;
  // What a signal tells is known from here on.
  event_id heard(event_id signal) const {
    const event_id landing = events[signal].landing;
    return landing == no_event ? signal : landing;
  }
};

// The events of plans that passed check_structure. Finds what one can see without an order: signals without
// an await, awaits without a signal, counts that do not add up, signals that announce what is not done.
event_graph unfold(std::span<const plan> plans, std::vector<topology> places, const movement& moved,
                   report& out);

} // namespace weft::graph::checking
