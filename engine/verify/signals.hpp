#pragma once
#include "engine/verify/events.hpp"
#include "engine/verify/messages.hpp"

namespace weft::graph::checking {

// Joins who awaits with who signals. First everything is noted, in any order; then `match` adds the edges and
// finds what has no counterpart.
class signal_board {
public:
  signal_board(event_graph& g, messages& payloads, report& out);

  // `at_once`: the sender waits for nothing before it.
  void send(const node& n, event_id e, bool at_once);
  void receive(const node& n, event_id e);
  // `by_rows`: the count is what the rows say.
  void receive(fact about, event_id e, std::uint32_t from, std::uint32_t count, bool by_rows);
  void claim(event_id e, std::uint32_t source, std::uint32_t destination);
  // The blocks of a cycle, its lowest member first; returns the event of their being in place.
  event_id rotate(event_id e, std::span<const std::uint32_t> links);
  // Returns the event of seeing every destination full.
  event_id assist(event_id e);
  void match();

private:
  struct sent {
    event_id when = no_event;
    bool valued = false;
    bool read = false;
  };
  struct awaited {
    event_id when;
    fact about;
    std::uint32_t from; // whose signal; for counters the owner
    std::uint32_t count;
    bool valued;
    bool by_rows;
    bool stepwise;
    std::uint8_t phase;
  };
  struct counter {
    event_id reached = no_event;
    std::uint64_t signalled = 0; // by counting signals
    std::uint64_t carried = 0;   // by claimed blocks
    bool read = false;
    bool reported = false;
    event_id watched = no_event; // by somebody else than its owner
    std::uint64_t owner_saw = 0; // what its owner awaits
    std::vector<event_id> fed_by;
  };
  struct message {
    event_id when;
    bool at_once;
    std::uint32_t next; // of the same sender and receiver
  };

  std::size_t pair(std::uint32_t from, std::uint32_t to) const { return std::size_t{from} * size_ + to; }
  std::size_t stage(fact which, std::uint32_t round, std::uint32_t from) const {
    return ((which == fact::stage_out ? rounds_ : 0) + std::size_t{round}) * size_ + from;
  }
  counter& counted(fact which, std::uint32_t owner, std::uint32_t phase = 0) {
    return (which == fact::landed ? landed_ : taken_)[std::size_t{phase} * size_ + owner];
  }
  bool near(std::uint32_t a, std::uint32_t b) const { return graph_.places[a].is_near(b); }

  std::vector<sent>& cells(fact about);
  void note(sent& cell, const node& n, event_id e, std::uint32_t to);
  void note_message(std::uint32_t from, std::uint32_t to, event_id e, bool at_once);
  void missing(event_id e, std::string_view what);
  void hang(event_id e);
  event_id add(role as, std::uint32_t member, std::uint32_t peer = nobody);
  std::uint32_t block(std::uint32_t source, std::uint32_t destination);
  std::uint32_t access_of(event_id when, std::uint32_t source, std::uint32_t destination);
  void check_carried(event_id e, std::uint32_t which);
  void add_helpers();
  void feed_counters();
  event_id reached(counter& c, fact which, std::uint32_t owner);
  void match_one(const awaited& a);
  void match_entry(const awaited& a);
  void match_count(const awaited& a);
  void match_step(const awaited& a);
  bool count_in_order(const counter& c, std::uint32_t steps) const;
  void match_signal(sent& cell, const awaited& a, std::string_view what);
  void match_row(const awaited& a);
  void match_naming(const awaited& a);
  void match_assists();
  void match_full(event_id begin, event_id end, fact which, std::uint32_t owner, std::uint32_t wanted);
  void find_unread();
  void find_abandoned();

  event_graph& graph_;
  messages& contents_;
  report& out_;
  std::uint32_t size_, rounds_;
  std::vector<sent> stages_, published_, payloads_, entries_;
  std::vector<sent> published_rows_, rows_, questions_;
  std::vector<counter> landed_, taken_;
  std::vector<awaited> awaits_;
  std::vector<message> messages_;
  std::vector<std::uint32_t> first_message_;
  std::vector<std::uint32_t> blocks_;                  // by pair: the access
  std::vector<std::uint32_t> cycles_;                  // by lowest member: the first access
  std::vector<std::pair<event_id, event_id>> assists_; // begin and end
  event_id never_ = no_event;
};

} // namespace weft::graph::checking
