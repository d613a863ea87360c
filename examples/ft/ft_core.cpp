// SPDX-License-Identifier: BSD-3-Clause
#include "examples/ft/ft_core.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <numbers>

namespace ft {
namespace {

constexpr std::uint64_t multiplier = 1220703125; // 5^13
constexpr std::uint64_t seed = 314159265;
constexpr std::uint64_t modulus_mask = (std::uint64_t{1} << 46) - 1;
constexpr double diffusion = 1e-6;
constexpr std::size_t checksum_points = 1024;

// The low 46 bits of a product do not depend on what overflows above them.
std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
  return (a * b) & modulus_mask;
}

std::uint64_t power(std::uint64_t base, std::uint64_t exponent) {
  std::uint64_t result = 1;
  for (; exponent != 0; exponent /= 2, base = multiply(base, base))
    if (exponent % 2 == 1) result = multiply(result, base);
  return result;
}

// The square of the wave number of index i: indices of the upper half stand for negative wave numbers.
double squared_wave_number(std::size_t i, std::size_t n) {
  const double k = i < n / 2 ? static_cast<double>(i) : static_cast<double>(i) - static_cast<double>(n);
  return k * k;
}

fftw_plan make_within(const slab_shape& shape, int sign, unsigned flags, fftw_complex* data) {
  return fftw_plan_dft_2d(static_cast<int>(shape.rows), static_cast<int>(shape.columns), data, data, sign,
                          flags);
}

fftw_plan make_across(const slab_shape& shape, int sign, unsigned flags, fftw_complex* data) {
  const int length = static_cast<int>(shape.rows);
  const int stride = static_cast<int>(shape.columns);
  return fftw_plan_many_dft(1, &length, stride, data, nullptr, stride, 1, data, nullptr, stride, 1, sign,
                            flags);
}

} // namespace

void pack(const slab_shape& from, const complex* in, std::size_t first, std::size_t last,
          const slab_shape& to, std::size_t to_thread, complex* block) {
  const std::size_t run = to.planes * from.columns;
  for (std::size_t p = first; p != last; ++p, block += run)
    std::copy_n(in + p * from.plane_size() + to_thread * run, run, block);
}

void unpack(const slab_shape& from, std::size_t from_thread, std::size_t first, std::size_t last,
            const slab_shape& to, complex* out, const complex* block) {
  const std::size_t row = from.columns;
  // Destination by destination row: the rows of one plane lie together there, and apart in the block.
  for (std::size_t plane = 0; plane != to.planes; ++plane) {
    complex* target = out + plane * to.plane_size() + (from_thread * from.planes + first) * row;
    for (std::size_t p = first; p != last; ++p, target += row)
      std::copy_n(block + ((p - first) * to.planes + plane) * row, row, target);
  }
}

random_sequence::random_sequence(std::uint64_t skipped)
    : state_(multiply(seed, power(multiplier, skipped))) {}

double random_sequence::next() {
  state_ = multiply(state_, multiplier);
  return std::ldexp(static_cast<double>(state_), -46);
}

plane_transforms::plane_transforms(const slab_shape& shape, int sign_within, int sign_across, planning effort,
                                   complex* scratch) {
  const unsigned flags = effort == planning::measure ? FFTW_MEASURE : FFTW_ESTIMATE;
  const auto data = reinterpret_cast<fftw_complex*>(scratch);
  within_.reset(make_within(shape, sign_within, flags, data));
  across_.reset(make_across(shape, sign_across, flags, data));
}

template <class T> solver::array<T> solver::allocate(std::size_t count) {
  void* memory = fftw_malloc(count * sizeof(T));
  if (memory == nullptr) throw std::bad_alloc();
  return array<T>(static_cast<T*>(memory));
}

solver::solver(const problem& p, std::size_t thread, std::size_t threads, transposition& transpose,
               planning effort)
    : problem_(p), transpose_(transpose),
      thread_(thread), physical_{p.nz / threads, p.ny, p.nx}, frequency_{p.ny / threads, p.nz, p.nx},
      spectrum_(allocate<complex>(frequency_.size())), work_(allocate<complex>(frequency_.size())),
      field_(allocate<complex>(physical_.size())), decay_(allocate<double>(frequency_.size())),
      physical_transforms_(physical_, FFTW_FORWARD, FFTW_BACKWARD, effort, field_.get()),
      frequency_transforms_(frequency_, FFTW_BACKWARD, FFTW_FORWARD, effort, work_.get()) {}

void solver::start() {
  set_initial_conditions();
  set_decay();
  transpose_.run(physical_, field_.get(), frequency_, spectrum_.get(),
                 [this](std::size_t first, std::size_t last) {
                   for (std::size_t z = first; z != last; ++z)
                     physical_transforms_.within(field_.get() + z * physical_.plane_size());
                 });
  for (std::size_t y = 0; y != frequency_.planes; ++y)
    frequency_transforms_.across(spectrum_.get() + y * frequency_.plane_size());
}

complex solver::step() {
  transpose_.run(frequency_, work_.get(), physical_, field_.get(),
                 [this](std::size_t first, std::size_t last) {
                   for (std::size_t y = first; y != last; ++y) {
                     evolve(y);
                     frequency_transforms_.within(work_.get() + y * frequency_.plane_size());
                   }
                 });
  for (std::size_t z = 0; z != physical_.planes; ++z)
    physical_transforms_.across(field_.get() + z * physical_.plane_size());
  return partial_checksum();
}

// The random numbers fill the grid in memory order, so a thread's slab is one run of the sequence.
void solver::set_initial_conditions() {
  random_sequence numbers(2 * physical_.size() * thread_);
  for (std::size_t i = 0; i != physical_.size(); ++i) {
    const double real = numbers.next();
    const double imag = numbers.next();
    field_[i] = {real, imag};
  }
}

void solver::set_decay() {
  constexpr double rate = -4.0 * diffusion * std::numbers::pi * std::numbers::pi;
  std::size_t i = 0;
  for (std::size_t plane = 0; plane != frequency_.planes; ++plane) {
    const double y = squared_wave_number(thread_ * frequency_.planes + plane, problem_.ny);
    for (std::size_t row = 0; row != problem_.nz; ++row) {
      const double yz = y + squared_wave_number(row, problem_.nz);
      for (std::size_t x = 0; x != problem_.nx; ++x, ++i)
        decay_[i] = std::exp(rate * (yz + squared_wave_number(x, problem_.nx)));
    }
  }
}

void solver::evolve(std::size_t plane) {
  const std::size_t begin = plane * frequency_.plane_size();
  const std::size_t end = begin + frequency_.plane_size();
  for (std::size_t i = begin; i != end; ++i) {
    spectrum_[i] *= decay_[i];
    work_[i] = spectrum_[i];
  }
}

complex solver::partial_checksum() const {
  complex sum = 0;
  for (std::size_t j = 1; j <= checksum_points; ++j) {
    const std::size_t x = j % problem_.nx;
    const std::size_t y = 3 * j % problem_.ny;
    const std::size_t z = 5 * j % problem_.nz;
    if (z / physical_.planes == thread_)
      sum += field_[((z % physical_.planes) * problem_.ny + y) * problem_.nx + x];
  }
  return sum / static_cast<double>(problem_.points());
}

} // namespace ft
