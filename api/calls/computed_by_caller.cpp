#include "api/calls/computed_by_caller.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace weft::api {

namespace {

// Of elements that must be brought.
constexpr std::uint64_t at_once = 64 * 1024;
// The largest element, twice.
using carried = std::array<std::byte, 64>;

} // namespace

// Each thread's elements together: the order of what commutes is free.
void computed_by_caller::reduce() const {
  alignas(64) carried result;
  std::vector<std::byte> brought;
  bool more = false;
  const std::uint64_t size = it_.from.size;
  for (std::uint32_t k = 0; k < who_.size(); ++k) {
    reductions::layout::span all = it_.from.of_thread(k);
    const bool near = rt_.direct(who_[k], 0) != nullptr;
    while (all.elements != 0) {
      const std::uint64_t now = near ? all.elements : std::min(all.elements, at_once / size);
      const void* from = rt_.direct(who_[k], all.at);
      if (!near) {
        brought.resize(now * size);
        rt_.get(brought.data(), who_[k], all.at, now * size);
        from = brought.data();
      }
      it_.how.fold(result.data(), from, now, more, nullptr);
      more = true;
      all = {all.at + now * size, all.elements - now};
    }
  }
  if (more) rt_.put(it_.dst.thread, it_.dst.addr, result.data(), size);
}

// Elements that follow each other where they are read and where they are written.
struct computed_by_caller::run {
  std::uint32_t from_thread, to_thread;
  std::uint64_t from, to, elements;
};

computed_by_caller::run computed_by_caller::next_run(std::uint64_t element) const {
  const reductions::layout &from = it_.from, &to = it_.to;
  const std::uint64_t a = from.block_of(element), b = to.block_of(element);
  const std::uint64_t end = std::min(from.end_of(a), to.end_of(b));
  return {who_[from.thread_of(a)], who_[to.thread_of(b)], from.address_of(element), to.address_of(element),
          std::min(end - element, at_once / from.size)};
}

void computed_by_caller::scan(bool exclusive) const {
  alignas(64) carried carry;
  std::vector<std::byte> brought, made;
  const std::uint64_t size = it_.from.size;
  for (std::uint64_t element = 0; element != it_.from.elements;) {
    const run r = next_run(element);
    const void* from = rt_.direct(r.from_thread, r.from);
    void* to = rt_.direct(r.to_thread, r.to);
    if (from == nullptr) {
      brought.resize(r.elements * size);
      rt_.get(brought.data(), r.from_thread, r.from, r.elements * size);
      from = brought.data();
    }
    const bool far = to == nullptr;
    if (far) {
      made.resize(r.elements * size);
      to = made.data();
    }
    it_.how.scan(to, from, r.elements, carry.data(), element != 0, exclusive, nullptr);
    const std::uint64_t kept = exclusive && element == 0 ? 1 : 0; // nothing is in front of the first
    if (far && kept != r.elements)
      rt_.put(r.to_thread, r.to + kept * size, made.data() + kept * size, (r.elements - kept) * size);
    element += r.elements;
  }
}

} // namespace weft::api
