// One-sided relocalizations at random.
#include "tests/jobs/suite.h"
#include "tests/one_sided/rounds.hpp"

#include <cstdlib>

namespace {

using one_sided::dice;
using one_sided::threads;
using bytes = std::vector<unsigned char>;

class relocalizations {
public:
  using element = unsigned char;
  static constexpr std::uint64_t seed = 29;

  enum class kind { broadcast, scatter, gather, exchange, gather_all };
  struct drawn : one_sided::drawn_call {
    kind what;
    int root;
    std::size_t nbytes, dst, src; // bytes from the beginning of the caller's area
    bool in_place;
  };

  relocalizations(one_sided::areas<element> memory, upc_team_t team) : memory_(memory), team_(team) {}
  const one_sided::areas<element>& memory() const { return memory_; }
  static std::size_t area_for(std::size_t most) { return 2 * threads() * most + 256; }

  drawn draw(dice& d, std::uint64_t round, int caller) const {
    drawn c{{d, round, caller}, static_cast<kind>(d.below(5)), 0, 0, 0, 0, false};
    const std::size_t most = (memory_.size - 256) / (2 * threads());
    c.nbytes = d.chance(10) ? 0 : d.chance(70) ? 1 + d.below(200) : 1 + d.below(most);
    c.in_place = c.what != kind::gather_all && d.chance(30);
    c.root = static_cast<int>(d.below(threads()));
    const std::size_t block = threads() * c.nbytes, apart = d.below(64);
    c.dst = d.below(64);
    c.src = c.in_place ? c.dst : c.dst + block + apart;
    if (!c.in_place && d.chance(50)) std::swap(c.dst, c.src);
    return c;
  }

  upc_coll_handle_t start(const drawn& c) const {
    const auto at = [&](std::size_t offset, bool rooted) {
      return memory_.pointer(rooted ? c.root : c.threads.front(), offset);
    };
    const bool from_root = c.what == kind::broadcast || c.what == kind::scatter,
               to_root = c.what == kind::gather;
    const bool both = c.in_place && (from_root || to_root);
    const upc_shared_ptr_t dst = at(c.dst, to_root || both), src = at(c.src, from_root || both);
    if (c.who == drawn::all && !c.posted) return blocking(c, dst, src);
    const upc_flag_t flags = c.flags();
    const auto run = [&](auto&& call) { return c.among(team_, call); };
    switch (c.what) {
    case kind::broadcast:
      return run([&](auto who) { return weft::upc_broadcast(dst, src, c.nbytes, who, flags); });
    case kind::scatter:
      return run([&](auto who) { return weft::upc_scatter(dst, src, c.nbytes, who, flags); });
    case kind::gather:
      return run([&](auto who) { return weft::upc_gather(dst, src, c.nbytes, who, flags); });
    case kind::exchange:
      return run([&](auto who) { return weft::upc_exchange(dst, src, c.nbytes, who, flags); });
    case kind::gather_all:
      return run([&](auto who) { return weft::upc_gather_all(dst, src, c.nbytes, who, flags); });
    }
    std::abort();
  }
  // All blocks move at once.
  template <class Content> bytes reference(const drawn& c, const Content& content) const {
    bytes mine = content(MYTHREAD);
    const auto put = [&](std::size_t to, int thread, std::size_t from) {
      std::ranges::copy(content(thread, from, c.nbytes), mine.begin() + static_cast<std::ptrdiff_t>(to));
    };
    const auto me = std::ranges::find(c.threads, MYTHREAD);
    const bool takes_part = me != c.threads.end();
    const auto rank = static_cast<std::size_t>(me - c.threads.begin());
    if (c.what == kind::broadcast && takes_part && !(c.in_place && MYTHREAD == c.root))
      put(c.dst, c.root, c.src);
    if (c.what == kind::scatter && takes_part) put(c.dst, c.root, c.src + rank * c.nbytes);
    for (std::size_t k = 0; k < c.threads.size(); ++k) {
      if (c.what == kind::gather && MYTHREAD == c.root) put(c.dst + k * c.nbytes, c.threads[k], c.src);
      if (c.what == kind::gather_all && takes_part) put(c.dst + k * c.nbytes, c.threads[k], c.src);
      if (c.what == kind::exchange && takes_part)
        put(c.dst + k * c.nbytes, c.threads[k], c.src + rank * c.nbytes);
    }
    return mine;
  }

  static std::string describe(const drawn& c) {
    static constexpr const char* names[] = {"broadcast", "scatter", "gather", "exchange", "gather_all"};
    return std::string(names[static_cast<std::size_t>(c.what)]) + " of " + std::to_string(c.nbytes) +
           " bytes, root " + std::to_string(c.root) + (c.in_place ? ", in place" : "");
  }

private:
  static upc_coll_handle_t blocking(const drawn& c, upc_shared_ptr_t dst, upc_shared_ptr_t src) {
    using form = void (*)(upc_shared_ptr_t, upc_shared_ptr_t, std::size_t);
    static constexpr form all[] = {weft::upc_broadcast, weft::upc_scatter, weft::upc_gather,
                                   weft::upc_exchange, weft::upc_gather_all};
    all[static_cast<std::size_t>(c.what)](dst, src, c.nbytes);
    return UPC_HANDLE_COMPLETE;
  }

  one_sided::areas<element> memory_;
  upc_team_t team_; // the threads of my parity
};

} // namespace

// usage: random_calls ROUNDS [MOST]
WEFT_SUITE(one_sided_calls) {
  const std::uint64_t rounds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 50;
  const std::size_t most = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20000;
  const int wrong = one_sided::play<relocalizations>(rounds, relocalizations::area_for(most));
  return wrong;
}
