// Random sorts against std::stable_sort: elements of 1 to 3,000 bytes, any layout, phase, mode and team, by
// comparators of C and of C++, by keys, and of numbers; a few of them in flight together. With comparators
// that answer anything the elements must still all be there. All ranks derive the same cases from the seed;
// each looks at every byte of its own memory that a case may touch.
//
// Mutations that this catches: a merge that takes equal elements from the second run first; cuts that leave
// out or take in what is equal to the sample; a bucket that is put back before all have theirs; elements that
// are brought into line over those that others have not yet got.
#include "tests/jobs/suite.h"
#include "tests/sorting/elements.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <type_traits>

namespace {

using differential::dice;
using sorting::pattern;

constexpr std::size_t area_bytes = 768 * 1024, guard = 256;
constexpr std::byte poison{0x5a};

struct options {
  std::uint64_t seed = 1, cases = 300, first = 0;
  bool wrong = false;
};

// How the elements of a case are put in order: all of them, for the reference, and those in shared memory.
struct order {
  std::size_t size, alignment;
  const char* name;
  void (*reference)(std::byte* all, std::size_t elements);
  upc_coll_handle_t (*sort)(upc_shared_ptr_t a, std::size_t n, std::size_t block, upc_flag_t mode,
                            upc_team_t team);
  void (*fill)(std::byte* to, pattern p, std::uint64_t seed, std::uint64_t index, std::uint64_t elements);
};

// Comparators of C: the size is a matter of the case.
struct by_function {
  static void reference(std::byte* all, std::size_t elements) {
    const std::size_t size = sorting::element_size;
    std::vector<std::size_t> numbers(elements);
    for (std::size_t k = 0; k < elements; ++k)
      numbers[k] = k;
    std::stable_sort(numbers.begin(), numbers.end(), [&](std::size_t a, std::size_t b) {
      const unsigned x = sorting::key_at(all + a * size, size), y = sorting::key_at(all + b * size, size);
      return sorting::descending ? x > y : x < y;
    });
    sorting::bytes sorted(elements * size);
    for (std::size_t k = 0; k < elements; ++k)
      std::memcpy(sorted.data() + k * size, all + numbers[k] * size, size);
    std::copy(sorted.begin(), sorted.end(), all);
  }
  static upc_coll_handle_t sort(upc_shared_ptr_t a, std::size_t n, std::size_t block, upc_flag_t mode,
                                upc_team_t team) {
    if (team == UPC_TEAM_ALL) return upc_all_sort(a, sorting::element_size, n, block, sorting::compare, mode);
    return upc_all_sort(a, sorting::element_size, n, block, sorting::compare, mode, team);
  }
  static void fill(std::byte* to, pattern p, std::uint64_t seed, std::uint64_t index,
                   std::uint64_t elements) {
    sorting::put_element(to, sorting::element_size, sorting::key_of(p, seed, index, elements), index);
  }
};

template <class T> weft::ptr<T, weft::dynamic_block> typed(upc_shared_ptr_t a, std::size_t block) {
  return weft::ptr<T, weft::dynamic_block>(a, block);
}
template <class T, class Less> void sort_here(std::byte* all, std::size_t elements, Less less) {
  const auto copy = std::make_unique<T[]>(elements);
  std::memcpy(copy.get(), all, elements * sizeof(T));
  std::stable_sort(copy.get(), copy.get() + elements, less);
  std::memcpy(all, copy.get(), elements * sizeof(T));
}

// Numbers in ascending order; of floating ones some are none, and some zeros have a sign.
template <class T> struct by_value {
  static bool less(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return std::isnan(b) ? !std::isnan(a) : a < b;
    else
      return a < b;
  }
  static void reference(std::byte* all, std::size_t n) { sort_here<T>(all, n, less); }
  static upc_coll_handle_t sort(upc_shared_ptr_t a, std::size_t n, std::size_t block, upc_flag_t mode,
                                upc_team_t team) {
    return upc_all_sort(typed<T>(a, block), n, mode, team);
  }
  static void fill(std::byte* to, pattern p, std::uint64_t seed, std::uint64_t index,
                   std::uint64_t elements) {
    const std::uint64_t x = sorting::mix({seed, index, 3});
    T value = static_cast<T>(
        p == pattern::random ? static_cast<T>(x) : static_cast<T>(sorting::key_of(p, seed, index, elements)));
    if constexpr (std::is_floating_point_v<T>) {
      if (p == pattern::random) value = static_cast<T>(static_cast<std::int64_t>(x)) / 1024;
      if (p == pattern::few && x % 7 == 0) value = std::numeric_limits<T>::quiet_NaN();
      if (p == pattern::few && x % 7 == 1) value = -T{0};
    }
    std::memcpy(to, &value, sizeof value);
  }
};

// Records, by a lambda with a state; by its answer in bits or as a number.
template <std::size_t Bytes, bool As_number> struct by_lambda {
  using T = sorting::record<Bytes>;
  static void reference(std::byte* all, std::size_t n) {
    sort_here<T>(all, n, [](const T& a, const T& b) { return a.key % 1000 < b.key % 1000; });
  }
  static upc_coll_handle_t sort(upc_shared_ptr_t a, std::size_t n, std::size_t block, upc_flag_t mode,
                                upc_team_t team) {
    const std::vector<int> state{1000, 1};
    if constexpr (As_number) {
      return upc_all_sort(
          typed<T>(a, block), n,
          [state](const T& x, const T& y) { return x.key % state[0] - y.key % state[0]; }, mode, team);
    } else {
      return upc_all_sort(
          typed<T>(a, block), n,
          [state](const T& x, const T& y) { return x.key % state[0] < y.key % state[0]; }, mode, team);
    }
  }
  static void fill(std::byte* to, pattern p, std::uint64_t seed, std::uint64_t index,
                   std::uint64_t elements) {
    sorting::put_element(to, Bytes, sorting::key_of(p, seed, index, elements), index);
  }
};

template <std::size_t Bytes> struct by_a_key {
  using T = sorting::record<Bytes>;
  static double key(const T& x) { return -1.5 * x.key; }
  static void reference(std::byte* all, std::size_t n) {
    sort_here<T>(all, n, [](const T& a, const T& b) { return key(a) < key(b); });
  }
  static upc_coll_handle_t sort(upc_shared_ptr_t a, std::size_t n, std::size_t block, upc_flag_t mode,
                                upc_team_t team) {
    return upc_all_sort(typed<T>(a, block), n, weft::by_key([](const T& x) { return key(x); }), mode, team);
  }
  static constexpr auto fill = by_lambda<Bytes, false>::fill;
};

template <class Order, class T> constexpr order of_type(const char* name) {
  return {sizeof(T), alignof(T), name, Order::reference, Order::sort, Order::fill};
}
constexpr order of_function{
    0, 1, "a function of C", by_function::reference, by_function::sort, by_function::fill};
constexpr order orders[] = {
    of_function,
    of_function,
    of_function,
    of_type<by_value<signed char>, signed char>("char"),
    of_type<by_value<unsigned short>, unsigned short>("unsigned short"),
    of_type<by_value<int>, int>("int"),
    of_type<by_value<long>, long>("long"),
    of_type<by_value<unsigned long>, unsigned long>("unsigned long"),
    of_type<by_value<float>, float>("float"),
    of_type<by_value<double>, double>("double"),
    of_type<by_value<bool>, bool>("bool"),
    of_type<by_lambda<8, false>, sorting::record<8>>("record of 8 by a lambda"),
    of_type<by_lambda<100, true>, sorting::record<100>>("record of 100 by a lambda"),
    of_type<by_a_key<16>, sorting::record<16>>("record of 16 by a key"),
    of_type<by_a_key<72>, sorting::record<72>>("record of 72 by a key"),
};
constexpr std::size_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 37, 64, 100, 255, 256, 700, 1000, 3000};

class random_sort {
public:
  random_sort(std::uint64_t number, std::uint64_t key, const order& how, upc_shared_ptr_t area,
              upc_team_t team, const std::vector<int>& threads, bool wrong)
      : number_(number), key_(key), d_{key}, how_(how), area_(area), team_(team), threads_(threads),
        wrong_(wrong), size_(how.size == 0 ? sorting::element_size : how.size),
        pattern_(d_.pick(sorting::patterns)) {
    draw_layout();
    const int in[] = {0, UPC_IN_NOSYNC, UPC_IN_MYSYNC, UPC_IN_ALLSYNC};
    const int out[] = {0, UPC_OUT_NOSYNC, UPC_OUT_MYSYNC, UPC_OUT_ALLSYNC};
    mode_ = d_.pick(in) | d_.pick(out) | (d_.chance(60) ? UPC_ASYNC : 0);
  }

  void fill() {
    std::memset(local(), static_cast<int>(poison), area_bytes);
    each_of_mine([&](std::size_t i, std::uint64_t at) { element(local() + at, i); });
  }
  upc_coll_handle_t post() { return how_.sort(array_, n_, block_, mode_, team_); }

  int check() {
    sorting::bytes all(n_ * size_);
    for (std::size_t i = 0; i < n_; ++i)
      element(all.data() + i * size_, i);
    if (sorting::inconsistent && how_.size == 0) return check_all_are_there(all);
    how_.reference(all.data(), n_);
    if (wrong_ && n_ > 1) std::swap_ranges(all.data(), all.data() + size_, all.data() + (n_ - 1) * size_);
    sorting::bytes wanted(area_bytes, poison);
    each_of_mine([&](std::size_t i, std::uint64_t at) {
      std::memcpy(wanted.data() + at, all.data() + i * size_, size_);
    });
    const auto [here, there] = std::mismatch(wanted.begin(), wanted.end(), local());
    if (here == wanted.end()) return 0;
    std::printf("sorts: rank %d: byte %td of the array's memory differs\n  %s\n", MYTHREAD,
                here - wanted.begin(), text().c_str());
    std::fflush(stdout); // whoever is the first to fail ends the job
    return 1;
  }

  std::string text() const {
    char line[300];
    std::snprintf(line, sizeof line,
                  "case %llu: %s, elements of %zu bytes, nelems %zu, blk_size %zu, phase %u, thread %u, "
                  "pattern %d, mode 0x%x, team of %zu",
                  static_cast<unsigned long long>(number_), how_.name, size_, n_, block_, array_.phase,
                  array_.thread, static_cast<int>(pattern_), mode_, threads_.size());
    return line;
  }

private:
  static std::uint32_t me() { return static_cast<std::uint32_t>(MYTHREAD); }
  std::byte* local() const {
    return static_cast<std::byte*>(upc_cast(upc_shared_ptr_t{area_.addr, me(), 0}));
  }
  void element(std::byte* to, std::size_t i) const { how_.fill(to, pattern_, key_, i, n_); }
  template <class Visit> void each_of_mine(Visit&& visit) const {
    for (std::size_t i = 0; i < n_; ++i) {
      const upc_shared_ptr_t p = upc_ptradd(array_, block_, size_, static_cast<std::ptrdiff_t>(i));
      if (p.thread == me()) visit(i, p.addr - area_.addr);
    }
  }
  bool all_threads() const { return threads_.size() == static_cast<std::size_t>(THREADS); }

  void draw_layout() {
    const std::size_t most = (area_bytes - 2 * guard) / size_ / 2;
    block_ = d_.chance(15)   ? 0
             : d_.chance(50) ? d_.between(1, 9)
                             : d_.between(1, std::min<std::size_t>(most, 3000));
    block_ = std::min(block_, std::max<std::size_t>(most / 2, 1));
    const std::size_t rows = most / std::max<std::size_t>(block_, 1);
    const std::size_t on_all = block_ == 0 ? most : rows * block_ * static_cast<std::size_t>(THREADS);
    const std::size_t at_most[] = {5, 60, 3000, 40000};
    n_ = d_.chance(4) ? 0 : d_.below(std::min(on_all, d_.pick(at_most)) + 1);
    if (d_.chance(40) && block_ != 0) // one block on each thread
      block_ = std::min(most, n_ / static_cast<std::size_t>(THREADS) + d_.below(3) + 1);
    std::uint32_t first = static_cast<std::uint32_t>(d_.pick(threads_));
    const std::uint32_t phase = block_ == 0 ? 0 : static_cast<std::uint32_t>(d_.below(block_));
    if (!all_threads() && block_ != 0) n_ = std::min(n_, neighbours(first) * block_ - phase);
    const std::size_t row = d_.below(4) * 64;
    array_ = {area_.addr + guard + row + phase * size_, first, phase};
  }
  // How many threads from this one on are in the team: blocks may lie on those.
  std::size_t neighbours(std::uint32_t first) const {
    std::size_t all = 0;
    while (all < static_cast<std::size_t>(THREADS) &&
           std::find(threads_.begin(), threads_.end(), (int(first) + int(all)) % THREADS) != threads_.end())
      ++all;
    return all;
  }

  // Whatever the order: the sum over all threads of what follows from each element.
  int check_all_are_there(const sorting::bytes& all) const {
    const auto digest = [this](const std::byte* e) {
      std::uint64_t x = size_;
      for (std::size_t k = 0; k < size_; ++k)
        x = sorting::mix(x ^ static_cast<std::uint64_t>(e[k]));
      return x;
    };
    std::uint64_t mine = 0, wanted = 0;
    each_of_mine([&](std::size_t, std::uint64_t at) { mine += digest(local() + at); });
    for (std::size_t i = 0; i < n_; ++i)
      wanted += digest(all.data() + i * size_);
    if (weft::reduce_all(mine, UPC_ADD).get() == wanted) return 0;
    if (MYTHREAD == 0) std::printf("sorts: elements were lost\n  %s\n", text().c_str());
    return 1;
  }

  const std::uint64_t number_, key_;
  dice d_;
  const order& how_;
  const upc_shared_ptr_t area_;
  const upc_team_t team_;
  const std::vector<int>& threads_;
  const bool wrong_;
  const std::size_t size_;
  const pattern pattern_;
  std::size_t n_ = 0, block_ = 0;
  upc_shared_ptr_t array_{};
  upc_flag_t mode_ = 0;
};

struct team_of {
  upc_team_t handle = UPC_TEAM_ALL;
  std::vector<int> threads;
};

team_of make_team(dice& d) {
  team_of t;
  for (int thread = 0; thread < THREADS; ++thread)
    t.threads.push_back(thread);
  if (THREADS == 1 || d.chance(50)) return t;
  d.shuffle(t.threads);
  t.threads.resize(d.between(1, t.threads.size()));
  weft_team_from_threads(UPC_TEAM_ALL, static_cast<int>(t.threads.size()), t.threads.data(), &t.handle);
  return t;
}

int play(const options& o) {
  constexpr std::size_t most = 3;
  std::vector<upc_shared_ptr_t> where(most);
  for (upc_shared_ptr_t& area : where)
    area = upc_all_alloc(static_cast<std::size_t>(THREADS), area_bytes);
  int failures = 0;
  for (std::uint64_t number = o.first; number < o.first + o.cases && failures == 0; ++number) {
    dice d{o.seed, number, static_cast<std::uint64_t>(THREADS)};
    const team_of team = make_team(d);
    sorting::element_size = d.pick(sizes);
    sorting::by_copies = d.chance(30);
    sorting::descending = d.chance(30);
    sorting::inconsistent = d.chance(15);
    std::vector<std::unique_ptr<random_sort>> cases;
    for (std::size_t k = d.between(1, most); k != 0; --k)
      cases.push_back(std::make_unique<random_sort>(number, d.next(), d.pick(orders), where[k - 1],
                                                    team.handle, team.threads, o.wrong));
    for (auto& c : cases)
      c->fill();
    upc_barrier;
    std::vector<upc_coll_handle_t> handles;
    for (auto& c : cases)
      if (team.handle != 0) handles.push_back(c->post());
    d.shuffle(handles);
    upc_waitall(static_cast<int>(handles.size()), handles.data());
    upc_barrier;
    for (auto& c : cases)
      failures += c->check();
    failures = weft::reduce_all(failures, UPC_ADD).get(); // all of them stop
    if (team.handle > UPC_TEAM_ALL) cray_upc_team_free(team.handle);
  }
  if (MYTHREAD == 0)
    std::printf("sorts: seed %llu, %llu cases, %d ranks: %s\n", static_cast<unsigned long long>(o.seed),
                static_cast<unsigned long long>(o.cases), THREADS,
                failures == 0 ? "no difference here" : "FAILED");
  return failures;
}

} // namespace

WEFT_SUITE(random_sorts) {
  options o;
  CLI::App app("Random sorts against std::stable_sort.");
  app.add_option("--seed", o.seed, "all of the program follows from it");
  app.add_option("--cases", o.cases, "how many, each of up to three calls");
  app.add_option("--first", o.first, "the first case");
  app.add_flag("--wrong", o.wrong, "expect a wrong result: it must fail");
  CLI11_PARSE(app, argc, argv);
  const int failures = play(o);
  return failures == 0 ? 0 : 1;
}
