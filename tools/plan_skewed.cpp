// SPDX-License-Identifier: BSD-3-Clause
// weft plan team_alltoallv --skew: the predicted time of an exchange whose blocks have sizes by a power law,
// in each of its ways and by loops of puts that a program would write.

#include "engine/bundle_box.hpp"
#include "engine/collectives/algorithm.hpp"
#include "engine/collectives/relocate.hpp"
#include "engine/format.hpp"
#include "engine/unequal/exchange.hpp"
#include "tools/options/skewed_sizes.hpp"
#include "tools/plan_options.hpp"

#include <algorithm>
#include <cstdio>
#include <vector>

namespace weft::tool {

namespace {

using collectives::request;

// What a host has of it. Of what comes and what goes the larger counts: a cable carries both at once.
struct load {
  std::uint64_t along = 0, along_bytes = 0, brought = 0, brought_bytes = 0;
  std::uint64_t messages = 0, message_bytes = 0;

  void come_along(std::uint64_t bytes) { ++along, along_bytes += bytes; }
  void be_brought(std::uint64_t bytes) { ++brought, brought_bytes += bytes; }
  static load larger(const load& a, const load& b) {
    return {std::max(a.along, b.along),       std::max(a.along_bytes, b.along_bytes),
            std::max(a.brought, b.brought),   std::max(a.brought_bytes, b.brought_bytes),
            std::max(a.messages, b.messages), std::max(a.message_bytes, b.message_bytes)};
  }
};

std::uint64_t mean(std::uint64_t all, std::uint64_t of) {
  return of == 0 ? 0 : all / of;
}

// Times in nanoseconds, from when all enter together. Those of the library's ways are made as
// cost_of_flat_unequal and cost_of_bundled_unequal make them, which know one size for all blocks.
class skewed_exchange {
public:
  skewed_exchange(const skewed_sizes& sizes, const graph::topology& g, const collectives::tuning& t)
      : sizes_(sizes), g_(g), t_(t), c_(t.costs) {}

  std::uint64_t bytes_between_hosts() const {
    std::uint64_t sum = 0;
    each_far([&](std::uint32_t from, std::uint32_t to) { sum += sizes_.of(from, to); });
    return sum;
  }
  std::uint64_t flat() const {
    const std::uint64_t told = sizeof(unequal::note);
    const std::uint64_t most = unequal::longest_note(g_.size(), far_payload(t_, g_)) - told;
    std::vector<load> out(g_.hosts()), in(g_.hosts());
    each_far([&](std::uint32_t from, std::uint32_t to) {
      const std::uint64_t bytes = sizes_.of(from, to);
      for (load* const of : {&out[g_.host(from)], &in[g_.host(to)]})
        bytes <= most ? of->come_along(bytes) : of->be_brought(bytes);
    });
    return slowest(out, in, [&](std::uint32_t host, const load& l) {
      const std::uint64_t notes = l.along + l.brought, note = told + mean(l.along_bytes, notes);
      const std::uint64_t near = c_.copies(2 * g_.size(), note) + near_copies(host);
      return notes == 0 ? near : near + c_.message() + c_.wire(notes, note) + bring(l);
    });
  }
  std::uint64_t bundled() const {
    const std::uint64_t room = engine::bundle_box::part_room(g_, engine::bundle_box::layout::large);
    const std::uint64_t message = engine::bundle_box::message_room(g_);
    std::vector<load> out(g_.hosts()), in(g_.hosts());
    for (std::uint32_t host = 0; host != g_.hosts(); ++host)
      for (std::uint32_t there = 0; there != g_.hosts(); ++there) {
        if (there == host) continue;
        std::uint64_t parts = 0;
        for (std::uint32_t k = 0; k != g_.members(host); ++k)
          parts += part(member(host, k), there, room, {&out[host], &in[there]});
        for (load* const of : {&out[host], &in[there]}) {
          of->messages += (parts + message - 1) / message;
          of->message_bytes += parts;
        }
      }
    return slowest(out, in, [&](std::uint32_t host, const load& l) {
      const std::uint64_t locals = g_.largest_host(), blocks = l.along + l.brought;
      const std::uint64_t senders = (g_.hosts() - 1) * locals;
      return near_copies(host) + c_.copies(g_.size(), mean(l.along_bytes, blocks)) +
             c_.copies(4 * locals, engine::mailbox::line) +
             c_.messages(l.messages, mean(l.message_bytes, l.messages)) +
             c_.packs(blocks, mean(l.message_bytes, blocks)) +
             c_.packs(graph::most_led(g_) * locals, mean(l.message_bytes, senders)) + bring(l);
    });
  }
  // Each rank puts a block and a signal behind it, and waits for the one that comes in this round.
  std::uint64_t pairwise() const {
    std::uint64_t sum = barrier();
    for (std::uint32_t round = 0; round != g_.size(); ++round)
      sum += puts([&](std::uint32_t rank, auto&& visit) { visit((rank + round) % g_.size()); });
    return sum;
  }
  // All at once.
  std::uint64_t linear() const {
    return barrier() + puts([&](std::uint32_t, auto&& visit) {
             for (std::uint32_t to = 0; to != g_.size(); ++to)
               visit(to);
           });
  }

private:
  std::uint32_t member(std::uint32_t host, std::uint32_t k) const {
    return g_.in_host_order(g_.first(host) + k);
  }
  template <class F> void each_far(F&& what) const {
    for (std::uint32_t from = 0; from != g_.size(); ++from)
      for (std::uint32_t to = 0; to != g_.size(); ++to)
        if (g_.host(from) != g_.host(to)) what(from, to);
  }
  template <class F>
  std::uint64_t slowest(const std::vector<load>& out, const std::vector<load>& in, F&& time) const {
    std::uint64_t most = 0;
    for (std::uint32_t host = 0; host != g_.hosts(); ++host)
      most = std::max<std::uint64_t>(most, time(host, load::larger(out[host], in[host])));
    return most;
  }
  // Of the member that has most to copy.
  std::uint64_t near_copies(std::uint32_t host) const {
    std::uint64_t most = 0;
    for (std::uint32_t to = 0; to != g_.members(host); ++to) {
      std::uint64_t bytes = 0;
      for (std::uint32_t from = 0; from != g_.members(host); ++from)
        bytes += sizes_.of(member(host, from), member(host, to));
      most = std::max(most, c_.copies(g_.members(host), mean(bytes, g_.members(host))));
    }
    return most;
  }
  // What is not there yet.
  std::uint64_t bring(const load& l) const {
    return l.brought == 0 ? 0 : c_.gets(l.brought, mean(l.brought_bytes, l.brought), true);
  }
  // The bytes of a member's part for a host.
  std::uint64_t part(std::uint32_t from, std::uint32_t there, std::uint64_t room,
                     std::initializer_list<load*> loads) const {
    const std::uint32_t entries = g_.members(there);
    const std::uint64_t front = 4 + std::uint64_t{entries} * 4;
    const auto bytes_of = [&](std::uint32_t k) { return sizes_.of(from, member(there, k)); };
    unequal::along_blocks short_ones(room - front, entries, bytes_of);
    std::uint64_t bytes = front;
    for (std::uint32_t k = 0; k != entries; ++k) {
      const std::uint64_t block = bytes_of(k);
      const bool along = short_ones.has(block);
      for (load* const of : loads)
        along ? of->come_along(block) : of->be_brought(block);
      bytes += along ? block : sizeof(unequal::note);
    }
    return bytes;
  }
  // From the first to the last of them, at the host that has most to do.
  template <class Each> std::uint64_t puts(Each&& each) const {
    std::vector<load> out(g_.hosts()), in(g_.hosts());
    std::uint64_t near = 0;
    for (std::uint32_t from = 0; from != g_.size(); ++from) {
      std::uint64_t copied = 0;
      each(from, [&](std::uint32_t to) {
        const std::uint64_t bytes = sizes_.of(from, to);
        if (g_.host(from) == g_.host(to)) copied += c_.copies(1, bytes);
        for (load* const of : {&out[g_.host(from)], &in[g_.host(to)]})
          if (g_.host(from) != g_.host(to)) of->be_brought(bytes);
      });
      near = std::max(near, copied);
    }
    return std::max(near, slowest(out, in, [&](std::uint32_t, const load& l) {
                      if (l.brought == 0) return std::uint64_t{0};
                      return c_.put_and_count() + c_.wire(l.brought - 1, 0) +
                             c_.wire(l.brought, mean(l.brought_bytes, l.brought));
                    }));
  }
  std::uint64_t barrier() const {
    return collectives::cost_of_barrier({.op = collectives::operation::barrier}, g_, t_);
  }

  const skewed_sizes& sizes_;
  const graph::topology& g_;
  const collectives::tuning& t_;
  collectives::cost_model c_;
};

} // namespace

void print_skewed(const plan_options& o, const std::vector<std::uint32_t>& nodes) {
  const graph::topology g(0, nodes);
  const collectives::tuning t = tuning_for(o, o.nodes);
  const skewed_sizes sizes(o.ranks, completed(o).bytes, *o.skew);
  const skewed_exchange all(sizes, g, t);
  // No member knows the sizes of all: the library asks for its way as for blocks of one byte.
  const request asked{.op = o.request.op, .bytes = 1, .apart = true};
  const collectives::algorithm* const chosen = collectives::choose(asked, g, t);
  engine::print(stdout,
                "// {} of {} blocks on {} ranks of {} nodes, the k-th largest of {} / k^{} bytes, {} bytes "
                "between nodes\n",
                collectives::name(o.request.op), std::uint64_t{o.ranks} * o.ranks, o.ranks, o.nodes,
                completed(o).bytes, *o.skew, all.bytes_between_hosts());
  for (const collectives::algorithm& a : collectives::algorithms()) {
    if (a.op != o.request.op) continue;
    if (a.fits(asked, g, t))
      engine::print(stdout, "// {} by {}: about {} ns{}\n", name(a.op), a.name,
                    a.name == "flat" ? all.flat() : all.bundled(), &a == chosen ? ", chosen" : "");
    else
      engine::print(stdout, "// {} by {}: does not fit, it is for {}\n", name(a.op), a.name, a.restriction);
  }
  engine::print(stdout, "// a loop of puts, a rank in each round: about {} ns\n", all.pairwise());
  engine::print(stdout, "// a loop of puts, all at once: about {} ns\n", all.linear());
}

} // namespace weft::tool
