#include "api/calls/distributed_array.hpp"

namespace weft::api {

using reductions::layout;

namespace {

constexpr std::size_t most_block = 0xffffffff;

}

layout distributed_array::of(const char* argument, upc_shared_ptr_t p) const {
  const std::size_t block = shape_.block;
  require_not_null(c_.name, argument, p);
  require_thread(c_.rt, c_.name, argument, p.thread);
  require_aligned(c_.name, argument, p, shape_.alignment);
  if (block > most_block)
    fail(c_.name, "blk_size", std::to_string(block), "must not exceed 2^32 - 1: a phase has 32 bits");
  if (block != 0 && p.phase >= block)
    fail_pointer(c_.name, argument, p,
                 "its phase must be below blk_size: make it with upc_ptradd, or pass the array's own block "
                 "size");
  const layout l = layout::of(p.addr, shape_.elements, block, p.phase, p.thread, c_.rt.size(), shape_.size);
  if (shape_.elements == 0) return l;
  product(c_.name, (std::string("nelems * ") + shape_.name).c_str(), shape_.elements, shape_.size);
  require_place(argument, p, l);
  if (!c_.of_all()) require_members(argument, l);
  return l;
}

distributed_array::extent distributed_array::extent_of(const layout& l) {
  const std::uint64_t row = l.block * l.size;
  const std::uint64_t last_row = l.row_of(l.blocks - 1);
  const std::uint64_t begin = l.at - (l.blocks > 1 ? std::uint64_t{l.phase} * l.size : 0);
  const std::uint64_t last = l.address_of(l.elements - 1) + l.size;
  return {begin, std::max(last, last_row == 0 ? 0 : l.at - std::uint64_t{l.phase} * l.size + last_row * row)};
}

void distributed_array::require_place(const char* argument, upc_shared_ptr_t p, const layout& l) const {
  const std::uint64_t ahead = l.blocks > 1 ? std::uint64_t{l.phase} * l.size : 0;
  const checked bytes = checked(l.elements) * l.size;
  if (l.blocks == 1) return require_range(c_.rt, c_.name, argument, p, bytes);
  // A bound that cannot overflow comes first; then what it takes exactly.
  upc_shared_ptr_t begin = p;
  begin.addr = p.addr >= ahead ? p.addr - ahead : 0;
  require_symmetric_range(c_.rt, c_.name, argument, begin, (l.elements - 1) / l.threads * checked(l.size));
  const extent e = extent_of(l);
  require_symmetric_range(c_.rt, c_.name, argument, begin, e.end - e.begin);
}

void distributed_array::require_members(const char* argument, const layout& l) const {
  for (std::uint32_t t = 0; t < l.threads; ++t)
    if (l.rows_of(t) != 0 && c_.rank(t) >= c_.threads)
      fail(c_.name, argument, "thread " + std::to_string(t),
           "has elements and is no member of the team: pass an array that lies on the team's threads, or a "
           "team with all of its threads");
}

} // namespace weft::api
