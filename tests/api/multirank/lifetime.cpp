// SPDX-License-Identifier: BSD-3-Clause
// What a program may call when: weft_init once, nothing after weft_finalize, nothing in a child of fork(),
// and upc_free of what an allocation returned, once.
#include "tests/jobs/suite.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/weft.hpp>

namespace {

int failures = 0;

void refused(const char* what, const std::string& rule, const std::function<void()>& call) {
  try {
    call();
    std::fprintf(stderr, "%s: accepted\n", what);
  } catch (const weft::error& e) {
    if (e.rule.find(rule) != std::string::npos && !e.call.empty()) return;
    std::fprintf(stderr, "%s: %s\n", what, e.what());
  }
  ++failures;
}

void everything_is_refused(const std::string& rule) {
  const upc_shared_ptr_t p{1 << 20, 0, 0};
  refused("weft_init", rule, [] { weft_init(nullptr, nullptr); });
  refused("weft_finalize", rule, [] { weft_finalize(); });
  refused("MYTHREAD", rule, [] { static_cast<void>(MYTHREAD); });
  refused("upc_barrier", rule, [] { upc_barrier; });
  refused("upc_notify", rule, [] { upc_notify; });
  refused("upc_wait", rule, [] { upc_wait; });
  refused("upc_all_alloc", rule, [] { upc_all_alloc(1, 8); });
  refused("upc_free", rule, [p] { upc_free(p); });
  refused("upc_memset", rule, [p] { upc_memset(p, 0, 8); });
  refused("upc_cast", rule, [p] { upc_cast(p); });
  refused("upc_all_exchange", rule, [p] { upc_all_exchange(p, p, 8, 0); });
  refused("upc_all_gather_x", rule, [p] { upc_all_gather_x(p, p, p, 0, UPC_TEAM_ALL); });
  refused("cray_upc_team_size", rule, [] { cray_upc_team_size(CRAY_UPC_TEAM_ALL); });
  refused("upc_test", rule, [] { upc_test_value(77); });
}

// The parent of the child goes on as if nothing had been.
void forks() {
  upc_notify; // the child knows nothing of this either
  const pid_t child = fork();
  if (child == 0) {
    failures = 0;
    everything_is_refused("forked");
    std::exit(failures == 0 ? 42 : 1);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 42) {
    std::fprintf(stderr, "the child ended with status %#x\n", static_cast<unsigned>(status));
    ++failures;
  }
  upc_wait;
}

// What is freed may be another thread's next allocation at once, and freeing it again is then a valid call:
// barriers keep the allocations of all threads away from the second upc_free of each.
void frees() {
  const auto threads = static_cast<std::size_t>(THREADS);
  const auto me = static_cast<std::uint32_t>(MYTHREAD);
  const upc_shared_ptr_t all = upc_all_alloc(threads, 1000), global = upc_global_alloc(threads, 1000),
                         own = upc_alloc(1000);
  upc_barrier;
  for (const upc_shared_ptr_t p : {all, global, own}) {
    upc_shared_ptr_t middle = p;
    middle.addr += 64;
    refused("upc_free of a middle", "is 64 bytes behind the beginning of its block",
            [=] { upc_free(middle); });
    middle.addr += 2;
    refused("upc_free of a middle", "is 66 bytes behind the beginning of its block",
            [=] { upc_free(middle); });
  }
  refused("upc_free of another thread's block", threads == 1 ? "no such thread" : "not the beginning", [=] {
    upc_shared_ptr_t other = all;
    other.thread = 1;
    upc_free(other);
  });
  refused("upc_free outside", "not in the shared heap", [] { upc_free({64, 0, 0}); });
  refused("upc_free outside", "not in the shared heap", [] { upc_free({~std::uint64_t{0}, 0, 0}); });
  upc_free(UPC_SHARED_NULL);
  upc_free(global);
  refused("upc_free twice", "not allocated", [=] { upc_free(global); });
  upc_barrier;
  if (threads > 1) { // another thread's own
    weft::shared_array<upc_shared_ptr_t> table(weft::per_thread(1));
    table[me] = own;
    upc_barrier;
    const upc_shared_ptr_t neighbours = table[(me + 1) % threads];
    upc_free(neighbours);
    upc_barrier;
    refused("upc_free twice", "not allocated", [=] { upc_free(own); });
  } else {
    upc_free(own);
  }
  upc_shared_ptr_t middle = all;
  middle.addr += 128;
  refused("upc_all_free of a middle", "is 128 bytes behind", [=] { upc_all_free(middle); });
  upc_all_free(all);
  refused("upc_all_free twice", "not allocated", [=] { upc_all_free(all); });
  upc_barrier;
}

void copies() {
  const upc_shared_ptr_t p = upc_all_alloc(static_cast<std::size_t>(THREADS), 256);
  const upc_shared_ptr_t mine{p.addr, static_cast<std::uint32_t>(MYTHREAD), 0};
  upc_shared_ptr_t later = mine;
  later.addr += 63;
  refused("upc_memcpy", "overlap", [=] { upc_memcpy(mine, later, 64); });
  refused("upc_memcpy", "overlap", [=] { upc_memcpy(later, mine, 64); });
  auto* own = static_cast<char*>(upc_cast(mine));
  refused("upc_memput", "overlap", [=] { upc_memput(mine, own + 10, 64); });
  refused("upc_memget", "overlap", [=] { upc_memget(own, later, 64); });
  upc_memcpy(mine, mine, 64);  // nothing to do
  upc_memcpy(mine, later, 63); // side by side
  upc_memput(later, own, 63);
  upc_barrier;
}

} // namespace

WEFT_PROGRAM(lifetime) {
  alarm(60);
  refused("upc_barrier", "weft_init must be called first", [] { upc_barrier; });
  refused("weft_finalize", "weft_init must be called first", [] { weft_finalize(); });
  weft_init(&argc, &argv);
  refused("weft_init twice", "was called before", [] { weft_init(nullptr, nullptr); });
  frees();
  copies();
  forks();
  upc_barrier;
  weft_finalize();
  everything_is_refused("weft_finalize has ended the library");
  return failures == 0 ? 0 : 1;
}
