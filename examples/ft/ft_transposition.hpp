// SPDX-License-Identifier: BSD-3-Clause
// The two ways in which this example transposes, the same over every library that carries blocks between
// ranks.
//
// A Carrier has two buffers and sends the one to the other: it is a class with
//   static std::size_t ranks(),
//   Carrier(bytes)                          of each buffer,
//   complex* source(), complex* destination(),
//   void exchange(bytes)                    one block of so many bytes to each rank, blocking,
//   travelling begin(bytes)                 the same without waiting; `travelling` is a type of its own,
//   static void complete(travelling)        of an exchange, or of a `travelling` that was never begun.
#pragma once

#include "examples/ft/ft_core.hpp"

#include <algorithm>
#include <chrono>

namespace ft {

// Seconds that this rank has spent in transpositions so far.
struct transposition_times {
  double moving = 0;  // packing, library calls, unpacking
  double waiting = 0; // library calls alone
};

// Adds the time of a scope to a sum.
class stopwatch {
public:
  explicit stopwatch(double& total) : total_(total) {}
  stopwatch(const stopwatch&) = delete;
  stopwatch& operator=(const stopwatch&) = delete;
  ~stopwatch() { total_ += std::chrono::duration<double>(clock::now() - begin_).count(); }

private:
  using clock = std::chrono::steady_clock;
  double& total_;
  clock::time_point begin_ = clock::now();
};

class timed_transposition : public transposition {
public:
  const transposition_times& times() const { return times_; }
  void reset_times() { times_ = {}; }

protected:
  transposition_times times_;
};

// Transforms the whole slab, then moves it with one blocking exchange.
template <class Carrier> class blocking_transposition final : public timed_transposition {
public:
  explicit blocking_transposition(const problem& p)
      : carrier_(p.points() / Carrier::ranks() * sizeof(complex)) {}

  void run(const slab_shape& from, const complex* in, const slab_shape& to, complex* out,
           const preparation& prepare) override {
    prepare(0, from.planes);

    const stopwatch moving(times_.moving);
    const std::size_t block = from.planes * to.planes * from.columns;
    for (std::size_t r = 0; r != Carrier::ranks(); ++r)
      pack(from, in, 0, from.planes, to, r, carrier_.source() + r * block);
    exchange(block * sizeof(complex));
    for (std::size_t r = 0; r != Carrier::ranks(); ++r)
      unpack(from, r, 0, from.planes, to, out, carrier_.destination() + r * block);
  }

private:
  void exchange(std::size_t nbytes) {
    const stopwatch waiting(times_.waiting);
    carrier_.exchange(nbytes);
  }

  Carrier carrier_;
};

// Cuts the slab into `pieces` (no more than it has planes): while one piece travels, the next one is
// transformed and the one before is unpacked.
template <class Carrier> class pipelined_transposition final : public timed_transposition {
public:
  pipelined_transposition(const problem& p, std::size_t pieces)
      : pieces_(pieces), carriers_{Carrier(buffer_bytes(p, pieces)), Carrier(buffer_bytes(p, pieces))} {}

  void run(const slab_shape& from, const complex* in, const slab_shape& to, complex* out,
           const preparation& prepare) override {
    const std::size_t pieces = pieces_of(from.planes, pieces_);
    travelling previous{};
    for (std::size_t k = 0; k != pieces; ++k, current_ = 1 - current_) {
      // Piece k is prepared while piece k-1 travels. Its source buffer is free: piece k-2 was complete before
      // piece k-1 was sent.
      const range piece = piece_range(from.planes, pieces, k);
      prepare(piece.first, piece.last);
      pack_piece(from, in, piece, to);
      previous = complete_and_send(previous, piece, from, to);
      // Piece k-1 is unpacked while piece k travels.
      if (k > 0) unpack_piece(from, piece_range(from.planes, pieces, k - 1), to, out);
    }
    complete(previous);
    unpack_piece(from, piece_range(from.planes, pieces, pieces - 1), to, out);
    // The next transposition starts with the other buffer.
  }

private:
  using travelling = typename Carrier::travelling;
  struct range {
    std::size_t first, last;
  };

  static std::size_t pieces_of(std::size_t planes, std::size_t wanted) { return std::min(planes, wanted); }

  static range piece_range(std::size_t planes, std::size_t pieces, std::size_t k) {
    return {k * planes / pieces, (k + 1) * planes / pieces};
  }

  // The largest piece of either layout.
  static std::size_t buffer_bytes(const problem& p, std::size_t wanted) {
    std::size_t largest = 0;
    const std::size_t ranks = Carrier::ranks();
    for (const auto& [own, across] : {range{p.nz / ranks, p.ny}, range{p.ny / ranks, p.nz}}) {
      const std::size_t pieces = pieces_of(own, wanted);
      largest = std::max(largest, (own + pieces - 1) / pieces * across);
    }
    return largest * p.nx * sizeof(complex);
  }

  static std::size_t block_size(range piece, const slab_shape& from, const slab_shape& to) {
    return (piece.last - piece.first) * to.planes * from.columns;
  }

  void pack_piece(const slab_shape& from, const complex* in, range piece, const slab_shape& to) {
    const stopwatch moving(times_.moving);
    const std::size_t block = block_size(piece, from, to);
    for (std::size_t r = 0; r != Carrier::ranks(); ++r)
      pack(from, in, piece.first, piece.last, to, r, carriers_[current_].source() + r * block);
  }

  travelling complete_and_send(travelling previous, range piece, const slab_shape& from,
                               const slab_shape& to) {
    const stopwatch moving(times_.moving);
    const stopwatch waiting(times_.waiting);
    Carrier::complete(previous);
    return carriers_[current_].begin(block_size(piece, from, to) * sizeof(complex));
  }

  void complete(travelling last) {
    const stopwatch moving(times_.moving);
    const stopwatch waiting(times_.waiting);
    Carrier::complete(last);
  }

  // From the buffer that is not the current one: the piece before.
  void unpack_piece(const slab_shape& from, range piece, const slab_shape& to, complex* out) {
    const stopwatch moving(times_.moving);
    const std::size_t block = block_size(piece, from, to);
    for (std::size_t r = 0; r != Carrier::ranks(); ++r)
      unpack(from, r, piece.first, piece.last, to, out, carriers_[1 - current_].destination() + r * block);
  }

  std::size_t pieces_;
  Carrier carriers_[2];
  std::size_t current_ = 0; // runs on from one transposition to the next
};

} // namespace ft
