// SPDX-License-Identifier: BSD-3-Clause
// Wrong calls at random, from a table of {call, argument, bad value}: each is an error that names the call, the
// argument, the value and the rule, starts nothing, and the next right call works. All threads draw the same.
#include "tests/jobs/suite.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>
#include <weft/weft.hpp>

namespace {

using pointer = upc_shared_ptr_t;

constexpr std::size_t bytes = 48;

// The right arguments of a call.
struct arguments {
  pointer dst, src, perm, sizes, dst_x, src_x, wide;
  std::size_t nbytes = bytes;
  int mode = UPC_ASYNC;
  upc_team_t team = UPC_TEAM_ALL;
};

struct call {
  std::string name;
  std::vector<std::string> needs; // arguments that it has
  std::function<upc_coll_handle_t(const arguments&)> run;
};
const std::vector<std::string> plain{"dst", "src", "sync_mode"}, of_team{"dst", "src", "sync_mode", "team"},
    permuting{"dst", "src", "perm", "sync_mode"}, rows{"dst_x", "src_x", "nbytes", "sync_mode", "team"},
    cray{"dst", "src", "team"};

const call calls[] = {
    {"upc_all_broadcast", plain,
     [](const arguments& a) { return upc_all_broadcast(a.dst, a.src, a.nbytes, a.mode); }},
    {"upc_all_scatter", plain,
     [](const arguments& a) { return upc_all_scatter(a.dst, a.src, a.nbytes, a.mode); }},
    {"upc_all_gather", plain,
     [](const arguments& a) { return upc_all_gather(a.dst, a.src, a.nbytes, a.mode); }},
    {"upc_all_gather_all", of_team,
     [](const arguments& a) { return upc_all_gather_all(a.dst, a.src, a.nbytes, a.mode, a.team); }},
    {"upc_all_exchange", of_team,
     [](const arguments& a) { return upc_all_exchange(a.dst, a.src, a.nbytes, a.mode, a.team); }},
    {"upc_all_permute", permuting,
     [](const arguments& a) { return upc_all_permute(a.dst, a.src, a.perm, a.nbytes, a.mode); }},
    {"upc_all_scatter_x", rows,
     [](const arguments& a) { return upc_all_scatter_x(a.dst_x, a.src_x, a.sizes, a.mode, a.team); }},
    {"upc_all_gather_x", rows,
     [](const arguments& a) { return upc_all_gather_x(a.dst_x, a.src_x, a.sizes, a.mode, a.team); }},
    {"upc_all_gather_all_x", rows,
     [](const arguments& a) { return upc_all_gather_all_x(a.dst_x, a.src_x, a.sizes, a.mode, a.team); }},
    {"upc_all_exchange_x", rows,
     [](const arguments& a) { return upc_all_exchange_x(a.dst_x, a.src_x, a.sizes, a.mode, a.team); }},
    {"cray_upc_team_alltoall_nb", cray,
     [](const arguments& a) { return cray_upc_team_alltoall_nb(a.dst, a.src, a.nbytes, a.team); }},
};

// What is made wrong, how the message says the value, and a word of the rule.
struct fault {
  std::string argument;
  std::function<void(arguments&)> plant;
  std::string value, rule;
};

template <class Value> std::string hex(Value v) {
  std::ostringstream text;
  text << "0x" << std::hex << v;
  return text.str();
}

std::vector<fault> faults_of(const arguments& right, const pointer& own) {
  std::vector<fault> all;
  const auto each = [&](const std::string& argument, pointer arguments::*member, bool array) {
    const pointer good = right.*member;
    const auto add = [&](pointer bad, const std::string& value, const std::string& rule) {
      all.push_back({argument, [=](arguments& a) { a.*member = bad; }, value, rule});
    };
    add(UPC_SHARED_NULL, "(null)", "must not be null");
    if (array || argument != "src") { // the root's may be anywhere
      add({good.addr, 1, 0}, "thread 1", "");
      add({good.addr, 4000000000u, 0}, "thread 4000000000", "");
    }
    if (array) add({good.addr + 4, 0, 0}, hex(good.addr + 4), "aligned to 8 bytes");
    add({std::uint64_t{1} << 50, 0, 0}, hex(std::uint64_t{1} << 50), "shared heap");
    add({8, 0, 0}, "offset 0x8", "shared heap");
    add({~std::uint64_t{63}, 0, 0}, hex(~std::uint64_t{63}), "shared heap");
    if (array || argument == "dst" || argument == "perm") add({own.addr, 0, 0}, hex(own.addr), "upc_alloc");
  };
  each("dst", &arguments::dst, false);
  each("src", &arguments::src, false);
  each("perm", &arguments::perm, false);
  each("dst_x", &arguments::dst_x, true);
  each("src_x", &arguments::src_x, true);
  each("nbytes", &arguments::sizes, true);
  all.push_back({"dst", [](arguments& a) { a.dst = a.src; }, hex(right.src.addr), "overlap"});
  for (const int two : {UPC_IN_NOSYNC | UPC_IN_MYSYNC, UPC_IN_MYSYNC | UPC_IN_ALLSYNC, 7})
    all.push_back({"sync_mode", [=](arguments& a) { a.mode = two; }, hex(two), "two UPC_IN_ modes"});
  all.push_back({"sync_mode", [](arguments& a) { a.mode = 24; }, "0x18", "two UPC_OUT_ modes"});
  for (const int unknown : {0x400, 0x10000, -1})
    all.push_back({"sync_mode", [=](arguments& a) { a.mode = unknown; }, hex(unknown), "is no flag"});
  for (const upc_team_t team : {0ull, 99ull, ~0ull})
    all.push_back({"team", [=](arguments& a) { a.team = team; }, std::to_string(team), "unknown or freed team"});
  return all;
}

int failures = 0;

void expect(bool right, const std::string& what) {
  if (right) return;
  std::fprintf(stderr, "%s\n", what.c_str());
  ++failures;
}

// gather and the all-to-all are tied to thread 0 at both ends, but a gather's dst is its root's.
bool applies(const call& c, const fault& f) {
  const bool asked = std::find(c.needs.begin(), c.needs.end(), f.argument) != c.needs.end();
  const bool rooted_dst = c.name == "upc_all_gather" && f.argument == "dst";
  const bool anywhere = f.rule.empty() || f.rule == "upc_alloc";
  return asked && !(rooted_dst && anywhere);
}

void wrong(const call& c, const fault& f, const arguments& right) {
  arguments a = right;
  f.plant(a);
  const std::string what = c.name + " with " + f.argument + " = " + f.value;
  const std::uint64_t before = weft_statistic("posts");
  try {
    upc_coll_handle_t h = c.run(a);
    expect(false, what + ": accepted");
    upc_wait(h);
  } catch (const weft::error& e) {
    const std::string message = e.what(), argument = f.argument.substr(0, f.argument.find("_x"));
    expect(e.call == c.name, what + ": call: " + message);
    expect(e.argument == argument || f.rule == "overlap", what + ": argument: " + message);
    expect(e.value.find(f.value) != std::string::npos, what + ": value: " + message);
    expect(e.rule.find(f.rule) != std::string::npos && !e.rule.empty(), what + ": rule: " + message);
    expect(message.find(c.name) == 0 && message.find('\n') == std::string::npos, what + ": line: " + message);
  }
  expect(weft_statistic("posts") == before, what + ": something was started");
}

template <class T> T* row(pointer p) {
  p.thread = static_cast<std::uint32_t>(MYTHREAD);
  return static_cast<T*>(upc_cast(p));
}

// The next right call of any kind, and what it moves.
void right_call(const arguments& a, unsigned round) {
  const auto threads = static_cast<unsigned>(THREADS), me = static_cast<unsigned>(MYTHREAD);
  for (unsigned i = 0; i != threads; ++i)
    *row<unsigned>({a.src.addr + i * bytes, 0, 0}) = 1000 * round + 100 * me + i;
  upc_coll_handle_t h = upc_all_exchange(a.dst, a.src, bytes, UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC);
  upc_wait(h);
  for (unsigned i = 0; i != threads; ++i)
    expect(*row<unsigned>({a.dst.addr + i * bytes, 0, 0}) == 1000 * round + 100 * i + me, "wrong data");
}

} // namespace

WEFT_SUITE(wrong_calls) {
  alarm(100);
  const auto threads = static_cast<std::size_t>(THREADS);
  arguments right;
  right.dst = upc_all_alloc(threads, threads * bytes);
  right.src = upc_all_alloc(threads, threads * bytes);
  right.perm = upc_all_alloc(threads, sizeof(int));
  right.sizes = upc_all_alloc(threads, threads * sizeof(std::size_t));
  right.dst_x = upc_all_alloc(threads, threads * sizeof(pointer));
  right.src_x = upc_all_alloc(threads, threads * sizeof(pointer));
  const pointer own = upc_alloc(4096); // at the same place on all: it is the first
  const std::vector<fault> faults = faults_of(right, own);
  std::mt19937 dice(20260);
  unsigned made = 0;
  for (unsigned round = 0; made != 600; ++round) {
    const call& c = calls[dice() % std::size(calls)];
    const fault& f = faults[dice() % faults.size()];
    if (!applies(c, f)) continue;
    wrong(c, f, right);
    if (++made % 4 == 0) right_call(right, round);
  }
  upc_barrier;
  return failures == 0 ? 0 : 1;
}
