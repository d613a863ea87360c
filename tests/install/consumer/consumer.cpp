#include <cstdio>
#include <weft/weft.hpp>

#include <upc.h>

int main(int argc, char** argv) {
  weft_init(&argc, &argv);
  std::printf("%d of %d\n", static_cast<int>(MYTHREAD), static_cast<int>(THREADS));
  weft_finalize();
}
