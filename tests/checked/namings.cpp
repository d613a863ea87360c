// SPDX-License-Identifier: BSD-3-Clause
// Rows in shared memory that do not fit together, under WEFT_CHECK=1: a permutation that is none, two roots.
// With ALL/ALL every thread fails, and hears which threads; with looser modes no thread hangs, and at the
// second barrier behind every thread has failed. What is legal goes well.
//
// Mutations that this catches: names that far members are not sent; an empty block that counts as a root; two
// names that are compared by their owners alone.
#include "tests/jobs/suite.h"

#include <weft/weft.hpp>

#include <cstdio>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

namespace {

using namespace weft;

upc_shared_ptr_t dst, src, perm, perm_wide, dsts, srcs, sizes;
int failures;

upc_shared_ptr_t on(upc_shared_ptr_t p, int thread) {
  p.thread = static_cast<decltype(p.thread)>(thread);
  return p;
}
template <class Value> Value& mine(upc_shared_ptr_t p) {
  return *static_cast<Value*>(upc_cast(on(p, MYTHREAD)));
}

constexpr int all_have_entered = 3; // in the first modes, before data are moved
constexpr upc_flag_t ins[] = {UPC_IN_ALLSYNC, UPC_IN_MYSYNC, UPC_IN_NOSYNC};
constexpr upc_flag_t outs[] = {UPC_OUT_ALLSYNC, UPC_OUT_MYSYNC, UPC_OUT_NOSYNC};

struct trial {
  const char* name;
  std::function<int(int)> named; // by thread: whom its row names, none = an empty block
  std::function<void(upc_flag_t, upc_team_t)> call;
  const char* text; // of the error; null: it is legal
};
constexpr int none = -1;

int next(int thread) {
  return (thread + 1) % THREADS;
}
int first_twice(int thread) {
  return thread == THREADS - 1 ? 1 : thread == 0 ? 1 : next(thread);
}
int outside(int thread) {
  return thread == 1 ? THREADS + 3 : next(thread);
}
int root_is_1(int) {
  return 1;
}
int root_is_1_if_any(int thread) {
  return thread == 0 ? none : 1;
}
int two_roots(int thread) {
  return thread == THREADS - 1 ? 0 : 1;
}

void permute(upc_flag_t mode, upc_team_t t) {
  upc_all_permute(dst, src, perm, 8, mode, t);
}
void permute_in_place(upc_flag_t mode, upc_team_t t) {
  upc_all_permute(dst, dst, perm, 8, mode | UPC_IN_PLACE, t);
}
void permute_x(upc_flag_t mode, upc_team_t t) {
  upc_all_permute_x(dsts, srcs, perm_wide, sizes, mode, t);
}
void permute_xi(upc_flag_t mode, upc_team_t t) {
  upc_all_permute_xi(dsts, srcs, perm, sizes, mode, t);
}
void scatter_x(upc_flag_t mode, upc_team_t t) {
  upc_all_scatter_x(dsts, srcs, sizes, mode, t);
}
void gather_x(upc_flag_t mode, upc_team_t t) {
  upc_all_gather_x(dsts, srcs, sizes, mode, t);
}

std::vector<trial> trials() {
  const char *twice = "both name thread 1", *no_thread = "perm of thread 1 names no thread",
             *roots = "name thread 1 as the root, those of thread";
  return {{"permute", next, permute, nullptr},
          {"permute, twice", first_twice, permute, twice},
          {"permute, outside", outside, permute, no_thread},
          {"permute in place", next, permute_in_place, nullptr},
          {"permute in place, twice", first_twice, permute_in_place, twice},
          {"permute_x", next, permute_x, nullptr},
          {"permute_x, twice", first_twice, permute_x, twice},
          {"permute_xi, twice", first_twice, permute_xi, twice},
          {"permute_xi, outside", outside, permute_xi, no_thread},
          {"scatter_x", root_is_1, scatter_x, nullptr},
          {"scatter_x, one empty", root_is_1_if_any, scatter_x, nullptr},
          {"scatter_x, two roots", two_roots, scatter_x, roots},
          {"gather_x", root_is_1, gather_x, nullptr},
          {"gather_x, one empty", root_is_1_if_any, gather_x, nullptr},
          {"gather_x, two roots", two_roots, gather_x, roots}};
}

void prepare(const trial& t) {
  const int named = t.named(MYTHREAD);
  mine<int>(perm) = named;
  mine<std::size_t>(perm_wide) = static_cast<std::size_t>(named);
  mine<std::size_t>(sizes) = named == none ? 0 : 8;
  const bool scatters = std::strncmp(t.name, "scatter", 7) == 0,
             gathers = std::strncmp(t.name, "gather", 6) == 0;
  mine<upc_shared_ptr_t>(dsts) = on(dst, gathers && named != none ? named : MYTHREAD);
  mine<upc_shared_ptr_t>(srcs) = on(src, scatters && named != none ? named : MYTHREAD);
  weft_barrier();
}

// The error of a call; empty if it went well.
template <class Call> std::string error_of(Call call) {
  try {
    call();
    return {};
  } catch (const std::exception& e) {
    return e.what();
  }
}

void play(const trial& t, int number) {
  const upc_flag_t mode = ins[number / 3] | outs[number % 3];
  std::vector<int> list(THREADS);
  std::iota(list.begin(), list.end(), 0);
  upc_team_t team = 0;
  weft_team_from_threads(UPC_TEAM_ALL, THREADS, list.data(), &team);
  prepare(t);
  const std::string error = error_of([&] { t.call(mode, team); });
  // A third one hears of two others' names when it waits for who has waited for both.
  const std::string later = error_of([&] {
    cray_upc_team_barrier(team);
    cray_upc_team_barrier(team);
  });
  const bool must_fail = t.text != nullptr && number < all_have_entered;
  const bool named = error.find(t.text != nullptr ? t.text : "") != std::string::npos;
  const bool well =
      t.text == nullptr
          ? error.empty() && later.empty()
          : !later.empty() && (must_fail ? named : error.empty() || later.find(t.text) != std::string::npos);
  if (!well) {
    ++failures;
    std::fprintf(stderr, "%s, mode %x: thread %d: WRONG: '%s', then '%s'\n", t.name,
                 static_cast<unsigned>(mode), MYTHREAD, error.c_str(), later.c_str());
  } else if (must_fail && MYTHREAD == 0) {
    std::printf("%s\n", error.c_str());
  }
  cray_upc_team_free(team);
  weft_barrier();
}

} // namespace

WEFT_SUITE(namings) {
  dst = upc_all_alloc(THREADS, 64), src = upc_all_alloc(THREADS, 64);
  perm = upc_all_alloc(THREADS, sizeof(int)), perm_wide = upc_all_alloc(THREADS, sizeof(std::size_t));
  dsts = upc_all_alloc(THREADS, sizeof(upc_shared_ptr_t)),
  srcs = upc_all_alloc(THREADS, sizeof(upc_shared_ptr_t));
  sizes = upc_all_alloc(THREADS, sizeof(std::size_t));
  for (const trial& t : trials())
    for (int number = 0; number < 9; ++number)
      play(t, number);
  return failures != 0 ? 9 : 0;
}
