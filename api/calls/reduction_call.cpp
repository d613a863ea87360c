#include "api/calls/reduction_call.hpp"

#include "api/calls/operators.hpp"
#include "api/calls/relocation.hpp"

namespace weft::api {

namespace {

using reductions::layout;
using reductions::reduction;

// A member that has more is not done with it in one go.
constexpr std::uint64_t large_bytes = 16 * 1024;

constexpr int flags_of_reductions = UPC_EXCLUSIVE_PREFIX_REDUCE | WEFT_REPRODUCIBLE;

// The kernels of the operator, which may be code of the user.
void choose_kernels(const array_reduction_call& call, reduction& r) {
  const reductions::operation op = operator_of(call.name, call.with);
  if (op < reductions::operation::function) {
    r.how = builtin_kernels(call.name, call.type, op);
    return;
  }
  r.user = true;
  if (call.callable != nullptr) {
    r.how = kernels_of(*call.callable);
    r.argument = call.callable->function;
    return;
  }
  if (call.function == nullptr)
    fail(call.name, "func", "null", std::string("must be the function that ") + name_of(op) + " is to use");
  r.how = *reductions::kernels_of_c_function(call.type);
  r.function = call.function;
}

class array_check {
public:
  array_check(const collective_call& c, const array_reduction_call& call)
      : c_(c), call_(call), size_(static_cast<std::uint32_t>(reductions::size_of(call.type))),
        alignment_(reductions::alignment_of(call.type)) {}

  // Of an array that lies over the threads: all of it is where it may be.
  layout array(const char* argument, upc_shared_ptr_t p) const {
    require_not_null(c_.name, argument, p);
    require_thread(c_.rt, c_.name, argument, p.thread);
    require_aligned(c_.name, argument, p, alignment_);
    if (call_.blk_size > most_block)
      fail(c_.name, "blk_size", std::to_string(call_.blk_size),
           "must not exceed 2^32 - 1: a phase has 32 bits");
    if (call_.blk_size != 0 && p.phase >= call_.blk_size)
      fail_pointer(c_.name, argument, p,
                   "its phase must be below blk_size: make it with upc_ptradd, or pass the array's own block "
                   "size");
    const layout l = layout::of(p.addr, call_.nelems, call_.blk_size, p.phase, p.thread, c_.rt.size(), size_);
    if (call_.nelems == 0) return l;
    product(c_.name, "nelems * sizeof(TYPE)", call_.nelems, size_);
    require_place(argument, p, l);
    if (!c_.of_all()) require_members(argument, l);
    return l;
  }

  // One element on any thread: the rank that has it.
  std::uint32_t element(const char* argument, upc_shared_ptr_t p) const {
    require_not_null(c_.name, argument, p);
    const std::uint32_t root = require_root(c_, {argument, p, size_});
    require_aligned(c_.name, argument, p, alignment_);
    require_range(c_.rt, c_.name, argument, p, size_);
    return root;
  }
  // One on each thread of the team.
  void element_of_each(const char* argument, upc_shared_ptr_t p) const {
    require_first(c_, argument, p);
    require_aligned(c_.name, argument, p, alignment_);
    require_on_all(c_, {argument, p, size_});
  }

  // Bytes from the lowest to the highest that the array has on a thread.
  struct extent {
    std::uint64_t begin, end;
  };
  static extent of(const layout& l) {
    const std::uint64_t row = l.block * l.size;
    const std::uint64_t last_row = l.row_of(l.blocks - 1);
    const std::uint64_t begin = l.at - (l.blocks > 1 ? std::uint64_t{l.phase} * l.size : 0);
    const std::uint64_t last = l.address_of(l.elements - 1) + l.size;
    return {begin,
            std::max(last, last_row == 0 ? 0 : l.at - std::uint64_t{l.phase} * l.size + last_row * row)};
  }

private:
  static constexpr std::size_t most_block = 0xffffffff;

  void require_place(const char* argument, upc_shared_ptr_t p, const layout& l) const {
    const std::uint64_t ahead = l.blocks > 1 ? std::uint64_t{l.phase} * l.size : 0;
    checked bytes = checked(l.elements) * size_;
    if (l.blocks == 1) return require_range(c_.rt, c_.name, argument, p, bytes);
    // A bound that cannot overflow comes first; then what it takes exactly.
    upc_shared_ptr_t begin = p;
    begin.addr = p.addr >= ahead ? p.addr - ahead : 0;
    require_symmetric_range(c_.rt, c_.name, argument, begin, (l.elements - 1) / l.threads * checked(size_));
    const extent e = of(l);
    require_symmetric_range(c_.rt, c_.name, argument, begin, e.end - e.begin);
  }

  void require_members(const char* argument, const layout& l) const {
    for (std::uint32_t t = 0; t < l.threads; ++t)
      if (l.rows_of(t) != 0 && c_.rank(t) >= c_.threads)
        fail(c_.name, argument, "thread " + std::to_string(t),
             "has elements and is no member of the team: pass an array that lies on the team's threads, or a "
             "team with all of its threads");
  }

  const collective_call& c_;
  const array_reduction_call& call_;
  std::uint32_t size_;
  std::size_t alignment_;
};

// The operands of a prefix reduction: where the results go.
void place_results(const collective_call& c, const array_check& check, upc_shared_ptr_t dst, bool in_place,
                   reduction& r) {
  r.what = c.m.exclusive ? reduction::form::exclusive_prefix : reduction::form::inclusive_prefix;
  r.in_order = true;
  r.to = check.array("dst", dst);
  const layout &from = r.from, &to = r.to;
  const bool alike = from.first == to.first && from.phase == to.phase;
  r.by_ranges = !alike;
  if (from.elements == 0 || (from.at == to.at && alike && in_place)) return;
  const auto a = array_check::of(from), b = array_check::of(to);
  if (a.begin < b.end && b.begin < a.end)
    fail_pointer(c.name, "dst", dst,
                 "overlaps src: pass two areas that have no byte in common, or UPC_IN_PLACE in sync_mode and "
                 "dst for src");
}

// A number that differs, most likely, where calls do.
std::uint64_t signature(const array_reduction_call& call) {
  std::uint64_t all = static_cast<std::uint64_t>(call.type) << 32 | call.with;
  for (const std::uint64_t more :
       {std::uint64_t{call.blk_size}, std::uint64_t{call.src.phase}, std::uint64_t{call.src.thread}})
    all = (all ^ more) * 0x9e3779b97f4a7c15u;
  return all;
}

// What was kept for the operation is given up if it is not begun.
class kept_function {
public:
  explicit kept_function(const reduction& r) : task_(r) {}
  kept_function(const kept_function&) = delete;
  kept_function& operator=(const kept_function&) = delete;
  ~kept_function() {
    if (!handed_on_ && task_.release != nullptr) task_.release(task_);
  }
  void hand_on() { handed_on_ = true; }

private:
  const reduction& task_;
  bool handed_on_ = false;
};

void release_argument(const graph::task& t) {
  const auto& r = static_cast<const reduction&>(t);
  r.release_argument(r.argument);
}

} // namespace

upc_coll_handle_t reduce(const array_reduction_call& call) {
  const collective_call c =
      begin_collective(call.name, read_mode(call.name, call.flags, flags_of_reductions), call.team);
  const array_check check(c, call);
  const bool prefix = call.op == collectives::operation::prefix_reduce;
  reduction r;
  choose_kernels(call, r);
  const bool own = in_place(c, call.dst, call.src);
  const upc_shared_ptr_t src = own ? call.dst : call.src;
  r.from = check.array("src", src);
  r.in_order = call.with == UPC_NONCOMM_FUNC;
  collectives::request wanted{.op = call.op};
  if (call.op == collectives::operation::reduce) wanted.root = check.element("dst", call.dst);
  if (call.op == collectives::operation::reduce_all) check.element_of_each("dst", call.dst);
  if (prefix) place_results(c, check, call.dst, own, r);
  r.reproducible = c.m.reproducible;
  if (r.reproducible) r.by_ranges = true;
  const std::uint64_t size = r.from.size;
  if (r.partials() * size > collectives::most_partials) r.by_ranges = true;
  reductions::prepare(r, c.threads);
  wanted.bytes = r.partials() * size;
  wanted.by_ranges = r.by_ranges;
  wanted.large = std::min(r.from.elements, r.from.most_rows() * r.from.block) * size > large_bytes;
  if (c.m.async && call.callable != nullptr && r.user) {
    r.argument = call.callable->keep(call.callable->function);
    r.release_argument = call.callable->release;
    r.release = release_argument;
  }
  kept_function function(r);
  const upc_coll_handle_t h = c.start(
      wanted,
      {.dst = call.dst.addr, .src = src.addr, .sizes = call.nelems, .perm = signature(call), .task = &r});
  function.hand_on();
  return h;
}

} // namespace weft::api
