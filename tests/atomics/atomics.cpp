// SPDX-License-Identifier: BSD-3-Clause
// Atomic operations of all threads on the same places, near and far.
//
//   atomics work N     N rounds of each operation, by every type: what is lost or done twice shows in the
//                      results; pointers are swapped among all, and none is torn
//   atomics errors     every wrong use
//
// Mutations that this catches: an operation that is a load and a store; a pointer that is swapped in halves;
// an owner that goes past its own engine.
#include "tests/jobs/suite.h"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>
#include <weft/weft.hpp>

namespace {

using steady = std::chrono::steady_clock;

[[noreturn]] void die(const std::string& what) {
  std::fprintf(stderr, "thread %d: %s\n", MYTHREAD, what.c_str());
  std::_Exit(7);
}
void require(bool holds, const std::string& what) {
  if (!holds) die("not so: " + what);
}

template <class T> struct places {
  places() : memory(upc_all_alloc(static_cast<std::size_t>(THREADS), 64)) {
    upc_memset(on(MYTHREAD), 0, 64);
    upc_barrier;
  }
  ~places() { upc_all_free(memory); }
  upc_shared_ptr_t on(int thread, int k = 0) const {
    upc_shared_ptr_t p = upc_ptradd(memory, 1, 64, thread);
    p.addr += static_cast<std::size_t>(k) * sizeof(T);
    return p;
  }
  upc_shared_ptr_t memory;
};

// What one thread alone sees: each operation, its result and what was there before.
template <class T> void alone(const weft::atomic_domain<T>& d, const places<T>& p) {
  const upc_shared_ptr_t x = p.on((MYTHREAD + 1) % THREADS, 2);
  const std::string of = " of " + std::to_string(sizeof(T)) + " bytes";
  require(d.set(x, T(5)) == T(0), "set" + of);
  require(d.add(x, T(3)) == T(5), "add" + of);
  require(d.sub(x, T(2)) == T(8), "sub" + of);
  require(d.mult(x, T(4)) == T(6), "mult" + of);
  require(d.inc(x) == T(24), "inc" + of);
  require(d.dec(x) == T(25), "dec" + of);
  require(d.min(x, T(10)) == T(24), "min" + of);
  require(d.max(x, T(7)) == T(10), "max that keeps" + of);
  require(d.max(x, T(12)) == T(10), "max" + of);
  require(d.cswap(x, T(1), T(2)) == T(12), "cswap that keeps" + of);
  require(d.cswap(x, T(12), T(13)) == T(12), "cswap" + of);
  if constexpr (std::is_integral_v<T>) {
    require(d.bit_and(x, T(9)) == T(13), "and" + of);
    require(d.bit_or(x, T(6)) == T(9), "or" + of);
    require(d.bit_xor(x, T(3)) == T(15), "xor" + of);
    require(d.get(x) == T(12), "get" + of);
  }
  d.set(x, T(0));
  upc_barrier;
}

template <class T> void together(int rounds) {
  weft::atomic_domain<T> d(rounds % 2 == 0 ? weft::atomic_domain<T>::order::relaxed
                                           : weft::atomic_domain<T>::order::strict);
  const places<T> p;
  alone(d, p);
  // Each thread adds 1 to place 0 of each, and moves a token by swaps in place 1.
  std::vector<T> mine;
  for (int r = 0; r < rounds; ++r)
    for (int t = 0; t < THREADS; ++t) {
      const upc_shared_ptr_t sum = p.on(t), product = p.on(t, 1);
      switch (r % 4) {
      case 0:
        if (t == 0)
          mine.push_back(d.inc(sum));
        else
          d.inc(sum);
        break;
      case 1:
        d.add(sum, T(1));
        break;
      case 2: {
        T seen = d.get(sum);
        for (T was; (was = d.cswap(sum, seen, T(seen + T(1)))) != seen;)
          seen = was;
        break;
      }
      default:
        d.sub(sum, T(-1));
      }
      d.max(product, T(r * THREADS + MYTHREAD));
    }
  upc_barrier;
  for (int t = 0; t < THREADS; ++t) {
    require(d.get(p.on(t)) == T(rounds * THREADS), "sum");
    require(d.get(p.on(t, 1)) == T(rounds * THREADS - 1), "max of all");
  }
  require(std::set<T>(mine.begin(), mine.end()).size() == mine.size(), "tickets differ");
  upc_barrier;
  d.free();
}

// Pointers whose parts tell each other: a torn one shows.
upc_shared_ptr_t whole(std::uint32_t n) {
  return {std::uint64_t{n} << 20 | n, n % static_cast<std::uint32_t>(THREADS), n};
}
bool is_whole(upc_shared_ptr_t p) {
  return p.addr == (std::uint64_t{p.phase} << 20 | p.phase) &&
         p.thread == p.phase % static_cast<std::uint32_t>(THREADS);
}

void pointers(int rounds) {
  weft::atomic_domain<upc_shared_ptr_t> d;
  const places<upc_shared_ptr_t> p;
  weft::atomic_domain<long> numbers;
  const places<long> swapped;
  for (int r = 0; r < rounds; ++r)
    for (int t = 0; t < THREADS; ++t) {
      const auto n = static_cast<std::uint32_t>(r * THREADS + MYTHREAD + 1);
      require(is_whole(d.get(p.on(t))), "a whole pointer");
      require(is_whole(d.set(p.on(t), whole(n))), "a whole pointer");
      upc_shared_ptr_t seen = d.get(p.on(t, 1));
      for (;;) { // counts in the phases; that they are equal the phase does not say, addresses do
        const upc_shared_ptr_t was = d.cswap(p.on(t, 1), seen, whole(seen.phase + 1));
        require(is_whole(was), "a whole pointer");
        if (was.addr == seen.addr) break;
        seen = was;
      }
    }
  upc_barrier;
  for (int t = 0; t < THREADS; ++t)
    require(d.get(p.on(t, 1)).phase == static_cast<std::uint32_t>(rounds * THREADS), "swaps of all");
  upc_barrier;
  numbers.free();
  d.free();
}

template <class Call> void expect(const char* what, Call call) {
  try {
    call();
  } catch (const weft::error& e) {
    if (std::strstr(e.what(), what) == nullptr) die(std::string(e.what()) + ": does not say " + what);
    return;
  }
  die(std::string("nothing was thrown: ") + what);
}

void errors() {
  const auto alloc = [](upc_type_t t, upc_op_t ops, upc_atomichint_t h = 0) {
    return upc_all_atomicdomain_alloc(t, ops, h);
  };
  expect("type = UPC_CHAR:", [&] { alloc(UPC_CHAR, UPC_GET); });
  expect("type = 99:", [&] { alloc(99, UPC_GET); });
  expect("ops = 0:", [&] { alloc(UPC_INT, 0); });
  expect("ops = UPC_LOGAND:", [&] { alloc(UPC_INT, UPC_LOGAND); });
  expect("ops = UPC_ADD|UPC_AND: UPC_AND is no operation of UPC_DOUBLE: UPC_GET",
         [&] { alloc(UPC_DOUBLE, UPC_AND | UPC_ADD); });
  expect("is no operation", [&] { alloc(UPC_PTS, UPC_GET | UPC_INC); });
  expect("hints = 7:", [&] { alloc(UPC_INT, UPC_GET, 7); });
  const upc_atomicdomain_t d = alloc(UPC_LONG, UPC_GET | UPC_ADD | UPC_CSWAP);
  const places<long> p;
  const upc_shared_ptr_t x = p.on((MYTHREAD + 1) % THREADS);
  long a = 1, b = 2;
  expect("unknown or freed", [&] { upc_atomic_relaxed(0, &a, UPC_GET, x, nullptr, nullptr); });
  expect("unknown or freed", [&] { upc_atomic_strict(d + 1, &a, UPC_GET, x, nullptr, nullptr); });
  expect("op = UPC_SUB: is not one of the operations of the domain",
         [&] { upc_atomic_relaxed(d, &a, UPC_SUB, x, &a, nullptr); });
  expect("operations of the domain", [&] { upc_atomic_relaxed(d, &a, UPC_GET | UPC_ADD, x, &a, nullptr); });
  expect("fetch_ptr", [&] { upc_atomic_relaxed(d, nullptr, UPC_GET, x, nullptr, nullptr); });
  expect("operand1", [&] { upc_atomic_relaxed(d, nullptr, UPC_ADD, x, nullptr, nullptr); });
  expect("operand2", [&] { upc_atomic_relaxed(d, nullptr, UPC_CSWAP, x, &a, nullptr); });
  expect("must not be null", [&] { upc_atomic_relaxed(d, &a, UPC_ADD, UPC_SHARED_NULL, &a, &b); });
  expect("aligned to 8", [&] { upc_atomic_relaxed(d, &a, UPC_ADD, {x.addr + 4, x.thread, 0}, &a, &b); });
  expect("shared heap", [&] { upc_atomic_relaxed(d, &a, UPC_ADD, {8, 0, 0}, &a, &b); });
  expect("no such thread", [&] {
    upc_atomic_relaxed(d, &a, UPC_ADD, {x.addr, static_cast<std::uint32_t>(THREADS), 0}, &a, &b);
  });
  upc_atomic_strict(d, nullptr, UPC_ADD, x, &a, nullptr);
  upc_barrier;
  upc_atomic_strict(d, &b, UPC_GET, x, nullptr, nullptr);
  require(b == 1, "one added, nothing else done");
  const upc_shared_ptr_t mine = p.on(MYTHREAD);
  require(upc_atomic_isfast(UPC_LONG, UPC_ADD, mine) == UPC_ATOMIC_PERFORMANCE_FAST, "one's own is fast");
  require(upc_atomic_query(UPC_PTS, UPC_GET, mine) == UPC_ATOMIC_PERFORMANCE_NOT_FAST, "pointers are not");
  upc_barrier;
  upc_all_atomicdomain_free(d);
  upc_all_atomicdomain_free(0);
  expect("unknown or freed", [&] { upc_all_atomicdomain_free(d); });
  const upc_atomicdomain_t next = alloc(UPC_LONG, UPC_GET | UPC_ADD | UPC_CSWAP);
  require(next != d, "another domain at the same place");
  expect("unknown or freed", [&] { upc_atomic_relaxed(d, &a, UPC_GET, x, nullptr, nullptr); });
  upc_all_atomicdomain_free(next);
}

} // namespace

WEFT_SUITE(atomics) {
  const std::string what = argc > 1 ? argv[1] : "work";
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 100;
  if (what == "work") {
    together<int>(rounds);
    together<unsigned>(rounds);
    together<long>(rounds + 1);
    together<std::uint64_t>(rounds);
    together<float>(rounds);
    together<double>(rounds + 1);
    pointers(rounds);
  } else if (what == "errors") {
    errors();
  }
  return 0;
}
