// SPDX-License-Identifier: BSD-3-Clause
// Accesses that are not within one allocated block, under WEFT_CHECK=1: by each family of calls, to near and
// far threads, in both regions of the heap, past the end, before the beginning and where a block was. Each is
// an error that names the block and how far it goes past it, nothing is started, and the next right call goes
// well. What is within a block is none, however often memory is freed and allocated again with other sizes.
//
// Mutations that this catches: what is remembered of books whose version has moved; a version that does not
// move with a free; a call that was right once is not looked at again; blocks as long as what was taken for them; a family whose operands are not looked at.
#include "tests/jobs/suite.h"

#include <weft/weft.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace weft;

int wrong = 0;
std::size_t bytes; // of a block on each thread, 4 less than what the wrong calls touch
upc_shared_ptr_t small, big, ints, sums;
char buffer[1 << 12];

upc_shared_ptr_t at(upc_shared_ptr_t p, int thread, std::size_t offset = 0) {
  return {p.addr + offset, static_cast<std::uint32_t>(thread), 0};
}

auto number_at(upc_shared_ptr_t p) {
  return *ptr<int>(p);
}

template <class Call> std::string error_of(Call call) {
  try {
    call();
    return {};
  } catch (const error& e) {
    return e.what();
  }
}

void expect(const std::string& what, const std::string& said, const std::vector<std::string>& parts) {
  const bool well = parts.empty() ? said.empty() : std::ranges::all_of(parts, [&](const std::string& part) {
    return said.find(part) != std::string::npos;
  });
  if (well) return;
  ++wrong;
  std::fprintf(stderr, "thread %d: %s: WRONG: '%s'\n", MYTHREAD, what.c_str(), said.c_str());
}

std::string hex(std::uint64_t offset) {
  char text[32];
  std::snprintf(text, sizeof text, "offset 0x%llx", static_cast<unsigned long long>(offset));
  return text;
}
std::string past() {
  return " past the end of their block, " + std::to_string(bytes) + " bytes at " + hex(small.addr) +
         ": allocate more";
}
const std::string none = "no block is allocated there: it was freed, or never allocated";

struct trial {
  const char *call, *argument;
  std::function<void()> run;
  bool past_end = true; // else there is no block at all
};

void play(const std::vector<trial>& trials, const std::string& where) {
  for (const trial& t : trials)
    expect(t.call + where, error_of(t.run),
           {std::string(t.call) + ": " + t.argument + " = (thread ", t.past_end ? "4 bytes" + past() : none,
            "phase"});
}

// Of one thread's memory, whoever it is.
std::vector<trial> of_thread(int t, upc_atomicdomain_t domain) {
  static int one = 1;
  const upc_shared_ptr_t s = at(small, t), end = at(small, t, bytes), b = at(big, (t + 1) % THREADS);
  const std::size_t n = bytes + 4;
  const char* const element = "element of shared memory";
  return {
      {"upc_memget", "src", [=] { upc_memget(buffer, s, n); }},
      {"upc_memput", "dst", [=] { upc_memput(s, buffer, n); }},
      {"upc_memset", "dst", [=] { upc_memset(s, 0, n); }},
      {"upc_memcpy", "dst", [=] { upc_memcpy(s, b, n); }},
      {"upc_memcpy", "src", [=] { upc_memcpy(b, s, n); }},
      {"upc_memget_nb", "src", [=] { upc_sync(upc_memget_nb(buffer, s, n)); }},
      {"upc_memput_nb", "dst", [=] { upc_sync(upc_memput_nb(s, buffer, n)); }},
      {"upc_memset_nb", "dst", [=] { upc_sync(upc_memset_nb(s, 0, n)); }},
      {"upc_memcpy_nb", "src", [=] { upc_sync(upc_memcpy_nb(b, s, n)); }},
      {"upc_memget_nbi", "src", [=] { upc_memget_nbi(buffer, s, n); }},
      {"upc_memput_nbi", "dst", [=] { upc_memput_nbi(s, buffer, n); }},
      {"upc_memset_nbi", "dst", [=] { upc_memset_nbi(s, 0, n); }},
      {"upc_memcpy_nbi", "dst", [=] { upc_memcpy_nbi(s, b, n); }},
      {element, "pointer", [=] { static_cast<void>(number_at(end).get()); }, false},
      {element, "pointer", [=] { number_at(end) = 1; }, false},
      {element, "pointer", [=] { number_at(end) += 1; }, false},
      {element, "pointer", [=] { static_cast<void>(ptr<double>(at(small, t, bytes - 4))[0].get()); }},
      {"upc_atomic_relaxed", "target",
       [=] { upc_atomic_relaxed(domain, nullptr, UPC_ADD, end, &one, nullptr); }, false},
      {"upc_atomic_strict", "target",
       [=] { upc_atomic_strict(domain, nullptr, UPC_ADD, end, &one, nullptr); }, false},
      {"upc_broadcast", "src", [=] { upc_broadcast(big, s, n); }},
      {"upc_gather", "dst", [=] { upc_gather(s, big, 64); }},
      {"upc_scatter", "src", [=] { upc_scatter(big, s, 64); }},
      {"upc_exchange", "dst", [=] { upc_exchange(small, big, 64); }},
      {"upc_gather_all", "dst", [=] { upc_gather_all(small, big, 64); }},
      {"upc_reduce", "dst", [=] { upc_reduce(end, ints, UPC_INT, UPC_ADD); }, false},
      {"upc_prefix_reduce", "dst", [=] { upc_prefix_reduce(at(small, 0, bytes), ints, UPC_INT, UPC_ADD); },
       false},
  };
}

int compare(upc_shared_ptr_t, upc_shared_ptr_t) {
  return 0;
}

// That all threads call together.
std::vector<trial> of_all() {
  const auto threads = static_cast<std::size_t>(THREADS);
  const std::size_t n = bytes + 4, row = n / sizeof(int), elements = row * threads;
  const upc_shared_ptr_t mine = at(small, MYTHREAD), others = at(big, MYTHREAD), end = at(small, 0, bytes);
  const upc_shared_ptr_t rows = at(small, 0, n - 16 * threads);
  return {
      {"upc_all_broadcast", "dst", [=] { upc_all_broadcast(small, big, n, 0); }},
      {"upc_all_scatter", "src", [=] { upc_all_scatter(big, at(small, THREADS - 1), 64, 0); }},
      {"upc_all_gather", "dst", [=] { upc_all_gather(at(small, THREADS - 1), big, 64, 0); }},
      {"upc_all_gather_all", "dst", [=] { upc_all_gather_all(small, big, 64, 0); }},
      {"upc_all_exchange", "src", [=] { upc_all_exchange(big, small, 64, 0); }},
      {"upc_all_exchange", "dst", [=] { upc_all_exchange(small, small, 64, UPC_IN_PLACE); }},
      {"upc_all_permute", "src", [=] { upc_all_permute(big, small, ints, n, UPC_ASYNC); }},
      {"upc_all_permute", "perm", [=] { upc_all_permute(big, small, end, 4, 0); }, false},
      {"upc_all_exchange_x", "dst", [=] { upc_all_exchange_x(rows, big, big, 0, UPC_TEAM_ALL); }},
      {"upc_all_reduceI", "src", [=] { upc_all_reduceI(ints, small, UPC_ADD, elements, row, nullptr, 0); }},
      {"upc_all_reduceI", "src", [=] { upc_all_reduceI(ints, small, UPC_ADD, elements, 16, nullptr, 0); }},
      {"upc_all_reduceI", "dst", [=] { upc_all_reduceI(end, big, UPC_ADD, elements, row, nullptr, 0); },
       false},
      {"upc_all_prefix_reduceI", "dst",
       [=] { upc_all_prefix_reduceI(small, big, UPC_ADD, elements, row, nullptr, 0); }},
      {"upc_all_sort", "A", [=] { upc_all_sort(small, sizeof(int), elements, 16, compare, 0); }},
      {"cray_upc_team_alltoall", "dst", [=] { cray_upc_team_alltoall(small, big, 64, CRAY_UPC_TEAM_ALL); }},
      {"cray_upc_team_allreduce", "src",
       [=] {
         cray_upc_team_allreduce(others, mine, row, CRAY_UPC_INT, UPC_ADD, CRAY_UPC_TEAM_ALL, nullptr);
       }},
  };
}

// What is right goes well behind all that was wrong.
void right_calls() {
  upc_all_exchange(big, ints, sizeof(int), UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  upc_all_reduceI(sums, ints, UPC_ADD, static_cast<std::size_t>(THREADS), 1, nullptr, 0);
  upc_memget(buffer, at(small, (MYTHREAD + 1) % THREADS), bytes);
  upc_memget(buffer, at(small, (MYTHREAD + 1) % THREADS, bytes - 1), 1);
  upc_memget(buffer, at(small, 0, bytes + 4), 0);
  static_cast<void>(upc_cast(at(small, MYTHREAD, bytes))); // a pointer, and no access
}

// One thread's call is wrong, the others' is not; nothing was started, so it can be made again.
void one_alone() {
  if (MYTHREAD == THREADS - 1)
    expect("one alone", error_of([&] { upc_all_exchange(small, big, 64, 0); }), {past()});
  upc_all_exchange(big, ints, sizeof(int), UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
}

// Where a block was, was another, or will be one.
void one_after_the_other() {
  for (int turns = 0; turns < 3; ++turns) {
    const upc_shared_ptr_t far = at(upc_all_alloc(static_cast<std::size_t>(THREADS), 300), THREADS - 1);
    upc_memset(far, 0, 300);
    expect("before it", error_of([&] { upc_memset(at(far, THREADS - 1), 0, 301); }),
           {"go 1 byte past", "300 bytes at"});
    expect("under it", error_of([&] {
             upc_memset({far.addr - 1, far.thread, 0}, 0, 2);
           }),
           {"memset", hex(far.addr - 1)});
    upc_all_broadcast(at(far, 0), big, 1, 0); // the same call is an error behind the free
    upc_barrier;
    upc_all_free(at(far, 0));
    upc_barrier;
    expect("freed", error_of([&] { upc_memget(buffer, far, 1); }), {none});
    expect("freed", error_of([&] { upc_all_broadcast(at(far, 0), big, 1, 0); }), {none});
    upc_barrier;
    const upc_shared_ptr_t again = upc_all_alloc(static_cast<std::size_t>(THREADS), 80);
    if (again.addr == far.addr)
      expect("shorter", error_of([&] { upc_memget(buffer, far, 300); }),
             {"go 220 bytes past", ", 80 bytes at"});
    upc_barrier;
    upc_all_free(again);
  }
}

// Each thread's own memory, allocated and freed over and over, by others too, and looked at by all.
void churn(const shared_array<upc_shared_ptr_t>& places, bool local) {
  const int next = (MYTHREAD + 1) % THREADS, before = (MYTHREAD + THREADS - 1) % THREADS;
  for (std::size_t round = 0; round < 30; ++round) {
    const auto size_of = [&](int t) { return 1 + (round * 37 + static_cast<std::size_t>(t) * 101) % 400; };
    places[MYTHREAD] = local ? upc_alloc(size_of(MYTHREAD)) : upc_global_alloc(1, size_of(MYTHREAD));
    upc_barrier;
    for (const int t : {next, before, 0, MYTHREAD}) {
      const upc_shared_ptr_t p = places[t];
      expect("churn", error_of([&] { upc_memget(buffer, p, size_of(t)); }), {});
      expect("churn", error_of([&] { upc_memget(buffer, p, size_of(t) + 1); }),
             {"go 1 byte past",
              std::to_string(size_of(t)) + (size_of(t) == 1 ? " byte at " : " bytes at ") + hex(p.addr)});
    }
    upc_barrier;
    const upc_shared_ptr_t gone = places[before];
    upc_free(places[next]);
    upc_barrier;
    expect("churned", error_of([&] { upc_memget(buffer, gone, 1); }), {none});
    upc_barrier;
  }
}

} // namespace

WEFT_SUITE(past_blocks) {
  const auto threads = static_cast<std::size_t>(THREADS);
  bytes = 64 * threads - 4;
  small = upc_all_alloc(threads, bytes), big = upc_all_alloc(threads, bytes + 4);
  ints = upc_all_alloc(threads, bytes + 4), sums = upc_all_alloc(threads, sizeof(int));
  upc_memset(at(ints, MYTHREAD), 0, bytes + 4);
  const upc_atomicdomain_t domain = upc_all_atomicdomain_alloc(UPC_INT, UPC_ADD, UPC_ATOMIC_HINT_DEFAULT);
  upc_barrier;
  for (int t = 0; t < THREADS; ++t)
    play(of_thread(t, domain), " of thread " + std::to_string(t));
  upc_synci();
  play(of_all(), " of all");
  upc_barrier;
  right_calls();
  one_alone();
  one_after_the_other();
  {
    const shared_array<upc_shared_ptr_t> places(per_thread(1));
    churn(places, true);
    churn(places, false);
  }
  return wrong == 0 ? 0 : 9;
}
