#include "api/relocation.hpp"

#include "api/checks.hpp"

namespace weft::api {
namespace {

bool is_in_place_mark(upc_shared_ptr_t p) {
  constexpr upc_shared_ptr_t mark = UPC_IN_PLACE_SRC;
  return p.addr == mark.addr && p.thread == mark.thread && p.phase == mark.phase;
}

void require_ranges(const collective_call& c, const area& a, const area& b) {
  require_range(c.rt, c.name, a.argument, a.at, a.bytes);
  require_range(c.rt, c.name, b.argument, b.at, b.bytes);
}

[[noreturn, gnu::cold, gnu::noinline]] void fail_outsider(const collective_call& c, const area& of_root) {
  fail(c.name, of_root.argument, "thread " + std::to_string(of_root.at.thread),
       "is no member of the team: the root, whose thread this is, must be one");
}

[[noreturn, gnu::cold, gnu::noinline]] void fail_rooted_overlap(const collective_call& c, const area& of_root,
                                                                const area& tied) {
  fail(c.name, tied.argument, "(" + describe(tied.at) + ")",
       std::string("overlaps ") + of_root.argument +
           ": pass two areas that have no byte in common, or, with UPC_IN_PLACE in sync_mode, the root's own "
           "block at exactly the same place in both");
}

} // namespace

std::size_t bytes_of_all(const collective_call& c, std::size_t nbytes) {
  return product(c.name, c.of_all() ? "nbytes * THREADS" : "nbytes * threads of the team", nbytes, c.threads);
}

void require_first(const collective_call& c, const char* argument, upc_shared_ptr_t p) {
  require_not_null(c.name, argument, p);
  if (c.of_all()) return require_thread_zero(c.name, argument, p);
  if (p.thread != c.first()) [[unlikely]]
    fail_pointer(c.name, argument, p, "must have affinity to the thread of rank 0 of the team");
}

void require_apart(const collective_call& c, const area& dst, const area& src) {
  if (dst.bytes == 0) return;
  require_ranges(c, dst, src);
  if (overlap(dst, src)) [[unlikely]]
    fail_pointer(c.name, dst.argument, dst.at, "overlaps src: pass two areas that have no byte in common");
}

bool in_place(const collective_call& c, upc_shared_ptr_t dst, upc_shared_ptr_t src) {
  if (is_in_place_mark(src)) return true;
  if (!c.m.in_place) return false;
  if (!upc_isnull(src) && !upc_ptreq(src, dst)) [[unlikely]]
    fail_pointer(c.name, "src", src,
                 "must be null or dst, as the operation is in place: leave UPC_IN_PLACE "
                 "out of sync_mode, or pass dst for src");
  return true;
}

void require_not_same(const collective_call& c, upc_shared_ptr_t dst, upc_shared_ptr_t src) {
  if (upc_ptreq(src, dst)) [[unlikely]]
    fail_pointer(c.name, "src", src,
                 "is dst, so the two overlap: pass another area, or UPC_IN_PLACE in sync_mode");
}

bool require_symmetric(const collective_call& c, const area& dst, const area& src) {
  require_first(c, dst.argument, dst.at);
  if (in_place(c, dst.at, src.at)) {
    if (dst.bytes != 0) require_range(c.rt, c.name, dst.argument, dst.at, dst.bytes);
    return true;
  }
  require_first(c, src.argument, src.at);
  if (dst.bytes != 0) require_not_same(c, dst.at, src.at);
  require_apart(c, dst, src);
  return false;
}

void require_source(const collective_call& c, upc_shared_ptr_t src) {
  constexpr const char* needed = "this operation needs its source in place too, for only the root's own "
                                 "block is not copied: pass the pointer, and UPC_IN_PLACE in sync_mode";
  if (is_in_place_mark(src)) [[unlikely]]
    fail(c.name, "src", "UPC_IN_PLACE", needed);
  if (c.m.in_place && upc_isnull(src)) [[unlikely]]
    fail_pointer(c.name, "src", src, needed);
  require_not_null(c.name, "src", src);
}

std::uint32_t require_root(const collective_call& c, const area& of_root) {
  require_thread(c.rt, c.name, of_root.argument, of_root.at.thread);
  const std::uint32_t root = c.rank(of_root.at.thread);
  if (root >= c.threads) [[unlikely]]
    fail_outsider(c, of_root);
  return root;
}

std::uint32_t require_rooted(const collective_call& c, const area& of_root, const area& tied) {
  require_first(c, tied.argument, tied.at);
  require_not_null(c.name, of_root.argument, of_root.at);
  const std::uint32_t root = require_root(c, of_root);
  if (tied.bytes == 0) return root;
  require_ranges(c, of_root, tied);
  const std::uint64_t own =
      of_root.bytes == tied.bytes ? 0 : root * tied.bytes; // the root's block in its area
  const bool coincide = of_root.at.addr + own == tied.at.addr;
  if (overlap(of_root, tied) && !(c.m.in_place && coincide)) [[unlikely]]
    fail_rooted_overlap(c, of_root, tied);
  return root;
}

} // namespace weft::api
