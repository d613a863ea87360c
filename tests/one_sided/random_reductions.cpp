// One-sided reductions and prefix reductions at random.
#include "tests/jobs/suite.h"
#include "tests/one_sided/rounds.hpp"

#include <cstdlib>

namespace {

using one_sided::dice;
using one_sided::threads;
using word = std::uint64_t;
using words = std::vector<word>;

class reductions {
public:
  using element = word;
  static constexpr std::uint64_t seed = 31;
  static inline std::size_t scale = 1;
  static std::size_t area() { return 6000 * scale; } // words of a caller on each thread

  enum class kind { value, prefix, exclusive };
  struct array {
    std::size_t at, phase, first; // words into the area, of the thread's first block; first: a place
  };
  struct drawn : one_sided::drawn_call {
    kind what;
    std::size_t nelems, block;
    array src, dst;
    int root; // of a value: the thread of the result, which is the word dst.at
    bool in_place;
    upc_op_t op;
  };

  reductions(one_sided::areas<element> memory, upc_team_t team) : memory_(memory), team_(team) {}
  const one_sided::areas<element>& memory() const { return memory_; }

  drawn draw(dice& d, std::uint64_t round, int caller) const {
    drawn c{{d, round, caller}, static_cast<kind>(d.below(3)), 0, 0, {}, {}, 0, false, UPC_ADD};
    const std::size_t sizes[] = {1, 1, 2, 3, 7, 64, 0};
    c.block = d.pick(sizes);
    c.nelems = d.chance(5) ? 0
                           : 1 + d.below(d.chance(60 / scale) ? 40
                                         : c.block == 0       ? 900 * scale
                                                              : 900 * scale * c.threads.size());
    const auto place = [&](std::size_t begin) {
      array a;
      a.at = begin + d.below(10);
      a.phase = c.block == 0 ? 0 : d.below(c.block);
      a.first = d.below(c.threads.size());
      return a;
    };
    c.src = place(100);
    c.dst = place(3000 * scale);
    if (d.chance(40)) c.dst = {c.dst.at, c.src.phase, c.src.first};
    c.in_place = d.chance(30);
    c.root = static_cast<int>(d.below(threads()));
    if (c.in_place && c.what == kind::value) c.root = c.threads[c.src.first];
    const upc_op_t ops[] = {UPC_ADD, UPC_MULT, UPC_XOR, UPC_MIN, UPC_MAX};
    c.op = d.pick(ops);
    if (c.in_place) c.dst = c.src;
    return c;
  }

  upc_coll_handle_t start(const drawn& c) const {
    const auto of = [&](const array& a) {
      return memory_.pointer(c.threads[a.first], a.at + a.phase, a.phase);
    };
    const upc_shared_ptr_t src = of(c.src);
    const upc_shared_ptr_t dst = c.what != kind::value ? of(c.dst)
                                 : c.in_place          ? src
                                                       : memory_.pointer(c.root, c.dst.at);
    const upc_flag_t flags = c.flags();
    return c.among(team_, [&](auto who) {
      switch (c.what) {
      case kind::value:
        return weft::upc_reduce(dst, src, UPC_UINT64, c.op, c.nelems, c.block, who, flags);
      case kind::prefix:
        return weft::upc_prefix_reduce(dst, src, UPC_UINT64, c.op, c.nelems, c.block, who, flags);
      default:
        return weft::upc_xprefix_reduce(dst, src, UPC_UINT64, c.op, c.nelems, c.block, who, flags);
      }
    });
  }

  // Walks over the elements one by one, from thread to thread.
  template <class Content> words reference(const drawn& c, const Content& content) const {
    words mine = content(MYTHREAD);
    if (c.nelems == 0) return mine;
    std::vector<words> all;
    for (int t = 0; t < THREADS; ++t)
      all.push_back(content(t));
    word so_far = 0;
    for (std::size_t i = 0; i < c.nelems; ++i) {
      const location from = locate(c, c.src, i), to = locate(c, c.dst, i);
      const word before = so_far, it = all[static_cast<std::size_t>(from.thread)][from.word];
      so_far = i == 0 ? it : combine(c.op, so_far, it);
      if (c.what == kind::value || to.thread != MYTHREAD) continue;
      if (c.what == kind::prefix) mine[to.word] = so_far;
      if (c.what == kind::exclusive && i != 0) mine[to.word] = before;
    }
    if (c.what == kind::value && c.root == MYTHREAD)
      mine[c.in_place ? c.src.at + c.src.phase : c.dst.at] = so_far;
    return mine;
  }

  static std::string describe(const drawn& c) {
    static constexpr const char* names[] = {"reduce", "prefix_reduce", "xprefix_reduce"};
    return std::string(names[static_cast<std::size_t>(c.what)]) + " of " + std::to_string(c.nelems) +
           " elements, blocks of " + std::to_string(c.block) + ", phases " + std::to_string(c.src.phase) +
           " and " + std::to_string(c.dst.phase) + (c.in_place ? ", in place" : "");
  }

private:
  // Of the i-th element of an array: which thread, and which word.
  struct location {
    int thread;
    std::size_t word;
  };
  static location locate(const drawn& c, const array& a, std::size_t i) {
    if (c.block == 0) return {c.threads[a.first], a.at + i};
    std::size_t phase = a.phase, thread = a.first, row = 0;
    const std::size_t far = phase + i;
    phase = far % c.block;
    thread += far / c.block;
    row = thread / c.threads.size();
    return {c.threads[thread % c.threads.size()], a.at + row * c.block + phase};
  }

  static word combine(upc_op_t op, word a, word b) {
    return op == UPC_ADD    ? a + b
           : op == UPC_MULT ? a * b
           : op == UPC_XOR  ? a ^ b
           : op == UPC_MIN  ? std::min(a, b)
                            : std::max(a, b);
  }

  one_sided::areas<element> memory_;
  upc_team_t team_; // the threads of my parity
};

// One element of each thread: the forms of the text.
bool forms_of_the_text() {
  const upc_shared_ptr_t a = upc_all_alloc(threads(), sizeof(int)), b = upc_all_alloc(threads(), sizeof(int));
  upc_shared_ptr_t mine = a;
  mine.thread = static_cast<std::uint32_t>(MYTHREAD);
  upc_shared_ptr_t got = b;
  got.thread = mine.thread;
  *static_cast<int*>(upc_cast(mine)) = MYTHREAD + 1;
  upc_barrier;
  if (MYTHREAD == THREADS - 1) {
    weft::upc_xprefix_reduce(b, a, UPC_INT, UPC_ADD);
    weft::upc_reduce(b, a, UPC_INT, UPC_ADD); // element 0 has nothing in front of it
  }
  upc_barrier;
  const int wanted = MYTHREAD == 0 ? THREADS * (THREADS + 1) / 2 : MYTHREAD * (MYTHREAD + 1) / 2;
  const bool right = *static_cast<int*>(upc_cast(got)) == wanted;
  upc_all_free(a);
  upc_all_free(b);
  return right;
}

} // namespace

// usage: random_reductions ROUNDS [SCALE]
WEFT_SUITE(one_sided_reductions) {
  const std::uint64_t rounds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 50;
  if (argc > 2) reductions::scale = std::strtoull(argv[2], nullptr, 10);
  int wrong = weft::reduce_all(forms_of_the_text() ? 0 : 1, UPC_MAX).get();
  if (wrong == 0) wrong = one_sided::play<reductions>(rounds, reductions::area());
  return wrong;
}
