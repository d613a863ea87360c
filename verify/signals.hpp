// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "verify/messages.hpp"
#include "verify/shared_blocks.hpp"

#include <utility>
#include <vector>

namespace weft::graph::checking {

// Joins the nodes that await a cell with those that raise it. First everything is noted, in any order; then
// `match` adds the edges and finds what has no counterpart.
class signal_board {
public:
  signal_board(event_graph& g, messages& payloads, report& out);

  // `at_once`: the sender waits for nothing before it.
  void send(const node& n, event_id e, bool at_once);
  void receive(const node& n, event_id e);
  void receive(fact about, event_id e, std::uint32_t from, std::uint32_t count, bool by_rows);
  shared_blocks& shared() { return blocks_; }
  void match();

private:
  // Each rank on the owner's host reads the cells of its own mailbox; a far member has a shadow of it.
  static constexpr std::uint32_t host = no_rank - 1;
  struct key {
    fact what = fact::none;
    std::uint8_t phase = 0;
    std::uint32_t round = 0, owner = 0, reader = host;
    auto operator<=>(const key&) const = default;
  };
  struct raised {
    key where;
    event_id when = no_event;
    bool valued = false;
    bool read = false;
    bool bundled = false;
  };
  struct awaited {
    event_id when;
    cell wanted;
    bool valued, by_rows, stepwise, bundled;
  };
  struct message {
    event_id when;
    bool at_once;
    std::uint32_t next; // of the same sender and receiver
  };

  bool near(std::uint32_t a, std::uint32_t b) const { return graph_.places[a].is_near(b); }
  std::size_t pair(std::uint32_t from, std::uint32_t to) const {
    return std::size_t{from} * graph_.members() + to;
  }
  key key_of(const cell& c, std::uint32_t reader) const;
  raised* find(const key& where);
  void note_message(std::uint32_t from, std::uint32_t to, event_id e, bool at_once);
  void relay(const cell& c, std::uint32_t relay, event_id e, bool at_once);
  void bundle(const cell& c, std::uint32_t owner, event_id e);
  void sort_raised();
  void missing(event_id e, std::string_view what);
  void match_one(const awaited& a);
  void match_entry(const awaited& a, std::uint32_t me);
  void match_row(const awaited& a, std::uint32_t me);
  void match_cell(raised* cell, const awaited& a);
  void find_unread();

  event_graph& graph_;
  messages& contents_;
  report& out_;
  counts counts_;
  shared_blocks blocks_;
  std::vector<raised> raised_; // sorted by where, once all is noted
  std::vector<awaited> awaits_;
  std::vector<std::pair<key, event_id>> sent_on_; // what was published to be sent by neighbours
  std::vector<message> messages_;
  std::vector<std::uint32_t> first_message_; // by pair
};

} // namespace weft::graph::checking
