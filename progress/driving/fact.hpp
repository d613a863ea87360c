#pragma once

#include <cstdint>
#include <type_traits>

namespace weft::progress {

// How much of what it waits for a thread looks at. Between two sweeps a search may look at a part and go on
// next time. Before a sleep it looks at all: what it has not seen by then is slept over.
enum class look : std::uint8_t { part, all };

// What a thread waits for. Whatever asks, sweeping, parking or dozing, asks here, and a yes stays: a fact may
// therefore be a search that finds something once. It is called without an argument, or with the look.
template <class Fact> class latched {
public:
  explicit latched(Fact& fact) noexcept : fact_(fact) {}
  latched(const latched&) = delete;
  latched& operator=(const latched&) = delete;

  bool holds(look how = look::part) {
    if (!known_) known_ = ask(how);
    return known_;
  }

private:
  bool ask(look how) {
    if constexpr (std::is_invocable_v<Fact&, look>)
      return fact_(how);
    else
      return fact_();
  }

  Fact& fact_;
  bool known_ = false;
};

} // namespace weft::progress
