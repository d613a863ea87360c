// SPDX-License-Identifier: BSD-3-Clause
// A thread waits for an answer that takes long: answers HOW SECONDS
//   lock        the last thread holds a lock of thread 0 and computes; thread 1 wants it; the others are in a
//               barrier
//   allocate    thread 0 computes, in no call of the library; thread 1 wants memory of which thread 0 keeps
//               the books
//   atomic      the same, and thread 1 adds to a number of thread 0's, which it does not reach
//   deadlock    each thread holds a lock and wants that of the next one: nothing else is waited for, for ever
#include "tests/jobs/suite.h"

#include <weft/weft.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

WEFT_PROGRAM(answers) {
  const std::string how = argc > 1 ? argv[1] : "lock";
  const double seconds = argc > 2 ? std::atof(argv[2]) : 2;
  weft_init(&argc, &argv);
  const bool locks = how == "lock";
  const upc_lock_t lock = upc_all_lock_alloc(); // the first is thread 0's
  const upc_shared_ptr_t number = upc_all_alloc(1, sizeof(int));
  const upc_atomicdomain_t domain = upc_all_atomicdomain_alloc(UPC_INT, UPC_ADD, UPC_ATOMIC_HINT_DEFAULT);
  if (how == "deadlock") {
    const upc_lock_t locks_of_all[2] = {lock, upc_all_lock_alloc()};
    upc_lock(locks_of_all[MYTHREAD % 2]);
    upc_barrier;
    upc_lock(locks_of_all[(MYTHREAD + 1) % 2]);
  }
  const int busy = locks ? THREADS - 1 : 0, one = 1;
  if (MYTHREAD == busy && locks) upc_lock(lock);
  upc_barrier;
  if (MYTHREAD == busy) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); // no core of other tests is taken
    if (locks) upc_unlock(lock);
  } else if (MYTHREAD == 1) {
    if (locks) {
      upc_lock(lock);
      upc_unlock(lock);
    } else if (how == "allocate") {
      upc_free(upc_global_alloc(1, 100));
    } else {
      upc_atomic_relaxed(domain, nullptr, UPC_ADD, number, &one, nullptr);
    }
  }
  upc_barrier;
  if (MYTHREAD == 1) std::puts("went on");
  weft_finalize();
  return 0;
}
