// SPDX-License-Identifier: BSD-3-Clause
// What both variants of FT share: the initial conditions, the evolution in time, the local transforms and the
// checksum. It knows nothing of how the data cross between threads; that is the work of a `transposition`.
//
// The grid is cut into slabs, in one of two layouts. In physical space a thread owns whole z planes
// [z][y][x], in frequency space whole y planes [y][z][x]; x runs fastest in both. A 3-D transform in either
// direction is then the same three steps: a 2-D transform of each plane, the transposition into the other
// layout, and a 1-D transform across the rows of each new plane.
#pragma once

#include "examples/ft/ft_problem.hpp"

#include <cstdint>
#include <fftw3.h>
#include <functional>
#include <memory>

namespace ft {

// One thread's part of the grid in one layout: `planes` of its own, each `rows` x `columns`.
struct slab_shape {
  std::size_t planes, rows, columns;

  std::size_t plane_size() const { return rows * columns; }
  std::size_t size() const { return planes * plane_size(); }
};

// Carries a slab to the other layout. The two shapes of a pair are mirrored: the rows of the one, divided by
// the number of threads, are the planes of the other.
class transposition {
public:
  // Prepares the planes [first, last) of the source slab; to be called once for each plane, in ascending
  // order, before that plane is sent.
  using preparation = std::function<void(std::size_t first, std::size_t last)>;

  transposition() = default;
  transposition(const transposition&) = delete;
  transposition& operator=(const transposition&) = delete;
  virtual ~transposition() = default;

  virtual void run(const slab_shape& from, const complex* in, const slab_shape& to, complex* out,
                   const preparation& prepare) = 0;
};

// The planes [first, last) of a slab, as they lie in one block of the all-to-all: what thread `to_thread`
// gets.
void pack(const slab_shape& from, const complex* in, std::size_t first, std::size_t last,
          const slab_shape& to, std::size_t to_thread, complex* block);

// The counterpart: places the block that came from `from_thread` in the slab of the other layout.
void unpack(const slab_shape& from, std::size_t from_thread, std::size_t first, std::size_t last,
            const slab_shape& to, complex* out, const complex* block);

// The benchmark's linear congruential generator, x <- 5^13 x mod 2^46, in exact integer arithmetic.
class random_sequence {
public:
  explicit random_sequence(std::uint64_t skipped = 0);

  double next();

private:
  std::uint64_t state_;
};

enum class planning { estimate, measure };

// The transforms of the planes of one layout, in place. FFTW's planner is not safe for concurrent use, so
// neither is the constructor.
class plane_transforms {
public:
  // Overwrites `scratch`, a slab of that shape, when it measures.
  plane_transforms(const slab_shape& shape, int sign_within, int sign_across, planning effort,
                   complex* scratch);

  void within(complex* plane) const { execute(*within_, plane); }
  void across(complex* plane) const { execute(*across_, plane); }

private:
  struct destroy {
    void operator()(fftw_plan_s* plan) const { fftw_destroy_plan(plan); }
  };
  using plan = std::unique_ptr<fftw_plan_s, destroy>;

  static void execute(fftw_plan_s& plan, complex* plane) {
    const auto data = reinterpret_cast<fftw_complex*>(plane);
    fftw_execute_dft(&plan, data, data);
  }

  plan within_; // both dimensions of a plane
  plan across_; // over the rows, for each column
};

// One thread's share of the computation.
class solver {
public:
  // The number of threads must be one of thread_counts(p).
  solver(const problem& p, std::size_t thread, std::size_t threads, transposition& transpose,
         planning effort = planning::estimate);

  // Sets the initial conditions and carries them to frequency space.
  void start();

  // Evolves by one time step, transforms back, and returns this thread's part of the checksum.
  complex step();

private:
  struct release {
    void operator()(void* memory) const { fftw_free(memory); }
  };
  template <class T> using array = std::unique_ptr<T[], release>;
  template <class T> static array<T> allocate(std::size_t count);

  void set_initial_conditions();
  void set_decay();
  void evolve(std::size_t plane);
  complex partial_checksum() const;

  const problem& problem_;
  transposition& transpose_;
  std::size_t thread_;
  slab_shape physical_, frequency_;
  array<complex> spectrum_; // frequency layout, as evolved so far
  array<complex> work_;     // frequency layout, consumed by the transform back
  array<complex> field_;    // physical layout
  array<double> decay_;     // frequency layout: the factor of one time step
  plane_transforms physical_transforms_, frequency_transforms_;
};

} // namespace ft
