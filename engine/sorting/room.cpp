#include "engine/sorting/room.hpp"

namespace weft::sorting {

std::uint64_t slack(const sorting_task& s) {
  std::uint64_t all = 0, widest = 0;
  for (std::uint32_t t = 0; t < s.of.threads; ++t) {
    const std::uint64_t elements = s.of.of_thread(t).elements, samples = samples_of(s, elements);
    if (elements == 0) continue;
    if (samples == 0) return s.of.elements;
    const std::uint64_t each = (elements + samples - 1) / samples;
    all += each + 2;
    widest = std::max(widest, each);
  }
  return std::min(s.of.elements, all + 2 * widest);
}

room::room(const sorting_task& s, std::uint32_t members, std::byte* memory) : memory_(memory) {
  reserve(sizeof(state));
  const std::uint64_t each = members * sizeof(std::uint64_t);
  line_ = reserve(each);
  place_ = reserve(each);
  counts_ = reserve(each);
  cut_from_ = reserve(each);
  offsets_ = reserve(each);
  const std::uint64_t runs = std::max<std::uint64_t>(members, s.most / block_elements(s) + 1);
  bounds_ = reserve((runs + 1) * sizeof(std::uint64_t));
  digits_ = reserve(s.how.digits * 256 * sizeof(std::uint64_t));
  samples_ = reserve(2 * members * most_samples(s) * sizeof(std::uint32_t));
  first_ = reserve(s.most * s.of.size);
  second_ = reserve(s.most * s.of.size);
}

} // namespace weft::sorting
