// SPDX-License-Identifier: BSD-3-Clause
// Pairs of calls that do not match, what the message says of each, and some that do match.
#include "tests/checked/mismatched_calls.hpp"

#include <numeric>

namespace weft::tests::mismatches {

upc_shared_ptr_t dst, other;

namespace {

upc_shared_ptr_t src, perm, perm_wide, sizes, dsts, srcs;
constexpr upc_flag_t no = UPC_IN_NOSYNC | UPC_OUT_NOSYNC, my = UPC_IN_MYSYNC | UPC_OUT_MYSYNC, all = 0;

void barrier(upc_team_t t) {
  cray_upc_team_barrier(t);
}
call broadcast(std::size_t n = 8, int root = 0, upc_flag_t mode = all) {
  return [=](upc_team_t t) { upc_all_broadcast(dst, on(src, root), n, mode, t); };
}
call scatter(int root = 0, upc_flag_t mode = all) {
  return [=](upc_team_t t) { upc_all_scatter(dst, on(src, root), 8, mode, t); };
}
call gather(int root = 0, upc_flag_t mode = all) {
  return [=](upc_team_t t) { upc_all_gather(on(dst, root), src, 8, mode, t); };
}
call gather_all(std::size_t n = 8, upc_flag_t mode = all) {
  return [=](upc_team_t t) { upc_all_gather_all(dst, src, n, mode, t); };
}
call exchange(std::size_t n = 8, upc_flag_t mode = all) {
  return [=](upc_team_t t) { upc_all_exchange(dst, src, n, mode, t); };
}
call permute(std::size_t n = 8, upc_flag_t mode = all) {
  return [=](upc_team_t t) { upc_all_permute(dst, src, perm, n, mode, t); };
}
call then(const call& first, const call& second) {
  return [=](upc_team_t t) {
    first(t);
    second(t);
  };
}
void from_threads(upc_team_t t) {
  std::vector<int> list(THREADS);
  std::iota(list.begin(), list.end(), 0);
  upc_team_t made = 0;
  weft_team_from_threads(t, THREADS, list.data(), &made);
}
void split(upc_team_t t) {
  cray_upc_team_t made = 0;
  cray_upc_team_split(t, 0, 0, &made);
}
void nothing(upc_team_t) {}

int sum_of(int a, int b) {
  return a + b;
}
call reduce_all(upc_op_t op, std::size_t block = 1, upc_flag_t mode = all, std::size_t n = 4) {
  return [=](upc_team_t t) { upc_all_reduce_allI(dst, src, op, n, block, sum_of, mode, t); };
}
void reduce_all_of_float(upc_team_t t) {
  upc_all_reduce_allF(dst, src, UPC_ADD, 4, 1, nullptr, all, t);
}
call prefix(upc_flag_t mode, int first = 0) {
  return [=](upc_team_t t) { upc_all_prefix_reduceI(on(dst, first), src, UPC_ADD, 4, 1, nullptr, mode, t); };
}
template <class T> call sum_of_values(T value, upc_op_t op = UPC_ADD) {
  return [=](upc_team_t t) { static_cast<void>(weft::reduce_all(value, op, t).get()); };
}
call prefix_of_values(bool exclusive, upc_op_t op = UPC_ADD) {
  return [=](upc_team_t t) {
    auto of = exclusive ? weft::exclusive_prefix_reduce(1, op, 0, t) : weft::prefix_reduce(1, op, t);
    static_cast<void>(of.get());
  };
}
call of_vectors(cray_upc_dtype_t type, upc_op_t op = UPC_ADD, std::size_t n = 2) {
  return [=](upc_team_t t) {
    cray_upc_team_allreduce(on(dst, MYTHREAD), on(src, MYTHREAD), n, type, op, t, nullptr);
  };
}
call scan(bool exclusive) {
  return [=](upc_team_t t) {
    (exclusive ? cray_upc_team_exscan : cray_upc_team_scan)(on(dst, MYTHREAD), on(src, MYTHREAD), 2,
                                                            CRAY_UPC_INT, UPC_ADD, t, nullptr);
  };
}
// As many elements in all, in blocks that differ.
call blocks_of_sum(bool first_is_larger) {
  return [=](upc_team_t t) {
    std::vector<std::size_t> counts(static_cast<std::size_t>(cray_upc_team_size(t)), 2);
    ++counts[first_is_larger ? 0 : counts.size() - 1];
    cray_upc_team_reduce_scatterv(on(dst, MYTHREAD), on(src, MYTHREAD), counts.data(), CRAY_UPC_INT, UPC_ADD,
                                  t, nullptr);
  };
}
call gatherv(int root) {
  return [=](upc_team_t t) {
    const std::vector<std::size_t> sizes(static_cast<std::size_t>(cray_upc_team_size(t)), 4);
    std::vector<std::ptrdiff_t> places;
    for (std::size_t k = 0; k != sizes.size(); ++k)
      places.push_back(static_cast<std::ptrdiff_t>(4 * k));
    cray_upc_team_gatherv(on(dst, MYTHREAD), sizes.data(), places.data(), on(src, MYTHREAD), 4, root, t,
                          nullptr);
  };
}
int compare_pointers(upc_shared_ptr_t a, upc_shared_ptr_t b) {
  return *static_cast<int*>(upc_cast(a)) - *static_cast<int*>(upc_cast(b));
}
call sort(std::size_t size = 4, std::size_t block = 1) {
  return [=](upc_team_t t) { upc_all_sort(dst, size, 4, block, compare_pointers, all, t); };
}

const char* const of_broadcast = "called upc_all_broadcast(";
const char* const of_exchange = "called upc_all_exchange(";
const char* const of_barrier = "called cray_upc_team_barrier()";

} // namespace

std::vector<kind> kinds() {
  const upc_flag_t in_my = UPC_IN_MYSYNC | UPC_OUT_ALLSYNC, out_my = UPC_IN_ALLSYNC | UPC_OUT_MYSYNC;
  const auto in_place = [](upc_team_t t) { upc_all_exchange(dst, dst, 8, UPC_IN_PLACE, t); };
  const auto async = [](std::size_t n, bool posted) {
    return [=](upc_team_t t) {
      upc_coll_handle_t h = upc_all_exchange(dst, src, n, posted ? all | UPC_ASYNC : all, t);
      if (posted) upc_wait(h);
    };
  };
  return {
      {"broadcast, exchange", broadcast(), exchange(), of_broadcast, of_exchange},
      {"broadcast, exchange, MY/MY", broadcast(8, 0, my), exchange(8, my), of_broadcast, of_exchange},
      {"broadcast, scatter", broadcast(), scatter(), of_broadcast, "called upc_all_scatter("},
      {"scatter, gather", scatter(0, my), gather(0, my), "called upc_all_scatter(", "called upc_all_gather("},
      {"gather_all, exchange", gather_all(), exchange(), "called upc_all_gather_all(", of_exchange},
      {"exchange, permute", exchange(8, my), permute(8, my), of_exchange, "called upc_all_permute("},
      {"broadcast, barrier", broadcast(), barrier, of_broadcast, of_barrier},
      {"exchange, barrier", exchange(4096, my), barrier, of_exchange, of_barrier},
      {"broadcast, broadcast_x", broadcast(), [](upc_team_t t) { upc_all_broadcast_x(dsts, src, 8, all, t); },
       of_broadcast, "called upc_all_broadcast_x("},
      {"exchange, gather_all_x", exchange(),
       [](upc_team_t t) { upc_all_gather_all_x(dsts, srcs, sizes, all, t); }, of_exchange,
       "called upc_all_gather_all_x("},
      {"permute_x, permute_xi", [](upc_team_t t) { upc_all_permute_x(dsts, srcs, perm_wide, sizes, all, t); },
       [](upc_team_t t) { upc_all_permute_xi(dsts, srcs, perm_wide, sizes, all, t); },
       "called upc_all_permute_x(", "called upc_all_permute_xi("},
      {"scatter_x, gather_x", [](upc_team_t t) { upc_all_scatter_x(dsts, srcs, sizes, all, t); },
       [](upc_team_t t) { upc_all_gather_x(dsts, srcs, sizes, all, t); }, "called upc_all_scatter_x(",
       "called upc_all_gather_x("},
      {"broadcast of 8 and of 16", broadcast(8), broadcast(16), "nbytes 8,", "nbytes 16,"},
      {"exchange of 8 and of 4096", exchange(8), exchange(4096), "nbytes 8,", "nbytes 4096,"},
      {"exchange of 4096 and of 8, MY/MY", exchange(4096, my), exchange(8, my), "nbytes 4096,", "nbytes 8,"},
      {"gather_all of 64 and of 0", gather_all(64), gather_all(0), "nbytes 64,", "nbytes 0,"},
      {"permute of 8 and of 100", permute(8, my), permute(100, my), "nbytes 8,", "nbytes 100,"},
      {"broadcast from 0 and from 1", broadcast(8, 0), broadcast(8, 1), "root 0,", "root 1,"},
      {"scatter from 0 and from 1", scatter(0), scatter(1), "root 0,", "root 1,"},
      {"gather to 0 and to 1, MY/MY", gather(0, my), gather(1, my), "root 0,", "root 1,"},
      {"IN_ALL and IN_MY", exchange(8, all), exchange(8, in_my), "ALL/ALL", "MY/ALL"},
      {"OUT_ALL and OUT_MY", exchange(8, all), exchange(8, out_my), "ALL/ALL", "ALL/MY"},
      {"MY/MY and ALL/ALL", broadcast(8, 0, my), broadcast(8, 0, all), "MY/MY", "ALL/ALL"},
      {"push and none", exchange(4096, all | UPC_PUSH), exchange(4096), ", push)", "ALL/ALL)"},
      {"in place and not", in_place, exchange(8), ", in place)", "ALL/ALL)"},
      {"Cray's and V1.0's exchange", [](upc_team_t t) { cray_upc_team_alltoall(dst, src, 8, t); },
       exchange(8, in_my), "called cray_upc_team_alltoall(", of_exchange},
      {"another dst", exchange(), [](upc_team_t t) { upc_all_exchange(other, src, 8, all, t); }, of_exchange,
       of_exchange},
      {"another src", gather_all(), [](upc_team_t t) { upc_all_gather_all(dst, other, 8, all, t); },
       "called upc_all_gather_all(", "called upc_all_gather_all("},
      {"order", then(broadcast(), exchange()), then(exchange(), broadcast()), of_broadcast, of_exchange},
      {"one missing", then(broadcast(), barrier), barrier, of_broadcast, of_barrier},
      {"one too many", then(broadcast(), barrier), then(broadcast(), then(broadcast(), barrier)),
       of_broadcast, of_barrier},
      {"posted, of another size", async(8, false), async(16, true), "nbytes 8,", "nbytes 16,"},
      {"split, barrier", split, barrier, "called cray_upc_team_split()", of_barrier},
      {"split, exchange", split, exchange(), "called cray_upc_team_split()", of_exchange},
      {"split, team of a list", split, from_threads, "called cray_upc_team_split()",
       "called weft_team_from_threads()"},
      // Reductions, whose calls differ in what their plans do not depend on.
      {"operators", reduce_all(UPC_ADD), reduce_all(UPC_MAX), "op UPC_ADD,", "op UPC_MAX,"},
      {"operator, function", reduce_all(UPC_ADD), reduce_all(UPC_FUNC), "op UPC_ADD,", "op UPC_FUNC,"},
      {"types", reduce_all(UPC_ADD), reduce_all_of_float, "type int,", "type float,"},
      {"block sizes", reduce_all(UPC_ADD, 1), reduce_all(UPC_ADD, 2), "blk_size 1,", "blk_size 2,"},
      {"numbers of elements", reduce_all(UPC_ADD), reduce_all(UPC_ADD, 1, all, 3), "nelems 4,", "nelems 3,"},
      {"reproducible and not", reduce_all(UPC_ADD), reduce_all(UPC_ADD, 1, all | WEFT_REPRODUCIBLE),
       "inclusive,", "reproducible,"},
      {"inclusive and exclusive", prefix(all), prefix(all | UPC_EXCLUSIVE_PREFIX_REDUCE), "inclusive,",
       "exclusive,"},
      {"inclusive and exclusive, MY/MY", prefix(my), prefix(my | UPC_EXCLUSIVE_PREFIX_REDUCE), "inclusive,",
       "exclusive,"},
      {"results from thread 0 and from 1", prefix(all), prefix(all, 1), "dst on thread 0", "dst on thread 1"},
      {"operators, of values", sum_of_values(1), sum_of_values(1, UPC_MULT),
       "weft::reduce_all(nelems 1, type int, op UPC_ADD", "op UPC_MULT,"},
      {"types, of values", sum_of_values(1), sum_of_values(1.0f), "type int,", "type float,"},
      {"operators, of prefixes of values", prefix_of_values(false), prefix_of_values(false, UPC_MIN),
       "called weft::prefix_reduce(", "op UPC_MIN,"},
      {"inclusive and exclusive, of values", prefix_of_values(false), prefix_of_values(true),
       "called weft::prefix_reduce(", "called weft::exclusive_prefix_reduce("},
      {"gatherv, root", gatherv(0), gatherv(1), "called cray_upc_team_gatherv(root 0,",
       "called cray_upc_team_gatherv(root 1,"},
      {"scan, exscan", scan(false), scan(true), "called cray_upc_team_scan(", "called cray_upc_team_exscan("},
      {"blocks of a reduce_scatter", blocks_of_sum(true), blocks_of_sum(false), "digest of counts",
       "digest of counts"},
      {"operators, of vectors", of_vectors(CRAY_UPC_INT), of_vectors(CRAY_UPC_INT, UPC_MIN), "op UPC_ADD,",
       "op UPC_MIN,"},
      {"types, of vectors", of_vectors(CRAY_UPC_INT), of_vectors(CRAY_UPC_FLOAT), "type int,", "type float,"},
      {"lengths of vectors", of_vectors(CRAY_UPC_INT), of_vectors(CRAY_UPC_INT, UPC_ADD, 3), "nelems 2,",
       "nelems 3,"},
      {"sizes of elements", sort(4), sort(8), "elem_size 4,", "elem_size 8,"},
      {"block sizes of a sort", sort(4, 1), sort(4, 2), "blk_size 1,", "blk_size 2,"},
      {"a function and numbers", sort(4),
       [](upc_team_t t) {
         detail::sort_elements(dst, 4, 4, 4, 1, detail::number::signed_integer, nullptr, all, t);
       },
       "by a function,", "by signed integers,"},
      {"after many",
       then(
           [](upc_team_t t) {
             for (int k = 0; k < 100; ++k)
               upc_all_exchange(dst, src, 8, no, t);
           },
           exchange()),
       then(
           [](upc_team_t t) {
             for (int k = 0; k < 100; ++k)
               upc_all_exchange(dst, src, 8, no, t);
           },
           broadcast()),
       of_exchange, of_broadcast},
  };
}

// Of the whole job: these end it.
std::vector<kind> kinds_of_all() {
  const auto alloc = [](std::size_t n) { return [n](upc_team_t) { upc_all_alloc(THREADS, n); }; };
  const auto free_of = [](upc_shared_ptr_t& p) { return [&p](upc_team_t) { upc_all_free(p); }; };
  const auto whole = [](upc_team_t) { weft_barrier(); };
  // In front of the one that differs all have made two.
  const auto lock_free = [](int which) {
    return [which](upc_team_t) {
      const upc_lock_t locks[] = {upc_all_lock_alloc(), upc_all_lock_alloc()};
      upc_all_lock_free(locks[which]);
    };
  };
  const auto domain = [](upc_type_t type, upc_op_t ops = UPC_ADD, upc_atomichint_t hints = 0) {
    return [=](upc_team_t) {
      upc_all_atomicdomain_alloc(type, ops, hints);
      weft_barrier(); // it waits for no thread itself
    };
  };
  const auto domain_free = [](int which) {
    return [which](upc_team_t) {
      const upc_atomicdomain_t domains[] = {upc_all_atomicdomain_alloc(UPC_INT, UPC_ADD, 0),
                                            upc_all_atomicdomain_alloc(UPC_INT, UPC_ADD, 0), 0};
      upc_all_atomicdomain_free(domains[which]);
      weft_barrier();
    };
  };
  return {
      {"alloc, barrier", alloc(64), whole, "called upc_all_alloc(64 bytes a thread)", "called upc_barrier()"},
      {"alloc of 64 and of 128", alloc(64), alloc(128), "upc_all_alloc(64 bytes", "upc_all_alloc(128 bytes"},
      {"free, barrier", free_of(other), whole, "called upc_all_free(", "called upc_barrier()"},
      {"free of two blocks", free_of(other), free_of(src), "called upc_all_free(", "called upc_all_free("},
      {"barrier, broadcast", whole, broadcast(), "called upc_barrier()", of_broadcast},
      {"barrier, Cray's", whole, barrier, "called upc_barrier()", of_barrier},
      {"broadcast, finalize", broadcast(), nothing, of_broadcast, "called weft_finalize()"},
      {"locks", lock_free(0), lock_free(1), "called upc_all_lock_free(", "of thread 1"},
      {"types of domains", domain(UPC_INT), domain(UPC_LONG), "type UPC_INT,", "type UPC_LONG,"},
      {"operations of domains", domain(UPC_INT), domain(UPC_INT, UPC_ADD | UPC_INC), "ops UPC_ADD,",
       "ops UPC_ADD|UPC_INC,"},
      {"hints of domains", domain(UPC_INT), domain(UPC_INT, UPC_ADD, UPC_ATOMIC_HINT_LATENCY), "hints 0)",
       "hints 1)"},
      {"free of two domains", domain_free(0), domain_free(1), "called upc_all_atomicdomain_free(domain ",
       "called upc_all_atomicdomain_free(domain "},
      {"free of a domain and of none", domain_free(0), domain_free(2), "_free(domain ", "_free(domain 0)"},
  };
}

// What must not be called a mismatch.
std::vector<kind> legal() {
  const auto posted = [](upc_team_t t) { upc_wait(upc_all_exchange(dst, src, 8, UPC_ASYNC, t)); };
  const auto several = [](upc_team_t t) {
    upc_coll_handle_t h[3];
    for (auto& each : h)
      each = upc_all_exchange(dst, src, 8, UPC_ASYNC, t);
    upc_waitall(3, h);
  };
  return {
      {"posted, blocking", exchange(), posted, "", ""},
      {"three posted, three blocking", then(exchange(), then(exchange(), exchange())), several, "", ""},
      {"barrier of Cray, posted", barrier, [](upc_team_t t) { upc_sync(cray_upc_team_barrier_nb(t)); }, "",
       ""},
  };
}

void prepare() {
  const auto block = [](std::size_t n) { return upc_all_alloc(THREADS, n); };
  dst = block(room), src = block(room), other = block(room);
  perm = block(sizeof(int)), perm_wide = block(sizeof(std::size_t));
  const std::size_t row = THREADS * sizeof(upc_shared_ptr_t);
  dsts = block(row), srcs = block(row), sizes = block(THREADS * sizeof(std::size_t));
  const auto mine = [](upc_shared_ptr_t p) { return upc_cast(on(p, MYTHREAD)); };
  *static_cast<int*>(mine(perm)) = MYTHREAD;
  *static_cast<std::size_t*>(mine(perm_wide)) = static_cast<std::size_t>(MYTHREAD);
  for (int t = 0; t < THREADS; ++t) {
    static_cast<upc_shared_ptr_t*>(mine(dsts))[t] = on(dst, MYTHREAD);
    static_cast<upc_shared_ptr_t*>(mine(srcs))[t] = on(src, MYTHREAD);
    static_cast<std::size_t*>(mine(sizes))[t] = 0;
  }
  weft_barrier();
}

} // namespace weft::tests::mismatches
