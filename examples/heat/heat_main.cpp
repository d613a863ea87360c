// SPDX-License-Identifier: BSD-3-Clause
// The temperatures of a plate with a fixed rim, by Jacobi's iteration on a grid of threads: halos travel
// behind the sweep over the interior, and the reduction that tells whether it has converged behind all of the
// next sweep. In the end each thread repeats the work alone and compares the bits.
#include "examples/heat/heat_halo.hpp"
#include "examples/heat/heat_plate.hpp"
#include "examples/support/process_grid.hpp"
#include "examples/support/program.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <nlohmann/json.hpp>
#include <weft/weft.hpp>

namespace {

using example::say;
using heat::index;

struct options {
  index rows = 512, columns = 512;
  int iterations = 300;
  double tolerance = 0.05;
  bool unchecked = false, json = false;
};

struct outcome {
  int iterations = 0;
  double change = std::numeric_limits<double>::infinity(); // the last that all threads know of
};

// Goes on until the largest change is small. Whether it is, one sweep later is early enough to know: so
// `largest` may only begin to find out, and return a function that waits for it.
template <class Sweep, class Largest>
outcome iterate(const options& chosen, const Sweep& sweep, const Largest& largest) {
  outcome result{.iterations = 1};
  double before = sweep();
  while (result.iterations != chosen.iterations) {
    auto known = largest(before);
    before = sweep();
    ++result.iterations;
    result.change = known.get();
    if (result.change <= chosen.tolerance) break;
  }
  return result;
}

class benchmark {
public:
  explicit benchmark(const example::process_grid& grid, const options& chosen)
      : chosen_(chosen), part_(part_of(grid, chosen)),
        halo_(grid, chosen.rows / grid.rows + 1, chosen.columns / grid.columns + 1) {}

  outcome run() {
    return iterate(
        chosen_, [this] { return step(); }, [](double mine) { return weft::reduce_all(mine, UPC_MAX); });
  }
  // The same bits, the same number of iterations?
  bool same_as_serial(const outcome& parallel) const {
    struct known {
      double value;
      double get() const { return value; }
    };
    heat::plate whole({0, chosen_.rows, 0, chosen_.columns});
    const auto sweep = [&] {
      const double change = whole.sweep({0, whole.rows(), 0, whole.columns()});
      whole.advance();
      return change;
    };
    const outcome serial = iterate(chosen_, sweep, [](double change) { return known{change}; });
    bool same = serial.iterations == parallel.iterations && serial.change == parallel.change;
    for (index r = 0; r != part_.rows(); ++r)
      same = same && std::equal(part_.row(r), part_.row(r) + part_.columns(),
                                whole.row(part_.where().top + r) + part_.where().left);
    return weft::reduce_all(same ? 1 : 0, UPC_MIN).get() == 1;
  }

  // What an iteration consists of, one without the other.
  void sweep_alone() {
    part_.sweep({0, part_.rows(), 0, part_.columns()});
    part_.advance();
  }
  // Of run(), the mean of the threads, in microseconds.
  double visible_exchange() const { return weft::reduce_all(visible_.count(), UPC_ADD).get() / THREADS; }
  void exchange_alone() {
    halo_.begin(part_);
    halo_.notify();
    halo_.end(part_);
  }

private:
  static heat::rectangle part_of(const example::process_grid& grid, const options& chosen) {
    using example::begin_of_part;
    return {begin_of_part(chosen.rows, grid.rows, grid.row),
            begin_of_part(chosen.rows, grid.rows, grid.row + 1),
            begin_of_part(chosen.columns, grid.columns, grid.column),
            begin_of_part(chosen.columns, grid.columns, grid.column + 1)};
  }

  // One half of the interior while the halos travel, the other while the barrier is under way.
  double step() {
    const index last_row = part_.rows() - 1, last_column = part_.columns() - 1, middle = part_.rows() / 2;
    visible([&] { halo_.begin(part_); });
    double change = part_.sweep({1, middle, 1, last_column});
    visible([&] { halo_.notify(); });
    change = std::max(change, part_.sweep({std::max<index>(1, middle), last_row, 1, last_column}));
    visible([&] { halo_.end(part_); });
    change = std::max(change, part_.sweep({0, 1, 0, last_column + 1}));
    change = std::max(change, part_.sweep({std::max<index>(1, last_row), last_row + 1, 0, last_column + 1}));
    change = std::max(change, part_.sweep({1, last_row, 0, 1}));
    change = std::max(change, part_.sweep({1, last_row, std::max<index>(1, last_column), last_column + 1}));
    part_.advance();
    return change;
  }

  // Time in these calls is time that no sweep has hidden, waiting for slower threads included.
  template <class F> void visible(const F& part_of_exchange) {
    const auto begin = std::chrono::steady_clock::now();
    part_of_exchange();
    visible_ += std::chrono::steady_clock::now() - begin;
  }

  std::chrono::duration<double, std::micro> visible_{};
  options chosen_;
  heat::plate part_;
  heat::halo halo_;
};

// Microseconds of one of `times`, of the thread that took longest.
template <class F> double microseconds(int times, const F& all_of_them) {
  upc_barrier;
  const auto begin = std::chrono::steady_clock::now();
  all_of_them();
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
  return weft::reduce_all(took.count(), UPC_MAX).get() / times;
}
template <class F> double microseconds_of_each(int times, const F& one) {
  return microseconds(times, [&] {
    for (int k = 0; k != times; ++k)
      one();
  });
}

int run(const options& chosen) {
  const auto grid =
      example::make_process_grid(static_cast<double>(chosen.rows), static_cast<double>(chosen.columns));
  if (grid.rows > chosen.rows || grid.columns > chosen.columns) {
    if (example::first_thread())
      fmt::print(
          stderr,
          "heat: {} by {} points cannot be cut into {} by {} parts: take more points or fewer threads\n",
          chosen.rows, chosen.columns, grid.rows, grid.columns);
    return EXIT_FAILURE;
  }
  benchmark program(grid, chosen);
  outcome result;
  const double all = microseconds(1, [&] { result = program.run(); }), iteration = all / result.iterations;
  const bool verified = chosen.unchecked || program.same_as_serial(result);
  const double sweep = microseconds_of_each(result.iterations, [&] { program.sweep_alone(); });
  const double exchange = microseconds_of_each(result.iterations, [&] { program.exchange_alone(); });
  const double seen = program.visible_exchange() / result.iterations;
  // Of the halos: what an iteration takes longer than the sweep alone is not hidden.
  const double hidden = 100 * std::clamp(1 - (iteration - sweep) / exchange, 0.0, 1.0);
  const bool converged = result.change <= chosen.tolerance;
  const char* verdict = chosen.unchecked ? "left out" : verified ? "successful" : "FAILED";
  if (chosen.json) {
    const nlohmann::json object{{"benchmark", "heat"},
                                {"rows", chosen.rows},
                                {"columns", chosen.columns},
                                {"threads", int(THREADS)},
                                {"grid", {grid.rows, grid.columns}},
                                {"iterations", result.iterations},
                                {"change", result.change},
                                {"converged", converged},
                                {"verified", verified && !chosen.unchecked},
                                {"seconds", all / 1e6},
                                {"iteration_us", iteration},
                                {"sweep_us", sweep},
                                {"exchange_us", exchange},
                                {"hidden_percent", hidden},
                                {"visible_us", seen}};
    say("{}\n", object.dump());
  } else {
    say("heat, {} by {} points, threads: {}, {} by {}\n", chosen.rows, chosen.columns, THREADS, grid.rows,
        grid.columns);
    say("  {} iterations, {}, largest change {:.3e}\n", result.iterations,
        converged ? "converged" : "not converged", result.change);
    say("  verification {}: the bits of a serial run\n", verdict);
    say("  {:.1f} us an iteration; {:.1f} us the sweep alone, {:.1f} us the halos alone\n", iteration, sweep,
        exchange);
    say("  {:.0f} % of the halos hidden; {:.1f} us of an iteration in the exchange, waiting for slower "
        "threads "
        "included\n",
        hidden, seen);
  }
  return verified ? EXIT_SUCCESS : EXIT_FAILURE;
}

} // namespace

int main(int argc, char** argv) {
  weft::command_line app("The heat equation on a plate, with halos and convergence behind the computation");
  options chosen;
  app.add("--rows", &chosen.rows, "rows of points").between(1, 1 << 20).tells_default();
  app.add("--columns", &chosen.columns, "columns of points").between(1, 1 << 20).tells_default();
  app.add("--iterations", &chosen.iterations, "at most so many iterations")
      .between(1, 1 << 30)
      .tells_default();
  app.add("--tolerance", &chosen.tolerance, "largest change that is taken for none")
      .not_negative()
      .tells_default();
  app.add_flag("--unchecked", chosen.unchecked, "leave the serial run out");
  app.add_flag("--json", chosen.json, "print a JSON object instead of text");
  return example::run_program(app, "heat", argc, argv, [&] { return run(chosen); });
}
