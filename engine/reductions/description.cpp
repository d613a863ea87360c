// SPDX-License-Identifier: BSD-3-Clause
#include "engine/reductions/description.hpp"

namespace weft::reductions {

bool description::fits(std::uint64_t end) const {
  if (type >= reductions::elements || op >= reductions::operations || threads == 0) return false;
  if (what > static_cast<std::uint8_t>(reduction::form::exclusive_prefix)) return false;
  if (kernels_of(static_cast<element>(type), static_cast<operation>(op)) == nullptr) return false;
  const std::uint64_t all = end / size_of(static_cast<element>(type)); // elements on one thread
  const bool phases = block != 0 && from_phase < block && to_phase < block;
  return phases && from_first < threads && to_first < threads && from_at < end && to_at < end &&
         elements / threads <= all;
}

description describe(const reduction& r) {
  description d;
  d.elements = r.from.elements;
  d.block = r.from.block;
  d.from_at = r.from.at;
  d.from_phase = r.from.phase;
  d.from_first = r.from.first;
  d.to_at = r.to.at;
  d.to_phase = r.to.phase;
  d.to_first = r.to.first;
  d.threads = r.from.threads;
  d.type = static_cast<std::uint8_t>(r.type);
  d.op = static_cast<std::uint8_t>(r.op);
  d.what = static_cast<std::uint8_t>(r.what);
  d.in_order = r.in_order;
  d.by_ranges = r.by_ranges;
  return d;
}

reduction described(const description& d) {
  reduction r;
  r.type = static_cast<element>(d.type);
  r.op = static_cast<operation>(d.op);
  r.how = *kernels_of(r.type, r.op);
  const auto size = static_cast<std::uint32_t>(size_of(r.type));
  const auto over = [&](std::uint64_t at, std::uint32_t phase, std::uint32_t first) {
    return layout::of(at, d.elements, d.block, phase, first, d.threads, size);
  };
  r.from = over(d.from_at, d.from_phase, d.from_first);
  r.to = over(d.to_at, d.to_phase, d.to_first);
  r.what = static_cast<reduction::form>(d.what);
  r.in_order = d.in_order;
  r.by_ranges = d.by_ranges;
  r.by_place = true;
  prepare(r, d.threads);
  return r;
}

} // namespace weft::reductions
