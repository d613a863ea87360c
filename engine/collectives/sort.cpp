// SPDX-License-Identifier: BSD-3-Clause
// A stable sort in place: UPC collectives V1.0, 4.3.4. What the members do with their elements, and in which
// stages, engine/sorting says; this is what moves between them. P members, n bytes of the array on each.
//
//   line      Where the array has several blocks on a thread, each member gets those elements that are its
//             to work on, from each rank: (P-1)/P*n bytes, and P counts, behind which the array may be
//             overwritten.
//   samples   A row of at most 2 KiB from each rank to each rank.
//   cuts      Another one.
//   buckets   Each member gets what the others have of its bucket: (P-1)/P*n bytes, and P counts.
//   results   What of a bucket belongs to other members is put there: with one block on each thread no more
//             than the samples left open, n/128 bytes of elements up to 16; of small blocks (P-1)/P*n.
//
// Of numbers, where all that a member has fits into a row, each rank is told all elements, puts them in
// order, and keeps its own: the plan is that of a reduction for all, see reductions.cpp.
//
// The samples are heard of only behind a member's own sort, so no rank waits for an entry besides; only a
// rank that gets elements before that does, and IN_ALL holds everything up. Between members nothing but the
// tables is in order, and the counts of all.
#include "engine/collectives/algorithm.hpp"
#include "engine/collectives/operations.hpp"
#include "engine/collectives/sync_modes.hpp"

namespace weft::collectives {
using namespace graph;

namespace {

class sort_plan {
public:
  sort_plan(const request& r, const topology& g)
      : request_(r), g_(g), b_(g.me(), g.size(), 0), modes_(b_, g, r.in, r.out) {
    plan& p = b_.draft();
    p.pairs = pattern::all_pairs;
    b_.blocks_of({.bytes = r.bytes, .dst_i = r.bytes});
    p.chunk = r.bytes;
    p.chunks = 1;
    p.eager = p.computes = p.parts = true;
    p.large = r.large;
    p.far = !g.one_host();
    p.scratch = 2 * g.size() * r.bytes;
    samples_ = row(0);
    cuts_ = row(1);
    // Places that stand for the task's room, and for all that a member has of the array.
    const std::uint64_t all = g.size() * r.bytes;
    array_ = b_.add_place({.bytes = all});
    results_ = row(2);
    buckets_ = b_.add_place({.base = 3 * all, .from = all, .bytes = all});
    bucket_ = b_.add_place({.base = 3 * all, .from = all, .bytes = r.bytes});
    line_ = b_.add_place({.base = (3 + g.size()) * all, .from = all, .bytes = all});
  }

  plan make() {
    const node_set sorted = sort_own();
    const node_set sampled = tell_all(samples_, sorted);
    b_.begin_phase(1);
    node cut = writing(reading(compute(1), buffer::scratch, samples_), buffer::scratch, cuts_);
    cut.needs = samples_;
    const node_set told = tell_all(cuts_, b_.add(cut, sorted | sampled));
    const node_set merged = merge_bucket(get_bucket(told));
    const node_set data = merged | put_results(merged);
    return finish(data);
  }

private:
  std::uint8_t row(std::uint64_t table) {
    return b_.add_place(
        {.base = table * g_.size() * request_.bytes, .from = request_.bytes, .bytes = request_.bytes});
  }
  std::uint32_t others() const { return g_.size() - 1; }

  node_set sort_own() {
    const node_set gate = modes_.gate();
    node sort = writing(compute(0), buffer::scratch, samples_);
    sort.rewrites = true;
    if (!request_.by_ranges) return b_.add(sort, gate);
    sort.needs = line_;
    return b_.add(sort, bring_into_line(gate));
  }
  node_set bring_into_line(node_set gate) {
    if (others() == 0) return gate;
    modes_.announce({&range::far, static_cast<std::uint32_t>(g_.far().size())});
    builder::step_list bring;
    bring.then_if(modes_.each_waits(), await_entry());
    bring.then(writing(reading(get_from_each(), buffer::source, array_), buffer::scratch, line_));
    bring.then(count_for_each(fact::consumed, 1));
    const node_set brought = b_.loop(range::others, others(), bring, gate);
    return brought | b_.add(await_count(fact::consumed, others()));
  }

  // My row to each rank, and each rank's to me.
  node_set tell_all(std::uint8_t table, node_set own) {
    node_set all = own;
    if (!g_.near().empty()) {
      b_.draft().eager_bytes[phase()] = static_cast<std::uint32_t>(request_.bytes);
      all |= b_.add(reading(publish(), buffer::scratch, table), own);
    }
    const auto far = static_cast<std::uint32_t>(g_.far().size());
    builder::step_list send, take;
    send.then(reading(send_payload(), buffer::scratch, table));
    take.then(writing(take_payload(), buffer::scratch, table));
    return all | b_.loop(range::far, far, send, own) | b_.loop(range::others, others(), take);
  }

  // What is mine of all members' elements. Each rank hears that I have it: a rank that has heard so of all
  // may write to whatever part of the array.
  node_set get_bucket(node_set told) {
    node own = writing(reading(compute(2), buffer::source, array_), buffer::scratch, buckets_);
    own.needs = cuts_;
    const node_set begun = b_.add(own, told);
    if (others() == 0) return begun;
    builder::step_list get, count;
    get.then(
        at_stage(2, writing(reading(get_from_each(), buffer::source, array_), buffer::scratch, buckets_)));
    count.then(count_for_each(fact::consumed, 1));
    const node_set got = b_.loop(range::others, others(), get, begun);
    b_.loop(range::others, others(), count, got);
    return begun | got | b_.add(await_count(fact::consumed, others()));
  }
  node_set merge_bucket(node_set got) {
    node merge = writing(reading(compute(3), buffer::scratch, bucket_), buffer::scratch, results_);
    merge.needs = buckets_;
    merge.rewrites = true;
    return b_.add(merge, got);
  }
  node_set put_results(node_set merged) {
    builder::step_list put;
    put.then(at_stage(4, reading(put_to_each(), buffer::scratch, results_)));
    put.then_if(!g_.one_host(), far_only(flush_each()));
    put.then_if(modes_.tells_ends(), count_for_each(fact::delivered, 1));
    const node_set others_have = b_.loop(range::others, others(), put, merged);
    return others_have | b_.add(reading(compute(5), buffer::scratch, results_), merged);
  }

  plan finish(node_set data) {
    if (modes_.tells_ends() && others() != 0) data |= b_.add(await_count(fact::delivered, others()));
    b_.begin_phase(0);
    modes_.leave(data);
    return b_.finish();
  }
  std::uint8_t phase() const { return b_.phase(); }

  const request& request_;
  const topology& g_;
  builder b_;
  sync_modes modes_;
  std::uint8_t samples_ = 0, cuts_ = 0, array_ = 0, results_ = 0, buckets_ = 0, bucket_ = 0, line_ = 0;
};

} // namespace

plan compile_sort(const request& r, const topology& g, const tuning& t) {
  if (!r.whole) return sort_plan(r, g).make();
  request alike = r;
  alike.op = operation::reduce_all;
  return choose(alike, g, t)->compile(r, g, t);
}

} // namespace weft::collectives
