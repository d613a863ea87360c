// One block of shared memory per thread, and the gathering of one value per thread: what examples need beside
// the collective that they show.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <upc.h>
#include <upc_castable.h>
#include <upc_collective.h>
#include <vector>

namespace example {

// `shared [nbytes] char blocks[THREADS * nbytes]`: block i lives with thread i. Construction and destruction
// are collective.
class shared_blocks {
public:
  explicit shared_blocks(std::size_t nbytes)
      : blocks_(upc_all_alloc(static_cast<std::size_t>(THREADS), nbytes)) {
    local_ = upc_cast(upc_ptradd(blocks_, 1, nbytes, MYTHREAD));
    if (local_ == nullptr)
      throw std::runtime_error("no room for " + std::to_string(nbytes) +
                               " bytes of shared memory per thread: raise WEFT_HEAP_SIZE");
  }
  shared_blocks(const shared_blocks&) = delete;
  shared_blocks& operator=(const shared_blocks&) = delete;
  ~shared_blocks() { upc_all_free(blocks_); }

  upc_shared_ptr_t shared() const { return blocks_; }
  template <class T> T* local() const { return static_cast<T*>(local_); }

private:
  upc_shared_ptr_t blocks_;
  void* local_;
};

// Every thread's value, in the order of the threads, on every thread.
template <class T> std::vector<T> gather(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> values(static_cast<std::size_t>(THREADS));
  const shared_blocks mine(sizeof(T));
  const shared_blocks all(values.size() * sizeof(T));
  std::memcpy(mine.local<void>(), &value, sizeof(T));
  upc_all_gather_all(all.shared(), mine.shared(), sizeof(T), UPC_IN_MYSYNC | UPC_OUT_MYSYNC);
  std::memcpy(values.data(), all.local<void>(), values.size() * sizeof(T));
  return values;
}

} // namespace example
