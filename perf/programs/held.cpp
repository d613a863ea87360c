// SPDX-License-Identifier: BSD-3-Clause
// How long the others wait for a thread that has posted and computes: each operation, in each mode, with each
// thread as the one that computes; and how long the caller of a one-sided collective waits while all others
// compute. A trial is `held` if it took half as long as the computation or longer, `over` if it took longer
// than three times the same call without a computation and 200 us.
#include "perf/programs/program.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iomanip>
#include <span>

namespace {

using perf::on;

struct options {
  std::vector<std::size_t> sizes{8, 16384, 262144};
  std::vector<std::string> operations, modes;
  double absence_ms = 100;
  std::size_t trials = 0, calls = 15; // 0: each of the table once
  bool each = false;                  // prints what was held, one by one
};

constexpr std::array modes{
    std::pair{"0", 0},
    std::pair{"all/all", UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC},
    std::pair{"all/my", UPC_IN_ALLSYNC | UPC_OUT_MYSYNC},
    std::pair{"all/no", UPC_IN_ALLSYNC | UPC_OUT_NOSYNC},
    std::pair{"my/all", UPC_IN_MYSYNC | UPC_OUT_ALLSYNC},
    std::pair{"my/my", UPC_IN_MYSYNC | UPC_OUT_MYSYNC},
    std::pair{"my/no", UPC_IN_MYSYNC | UPC_OUT_NOSYNC},
    std::pair{"no/all", UPC_IN_NOSYNC | UPC_OUT_ALLSYNC},
    std::pair{"no/my", UPC_IN_NOSYNC | UPC_OUT_MYSYNC},
    std::pair{"no/no", UPC_IN_NOSYNC | UPC_OUT_NOSYNC},
};

// What is called: by all threads in two halves, or by thread 0 alone.
struct areas {
  upc_shared_ptr_t dst, src, places;
  std::size_t bytes; // of a block
  std::size_t elements() const { return bytes / sizeof(long) * static_cast<std::size_t>(THREADS); }
};
using post = std::function<unsigned long long(const areas&, upc_flag_t)>;
enum class completed_by { upc_wait_all, upc_sync_all, barrier, caller_alone };
struct measured_operation {
  const char* name;
  completed_by how;
  bool has_modes;
  post begin;
};

long sum_of(long x, long y) {
  return x + y;
}
int order_of(upc_shared_ptr_t a, upc_shared_ptr_t b) {
  const long x = *static_cast<const long*>(upc_cast(a)), y = *static_cast<const long*>(upc_cast(b));
  return (x > y) - (x < y);
}

// `block` elements of each thread lie together.
post reduction(upc_coll_handle_t (*f)(upc_shared_ptr_t, upc_shared_ptr_t, upc_op_t, size_t, size_t,
                                      long (*)(long, long), upc_flag_t),
               upc_op_t op, bool small_blocks = false) {
  return [=](const areas& a, upc_flag_t mode) {
    return f(a.dst, a.src, op, a.elements(), small_blocks ? 1 : a.bytes / sizeof(long), sum_of, mode);
  };
}

std::vector<measured_operation> operations() {
  using enum completed_by;
  const auto team_form = [](auto f, auto... root) {
    return [=](const areas& a, upc_flag_t) {
      upc_handle_t h = 0;
      f(on(a.dst, MYTHREAD), on(a.src, MYTHREAD), a.bytes / sizeof(long), CRAY_UPC_LONG, UPC_ADD, root...,
        UPC_TEAM_ALL, &h);
      return static_cast<unsigned long long>(h);
    };
  };
  return {
      {"broadcast", upc_wait_all, true,
       [](const areas& a, upc_flag_t m) { return upc_all_broadcast(a.dst, a.src, a.bytes, m); }},
      {"scatter", upc_wait_all, true,
       [](const areas& a, upc_flag_t m) { return upc_all_scatter(a.dst, a.src, a.bytes, m); }},
      {"gather", upc_wait_all, true,
       [](const areas& a, upc_flag_t m) { return upc_all_gather(a.dst, a.src, a.bytes, m); }},
      {"gather_all", upc_wait_all, true,
       [](const areas& a, upc_flag_t m) { return upc_all_gather_all(a.dst, a.src, a.bytes, m); }},
      {"exchange", upc_wait_all, true,
       [](const areas& a, upc_flag_t m) { return upc_all_exchange(a.dst, a.src, a.bytes, m); }},
      {"permute", upc_wait_all, true,
       [](const areas& a, upc_flag_t m) { return upc_all_permute(a.dst, a.src, a.places, a.bytes, m); }},
      {"reduce", upc_wait_all, true, reduction(upc_all_reduceL, UPC_ADD)},
      {"reduce_all", upc_wait_all, true, reduction(weft::upc_all_reduce_allL, UPC_ADD)},
      {"reduce_all of a function", upc_wait_all, true, reduction(weft::upc_all_reduce_allL, UPC_FUNC)},
      {"reduce_all of blocks of 1", upc_wait_all, true, reduction(weft::upc_all_reduce_allL, UPC_ADD, true)},
      {"prefix_reduce", upc_wait_all, true, reduction(upc_all_prefix_reduceL, UPC_ADD)},
      {"prefix_reduce of blocks of 1", upc_wait_all, true, reduction(upc_all_prefix_reduceL, UPC_ADD, true)},
      {"sort", upc_wait_all, true,
       [](const areas& a, upc_flag_t m) {
         return upc_all_sort(a.src, sizeof(long), a.elements(), a.bytes / sizeof(long), order_of, m);
       }},
      {"team_alltoall_nb", upc_sync_all, false,
       [](const areas& a, upc_flag_t) {
         return cray_upc_team_alltoall_nb(a.dst, a.src, a.bytes, UPC_TEAM_ALL);
       }},
      {"team_reduce", upc_sync_all, false, team_form(cray_upc_team_reduce, 0)},
      {"team_allreduce", upc_sync_all, false, team_form(cray_upc_team_allreduce)},
      {"team_barrier_nb", upc_sync_all, false,
       [](const areas&, upc_flag_t) { return cray_upc_team_barrier_nb(UPC_TEAM_ALL); }},
      {"barrier", barrier, false,
       [](const areas&, upc_flag_t) {
         upc_notify;
         return 0ull;
       }},
      {"one-sided broadcast", caller_alone, false,
       [](const areas& a, upc_flag_t) { return weft::upc_broadcast(a.dst, a.src, a.bytes), 0ull; }},
      {"one-sided exchange", caller_alone, false,
       [](const areas& a, upc_flag_t) { return weft::upc_exchange(a.dst, a.src, a.bytes), 0ull; }},
      {"one-sided gather_all", caller_alone, false,
       [](const areas& a, upc_flag_t) { return weft::upc_gather_all(a.dst, a.src, a.bytes), 0ull; }},
  };
}

void complete(completed_by how, unsigned long long handle) {
  if (how == completed_by::upc_wait_all) upc_wait(handle);
  if (how == completed_by::upc_sync_all) upc_sync(handle);
  if (how == completed_by::barrier) upc_wait;
}

void compute(double us) {
  volatile double work = 0;
  for (const double end = perf::now_us() + us; perf::now_us() < end;)
    for (int k = 1; k < 100; ++k)
      work = work + 1.0 / k;
}

// One trial, from the last thread's begin to the last end of those that wait: the clock of all is one.
// `absent`: no thread, or the one that computes behind its post; of a one-sided call all threads but its
// caller do, if there is one.
double wait_of_others(const measured_operation& op, const areas& a, upc_flag_t mode, int absent, double us) {
  const bool alone = op.how == completed_by::caller_alone, away = alone ? MYTHREAD != 0 : MYTHREAD == absent;
  upc_barrier;
  const double begin = perf::now_us();
  unsigned long long handle = 0;
  if (!alone || MYTHREAD == 0) handle = op.begin(a, mode | UPC_ASYNC);
  if (away && absent >= 0) compute(us);
  if (!alone) complete(op.how, handle);
  const double end = away ? begin : perf::now_us();
  upc_barrier;
  const double last = weft::reduce_all(alone && MYTHREAD != 0 ? 0.0 : begin, UPC_MAX).get();
  return weft::reduce_all(end, UPC_MAX).get() - last;
}

struct row {
  const measured_operation* op;
  std::size_t bytes;
  const char* mode_name; // empty: the operation has no modes
  upc_flag_t mode;
  int absent;
};
struct outcome {
  std::vector<double> us;
  std::size_t held = 0, over = 0;
};

std::vector<row> rows_of(const options& chosen, std::span<const measured_operation> all) {
  const auto is_chosen = [](const std::vector<std::string>& names, const char* name) {
    return names.empty() || std::ranges::count(names, name) != 0;
  };
  std::vector<row> rows;
  for (const measured_operation& op : all) {
    if (!is_chosen(chosen.operations, op.name)) continue;
    const auto add = [&](const char* mode_name, upc_flag_t mode) {
      for (const std::size_t bytes : chosen.sizes)
        for (int t = 0; t != (op.how == completed_by::caller_alone ? 1 : THREADS); ++t)
          rows.push_back({&op, bytes, mode_name, mode, t});
    };
    if (!op.has_modes) add("", 0);
    for (const auto& [name, mode] : modes)
      if (op.has_modes && is_chosen(chosen.modes, name)) add(name, mode);
  }
  return rows;
}

void measure_all(const options& chosen) {
  const auto all = operations();
  const std::vector<row> rows = rows_of(chosen, all);
  const std::size_t largest = std::ranges::max(chosen.sizes), threads = static_cast<std::size_t>(THREADS);
  areas a{upc_all_alloc(threads, largest * threads), upc_all_alloc(threads, largest * threads),
          upc_all_alloc(threads, sizeof(int)), 0};
  *static_cast<int*>(upc_cast(on(a.places, MYTHREAD))) = (MYTHREAD + 1) % THREADS;
  double together = 0;
  outcome sum;
  std::vector<outcome> found(all.size());
  const std::size_t count = chosen.trials == 0 ? rows.size() : chosen.trials;
  for (std::size_t k = 0; k != count; ++k) {
    const row& now = rows[k % rows.size()];
    a.bytes = now.bytes;
    if (now.absent == 0) {
      std::vector<double> calls(chosen.calls);
      for (double& us : calls)
        us = wait_of_others(*now.op, a, now.mode, -1, 0);
      together = perf::median(calls);
    }
    const double us = wait_of_others(*now.op, a, now.mode, now.absent, 1000 * chosen.absence_ms);
    const bool is_held = us > 500 * chosen.absence_ms, is_over = us > 3 * together + 200;
    for (outcome* to : {&sum, &found[static_cast<std::size_t>(now.op - all.data())]}) {
      to->held += is_held;
      to->over += is_over;
      to->us.push_back(us);
    }
    if (MYTHREAD == 0 && (is_held || (is_over && chosen.each)))
      std::cerr << "held: " << now.op->name << " " << now.mode_name << ", " << now.bytes << " B, thread "
                << now.absent << " away: " << us << " us, together " << together << "\n";
    if (MYTHREAD == 0 && (k + 1) % 500 == 0)
      std::cerr << "held: " << k + 1 << " of " << count << " trials, " << sum.held << " held, " << sum.over
                << " over\n";
  }
  const perf::reporter report{"held", "all modes"};
  for (std::size_t k = 0; k != all.size(); ++k)
    if (const outcome& of = found[k]; !of.us.empty())
      report(all[k].name, largest, perf::median(of.us),
             {{"trials", static_cast<double>(of.us.size())},
              {"held", static_cast<double>(of.held)},
              {"over", static_cast<double>(of.over)},
              {"p99_us", perf::quantile(of.us, .99)},
              {"max_us", std::ranges::max(of.us)}});
}

} // namespace

int main(int argc, char** argv) {
  weft::command_line app("how long threads wait for one that has posted and computes");
  options chosen;
  perf::add_sizes(app, chosen.sizes);
  app.add("--ops", &chosen.operations, "which operations").separated_by(',');
  app.add("--modes", &chosen.modes, "which modes, such as all/all,my/my").separated_by(',');
  app.add("--absence-ms", &chosen.absence_ms, "how long the thread computes").tells_default();
  app.add("--trials", &chosen.trials, "in all; 0: each operation, mode, size and thread once")
      .tells_default();
  app.add("--calls", &chosen.calls, "of each without a computation, for comparison").tells_default();
  app.add_flag("--each", chosen.each, "print each trial that is over, too");
  return perf::run_program(app, argc, argv, [&] { measure_all(chosen); });
}
