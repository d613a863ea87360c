// SPDX-License-Identifier: BSD-3-Clause
// Who is held up by a late rank? For every function, mode pair, late rank and root: the others call; those
// whom the late rank must not hold up have to leave while it is out, those whom it must hold up have to stay,
// and all data are touched in their time only. The rules are in rules.cpp. No clock decides: the late rank
// comes when the others have told it, beside the library, that they have left or that they have looked often
// enough; only a library that holds up too many is convicted by patience running out.
//
// Mutations that this catches: an IN mode treated as another one; no wait for the entry of the other end, in
// any family; an OUT mode treated as another one, or left without a count of what was taken or delivered;
// blocks that only one end carries; peers taken in order, or operations; rows in shared memory read early.
#include "tests/jobs/suite.h"
#include "tests/modes/part.hpp"
#include "tools/options/command_line.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace modes {
namespace {

// What goes between hosts by sockets may be sent ahead of its reader.
bool over_sockets() {
  const char *const path = std::getenv("WEFT_PATH"), *const ways = std::getenv("UCX_TLS");
  return std::string(path == nullptr ? "" : path) == "sockets" ||
         std::string(ways == nullptr ? "" : ways) == "tcp,self";
}

struct options {
  form how = form::posted;
  std::string only;           // functions whose name contains this
  std::size_t roots = 0;      // how many roots for each late rank; 0: all
  bool all_hints = false;     // else one of the three for each trial, in turn
  unsigned share = 1, of = 1; // play the trials whose number is `share` modulo `of`
  bool behind = false;        // each call behind an exchange that the late rank holds up
  std::size_t sent_ahead = over_sockets() ? 131072 : trial::small_bytes;
  std::vector<std::size_t> sizes{0, 8, 64 << 10};
};

constexpr int hints[] = {0, UPC_PUSH, UPC_PULL};

class adversary {
public:
  explicit adversary(const options& o)
      : options_(o), arena_(*std::max_element(o.sizes.begin(), o.sizes.end())) {}

  int run() {
    upc_barrier();
    for (const function& f : functions())
      if (std::string(f.name).find(options_.only) != std::string::npos) each_mode(f);
    upc_barrier();
    const auto violations = stage_.violations().load();
    if (MYTHREAD == 0) summarise(violations);
    upc_barrier(); // the first to fail ends the job
    return violations == 0 && number_ != 0 ? 0 : 1;
  }

private:
  void summarise(std::uint32_t violations) const {
    std::printf("%u trials, %u violations%s\n", number_, violations,
                stage_.stop().load() != 0 ? ": stopped, that is enough" : "");
    std::fflush(stdout);
  }

  void each_mode(const function& f) {
    if (!f.has_modes()) return each_size({{f, in_mode::my, f.fixed_out()}});
    for (const in_mode in : {in_mode::no, in_mode::my, in_mode::all})
      for (const out_mode out : {out_mode::no, out_mode::my, out_mode::all})
        each_size({{f, in, out}});
  }

  void each_size(trial t) {
    t.how = t.what.has_modes() ? options_.how : form::blocking;
    t.threads = THREADS;
    t.behind = options_.behind;
    t.sent_ahead = options_.sent_ahead;
    ++turn_; // so that every mode pair begins with another hint
    for (const std::size_t n : options_.sizes) {
      t.bytes = n;
      t.empty = n == 0;
      for (t.late = 0; t.late < THREADS; ++t.late)
        each_root(t);
      if (!t.what.has_data()) break;
    }
  }

  void each_root(trial t) {
    const int roots = t.what.has_root() ? root_count() : 1;
    for (int i = 0; i < roots; ++i) {
      t.root = (t.late + i * 3) % THREADS; // the late one first
      if (roots == THREADS) t.root = i;
      each_hint(t);
    }
  }
  int root_count() const {
    return options_.roots == 0 ? THREADS : std::min(THREADS, static_cast<int>(options_.roots));
  }

  void each_hint(trial t) {
    ++turn_;
    for (int i = 0; i < 3; ++i) {
      if (!options_.all_hints && i != turn_ % 3) continue;
      t.hint = t.what.has_modes() ? hints[i] : 0;
      t.turn = turn_;
      one(t);
      if (!t.what.has_modes()) return;
    }
  }

  void one(trial& t) {
    if (++drawn_ % options_.of != options_.share % options_.of) return;
    // Rank 0 decides before all the others look.
    if (MYTHREAD == 0 && stage_.violations().load() >= enough) stage_.stop().store(1);
    stage_.barrier();
    if (stage_.stop().load() != 0) return;
    t.number = ++number_;
    play(stage_, arena_, t);
  }
  static constexpr std::uint32_t enough = 40;

  options options_;
  stage stage_;
  arena arena_;
  std::uint32_t number_ = 0;
  int turn_ = 0;
  unsigned drawn_ = 0;
};

int run(int argc, char** argv) {
  options o;
  bool blocking = false;
  weft::command_line app("holds the library to what the synchronisation modes allow a late rank");
  app.add_flag("--blocking", blocking, "blocking calls instead of posted ones");
  app.add("--only", &o.only, "only functions with this in their name");
  app.add("--roots", &o.roots, "this many roots for each late rank; 0 = all");
  app.add("--sent-ahead", &o.sent_ahead, "blocks up to this size may be sent before their reader comes");
  app.add("--sizes", &o.sizes, "bytes of a block, multiples of 8").valid_if([](const std::string& n) {
    return std::stoull(n) % 8 == 0 ? std::string{} : n + " is no multiple of 8";
  });
  app.add_flag("--all-hints", o.all_hints, "every trial without, with UPC_PUSH and with UPC_PULL");
  app.add("--share", &o.share, "play only the trials of this number modulo --of");
  app.add("--of", &o.of, "in how many shares").positive();
  app.add_flag("--behind", o.behind, "every call behind an exchange that the late rank holds up");
  if (const auto status = app.parse(argc, argv)) return *status;
  if (blocking) o.how = form::blocking;
  return adversary(o).run();
}

} // namespace
} // namespace modes

WEFT_SUITE(adversary) {
  return modes::run(argc, argv);
}
