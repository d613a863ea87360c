// SPDX-License-Identifier: BSD-3-Clause
// What sorts sort, and in which order: elements of 1 to 3,000 bytes by comparators of C, records by lambdas
// and by keys, and numbers. The reference is std::stable_sort. Of comparators that answer anything nothing is
// known but that the elements are all there.
//
// Mutations that this catches: a merge that takes equal elements from the second run first; cuts that leave
// out or take in what is equal to the sample; a bucket that is put back before all have theirs; elements that
// are brought into line over those that others have not yet got.
#include "tests/calls/elements.hpp"
#include "tests/calls/sorted_elements.hpp"

#include <algorithm>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

namespace calls {

namespace {

using sorting::pattern;

pattern pattern_of(const call& c) {
  return sorting::patterns[c.key % std::size(sorting::patterns)];
}
std::uint16_t key_of(const call& c, std::uint64_t index) {
  return sorting::key_of(pattern_of(c), c.key, index, c.nelems);
}

template <class T> weft::ptr<T, weft::dynamic_block> typed(const upc_shared_ptr_t& a, std::size_t block) {
  return weft::ptr<T, weft::dynamic_block>(a, block);
}

// One stable sort for all types, of where elements are: to compile one for each takes longer.
using order_of_elements = std::function<bool(const std::byte*, const std::byte*)>;
void sort_elements(std::byte* all, std::size_t count, std::size_t size, const order_of_elements& less) {
  const std::vector<std::byte> copy(all, all + count * size);
  std::vector<std::size_t> places(count);
  for (std::size_t k = 0; k < count; ++k)
    places[k] = k * size;
  std::stable_sort(places.begin(), places.end(),
                   [&](std::size_t a, std::size_t b) { return less(copy.data() + a, copy.data() + b); });
  for (std::size_t k = 0; k < count; ++k)
    std::memcpy(all + k * size, copy.data() + places[k], size);
}

template <class T, class Less> void sort_here(std::byte* all, std::size_t elements, Less less) {
  sort_elements(all, elements, sizeof(T), [less](const std::byte* a, const std::byte* b) {
    T x, y;
    std::memcpy(&x, a, sizeof x);
    std::memcpy(&y, b, sizeof y);
    return less(x, y);
  });
}

// Comparators of C get no more than pointers: one for each size and answer.
template <std::size_t Size, sorting::answer Answer> struct by_function {
  struct element {
    std::byte bytes[Size];
  };
  static void put(std::byte* to, const call& c, std::uint32_t, std::uint64_t index) {
    sorting::put_element(to, Size, key_of(c, index), index);
  }
  static void compute(std::byte* all, const std::byte*, const call& c) {
    sort_here<element>(all, c.nelems, [](const element& a, const element& b) {
      const unsigned x = sorting::key_at(&a, Size), y = sorting::key_at(&b, Size);
      return Answer == sorting::answer::descending ? x > y : x < y;
    });
  }
  static unsigned long long post(const call& c, const upc_shared_ptr_t& dst, const upc_shared_ptr_t&,
                                 upc_flag_t mode, upc_team_t team) {
    constexpr auto compare = sorting::compare<Size, Answer>;
    if (team == UPC_TEAM_ALL) return upc_all_sort(dst, Size, c.nelems, c.blk_size, compare, mode);
    return upc_all_sort(dst, Size, c.nelems, c.blk_size, compare, mode, team);
  }
};

// Numbers in ascending order; of floating ones some are none, and some zeros have a sign.
template <class T> struct by_value {
  static bool less(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return std::isnan(b) ? !std::isnan(a) : a < b;
    else
      return a < b;
  }
  static void put(std::byte* to, const call& c, std::uint32_t, std::uint64_t index) {
    const std::uint64_t x = mix({c.key, index, 3});
    const pattern p = pattern_of(c);
    T v = p == pattern::random ? static_cast<T>(x) : static_cast<T>(key_of(c, index));
    if constexpr (std::is_floating_point_v<T>) {
      if (p == pattern::random) v = static_cast<T>(static_cast<std::int64_t>(x)) / 1024;
      if (p == pattern::few && x % 7 == 0) v = std::numeric_limits<T>::quiet_NaN();
      if (p == pattern::few && x % 7 == 1) v = -T{0};
    }
    std::memcpy(to, &v, sizeof v);
  }
  static void compute(std::byte* all, const std::byte*, const call& c) { sort_here<T>(all, c.nelems, less); }
  static unsigned long long post(const call& c, const upc_shared_ptr_t& dst, const upc_shared_ptr_t&,
                                 upc_flag_t mode, upc_team_t team) {
    return upc_all_sort(typed<T>(dst, c.blk_size), c.nelems, mode, team);
  }
};

// Records, by a lambda with a state; by its answer in bits or as a number.
template <std::size_t Bytes, bool As_number> struct by_lambda {
  using T = sorting::record<Bytes>;
  static void put(std::byte* to, const call& c, std::uint32_t, std::uint64_t index) {
    sorting::put_element(to, Bytes, key_of(c, index), index);
  }
  static void compute(std::byte* all, const std::byte*, const call& c) {
    sort_here<T>(all, c.nelems, [](const T& a, const T& b) { return a.key % 1000 < b.key % 1000; });
  }
  static unsigned long long post(const call& c, const upc_shared_ptr_t& dst, const upc_shared_ptr_t&,
                                 upc_flag_t mode, upc_team_t team) {
    const std::vector<int> state{1000, 1};
    const auto order = [state](const T& x, const T& y) {
      if constexpr (As_number)
        return x.key % state[0] - y.key % state[0];
      else
        return x.key % state[0] < y.key % state[0];
    };
    return upc_all_sort(typed<T>(dst, c.blk_size), c.nelems, order, mode, team);
  }
};

template <std::size_t Bytes> struct by_a_key {
  using T = sorting::record<Bytes>;
  static double key(const T& x) { return -1.5 * x.key; }
  static constexpr auto put = by_lambda<Bytes, false>::put;
  static void compute(std::byte* all, const std::byte*, const call& c) {
    sort_here<T>(all, c.nelems, [](const T& a, const T& b) { return key(a) < key(b); });
  }
  static unsigned long long post(const call& c, const upc_shared_ptr_t& dst, const upc_shared_ptr_t&,
                                 upc_flag_t mode, upc_team_t team) {
    return upc_all_sort(typed<T>(dst, c.blk_size), c.nelems, weft::by_key([](const T& x) { return key(x); }),
                        mode, team);
  }
};

template <class Order>
elements of(const char* name, std::size_t size, std::size_t alignment, bool defined = true) {
  return {name, size, alignment, Order::put, Order::compute, nullptr, Order::post, {}, 0, defined};
}
template <class T> elements of_numbers(const char* name) {
  return of<by_value<T>>(name, sizeof(T), alignof(T));
}

template <std::size_t Size> void add_functions(std::vector<elements>& all) {
  using sorting::answer;
  all.push_back(of<by_function<Size, answer::ascending>>("a function of C", Size, 1));
  all.push_back(of<by_function<Size, answer::by_copies>>("a function of C that copies", Size, 1));
  all.push_back(of<by_function<Size, answer::descending>>("a descending function of C", Size, 1));
  all.push_back(of<by_function<Size, answer::anything>>("a function that answers anything", Size, 1, false));
}
template <std::size_t... Sizes>
void add_all_functions(std::vector<elements>& all, std::index_sequence<Sizes...>) {
  (add_functions<Sizes>(all), ...);
}

std::vector<elements> make() {
  std::vector<elements> all;
  for (int weight = 0; weight < 12; ++weight) { // beside so many functions of C
    all.push_back(of_numbers<signed char>("char"));
    all.push_back(of_numbers<unsigned short>("unsigned short"));
    all.push_back(of_numbers<int>("int"));
    all.push_back(of_numbers<long>("long"));
    all.push_back(of_numbers<unsigned long>("unsigned long"));
    all.push_back(of_numbers<float>("float"));
    all.push_back(of_numbers<double>("double"));
    all.push_back(of_numbers<bool>("bool"));
    all.push_back(of<by_lambda<8, false>>("records by a lambda", 8, 2));
    all.push_back(of<by_lambda<100, true>>("records by a lambda", 100, 2));
    all.push_back(of<by_a_key<16>>("records by a key", 16, 2));
    all.push_back(of<by_a_key<72>>("records by a key", 72, 2));
  }
  add_all_functions(
      all, std::index_sequence<1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 37, 64, 100, 255, 256, 700, 1000, 3000>{});
  return all;
}

} // namespace

std::span<const elements> sorted_elements() {
  static const std::vector<elements> all = make();
  return all;
}

} // namespace calls
