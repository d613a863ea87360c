#pragma once
#include <cstdint>

namespace soak {

// One number out of several, well mixed: the only source of everything that a job does.
template <class... Numbers> std::uint64_t mix(Numbers... numbers) {
  std::uint64_t x = 0x6a09e667f3bcc909;
  for (const std::uint64_t n : {static_cast<std::uint64_t>(numbers)...}) {
    x = (x ^ n) * 0xd6e8feb86659fd93;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93;
    x ^= x >> 29;
  }
  return x;
}

class dice {
public:
  template <class... Numbers> explicit dice(Numbers... numbers) : state_(mix(numbers...)) {}

  // 0 .. sides - 1
  std::uint64_t below(std::uint64_t sides) { return mix(state_++, sides) % sides; }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <class T, std::size_t N> T of(const T (&choices)[N]) { return choices[below(N)]; }

private:
  std::uint64_t state_;
};

} // namespace soak
