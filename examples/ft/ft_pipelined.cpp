#include "examples/ft/ft_transposition.hpp"
#include "examples/support/shared_blocks.hpp"

#include <algorithm>
#include <upc_collective_cray.h>
#include <upc_nb.h>

namespace ft {
namespace {

struct range {
  std::size_t first, last;
};

class pipelined_transposition final : public timed_transposition {
public:
  pipelined_transposition(const problem& p, std::size_t pieces)
      : pieces_(pieces), lanes_{lane(buffer_bytes(p, pieces)), lane(buffer_bytes(p, pieces))} {}

  void run(const slab_shape& from, const complex* in, const slab_shape& to, complex* out,
           const preparation& prepare) override {
    const std::size_t pieces = pieces_of(from.planes, pieces_);
    upc_handle_t travelling = UPC_COMPLETE_HANDLE;
    for (std::size_t k = 0; k != pieces; ++k, current_ = 1 - current_) {
      // Piece k is prepared while piece k-1 travels. Its source buffer is free: the call that sent piece k-1
      // returned after every thread had entered it, and each had completed piece k-2 before that.
      const range piece = piece_range(from.planes, pieces, k);
      prepare(piece.first, piece.last);
      pack_piece(from, in, piece, to);
      travelling = complete_and_send(travelling, piece, from, to);
      // Piece k-1 is unpacked while piece k travels.
      if (k > 0) unpack_piece(from, piece_range(from.planes, pieces, k - 1), to, out);
    }
    complete(travelling);
    unpack_piece(from, piece_range(from.planes, pieces, pieces - 1), to, out);
    // The last source may still be read by others. The next transposition starts with the other buffer, and
    // its first call says that all threads have come this far.
  }

private:
  struct lane {
    explicit lane(std::size_t nbytes) : source(nbytes), destination(nbytes) {}
    example::shared_blocks source, destination;
  };

  static std::size_t threads() { return static_cast<std::size_t>(THREADS); }
  static std::size_t pieces_of(std::size_t planes, std::size_t wanted) { return std::min(planes, wanted); }

  static range piece_range(std::size_t planes, std::size_t pieces, std::size_t k) {
    return {k * planes / pieces, (k + 1) * planes / pieces};
  }

  // The largest piece of either layout.
  static std::size_t buffer_bytes(const problem& p, std::size_t wanted) {
    std::size_t largest = 0;
    for (const auto& [own, across] : {range{p.nz / threads(), p.ny}, range{p.ny / threads(), p.nz}}) {
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
    complex* source = lanes_[current_].source.local<complex>();
    for (std::size_t t = 0; t != threads(); ++t)
      pack(from, in, piece.first, piece.last, to, t, source + t * block);
  }

  upc_handle_t complete_and_send(upc_handle_t previous, range piece, const slab_shape& from,
                                 const slab_shape& to) {
    const stopwatch moving(times_.moving);
    const stopwatch waiting(times_.waiting);
    upc_sync(previous);
    return cray_upc_team_alltoall_nb(lanes_[current_].destination.shared(), lanes_[current_].source.shared(),
                                     block_size(piece, from, to) * sizeof(complex), CRAY_UPC_TEAM_ALL);
  }

  void complete(upc_handle_t last) {
    const stopwatch moving(times_.moving);
    const stopwatch waiting(times_.waiting);
    upc_sync(last);
  }

  // From the buffer that is not the current one: the piece before.
  void unpack_piece(const slab_shape& from, range piece, const slab_shape& to, complex* out) {
    const stopwatch moving(times_.moving);
    const std::size_t block = block_size(piece, from, to);
    const complex* destination = lanes_[1 - current_].destination.local<complex>();
    for (std::size_t t = 0; t != threads(); ++t)
      unpack(from, t, piece.first, piece.last, to, out, destination + t * block);
  }

  std::size_t pieces_;
  lane lanes_[2];
  std::size_t current_ = 0; // runs on from one transposition to the next
};

} // namespace

std::unique_ptr<timed_transposition> make_pipelined(const problem& p, std::size_t pieces) {
  return std::make_unique<pipelined_transposition>(p, pieces);
}

} // namespace ft
