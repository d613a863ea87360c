#include "examples/ft/ft_transposition.hpp"
#include "examples/support/shared_blocks.hpp"

namespace ft {
namespace {

class blocking_transposition final : public timed_transposition {
public:
  explicit blocking_transposition(const problem& p)
      : source_(p.points() / threads() * sizeof(complex)),
        destination_(p.points() / threads() * sizeof(complex)) {}

  void run(const slab_shape& from, const complex* in, const slab_shape& to, complex* out,
           const preparation& prepare) override {
    prepare(0, from.planes);

    const stopwatch moving(times_.moving);
    const std::size_t block = from.planes * to.planes * from.columns;
    for (std::size_t t = 0; t != threads(); ++t)
      pack(from, in, 0, from.planes, to, t, source_.local<complex>() + t * block);
    exchange(block * sizeof(complex));
    for (std::size_t t = 0; t != threads(); ++t)
      unpack(from, t, 0, from.planes, to, out, destination_.local<complex>() + t * block);
  }

private:
  static std::size_t threads() { return static_cast<std::size_t>(THREADS); }

  // A thread packs its own source and unpacks its own destination only: the MYSYNC modes are all it needs.
  void exchange(std::size_t nbytes) {
    const stopwatch waiting(times_.waiting);
    upc_all_exchange(destination_.shared(), source_.shared(), nbytes, UPC_IN_MYSYNC | UPC_OUT_MYSYNC);
  }

  example::shared_blocks source_, destination_;
};

} // namespace

std::unique_ptr<timed_transposition> make_blocking(const problem& p) {
  return std::make_unique<blocking_transposition>(p);
}

} // namespace ft
