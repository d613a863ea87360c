// SPDX-License-Identifier: BSD-3-Clause
#include "engine/sorting/sorting.hpp"

#include "engine/plan/call_fields.hpp"
#include "engine/reductions/layout.hpp"
#include "engine/sorting/stages.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace weft::sorting {

namespace {

// Elements of so many bytes, or, with 0, of as many as the argument says.
template <std::size_t Size> class comparing {
public:
  explicit comparing(const void* f) : how_(*static_cast<const compared_by_function*>(f)) {}

  bool less(const void* a, const void* b) const { return how_.function(shared(a), shared(b)) < 0; }

  // Numbers of elements are put in order, which are then moved once.
  void sort(std::byte* elements, std::byte* buffer, std::size_t count) const {
    std::array<std::uint16_t, most> numbers, merged;
    for (std::size_t k = 0; k < count; ++k)
      numbers[k] = static_cast<std::uint16_t>(k);
    const auto before = [&](std::uint16_t a, std::uint16_t b) {
      return less(elements + a * size(), elements + b * size());
    };
    detail::merge_loops<std::uint16_t, decltype(before)>::sort(numbers.data(), merged.data(), count, before);
    for (std::size_t k = 0; k < count; ++k)
      std::memcpy(buffer + k * size(), elements + numbers[k] * size(), size());
    std::memcpy(elements, buffer, count * size());
  }

  std::size_t merge(std::byte* out, const std::byte* a, std::size_t of_a, const std::byte* b,
                    std::size_t of_b, std::size_t wanted) const {
    const std::byte *const begin = a, *const end_a = a + of_a * size(), *const end_b = b + of_b * size();
    std::byte* const end = out + std::min(wanted, of_a + of_b) * size();
    for (; out != end && a != end_a && b != end_b; out += size()) {
      const bool second = less(b, a);
      std::memcpy(out, second ? b : a, size());
      b += second ? size() : 0;
      a += second ? 0 : size();
    }
    const auto rest = static_cast<std::size_t>(end - out);
    if (rest != 0) std::memcpy(out, a == end_a ? b : a, rest);
    if (a != end_a) a += rest;
    return static_cast<std::size_t>(a - begin) / size();
  }

private:
  static constexpr std::size_t most = 2048;
  std::size_t size() const { return Size != 0 ? Size : how_.size; }
  upc_shared_ptr_t shared(const void* element) const {
    const auto address = reinterpret_cast<std::uintptr_t>(element);
    return {address - reinterpret_cast<std::uintptr_t>(how_.segment), how_.thread, 0};
  }

  const compared_by_function& how_;
};

template <std::size_t Size>
constexpr detail::element_order by_function{
    .less = [](const void* a, const void* b, const void* f) { return comparing<Size>(f).less(a, b); },
    .sort =
        [](void* elements, void* buffer, std::size_t count, const void* f) {
          comparing<Size>(f).sort(static_cast<std::byte*>(elements), static_cast<std::byte*>(buffer), count);
        },
    .merge =
        [](void* out, const void* a, std::size_t of_a, const void* b, std::size_t of_b, std::size_t wanted,
           const void* f) {
          return comparing<Size>(f).merge(static_cast<std::byte*>(out), static_cast<const std::byte*>(a),
                                          of_a, static_cast<const std::byte*>(b), of_b, wanted);
        },
};

template <class Number> struct own_bits {
  static own_bits of(const void*) { return {}; }
  auto operator()(Number x) const { return detail::ordered_bits(x); }
};
template <class Number> const detail::element_order& ascending() {
  static constexpr detail::element_order order = detail::order_by_key<Number, own_bits<Number>>();
  return order;
}

} // namespace

const detail::element_order& order_of_numbers(detail::number kind, std::size_t bytes) {
  using detail::number;
  const bool is_signed = kind == number::signed_integer;
  switch (bytes) {
  case 1:
    return is_signed ? ascending<std::int8_t>() : ascending<std::uint8_t>();
  case 2:
    return is_signed ? ascending<std::int16_t>() : ascending<std::uint16_t>();
  case 4:
    if (kind == number::floating) return ascending<float>();
    return is_signed ? ascending<std::int32_t>() : ascending<std::uint32_t>();
  default:
    if (kind == number::floating) return ascending<double>();
    return is_signed ? ascending<std::int64_t>() : ascending<std::uint64_t>();
  }
}

const detail::element_order& order_of_function(std::size_t bytes) {
  switch (bytes) {
  case 4:
    return by_function<4>;
  case 8:
    return by_function<8>;
  case 16:
    return by_function<16>;
  default:
    return by_function<0>;
  }
}

namespace {

// Stage 1: the samples of all are there.
class own_cuts : stage {
public:
  using stage::stage;
  bool run() {
    auto* const row = reinterpret_cast<std::uint64_t*>(all_cuts() + w_.me * w_.block);
    cuts(sorting_, room_, w_).make(row, samples(), own());
    return true;
  }
};

// Stages 0 and 1 of few elements.
class whole_array : stage {
public:
  using stage::stage;
  bool tell_own() {
    std::memcpy(row(w_.me), own(), bytes(mine()));
    return true;
  }
  bool sort_all() {
    std::byte* const all = room_.first();
    each_run([&](std::uint64_t index, std::uint32_t member, std::uint64_t in_row, std::uint64_t run) {
      copy(all + bytes(index), row(member) + bytes(in_row), run);
    });
    sorting_.how.sort(all, room_.second(), of_.elements, sorting_.of_order());
    each_run([&](std::uint64_t index, std::uint32_t member, std::uint64_t in_row, std::uint64_t run) {
      if (member == w_.me) copy(own() + bytes(in_row), all + bytes(index), run);
    });
    return true;
  }

private:
  std::byte* row(std::uint32_t member) const { return w_.scratch + member * w_.block; }
  // Of those that lie together: the index of the first, whose it is, and its number there.
  template <class Visit> void each_run(Visit&& visit) const {
    reductions::block_walk walk(of_, 0);
    while (walk.element() != of_.elements) {
      const std::uint64_t run = walk.run(of_.elements);
      const std::uint64_t in_row = (walk.address() - of_.of_thread(walk.thread()).at) / of_.size;
      visit(walk.element(), member_of(walk.thread()), in_row, run);
      walk.pass(run);
    }
  }
};

bool run(const graph::task& t, graph::work& w) {
  const auto& s = static_cast<const sorting_task&>(t);
  if (s.whole) {
    whole_array it(s, w);
    return w.stage == 0 ? it.tell_own() : it.sort_all();
  }
  switch (w.stage) {
  case 0:
    return own_elements(s, w).run();
  case 1:
    return own_cuts(s, w).run();
  case 2:
    return bucket(s, w).take();
  case 3:
    return bucket(s, w).merge();
  default:
    return true; // my own results are in their places
  }
}

graph::part part_of(const graph::task& t, const graph::work& w, std::uint32_t peer) {
  const auto& s = static_cast<const sorting_task&>(t);
  graph::work mine = w;
  switch (w.stage) {
  case 0:
    return own_elements(s, mine).part_of(peer);
  case 2:
    return bucket(s, mine).part_of(peer);
  default:
    return bucket(s, mine).results_of(peer);
  }
}

} // namespace

namespace {

// Of a member's elements: so many are told to each rank.
constexpr std::uint64_t few_bytes = 512;

std::uint64_t most_elements(const sorting_task& s) {
  std::uint64_t most = 0;
  for (std::uint32_t t = 0; t < s.of.threads; ++t)
    most = std::max(most, s.of.of_thread(t).elements);
  return most;
}

} // namespace

std::uint64_t row_bytes(const sorting_task& s, std::uint32_t members) {
  constexpr std::uint64_t alignment = 16;
  std::uint64_t most = most_elements(s) * s.of.size;
  if (!s.whole)
    most = std::max<std::uint64_t>(most_samples(s) * s.of.size, buckets(members) * sizeof(std::uint64_t));
  return (most + alignment - 1) / alignment * alignment;
}

namespace {

void say(const graph::task& t, graph::call_fields& call) {
  using graph::argument;
  const auto& s = static_cast<const sorting_task&>(t);
  call.say(argument::elem_size, s.of.size);
  call.say(argument::blk_size, s.of.block);
  call.say(argument::array_place, graph::packed(s.of.first, s.of.phase));
  call.say(argument::order, static_cast<std::uint64_t>(s.numbers));
}

} // namespace

void prepare(sorting_task& s, std::uint32_t members) {
  s.run = run;
  s.part_of = part_of;
  s.say = say;
  s.bytes = sizeof(sorting_task);
  s.dealt = s.of.most_rows() > 1;
  std::uint64_t most = most_elements(s);
  s.whole = !s.user && most * s.of.size <= few_bytes && s.of.elements <= block_elements(s);
  if (s.whole) {
    s.most = s.of.elements;
    s.room = room(s, members, nullptr).bytes();
    return;
  }
  s.slack = slack(s);
  if (buckets(members) < members) most = std::max(most, s.of.elements / buckets(members) + 1);
  s.most = most + s.slack;
  s.room = room(s, members, nullptr).bytes();
}

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
