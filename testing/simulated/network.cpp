// SPDX-License-Identifier: BSD-3-Clause
#include "testing/simulated/network.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace weft::transport::sim {

network::network(const simulation_options& options, seeded_random& random, scheduler& scheduler,
                 memory& memory)
    : options_(options), random_(random), scheduler_(scheduler), memory_(memory), ports_(options.ranks),
      wire_free_at_(options.ranks) {}

// The ranks of a host share its wire.
std::int64_t& network::wire_of(std::uint32_t rank) {
  const std::vector<std::uint32_t>& nodes = options_.host_of_rank;
  if (nodes.empty()) return wire_free_at_[0];
  const auto first = std::find(nodes.begin(), nodes.end(), nodes[rank]);
  return wire_free_at_[static_cast<std::size_t>(first - nodes.begin())];
}

// Whatever goes to the network leaves everything before it visible.
void network::begin(std::uint32_t me, action what) {
  scheduler_.step(me, what, options_.costs.o);
  memory_.publish(me);
}

// When a transfer that starts now is at its target: LogGP, and some more.
std::int64_t network::arrival(std::uint32_t me, std::uint64_t bytes) {
  const simulated_costs& costs = options_.costs;
  std::int64_t& free_at = wire_of(me);
  free_at = std::max(scheduler_.now(), free_at) +
            static_cast<std::int64_t>(std::ceil(costs.g + costs.byte * static_cast<double>(bytes)));
  bytes_ += bytes;
  return free_at + static_cast<std::int64_t>(std::ceil(costs.latency)) + jitter();
}

// Reads a source at once, or later: by itself or in a poll of its owner.
void network::read_source(bool now, std::uint32_t me, std::int64_t before, std::function<void()> read) {
  if (now) return read();
  const std::int64_t when = scheduler_.now() + random_.up_to(before - scheduler_.now());
  if (random_.coin(options_.chaos.needs_own_poll)) {
    scheduler_.at(when, [this, me, read = std::move(read)] {
      ports_[me].work.push_back(read);
      scheduler_.wake(me);
    });
  } else {
    scheduler_.at(when, std::move(read));
  }
}

void network::in_pieces(std::uint64_t bytes, const std::function<void(std::uint64_t, std::uint64_t)>& piece) {
  std::uint64_t begin = 0;
  while (begin < bytes) {
    const bool whole = !random_.coin(options_.chaos.tear);
    const std::uint64_t size = whole ? bytes - begin : 1 + random_.below(bytes - begin);
    piece(begin, size);
    begin += size;
  }
}

void network::at_or_by_poll(std::int64_t when, std::uint32_t target, std::function<void()> work) {
  if (random_.coin(options_.chaos.needs_poll)) {
    scheduler_.at(when, [this, target, work = std::move(work)] {
      ports_[target].work.push_back(work);
      scheduler_.wake(target);
    });
  } else {
    scheduler_.at(when, std::move(work));
  }
}

started network::put(std::uint32_t me, std::uint32_t peer, std::uint64_t offset, const void* from,
                     std::uint64_t bytes, completion& done) {
  std::byte* const there = memory_.at(peer, offset, bytes);
  begin(me, action::put);
  if (bytes == 0 || scheduler_.abandoning()) return started::at_its_end();
  const bool now = random_.coin(options_.chaos.at_once);
  auto t = std::make_shared<transfer>();
  t->me = me;
  t->peer = peer;
  t->there = there;
  t->data.resize(bytes);
  t->id = ++ids_;
  t->done = now ? nullptr : &done;
  ports_[me].to[peer].unlanded.insert(t->id);
  const std::int64_t earliest = arrival(me, bytes);
  read_source(now, me, earliest, [this, t, from, earliest] {
    memory_.read(t->data.data(), from, t->data.size());
    if (t->done != nullptr) finish(t->me, t->done);
    land_put(t, earliest);
  });
  return now ? started::at_its_end() : started::on_its_way();
}

void network::land_put(const std::shared_ptr<transfer>& t, std::int64_t earliest) {
  in_pieces(t->data.size(), [this, &t, earliest](std::uint64_t begin, std::uint64_t size) {
    ++t->open_pieces;
    const std::int64_t landing = earliest + jitter() + random_.up_to(options_.chaos.landing_ns);
    at_or_by_poll(landing, t->peer, [this, t, begin, size] {
      memory_.write(t->peer, t->there + begin, t->data.data() + begin, size);
      if (--t->open_pieces != 0) return;
      delivered(t->me, t->peer, t->id);
      deliver(t->me, t->peer);
    });
  });
}

started network::get(std::uint32_t me, std::uint32_t peer, void* to, std::uint64_t offset,
                     std::uint64_t bytes, completion& done) {
  std::byte* const there = memory_.at(peer, offset, bytes);
  begin(me, action::get);
  if (bytes == 0 || scheduler_.abandoning()) return started::at_its_end();
  auto t = std::make_shared<transfer>();
  t->me = me;
  t->peer = peer;
  t->there = there;
  t->data.resize(bytes);
  t->done = &done;
  auto* const here = static_cast<std::byte*>(to);
  const std::int64_t asked = arrival(me, 0);
  in_pieces(bytes, [&](std::uint64_t begin, std::uint64_t size) {
    ++t->open_pieces;
    at_or_by_poll(asked + jitter(), peer, [this, t, here, begin, size] {
      memory_.read(t->data.data() + begin, t->there + begin, size);
      scheduler_.at(arrival(t->peer, size), [this, t, here, begin, size] {
        memory_.write(t->me, here + begin, t->data.data() + begin, size);
        if (--t->open_pieces == 0) finish(t->me, t->done);
      });
    });
  });
  return started::on_its_way();
}

started network::send(std::uint32_t me, std::uint32_t peer, const message& m, const void* payload,
                      std::uint64_t bytes, completion& done) {
  begin(me, action::send);
  if (scheduler_.abandoning()) return started::at_its_end();
  const bool now = random_.coin(options_.chaos.at_once);
  auto p = std::make_shared<parcel>();
  p->m = m;
  p->payload.resize(bytes);
  p->id = ++ids_;
  channel& way = ports_[me].to[peer];
  p->behind = way.ordered;
  way.unlanded.insert(p->id);
  way.parcels.push_back(p);
  const std::int64_t when = arrival(me, sizeof(message) + bytes);
  read_source(now, me, when, [this, me, peer, p, payload, report_to = now ? nullptr : &done] {
    if (!p->payload.empty()) memory_.read(p->payload.data(), payload, p->payload.size());
    p->read = true;
    if (report_to != nullptr) finish(me, report_to);
    deliver(me, peer);
  });
  scheduler_.at(when, [this, me, peer, p] {
    p->arrived = true;
    deliver(me, peer);
  });
  return now ? started::at_its_end() : started::on_its_way();
}

// Hands what has come in to the target's inbox, in the order of sending.
void network::deliver(std::uint32_t me, std::uint32_t peer) {
  channel& way = ports_[me].to[peer];
  std::deque<std::shared_ptr<parcel>>& parcels = way.parcels;
  const auto has_come = [&](const parcel& p) {
    return p.read && p.arrived && *way.unlanded.begin() > p.behind; // it has not landed itself
  };
  while (!parcels.empty() && has_come(*parcels.front())) {
    const std::shared_ptr<parcel> p = std::move(parcels.front());
    parcels.pop_front();
    ports_[peer].inbox.push_back(p);
    ++messages_;
    scheduler_.wake(peer);
    delivered(me, peer, p->id);
  }
}

started network::flush(std::uint32_t me, std::uint32_t peer, completion& done) {
  begin(me, action::flush);
  channel& way = ports_[me].to[peer];
  if (scheduler_.abandoning() || options_.faults.early_flush) return started::at_its_end();
  if (!way.unlanded.empty()) {
    way.flushes.push_back({ids_, &done});
    return started::on_its_way();
  }
  if (random_.coin(options_.chaos.at_once)) return started::at_its_end();
  scheduler_.at(scheduler_.now() + jitter(), [this, me, &done] { finish(me, &done); });
  return started::on_its_way();
}

started network::order(std::uint32_t me, std::uint32_t peer, completion& done) {
  if (!options_.keeps_order) return flush(me, peer, done);
  begin(me, action::flush);
  ports_[me].to[peer].ordered = ids_;
  return started::at_its_end();
}

void network::delivered(std::uint32_t me, std::uint32_t peer, std::uint64_t id) {
  channel& way = ports_[me].to[peer];
  way.unlanded.erase(id);
  const auto news = static_cast<std::int64_t>(std::ceil(options_.costs.latency)) + jitter();
  std::erase_if(way.flushes, [&](const flush_wait& f) {
    if (!way.unlanded.empty() && *way.unlanded.begin() <= f.up_to) return false;
    scheduler_.at(scheduler_.now() + news, [this, me, done = f.done] { finish(me, done); });
    return true;
  });
}

void network::finish(std::uint32_t me, completion* done) {
  ports_[me].finished.push_back(done);
  scheduler_.wake(me);
}

unsigned network::poll(std::uint32_t me) {
  if (scheduler_.abandoning()) throw abandoned{};
  scheduler_.step(me, action::poll, options_.costs.poll);
  if (!something_to_poll(me)) return 0;
  const std::size_t most = random_.coin(options_.chaos.few) ? random_.below(3) : ~std::size_t{0};
  unsigned events = 0;
  const std::uint64_t first = options_.chaos.few > 0 ? random_.below(3) : 0;
  for (std::uint64_t i = 0; i < 3; ++i) {
    switch ((first + i) % 3) {
    case 0:
      events += do_work(me, most);
      break;
    case 1:
      events += hand_over(me, most);
      break;
    default:
      events += report(me, most);
      break;
    }
  }
  if (std::exchange(ports_[me].rung, false)) ++events;
  if (something_to_poll(me)) scheduler_.wake(me); // what is left over is news for the next poll
  return events;
}

unsigned network::do_work(std::uint32_t me, std::size_t most) {
  std::deque<std::function<void()>>& work = ports_[me].work;
  const std::size_t n = std::min(most, work.size());
  for (std::size_t i = 0; i < n; ++i) {
    const std::function<void()> next = std::move(work.front());
    work.pop_front();
    next();
  }
  return static_cast<unsigned>(n);
}

unsigned network::hand_over(std::uint32_t me, std::size_t most) {
  port& mine = ports_[me];
  if (mine.sink == nullptr) return 0;
  const std::size_t n = std::min(most, mine.inbox.size());
  for (std::size_t i = 0; i < n; ++i) {
    const std::shared_ptr<parcel> p = std::move(mine.inbox.front());
    mine.inbox.pop_front();
    scheduler_.add_cost(me, options_.costs.o);
    mine.sink->on_message(p->m, std::span<const std::byte>(p->payload));
  }
  return static_cast<unsigned>(n);
}

unsigned network::report(std::uint32_t me, std::size_t most) {
  std::deque<completion*>& finished = ports_[me].finished;
  const std::size_t n = std::min(most, finished.size());
  for (std::size_t i = 0; i < n; ++i) {
    completion* const c = finished.front();
    finished.pop_front();
    c->done(c, 0);
  }
  return static_cast<unsigned>(n);
}

bool network::something_to_poll(std::uint32_t me) const {
  const port& mine = ports_[me];
  return mine.rung || !mine.work.empty() || !mine.finished.empty() ||
         (mine.sink != nullptr && !mine.inbox.empty());
}

void network::ring(std::uint32_t me, std::uint32_t peer) {
  scheduler_.step(me, action::ring, options_.costs.ring);
  memory_.publish(me);
  ++rings_;
  if (scheduler_.abandoning() || random_.coin(options_.faults.lost_ring)) return;
  scheduler_.at(scheduler_.now() + random_.up_to(options_.chaos.delay_ns), [this, peer] {
    ports_[peer].rung = true;
    scheduler_.wake(peer);
  });
}

void network::nap(std::uint32_t me, std::int64_t limit) {
  scheduler_.step(me, action::nap, options_.costs.yield);
  if (!something_to_poll(me)) scheduler_.sleep(me, options_.endless_naps ? -1 : limit);
  ports_[me].rung = false;
}

} // namespace weft::transport::sim
