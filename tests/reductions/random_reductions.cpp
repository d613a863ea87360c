// Random reductions against a serial fold: every type, operator and kind, any layout, phase, mode and team, a
// few of them in flight together. All ranks derive the same cases from the seed; each looks at every byte of
// its own memory that a case may touch.
#include "tests/jobs/suite.h"
#include "tests/reductions/typed_case.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>

namespace {

using differential::dice;
using reductions::functions;

constexpr std::size_t area_bytes = 512 * 1024, guard = 256;
constexpr std::byte poison{0x5a};

struct options {
  std::uint64_t seed = 1, cases = 300, first = 0;
  bool show = false, wrong = false;
};

// The memory of one case in flight: a source and a destination on every thread.
struct areas {
  upc_shared_ptr_t src, dst;
};

class random_case {
public:
  virtual ~random_case() = default;
  virtual void fill() = 0;
  virtual upc_coll_handle_t post() = 0;
  virtual int check() = 0;
};

enum class what { reduce, reduce_all, prefix, exclusive_prefix };
constexpr const char* names[] = {"reduce", "reduce_all", "prefix_reduce", "prefix_reduce (exclusive)"};

template <class T> class typed_case final : public random_case {
public:
  typed_case(std::uint64_t number, std::uint64_t key, const areas& where, upc_team_t team,
             const std::vector<int>& threads, bool wrong)
      : number_(number), key_(key), d_{key}, where_(where), team_(team), threads_(threads), wrong_(wrong) {
    kind_ = static_cast<what>(d_.below(4));
    op_ = d_.pick(reductions::operators<T>());
    draw_layout();
    draw_mode();
    const bool has_c = reductions::functions_of<T>.reduce != nullptr;
    call_ = has_c && d_.chance(60) ? reductions::functions_of<T> : reductions::typed_functions<T>;
  }

  void fill() override {
    std::memset(local(where_.src), 0x33, area_bytes);
    std::memset(local(where_.dst), static_cast<int>(poison), area_bytes);
    for (std::size_t i = 0; i < n_; ++i)
      if (const upc_shared_ptr_t p = at(src_, i); p.thread == me()) put(p, value(i));
  }

  upc_coll_handle_t post() override {
    const upc_shared_ptr_t src = in_place_ ? (d_.chance(50) ? UPC_SHARED_NULL : dst_) : src_;
    const upc_flag_t flags = mode_ | (in_place_ ? int(UPC_IN_PLACE) : 0);
    switch (kind_) {
    case what::reduce:
      return call_.reduce(dst_, src_, op_, n_, block_, flags, team_);
    case what::reduce_all:
      return call_.reduce_all(dst_, src_, op_, n_, block_, flags, team_);
    case what::prefix:
      return call_.prefix(dst_, src, op_, n_, block_, flags, team_);
    default:
      return call_.prefix(dst_, src, op_, n_, block_, flags | UPC_EXCLUSIVE_PREFIX_REDUCE, team_);
    }
  }

  int check() override {
    std::vector<std::byte> wanted(area_bytes, poison);
    if (in_place_) {
      std::memset(wanted.data(), 0x33, area_bytes);
      expect_elements(wanted, dst_, [&](std::size_t i) { return value(i); });
    }
    expect_results(wanted);
    const std::byte* const got = local(in_place_ ? where_.src : where_.dst);
    for (std::size_t k = 0; k < area_bytes; k += sizeof(T)) {
      T a, b;
      std::memcpy(&a, got + k, sizeof a);
      std::memcpy(&b, wanted.data() + k, sizeof b);
      if (std::memcmp(got + k, wanted.data() + k, sizeof(T)) == 0 || reductions::same(a, b)) continue;
      std::printf("reductions: rank %d: byte %zu of the destination differs\n  %s\n", MYTHREAD, k,
                  text().c_str());
      return 1;
    }
    return 0;
  }

  std::string text() const {
    char line[400];
    std::snprintf(
        line, sizeof line,
        "case %llu: %s, type of %zu bytes, op %u, nelems %zu, blk_size %zu, phase %u, thread %u, dst "
        "thread %u phase %u, mode 0x%x%s, team of %zu",
        static_cast<unsigned long long>(number_), names[static_cast<int>(kind_)], sizeof(T), op_, n_, block_,
        src_.phase, src_.thread, dst_.thread, dst_.phase, mode_, in_place_ ? ", in place" : "",
        threads_.size());
    return line;
  }

private:
  static std::uint32_t me() { return static_cast<std::uint32_t>(MYTHREAD); }
  static std::byte* local(upc_shared_ptr_t area) {
    return static_cast<std::byte*>(upc_cast(upc_shared_ptr_t{area.addr, me(), 0}));
  }
  static void put(upc_shared_ptr_t p, const T& v) { std::memcpy(upc_cast(p), &v, sizeof v); }
  upc_shared_ptr_t at(upc_shared_ptr_t first, std::size_t i) const {
    return upc_ptradd(first, block_, sizeof(T), static_cast<std::ptrdiff_t>(i));
  }
  T value(std::size_t i) const { return reductions::element<T>(key_, i, op_); }

  std::uint32_t any_thread() { return static_cast<std::uint32_t>(d_.pick(threads_)); }
  // An array of the layout, on the threads of the team.
  upc_shared_ptr_t array(upc_shared_ptr_t area) {
    const std::uint32_t phase = block_ == 0 ? 0 : static_cast<std::uint32_t>(d_.below(block_));
    return {area.addr + guard + d_.below(4) * 64 + phase * sizeof(T), any_thread(), phase};
  }
  void draw_layout() {
    constexpr std::size_t room = (area_bytes - 2 * guard - 4096) / sizeof(T);
    const bool some = threads_.size() != static_cast<std::size_t>(THREADS);
    const std::size_t most = room / 3;
    n_ = d_.chance(5) ? 0 : d_.chance(60) ? d_.below(60) : d_.below(std::min<std::size_t>(most, 20000));
    block_ = d_.chance(15)   ? 0
             : d_.chance(60) ? d_.between(1, 9)
                             : d_.between(1, std::max<std::size_t>(n_, 1));
    if (some) block_ = d_.chance(50) ? 0 : 2 * n_ + 1; // all of it on one thread
    block_ = std::min(block_, most);
    n_ = std::min(n_, most);
    src_ = array(where_.src);
    if (some && block_ != 0) src_.phase = 0, src_.addr = where_.src.addr + guard;
    draw_destination();
  }
  void draw_destination() {
    const bool prefix = kind_ == what::prefix || kind_ == what::exclusive_prefix;
    if (kind_ == what::reduce) dst_ = {where_.dst.addr + guard + d_.below(4) * 64, any_thread(), 0};
    if (kind_ == what::reduce_all)
      dst_ = {where_.dst.addr + guard + d_.below(4) * 64, static_cast<std::uint32_t>(threads_[0]), 0};
    if (!prefix) return;
    in_place_ = d_.chance(25);
    dst_ = src_;
    if (in_place_) return;
    dst_.addr += where_.dst.addr - where_.src.addr;
    const bool some = threads_.size() != static_cast<std::size_t>(THREADS);
    if (d_.chance(30) && !some) dst_ = array(where_.dst);
  }
  void draw_mode() {
    const int in[] = {0, UPC_IN_NOSYNC, UPC_IN_MYSYNC, UPC_IN_ALLSYNC};
    const int out[] = {0, UPC_OUT_NOSYNC, UPC_OUT_MYSYNC, UPC_OUT_ALLSYNC};
    mode_ = d_.pick(in) | d_.pick(out) | (d_.chance(60) ? UPC_ASYNC : 0);
    if (d_.chance(25)) mode_ |= WEFT_REPRODUCIBLE;
  }

  template <class Value>
  void expect_elements(std::vector<std::byte>& wanted, upc_shared_ptr_t first, Value&& v) {
    for (std::size_t i = 0; i < n_; ++i) {
      const upc_shared_ptr_t p = at(first, i);
      if (p.thread == me()) expect(wanted, p, v(i));
    }
  }
  void expect(std::vector<std::byte>& wanted, upc_shared_ptr_t p, const T& v) {
    const std::uint64_t begin = in_place_ ? where_.src.addr : where_.dst.addr;
    std::memcpy(wanted.data() + (p.addr - begin), &v, sizeof v);
  }
  void expect_results(std::vector<std::byte>& wanted) {
    if (n_ == 0) return;
    std::vector<T> all(n_);
    std::vector<T>& prefixes = all;
    for (std::size_t i = 0; i < n_; ++i)
      prefixes[i] = i == 0 ? value(0) : reductions::apply<T>(op_, prefixes[i - 1], value(i));
    if (wrong_) prefixes[n_ - 1] = value(n_ + 1);
    const bool member = std::find(threads_.begin(), threads_.end(), MYTHREAD) != threads_.end();
    if (kind_ == what::reduce && dst_.thread == me()) expect(wanted, dst_, prefixes[n_ - 1]);
    if (kind_ == what::reduce_all && member) expect(wanted, {dst_.addr, me(), 0}, prefixes[n_ - 1]);
    if (kind_ == what::prefix) expect_elements(wanted, dst_, [&](std::size_t i) { return prefixes[i]; });
    if (kind_ != what::exclusive_prefix) return;
    for (std::size_t i = 1; i < n_; ++i)
      if (const upc_shared_ptr_t p = at(dst_, i); p.thread == me()) expect(wanted, p, prefixes[i - 1]);
  }

  const std::uint64_t number_, key_;
  dice d_;
  const areas where_;
  const upc_team_t team_;
  const std::vector<int> threads_;
  const bool wrong_;
  what kind_;
  upc_op_t op_;
  std::size_t n_ = 0, block_ = 0;
  upc_shared_ptr_t src_{}, dst_{};
  bool in_place_ = false;
  upc_flag_t mode_ = 0;
  functions call_;
};

using maker = std::unique_ptr<random_case> (*)(std::uint64_t, std::uint64_t, const areas&, upc_team_t,
                                               const std::vector<int>&, bool);
template <class T>
std::unique_ptr<random_case> make(std::uint64_t number, std::uint64_t key, const areas& where,
                                  upc_team_t team, const std::vector<int>& threads, bool wrong) {
  return std::make_unique<typed_case<T>>(number, key, where, team, threads, wrong);
}
constexpr maker makers[] = {make<signed char>,
                            make<unsigned char>,
                            make<short>,
                            make<unsigned short>,
                            make<int>,
                            make<unsigned>,
                            make<long>,
                            make<unsigned long>,
                            make<float>,
                            make<double>,
                            make<long double>,
                            make<long long>,
                            make<unsigned long long>,
                            make<std::complex<float>>,
                            make<std::complex<double>>,
                            make<std::complex<long double>>,
                            make<bool>};

struct team_of {
  upc_team_t handle = UPC_TEAM_ALL;
  std::vector<int> threads;
};

team_of make_team(dice& d) {
  team_of t;
  for (int thread = 0; thread < THREADS; ++thread)
    t.threads.push_back(thread);
  if (THREADS == 1 || d.chance(40)) return t;
  d.shuffle(t.threads);
  t.threads.resize(d.between(1, t.threads.size()));
  weft_team_from_threads(UPC_TEAM_ALL, static_cast<int>(t.threads.size()), t.threads.data(), &t.handle);
  return t;
}

int play(const options& o) {
  constexpr std::size_t most = 3;
  std::vector<areas> where(most);
  for (areas& a : where) {
    a.src = upc_all_alloc(static_cast<std::size_t>(THREADS), area_bytes);
    a.dst = upc_all_alloc(static_cast<std::size_t>(THREADS), area_bytes);
  }
  int failures = 0;
  for (std::uint64_t number = o.first; number < o.first + o.cases && failures == 0; ++number) {
    dice d{o.seed, number, static_cast<std::uint64_t>(THREADS)};
    const team_of team = make_team(d);
    std::vector<std::unique_ptr<random_case>> cases;
    for (std::size_t k = d.between(1, most); k != 0; --k)
      cases.push_back(d.pick(makers)(number, d.next(), where[k - 1], team.handle, team.threads, o.wrong));
    for (auto& c : cases)
      c->fill();
    upc_barrier;
    const bool member = team.handle != 0;
    std::vector<upc_coll_handle_t> handles;
    for (auto& c : cases)
      if (member) handles.push_back(c->post());
    d.shuffle(handles);
    upc_waitall(static_cast<int>(handles.size()), handles.data());
    upc_barrier;
    for (auto& c : cases)
      failures += c->check();
    upc_barrier;
    if (team.handle > UPC_TEAM_ALL) cray_upc_team_free(team.handle);
  }
  if (MYTHREAD == 0)
    std::printf("reductions: seed %llu, %llu cases, %d ranks: %s\n", static_cast<unsigned long long>(o.seed),
                static_cast<unsigned long long>(o.cases), THREADS,
                failures == 0 ? "no difference here" : "FAILED");
  return failures;
}

} // namespace

WEFT_SUITE(random_reductions) {
  options o;
  CLI::App app("Random reductions against a serial fold.");
  app.add_option("--seed", o.seed, "all of the program follows from it");
  app.add_option("--cases", o.cases, "how many, each of up to three calls");
  app.add_option("--first", o.first, "the first case");
  app.add_flag("--wrong", o.wrong, "expect a wrong result: it must fail");
  CLI11_PARSE(app, argc, argv);
  const int failures = play(o);
  return failures == 0 ? 0 : 1;
}
