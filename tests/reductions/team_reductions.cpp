// Cray's team reductions at random: vectors at other places on each thread, in place or not, of numbers and
// of pairs, with and without a handle; every element is compared, and what lies behind.
#include "tests/jobs/suite.h"
#include "tests/differential/dice.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <weft/weft.hpp>

namespace {

struct located {
  double value;
  int index;
};

struct drawn {
  std::uint64_t number;
  std::size_t nelems;
  bool all, in_place, posted;
  int root;
  cray_upc_dtype_t type;
  upc_op_t op;
};

drawn draw(std::uint64_t number) {
  differential::dice d{17, number, static_cast<std::uint64_t>(THREADS)};
  drawn c{};
  c.number = number;
  c.nelems = d.chance(5) ? 0 : d.chance(60) ? d.below(300) : d.below(60000);
  c.all = d.chance(50);
  c.in_place = d.chance(30);
  c.posted = d.chance(50);
  c.root = static_cast<int>(d.below(static_cast<std::size_t>(THREADS)));
  const cray_upc_dtype_t types[] = {CRAY_UPC_DOUBLE, CRAY_UPC_INT, CRAY_UPC_DOUBLE_INT};
  c.type = d.pick(types);
  const upc_op_t of_pairs[] = {CRAY_UPC_MINLOC, CRAY_UPC_MAXLOC}, of_numbers[] = {UPC_ADD, UPC_MIN, UPC_MAX};
  c.op = c.type == CRAY_UPC_DOUBLE_INT ? d.pick(of_pairs) : d.pick(of_numbers);
  return c;
}

double value(const drawn& c, int thread, std::size_t i) {
  return static_cast<double>(differential::mix({c.number, static_cast<std::uint64_t>(thread), i}) % 1000);
}

located wanted(const drawn& c, std::size_t i) {
  located best{value(c, 0, i), 0};
  for (int t = 1; t < THREADS; ++t) {
    const double v = value(c, t, i);
    const bool smaller = c.op == UPC_MIN || c.op == CRAY_UPC_MINLOC;
    if (c.op == UPC_ADD)
      best.value += v;
    else if (smaller ? v < best.value : v > best.value)
      best = {v, t};
  }
  return best;
}

std::size_t size_of(const drawn& c) {
  return c.type == CRAY_UPC_INT ? sizeof(int) : c.type == CRAY_UPC_DOUBLE ? sizeof(double) : sizeof(located);
}
void put(const drawn& c, std::byte* to, std::size_t i, const located& v) {
  if (c.type == CRAY_UPC_INT)
    reinterpret_cast<int*>(to)[i] = static_cast<int>(v.value);
  else if (c.type == CRAY_UPC_DOUBLE)
    reinterpret_cast<double*>(to)[i] = v.value;
  else
    reinterpret_cast<located*>(to)[i] = v;
}
bool holds(const drawn& c, const std::byte* from, std::size_t i, const located& v) {
  if (c.type == CRAY_UPC_INT) return reinterpret_cast<const int*>(from)[i] == static_cast<int>(v.value);
  if (c.type == CRAY_UPC_DOUBLE) return reinterpret_cast<const double*>(from)[i] == v.value;
  const located& it = reinterpret_cast<const located*>(from)[i];
  return it.value == v.value && it.index == v.index;
}

bool play(const drawn& c) {
  constexpr std::size_t behind = 64;
  const std::size_t bytes = c.nelems * size_of(c);
  // Other threads have theirs elsewhere.
  const upc_shared_ptr_t gap = upc_alloc(64 + 640 * static_cast<std::size_t>(MYTHREAD + 1));
  const upc_shared_ptr_t src = upc_alloc(bytes + behind), dst = upc_alloc(bytes + behind);
  auto* const source = static_cast<std::byte*>(upc_cast(src));
  auto* const destination = static_cast<std::byte*>(upc_cast(dst));
  std::memset(source, 0x77, bytes + behind);
  std::memset(destination, 0x77, bytes + behind);
  for (std::size_t i = 0; i < c.nelems; ++i)
    put(c, source, i, {value(c, MYTHREAD, i), MYTHREAD});
  const upc_shared_ptr_t to = c.in_place ? UPC_SHARED_NULL : dst;
  upc_handle_t h = UPC_COMPLETE_HANDLE;
  upc_handle_t* const handle = c.posted ? &h : nullptr;
  if (c.all)
    cray_upc_team_allreduce(to, src, c.nelems, c.type, c.op, CRAY_UPC_TEAM_ALL, handle);
  else
    cray_upc_team_reduce(to, src, c.nelems, c.type, c.op, c.root, CRAY_UPC_TEAM_ALL, handle);
  upc_sync(h);
  bool right = true;
  const std::byte* const result = c.in_place ? source : destination;
  const bool gets = c.all || MYTHREAD == c.root;
  for (std::size_t i = 0; i < c.nelems && right; ++i) {
    if (gets) right = holds(c, result, i, wanted(c, i));
    if (!gets || !c.in_place) right = right && holds(c, source, i, {value(c, MYTHREAD, i), MYTHREAD});
  }
  for (std::size_t k = gets && !c.in_place ? bytes : 0; k < bytes + behind && !c.in_place; ++k)
    right = right && destination[k] == std::byte{0x77};
  if (!right)
    std::printf("team_reductions: rank %d, case %llu differs: %zu elements, type %d, op %u%s%s\n", MYTHREAD,
                static_cast<unsigned long long>(c.number), c.nelems, static_cast<int>(c.type), c.op,
                c.all ? ", all" : "", c.in_place ? ", in place" : "");
  upc_barrier;
  for (const upc_shared_ptr_t p : {gap, src, dst})
    upc_free(p);
  return right;
}

} // namespace

WEFT_SUITE(team_reductions) {
  const int cases = argc > 1 ? std::atoi(argv[1]) : 100;
  bool right = true;
  for (int k = 0; k < cases && right; ++k)
    right = play(draw(static_cast<std::uint64_t>(k)));
  return right ? 0 : 1;
}
