// Reductions of vectors, element by element: Cray's team reductions. IN_MY, OUT_MY. Small ones are tables,
// see reductions.cpp. P members, vectors of n bytes. The vectors lie at addresses that differ, so the members
// tell each other theirs first, which also says that they have entered.
//
// shared   On one host. The vector is cut into pieces that whoever is there claims: a piece is read from all
//          sources and written to all destinations (or the root's). P*n bytes read and P*n written, once, by
//          all who are there together.
// sliced   Reduce-scatter and gather-all: member k combines the k-th of P slices, which it gets from the
//          others, and puts the result to them (or to the root). (P-1)/P*n bytes into every member, and as
//          many out of it, twice; two steps whatever P is.
#include "engine/collectives/families.hpp"
#include "engine/collectives/operations.hpp"
#include "engine/reductions/vector_reduction.hpp"

#include <algorithm>

namespace weft::collectives {
using namespace graph;

namespace {

constexpr std::uint64_t told = sizeof(reductions::addresses);

class vector_plan {
public:
  vector_plan(const request& r, const topology& g, const tuning& t)
      : request_(r), g_(g), b_(g.me(), g.size(), r.root) {
    plan& p = b_.draft();
    p.pairs = rooted(r.op) ? pattern::to_root : pattern::all_pairs;
    p.in = p.out = sync::my;
    b_.blocks_of({.bytes = r.bytes, .dst_i = r.bytes});
    cut_blocks(p, t);
    share_out(p);
    p.window = static_cast<std::uint8_t>(t.window);
    p.computes = p.large = true;
    p.far = !g.one_host();
    p.scratch = g.size() * told;
    addresses_ = b_.add_place({.from = told, .bytes = told});
    payload_ = b_.add_place({.bytes = told});
  }

  plan shared() {
    node combine = combine_all();
    combine.needs = addresses_;
    b_.add(combine,
           tell_addresses() | b_.loop(range::near, others(), builder::step_list().then(take_address())));
    return b_.finish();
  }

  plan sliced() {
    b_.draft().parts = true;
    const std::uint8_t brought = slice_place(0), result = slice_place(1);
    const node_set known = tell_addresses();
    builder::step_list bring;
    bring.then(take_address()).then(at_stage(3, writing(get_from_each(), buffer::scratch, brought)));
    bring.then(count_for_each(fact::consumed, 1));
    node combine = writing(compute(3), buffer::scratch, result);
    combine.needs = brought;
    const node_set made = b_.add(combine, known | b_.loop(range::others, others(), bring));
    hand_out(result, made);
    if (others() != 0) b_.add(await_count(fact::consumed, others()));
    if (others() != 0 && gets_result()) b_.add(await_count(fact::delivered, others()));
    return b_.finish();
  }

private:
  // Every member of a host has a piece: to combine one takes longer than to claim it.
  void share_out(plan& p) const {
    constexpr std::uint64_t least = 4096;
    const std::uint64_t each = (request_.bytes / g_.largest_host() + least - 1) / least * least;
    p.chunk = std::min(p.chunk, std::max(each, least));
    if (p.chunk != 0) p.chunks = static_cast<std::uint32_t>((request_.bytes + p.chunk - 1) / p.chunk);
  }
  std::uint32_t others() const { return g_.size() - 1; }
  bool gets_result() const { return !rooted(request_.op) || g_.me() == request_.root; }
  // Places of scratch that stand for the task's room.
  std::uint8_t slice_place(std::uint32_t number) {
    return b_.add_place({.base = g_.size() * (told + number * request_.bytes),
                         .from = request_.bytes,
                         .bytes = request_.bytes});
  }

  node_set tell_addresses() {
    const node_set own =
        b_.add(writing(reading(compute(2, true), buffer::source, addresses_), buffer::scratch, addresses_));
    node_set all = own;
    if (!g_.near().empty()) {
      b_.draft().eager_bytes[0] = told;
      all |= b_.add(told_by(publish()), own);
    }
    const auto far = static_cast<std::uint32_t>(g_.far().size());
    return all | b_.loop(range::far, far, builder::step_list().then(told_by(send_payload())), own);
  }
  node told_by(node n) const {
    return writing(reading(n, buffer::scratch, addresses_), buffer::mailbox, payload_);
  }
  node take_address() const {
    return writing(reading(take_payload(), buffer::mailbox, payload_), buffer::scratch, addresses_);
  }

  void hand_out(std::uint8_t result, node_set made) {
    builder::step_list put;
    put.then(at_stage(4, reading(put_to_each(), buffer::scratch, result)));
    const bool far = rooted(request_.op) ? !g_.is_near(request_.root) : !g_.one_host();
    put.then_if(far, far_only(flush_each())).then(count_for_each(fact::delivered, 1));
    if (!rooted(request_.op))
      b_.loop(range::others, others(), put, made);
    else if (!gets_result())
      b_.loop(range::root, 1, put, made);
    if (gets_result()) b_.add(reading(compute(5), buffer::scratch, result), made);
  }

  const request& request_;
  const topology& g_;
  builder b_;
  std::uint8_t addresses_ = 0, payload_ = 0; // of a member, in scratch and in a mailbox
};

} // namespace

bool fits_shared_reduction(const request&, const topology& g, const tuning&) {
  return g.one_host();
}
plan compile_shared_reduction(const request& r, const topology& g, const tuning& t) {
  return vector_plan(r, g, t).shared();
}
std::uint64_t cost_of_shared_reduction(const request& r, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  return c.copies(g.size(), told) + c.copies(2 * g.size(), r.bytes) / g.size() + most_partials;
}

bool fits_sliced_reduction(const request& r, const topology& g, const tuning&) {
  return !g.one_host() && r.bytes != 0;
}
plan compile_sliced_reduction(const request& r, const topology& g, const tuning& t) {
  return vector_plan(r, g, t).sliced();
}
std::uint64_t cost_of_sliced_reduction(const request& r, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  const std::uint64_t locals = g.largest_host(), far = g.size() - locals, slice = r.bytes / g.size();
  return c.message() + c.copies(3 * g.size(), slice) + c.gets(locals * far, slice, true) + c.put_and_count() +
         c.wire(locals * far, slice);
}

} // namespace weft::collectives
