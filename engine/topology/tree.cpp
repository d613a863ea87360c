#include "engine/topology/tree.hpp"

#include <algorithm>

namespace weft::graph::tree {

namespace {
// The place value of a vertex's lowest digit; for 0 the first power that is not below the size.
std::uint64_t lowest(std::uint32_t vertex, std::uint32_t size, std::uint32_t radix) {
  std::uint64_t weight = 1;
  while (vertex == 0 ? weight < size : vertex % (weight * radix) == 0)
    weight *= radix;
  return weight;
}
} // namespace

std::uint32_t parent(std::uint32_t vertex, std::uint32_t radix) {
  return vertex - static_cast<std::uint32_t>(vertex % (lowest(vertex, 0, radix) * radix));
}

std::uint32_t children(std::uint32_t vertex, std::uint32_t size, std::uint32_t radix) {
  std::uint32_t count = 0;
  for (std::uint64_t weight = lowest(vertex, size, radix) / radix; weight != 0; weight /= radix) {
    const std::uint64_t room = (size - 1 - vertex) / weight;
    count += static_cast<std::uint32_t>(std::min<std::uint64_t>(radix - 1, room));
  }
  return count;
}

std::uint32_t child(std::uint32_t vertex, std::uint32_t size, std::uint32_t radix, std::uint32_t number) {
  for (std::uint64_t weight = lowest(vertex, size, radix) / radix; weight != 0; weight /= radix) {
    const auto here =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(radix - 1, (size - 1 - vertex) / weight));
    if (number < here) return vertex + static_cast<std::uint32_t>((number + 1) * weight);
    number -= here;
  }
  return vertex;
}

std::uint32_t depth(std::uint32_t size, std::uint32_t radix) {
  std::uint32_t levels = 0;
  for (std::uint64_t reach = 1; reach < size; reach *= radix)
    ++levels;
  return levels;
}

} // namespace weft::graph::tree
