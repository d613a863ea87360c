#pragma once
#include "engine/fifo.hpp"
#include "engine/item_pool.hpp"
#include "engine/out_of_memory.hpp"
#include "engine/transport/transport.hpp"
#include "engine/transport/ucx/links.hpp"

#include <span>

namespace weft::transport::ucx {

// Puts, gets and flushes over active messages, for networks that cannot reach memory by themselves. (UCX
// would do the same inside, but for everybody who knows its address, and it ends the process if whom it has
// to answer is dead.) All messages carry the key of the job.
//
//   put     The source goes out in pieces, each one segment of UCX, so that the target copies it from the
//           receive buffer to its place. How much has arrived comes back with every message that goes there
//           anyway, of the transport or of this class, written after the copies: who hears of a piece may
//           tell others that it is in place. A message of its own, one for all that a poll has brought, says
//           so if a piece asks for it, or if more than half of what may be under way has not been told.
//   push    A put that is ordered, and not flushed: its pieces do not ask. The last one is held back, for the
//           message that follows rides on it; if none has until the next serve(), it goes by itself.
//   flush   Ends when as much has arrived as was put before it, and asks if pushes did not. Pieces and what
//           comes back of them stay in order (single segments on the one lane of UCX for messages).
//   order   Ends when the pieces of the puts before it have gone out, but for one that is held back: other
//           messages follow them.
//   get     One `wanted` for each piece; `piece` comes back, straight out of the target's segment.
//
// Of each kind only so many bytes are on their way to or from one peer, or other messages would wait behind
// megabytes. The rest waits in the transfer that it belongs to, which knows how far it has come. What a
// message asks for is only written down by its handler; serve() does it after UCX has made progress, and
// calls none but completions. Transfers and parcels come from pools that keep what they had.
class remote_memory {
public:
  remote_memory(const options& o, links& peers, std::span<std::byte> segment)
      : options_(o), links_(peers), segment_(segment), states_(o.size) {}
  remote_memory(const remote_memory&) = delete;
  remote_memory& operator=(const remote_memory&) = delete;

  // Answers others from now on.
  void open(ucp_worker_h worker);
  // Who gets the messages that ride on pieces.
  void set_sink(message_sink* sink) { sink_ = sink; }

  started put(std::uint32_t peer, std::uint64_t to, const void* from, std::uint64_t bytes,
              completion& done) noexcept {
    return begin_put(peer, to, from, bytes, done, false);
  }
  started push(std::uint32_t peer, std::uint64_t to, const void* from, std::uint64_t bytes,
               completion& done) noexcept {
    return begin_put(peer, to, from, bytes, done, true);
  }
  started get(std::uint32_t peer, void* to, std::uint64_t from, std::uint64_t bytes,
              completion& done) noexcept;
  started flush(std::uint32_t peer, completion& done) noexcept;
  started order(std::uint32_t peer, completion& done) noexcept;

  // Whether a piece to this peer waits for a message to ride on it. Every message goes with it, or behind it.
  bool holds(std::uint32_t peer) const noexcept { return states_[peer].held != nullptr; }
  started ride(std::uint32_t peer, const message& m, completion& done) noexcept;
  // 0, or why it did not go.
  int release(std::uint32_t peer) noexcept;

  // How much of a peer's puts has arrived, for the header of a message to it; told when it has been sent. And
  // what such a header says.
  std::uint32_t arrived(std::uint32_t peer) const noexcept {
    return static_cast<std::uint32_t>(states_[peer].arrived);
  }
  void told(std::uint32_t peer) noexcept { states_[peer].told = states_[peer].arrived; }
  void hear(std::uint32_t peer, std::uint32_t arrived) noexcept {
    if (peer < states_.size() && arrived != static_cast<std::uint32_t>(states_[peer].delivered))
      hear_of_more(peer, arrived);
  }

  // All that is under way with this peer fails at the next serve().
  void lose(std::uint32_t peer) noexcept { fail_later(peer, UCS_ERR_CONNECTION_RESET); }
  // What messages have left to do; returns how many peers there were to do something for.
  unsigned serve() noexcept { return busy_ == nullptr ? 0 : serve_all(); }
  bool idle() const noexcept { return busy_ == nullptr; }

private:
  enum class effect : std::uint16_t { put, tell, told, wanted, piece, refused };

  struct header {
    std::uint64_t job_key;
    std::uint32_t version;
    std::uint32_t source;
    effect what;
    std::uint16_t asks;    // of a put: not 0 if somebody waits to hear of it
    std::uint32_t arrived; // of the target's puts, as a load, cut off
    std::uint64_t bytes;
    std::uint64_t at;    // in the target's segment
    std::uint64_t name;  // of a get
    std::uint64_t place; // of the piece in it
  };

  enum class kind : std::uint8_t { put, get, flush, order };

  // What a call began and has not ended.
  struct transfer {
    completion* done = nullptr; // null until that call returns
    std::byte* local = nullptr;
    std::uint64_t remote = 0;
    std::uint64_t bytes = 0;
    std::uint64_t gone = 0;    // how far its pieces have been sent, or asked for
    std::uint64_t arrived = 0; // of a get
    std::uint64_t target = 0;  // of a flush (an order): as much is to have arrived (gone)
    std::uint64_t name = 0;    // index and generation: an answer that is late finds nobody
    std::uint32_t peer = 0;
    std::uint32_t with_ucx = 0; // pieces that UCX still reads
    kind what = kind::put;
    bool pushed = false;
    bool live = false;
    bool queued = false;
    bool ended = false;
    int status = 0;
    transfer* next = nullptr;
  };

  struct envelope {
    header head{};
    message rider; // or only the header
  };

  // A message that UCX may not have sent yet.
  struct parcel : envelope {
    completion* rides = nullptr; // who waits for the rider to go, if there is one
    const std::byte* payload = nullptr;
    std::uint64_t bytes = 0;
    transfer* of = nullptr; // the put whose source it reads
    std::uint32_t peer = 0;
    remote_memory* owner = nullptr;
    parcel* next = nullptr;
  };

  // What is on its way is counted in bytes, and some for each piece: they cost something even if they are
  // small. Of puts it is how much has been begun less how much has arrived: numbers that only grow.
  static constexpr std::uint64_t most_under_way = 512 * 1024, unasked = most_under_way * 5 / 8;
  static constexpr std::uint64_t load_of(std::uint64_t bytes, std::uint64_t pieces = 1) noexcept {
    return bytes + pieces * 64;
  }

  struct state {
    parcel* held = nullptr;      // the last piece of a push: it has gone, but for order() and ride()
    std::uint64_t arrived = 0;   // of the peer's puts
    std::uint64_t told = 0;      // the peer knows of so much
    std::uint64_t delivered = 0; // of my puts
    std::uint64_t gone = 0;      // has been sent
    std::uint64_t promised = 0;  // with those that wait
    std::uint64_t asked = 0;     // the peer knows that somebody waits to hear of so much
    std::uint64_t getting = 0;   // asked for, and not here
    engine::fifo<transfer> puts, gets, flushes, orders;
    engine::fifo<parcel> answers;
    int failed = 0;
    bool awaited = false; // the peer waits to be told
    bool refuses = false; // the peer asked for what is not there
    bool busy = false;
    state* next = nullptr; // of those that serve() looks at
  };

  started begin_put(std::uint32_t peer, std::uint64_t to, const void* from, std::uint64_t bytes,
                    completion& done, bool pushed) noexcept;
  transfer* begin(kind what, std::uint32_t peer, void* local, std::uint64_t remote,
                  std::uint64_t bytes) noexcept;
  started hand_over(transfer& t, completion& done) noexcept;
  started follow(kind what, std::uint32_t peer, std::uint64_t so_far, engine::fifo<transfer>& others,
                 completion& done) noexcept;
  void end_followers(engine::fifo<transfer>& f, std::uint64_t so_far) noexcept;
  void end(transfer& t, int status) noexcept;
  void release(transfer& t) noexcept;

  parcel* take_parcel(std::uint32_t peer, effect what) noexcept;
  void give_back(parcel& p) noexcept;
  started submit(parcel& p) noexcept;
  int send(parcel* p, std::uint32_t peer) noexcept;
  static void sent(void* request, ucs_status_t status, void* user) noexcept;

  void issue_puts(std::uint32_t peer) noexcept;
  int issue_piece(std::uint32_t peer, transfer& t) noexcept;
  int hold(parcel* p, std::uint32_t peer) noexcept;
  int keep_or_fail(parcel& p, int status) noexcept;
  void ask(std::uint32_t peer) noexcept;
  void issue_gets(std::uint32_t peer) noexcept;
  void acknowledge(std::uint32_t peer) noexcept;
  void refuse(std::uint32_t peer) noexcept;
  void answer(std::uint32_t peer) noexcept;

  void mark(std::uint32_t peer) noexcept;
  void again(std::uint32_t peer) noexcept;
  void fail_later(std::uint32_t peer, int status) noexcept;
  void fail_all(std::uint32_t peer) noexcept;
  unsigned serve_all() noexcept;
  void serve(std::uint32_t peer) noexcept;

  static ucs_status_t received(void* self, const void* head, std::size_t head_bytes, void* data,
                               std::size_t bytes, const ucp_am_recv_param_t* param) noexcept;
  bool take_in(const header& h, std::span<const std::byte> payload) noexcept;
  bool land(const header& h, std::span<const std::byte> payload) noexcept;
  void await(std::uint32_t peer) noexcept;
  void hear_of_more(std::uint32_t peer, std::uint32_t arrived) noexcept;
  void write_down(const header& h) noexcept;
  void arrive(const header& h, std::span<const std::byte> payload) noexcept;
  bool is_mine(std::uint64_t at, std::uint64_t bytes) const noexcept {
    return at <= segment_.size() && bytes <= segment_.size() - at;
  }

  const options& options_;
  links& links_;
  std::span<std::byte> segment_;
  std::vector<state> states_;
  state* busy_ = nullptr;
  message_sink* sink_ = nullptr;
  engine::item_pool<transfer> transfers_;
  engine::item_pool<parcel> parcels_;
  engine::shortage shortage_;
};

} // namespace weft::transport::ucx
