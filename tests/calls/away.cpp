// SPDX-License-Identifier: BSD-3-Clause
#include "tests/calls/away.hpp"

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <weft/weft.hpp>

namespace calls {

blackboard::blackboard() {
  constexpr std::size_t longest = 64, bytes = words * sizeof(std::atomic<std::uint64_t>);
  const upc_shared_ptr_t shared = upc_all_alloc(1, longest);
  char name[longest] = {};
  if (MYTHREAD == 0) {
    std::snprintf(name, sizeof name, "/tmp/weft-away-XXXXXX");
    const int file = mkstemp(name);
    if (file < 0 || ftruncate(file, bytes) != 0) std::abort();
    close(file);
    upc_memput(shared, name, sizeof name);
  }
  upc_barrier;
  upc_memget(name, shared, sizeof name);
  const int file = open(name, O_RDWR);
  if (file < 0) std::abort();
  void* const there = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (there == MAP_FAILED) std::abort();
  close(file);
  words_ = static_cast<std::atomic<std::uint64_t>*>(there);
  upc_barrier;
  if (MYTHREAD == 0) unlink(name);
  upc_all_free(shared);
}

blackboard::~blackboard() {
  munmap(words_, words * sizeof *words_);
}

} // namespace calls
