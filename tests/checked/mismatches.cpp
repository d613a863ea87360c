// SPDX-License-Identifier: BSD-3-Clause
// Calls that do not match, each kind on a team of its own: with WEFT_CHECK=1 every thread that fails names
// both threads and both calls, no thread hangs, and other teams go on. `mismatches all KIND` does one that is
// of all threads, after which nothing but weft_finalize is left; `mismatches team KIND` does so with one of
// those of a team; `mismatches list` prints how to name each.
#include "tests/checked/mismatched_calls.hpp"
#include "tests/jobs/suite.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>

namespace {

using namespace weft;
using namespace weft::tests::mismatches;

int odd_thread, failures;

// Do the two calls that the message names?
bool differ(const std::string& text) {
  const std::size_t one = text.find(" called "), other = text.find(" called ", one + 1);
  const std::size_t one_end = text.rfind(", thread ", other), other_end = text.find(": all threads", other);
  return other != std::string::npos &&
         text.substr(one, one_end - one) != text.substr(other, other_end - other);
}

// True if it failed.
bool try_call(const kind& k, upc_team_t team, bool wrong) {
  try {
    (MYTHREAD == odd_thread ? k.odd : k.usual)(team);
    return false;
  } catch (const std::exception& e) {
    const std::string text = e.what(), odd = "thread " + std::to_string(odd_thread) + " called";
    const bool well = wrong && text.find(k.usual_text) != std::string::npos &&
                      text.find(k.odd_text) != std::string::npos && text.find(odd) != std::string::npos &&
                      text.find("all threads must make the same calls") != std::string::npos && differ(text);
    if (!well) ++failures;
    if (!well || MYTHREAD == odd_thread)
      std::fprintf(stderr, "%s: thread %d: %s: %s\n", k.name, MYTHREAD, well ? "diagnosed" : "WRONG",
                   e.what());
    return true;
  }
}

void expect(bool fact, const kind& k, const char* what) {
  if (fact) return;
  ++failures;
  std::fprintf(stderr, "%s: thread %d: %s\n", k.name, MYTHREAD, what);
}

upc_team_t team_of_all() {
  std::vector<int> list(THREADS);
  std::iota(list.begin(), list.end(), 0);
  upc_team_t made = 0;
  weft_team_from_threads(UPC_TEAM_ALL, THREADS, list.data(), &made);
  return made;
}

// A thread that fails after the others have passed fails alone; one must.
void play(const kind& k) {
  const upc_team_t team = team_of_all();
  const bool failed = try_call(k, team, true);
  // Where the mode lets all leave without hearing of each other, it is seen behind; and nothing that is
  // called on the team from then on goes well, or hangs.
  bool again = false;
  try {
    cray_upc_team_barrier(team);
  } catch (const std::exception&) {
    again = true;
  }
  expect(again, k, "a barrier on a team whose calls do not match went well");
  int* const seen = static_cast<int*>(upc_cast(on(other, MYTHREAD)));
  seen[0] = failed || again;
  upc_all_gather_all(dst, other, sizeof(int), 0, UPC_TEAM_ALL);
  const int* const all_seen = static_cast<const int*>(upc_cast(on(dst, MYTHREAD)));
  const int count = std::accumulate(all_seen, all_seen + THREADS, 0);
  expect(count > 0, k, "no thread has seen that the calls do not match");
  cray_upc_team_free(team);
  weft_barrier();
}

int list() {
  std::size_t number = 0;
  for (const kind& k : kinds())
    std::printf("team %zu %s\n", number++, k.name);
  number = 0;
  for (const kind& k : kinds_of_all())
    std::printf("all %zu %s\n", number++, k.name);
  return 0;
}

} // namespace

// One kind, which ends the job or lasts until the job is ended.
WEFT_PROGRAM(mismatch) {
  const std::string what = argc > 1 ? argv[1] : "list";
  if (what == "list") return list();
  weft_init(&argc, &argv);
  prepare();
  odd_thread = THREADS - 1;
  const bool of_all = what == "all";
  const kind k = (of_all ? kinds_of_all() : kinds()).at(std::strtoul(argv[2], nullptr, 10));
  try_call(k, of_all ? UPC_TEAM_ALL : team_of_all(), true);
  // The thread that comes last is to hear of the calls, not of the end of those that have failed because of
  // them.
  if (of_all) std::this_thread::sleep_for(std::chrono::milliseconds(300));
  try {
    weft_finalize();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "weft_finalize: %s\n", e.what());
  }
  return failures != 0 ? 9 : 0;
}

WEFT_SUITE(mismatches) {
  prepare();
  odd_thread = THREADS - 1;
  for (const kind& k : kinds())
    play(k);
  for (const kind& k : legal()) {
    const upc_team_t team = team_of_all();
    expect(!try_call(k, team, false), k, "is legal");
    cray_upc_team_free(team);
  }
  if (MYTHREAD == odd_thread) {
    weft_notify();
    weft_wait();
  } else {
    weft_barrier();
  }
  return failures != 0 ? 9 : 0;
}
