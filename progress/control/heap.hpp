// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/memory/heap.hpp"
#include "progress/control/requests.hpp"
#include "progress/driving/engine.hpp"
#include "progress/execution/operation_error.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

namespace weft::control {

// Of every team: scratch for 16 bytes from and for each member.
constexpr std::uint64_t team_scratch_bytes(std::uint32_t members) {
  return 16u * (members + 1u);
}

// Where in every rank's segment the memory lies that is handed out: behind the mailbox of the team of all.
struct heap_layout {
  // `boxes`: bytes of those behind the mailbox of the team of all. `more`: of the local region, as many bytes
  // more than the other has.
  heap_layout(std::uint32_t ranks, std::uint64_t bytes_for_teams, std::uint64_t bytes_of_heap,
              std::uint64_t boxes = 0, std::uint64_t more = 0)
      : scratch(engine::heap_offset(ranks) + whole_pages(boxes)),
        version(scratch_of_all() + team_scratch_bytes(ranks)),
        mailboxes(scratch + whole_pages(version + sizeof(std::uint64_t) - scratch)),
        mailbox_bytes(bytes_for_teams), heap(mailboxes + mailbox_bytes),
        heap_bytes(whole_pages(bytes_of_heap)), more_bytes(whole_pages(more)) {}

  std::uint64_t
      scratch; // two words for the broadcast of a collective allocation, then that of the team of all
  std::uint64_t version; // a word that moves with every change of the books of that rank
  std::uint64_t mailboxes, mailbox_bytes;
  std::uint64_t heap, heap_bytes; // of each of the two regions, one behind the other
  std::uint64_t more_bytes;       // of the second
  std::uint64_t scratch_of_all() const { return scratch + 2 * sizeof(std::uint64_t); }
  std::uint64_t end() const { return heap + 2 * heap_bytes + more_bytes; }

  static constexpr std::uint64_t whole_pages(std::uint64_t bytes) { return (bytes + 4095) / 4096 * 4096; }
};

struct mailbox_grant {
  std::uint64_t offset = 0; // 0 = no room
  std::uint64_t number = 0;
};

// The shared heap of the job. It has two regions, at the same offsets on every rank:
//   symmetric  what upc_all_alloc and upc_global_alloc hand out: a range that means memory on every
//              rank. Rank 0 keeps the books for all, so that single-handed allocations and
//              frees cannot let two ranks' books differ; a collective allocation costs
//              one 8-byte broadcast, the others a request to rank 0
//              and its answer.
//   local      what upc_alloc hands out: each rank keeps its own books; others ask it to free.
// Beside them lies the memory of teams (their mailboxes), which rank 0 hands out the same way, each with a
// number that no other team of the run has. Requests are served inside the transport's poll, by the
// thread that drives the engine of the keeper. A free by one thread waits for the keeper's answer: only the
// books know whether there is such a block, and a rank that frees something else must hear of it from the
// call.
template <transport::transport T> class heap_service {
public:
  using engine_type = progress::engine<T>;

  heap_service(engine_type& engine, progress::channel& all, const heap_layout& l)
      : engine_(engine), all_(all), layout_(l), symmetric_(l.heap, local_begin()),
        local_(local_begin(), l.end()), mailboxes_(l.mailboxes, l.mailboxes + l.mailbox_bytes),
        version_(version_at(engine.net().segment())) {}

  std::uint64_t allocate_all(std::uint64_t bytes) {
    const std::uint64_t granted = all_.info.me() == 0 ? take(symmetric_, bytes) : 0;
    try {
      return tell_all(granted, 0, {collectives::caller::all_alloc, bytes, graph::sync::my});
    } catch (const std::bad_alloc&) { // it has not begun
      if (granted != 0) give_back(symmetric_, granted);
      throw;
    }
  }
  std::uint64_t allocate_global(std::uint64_t bytes) {
    if (engine_.net().rank() == 0) return take(symmetric_, bytes);
    return ask(0, allocate{.bytes = bytes}).offset;
  }
  std::uint64_t allocate_local(std::uint64_t bytes) { return take(local_, bytes); }

  // The beginning of the block that the offset lies in, 0 if in none: it is free now if it begins there.
  std::uint64_t free_block(std::uint32_t rank, std::uint64_t offset) {
    const std::uint32_t keeper = keeper_of(rank, offset);
    if (keeper == engine_.net().rank()) return give_back(books_of(offset), offset);
    return ask(keeper, control::free_block{.offset = offset}).offset;
  }

  // The keeper looks up the block when it enters, tells all, and frees it when all have entered.
  std::uint64_t free_block_of_all(std::uint32_t rank, std::uint64_t offset) {
    const std::uint32_t keeper = keeper_of(rank, offset);
    const bool mine = keeper == engine_.net().rank();
    std::uint64_t block = 0;
    if (mine) {
      const std::lock_guard lock(books_);
      block = books_of(offset).block_of(offset);
    }
    block = tell_all(block, keeper, {collectives::caller::all_free, offset, graph::sync::all});
    if (mine && block == offset) give_back(books_of(offset), offset);
    return block;
  }

  // The collective call that a broadcast is a part of, and what all must say alike.
  struct collective_step {
    collectives::caller call;
    std::uint64_t argument;
    graph::sync in;
    std::uint64_t more = 0;
  };
  // Collective: the word of the root, on all. A broadcast looks for no sizes and no permutation: in their
  // place stands what all must say alike.
  std::uint64_t tell_all(std::uint64_t mine, std::uint32_t root, const collective_step& of) {
    std::byte* base = engine_.net().segment() + layout_.scratch;
    if (all_.info.me() == root) std::memcpy(base, &mine, sizeof mine);
    collectives::request r;
    r.op = collectives::operation::broadcast;
    r.root = root;
    r.in = of.in;
    r.out = graph::sync::my;
    r.bytes = sizeof mine;
    r.by = of.call;
    engine_.run(all_, r,
                {.dst = layout_.scratch + sizeof mine,
                 .src = layout_.scratch,
                 .sizes = of.argument,
                 .perm = of.more});
    std::uint64_t word = 0;
    std::memcpy(&word, base + sizeof word, sizeof word);
    return word;
  }

  bool has_mailbox(std::uint64_t offset, std::uint64_t bytes) const {
    return offset >= layout_.mailboxes && offset % 64 == 0 && offset < layout_.heap &&
           bytes <= layout_.heap - offset;
  }
  bool contains(std::uint64_t offset, engine::checked bytes) const {
    const std::uint64_t end = offset < local_begin() ? local_begin() : layout_.end(); // nothing lies in both
    return offset >= layout_.heap && offset < end && bytes <= end - offset;
  }
  std::uint64_t symmetric_bytes() const { return local_begin() - layout_.heap; }
  bool contains_symmetric(std::uint64_t offset, engine::checked bytes) const {
    return offset < local_begin() && contains(offset, bytes);
  }

  mailbox_grant take_mailbox(std::uint64_t bytes, mailbox_use use) {
    if (engine_.net().rank() == 0) return make_mailbox(bytes, use);
    return ask(0, allocate_mailbox{.bytes = bytes, .use = use});
  }
  // Where there is no room, asks again until there is, or `patience` is over: memory may be on its way back.
  mailbox_grant take_mailbox(std::uint64_t bytes, std::chrono::nanoseconds patience) {
    constexpr std::chrono::milliseconds between_attempts{1};
    const auto attempt = [&] { return take_mailbox(bytes, mailbox_use::team); };
    mailbox_grant grant = attempt();
    for (const auto end = engine_.net().now() + patience; grant.offset == 0 && engine_.net().now() < end;) {
      const auto next = engine_.net().now() + between_attempts;
      engine_.drive_until([&] { return engine_.net().now() >= next; });
      grant = attempt();
    }
    return grant;
  }
  // Under progress ownership.
  void give_mailbox_back(std::uint64_t offset) {
    if (engine_.net().rank() == 0)
      give_back(mailboxes_, offset);
    else
      static_cast<void>(send(0, free_mailbox{offset})); // else the block is lost, and no rank waits for it
  }

  // The rank is dead, or not to be reached: what it was asked for it will not grant. One thread says so, once
  // of each rank; the words are there for any rank that has seen the flag (release, acquire).
  void lose(std::uint32_t rank, progress::fate f = {}) {
    fates_[rank] = std::move(f);
    lost_[rank].store(true, std::memory_order_release);
  }
  bool lost(std::uint32_t rank) const { return lost_[rank].load(std::memory_order_acquire); }
  // Of a rank that is lost.
  const progress::fate& fate_of(std::uint32_t rank) const { return fates_[rank]; }

  // Under progress ownership. False for want of memory.
  template <class Request> bool send(std::uint32_t rank, const Request& r) {
    const transport::message m{.kind = transport::message_kind::request, .source = engine_.net().rank()};
    return engine_.works().members().unasked().send(rank, m, encoded(r));
  }

  // What another rank asks of this one, or answers.
  void on_request(std::uint32_t from, const allocate& r) {
    answer(from, allocated{r.id, take(symmetric_, r.bytes)});
  }
  void on_request(std::uint32_t from, const control::free_block& r) {
    answer(from, freed{r.id, give_back(books_of(r.offset), r.offset)});
  }
  void on_request(std::uint32_t from, const allocate_mailbox& r) {
    const mailbox_grant grant = make_mailbox(r.bytes, r.use);
    answer(from, allocated_mailbox{r.id, grant.offset, grant.number});
  }
  void on_request(std::uint32_t, const free_mailbox& r) { give_back(mailboxes_, r.offset); }
  void on_request(std::uint32_t, const allocated& r) { hear(r.id, {r.offset}); }
  void on_request(std::uint32_t, const freed& r) { hear(r.id, {r.block}); }
  void on_request(std::uint32_t, const allocated_mailbox& r) { hear(r.id, {r.offset, r.team}); }

  std::uint64_t end() const { return layout_.end(); }

  // The rank that keeps the books of this place.
  std::uint32_t keeper_of(std::uint32_t rank, std::uint64_t offset) const {
    return local_.contains(offset) ? rank : 0;
  }
  // What the books of this rank say of a place, and the version that says so.
  struct entry {
    engine::heap::block below;
    std::uint64_t version = 0;
  };
  entry look_up(std::uint64_t offset) {
    const std::lock_guard lock(books_);
    return {books_of(offset).block_below(offset), version_.load(std::memory_order_relaxed)};
  }
  // Of the rank with this segment.
  engine::word& version_at(std::byte* segment) const {
    return *reinterpret_cast<engine::word*>(segment + layout_.version);
  }

  // The largest requests that the books of this rank would grant.
  struct room {
    std::uint64_t symmetric, local, mailboxes;
    bool operator==(const room&) const = default;
  };
  room largest() {
    const std::lock_guard lock(books_);
    return {symmetric_.largest(), local_.largest(), mailboxes_.largest()};
  }

private:
  std::uint64_t local_begin() const { return layout_.heap + layout_.heap_bytes; }
  engine::heap& books_of(std::uint64_t offset) { return local_.contains(offset) ? local_ : symmetric_; }

  std::uint64_t take(engine::heap& h, std::uint64_t bytes) {
    const std::lock_guard lock(books_);
    return take_from(h, bytes);
  }
  std::uint64_t take_from(engine::heap& h, std::uint64_t bytes) {
    try {
      const std::uint64_t offset = h.allocate(bytes);
      has_changed();
      return offset;
    } catch (const std::bad_alloc&) { // of the books: others ask, too, and are told that there is no room
      return 0;
    }
  }
  std::uint64_t give_back(engine::heap& h, std::uint64_t offset) {
    const std::lock_guard lock(books_);
    if (!h.free(offset)) return h.block_of(offset);
    has_changed();
    return offset;
  }
  // Under books_. A rank that hears of the change, by whatever way, and loads the word behind that sees it
  // moved.
  void has_changed() {
    version_.store(version_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  // Channels of single ranks stay, so all of them together get half of the room: no team is to fail for what
  // only makes calls faster.
  mailbox_grant make_mailbox(std::uint64_t bytes, mailbox_use use) {
    const bool stays = use == mailbox_use::channel;
    const std::lock_guard lock(books_);
    if (stays && bytes > layout_.mailbox_bytes / 2 - of_channels_) return {};
    const std::uint64_t offset = take_from(mailboxes_, bytes);
    if (offset == 0) return {};
    if (stays) of_channels_ += bytes;
    return {offset, numbers_++};
  }

  struct asked : progress::awaited_answer {
    std::uint64_t id = 0;

  protected:
    ~asked() = default;
  };
  template <class Request> struct asked_for final : asked {
    asked_for(std::uint32_t k, const Request& r) : keeper(k), what(r) { this->id = r.id; }
    std::string text() const override { return wait_text(keeper, what); }
    std::uint32_t keeper;
    const Request& what;
  };
  void forget(asked& a) noexcept {
    engine_.works().answers().remove(a);
    awaited_ = nullptr;
  }

  // Sends the request, with an id of its own, and waits for its answer.
  template <class Request> mailbox_grant ask(std::uint32_t keeper, Request r) {
    const std::lock_guard lock(one_request_);
    r.id = ++ids_;
    asked_for<Request> mine(keeper, r);
    engine_.with_ownership([&] {
      engine_.works().answers().add(mine);
      awaited_ = &mine;
      if (send(keeper, r)) return;
      forget(mine);
      throw std::bad_alloc();
    });
    const auto answered = [&] { return answered_.load(std::memory_order_acquire) == r.id; };
    engine_.drive_until([&] { return answered() || lost(keeper); });
    if (!answered()) engine_.with_ownership([&] { forget(mine); });
    if (!answered())
      throw progress::operation_error("thread " + std::to_string(keeper) +
                                      ", which keeps the books of this memory, " + fate_of(keeper).words);
    return answer_;
  }
  // An answer that no rank waits for any more is late, or came twice.
  void hear(std::uint64_t id, mailbox_grant granted) {
    if (awaited_ == nullptr || id != awaited_->id) return;
    forget(*awaited_);
    answer_ = granted;
    answered_.store(id, std::memory_order_release);
    engine_.wake();
  }
  template <class Answer> void answer(std::uint32_t to, const Answer& a) {
    if (!send(to, a)) engine::end_out_of_memory("an answer to another rank");
  }

  engine_type& engine_;
  progress::channel& all_;
  const heap_layout layout_;
  std::mutex books_;
  engine::heap symmetric_, local_, mailboxes_;
  engine::word& version_;
  std::uint32_t numbers_ = 3;     // 0 is the team of all, 1 the host's, 2 no team's: see team_calls
  std::uint64_t of_channels_ = 0; // bytes of mailboxes
  std::mutex one_request_;        // a rank has one under way
  std::uint64_t ids_ = 0;
  asked* awaited_ = nullptr; // under progress ownership
  mailbox_grant answer_;     // written before answered_
  std::atomic<std::uint64_t> answered_{0};
  std::vector<progress::fate> fates_ = std::vector<progress::fate>(all_.info.size());      // by rank
  std::vector<std::atomic<bool>> lost_ = std::vector<std::atomic<bool>>(all_.info.size()); // by rank
};

} // namespace weft::control
