// Every thread sends a block to every other one, and computes while the blocks travel.
#include <cstdio>
#include <weft/weft.hpp>

int main(int argc, char** argv) {
  weft_init(&argc, &argv);
  const std::size_t count = 1 << 15, bytes = count * sizeof(double); // from each thread to each other
  upc_shared_ptr_t src = upc_all_alloc(THREADS, THREADS * bytes),
                   dst = upc_all_alloc(THREADS, THREADS * bytes);
  auto mine = static_cast<double*>(upc_cast(upc_ptradd(src, 1, THREADS * bytes, MYTHREAD)));
  for (std::size_t i = 0; i < THREADS * count; ++i)
    mine[i] = MYTHREAD;
  upc_coll_handle_t h = upc_all_exchange(dst, src, bytes, UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC);
  double sum = 0; // no call into the library here: the exchange goes on by itself
  for (int i = 1; i < 10'000'000; ++i)
    sum += 1.0 / i;
  upc_wait(h);
  auto got = static_cast<double*>(upc_cast(upc_ptradd(dst, 1, THREADS * bytes, MYTHREAD)));
  const bool right = got[0] == 0 && got[THREADS * count - 1] == THREADS - 1;
  std::printf("thread %d of %d: sum %.6f, blocks %s\n", int(MYTHREAD), int(THREADS), sum,
              right ? "right" : "wrong");
  weft_finalize();
  return right ? 0 : 1;
}
