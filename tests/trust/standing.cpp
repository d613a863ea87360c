// Says that it is in the job, with the number of its process, and leaves when its input ends.
#include <cstdio>
#include <unistd.h>
#include <weft/weft.hpp>

int main(int argc, char** argv) {
  weft_init(&argc, &argv);
  upc_barrier;
  std::printf("in %d\n", static_cast<int>(getpid()));
  std::fflush(stdout);
  if (MYTHREAD == 0) (void)std::getchar();
  upc_barrier;
  weft_finalize();
}
