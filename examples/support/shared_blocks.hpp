// SPDX-License-Identifier: BSD-3-Clause
// One block of shared memory per thread, and the gathering of one value per thread: what examples need beside
// the collective that they show.
#pragma once

#include <cstddef>
#include <cstring>
#include <exception>
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
  // Throws when the shared heap is too small, and names the setting that makes it larger.
  explicit shared_blocks(std::size_t nbytes)
      : blocks_(upc_all_alloc(static_cast<std::size_t>(THREADS), nbytes)),
        local_(upc_cast(upc_ptradd(blocks_, 1, nbytes, MYTHREAD))) {}
  shared_blocks(const shared_blocks&) = delete;
  shared_blocks& operator=(const shared_blocks&) = delete;
  ~shared_blocks() {
    // To free is collective: a thread that fails alone would wait here for ever and never say why.
    if (std::uncaught_exceptions() == 0) upc_all_free(blocks_);
  }

  upc_shared_ptr_t shared() const { return blocks_; }
  template <class T> T* local() const { return static_cast<T*>(local_); }

private:
  upc_shared_ptr_t blocks_;
  void* local_;
};

// Gathers every thread's value on every thread, in the order of the threads; again and again with one pair of
// buffers, for a thread leaves with its own value read and its own row complete.
template <class T> class gatherer {
  static_assert(std::is_trivially_copyable_v<T>);

public:
  std::vector<T> operator()(const T& value) {
    std::memcpy(mine_.local<void>(), &value, sizeof(T));
    upc_all_gather_all(all_.shared(), mine_.shared(), sizeof(T), UPC_IN_MYSYNC | UPC_OUT_MYSYNC);
    std::vector<T> values(static_cast<std::size_t>(THREADS));
    std::memcpy(values.data(), all_.local<void>(), values.size() * sizeof(T));
    return values;
  }

private:
  shared_blocks mine_{sizeof(T)};
  shared_blocks all_{static_cast<std::size_t>(THREADS) * sizeof(T)};
};

} // namespace example
