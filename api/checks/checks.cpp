#include "api/checks/checks.hpp"

namespace weft::api {

void fail_in_user_code(const char* call) {
  fail(call, "", "",
       "must not be called by a function that a collective has called: it may read shared memory, cast "
       "pointers "
       "and ask, but neither begin a collective nor wait; do that when the operation is complete");
}

void fail_thread(const char* call, const char* argument, std::uint64_t thread, std::uint32_t threads) {
  fail(call, argument, "thread " + std::to_string(thread),
       "there is no such thread: threads are 0 to " + std::to_string(threads - 1));
}

void fail_range(const char* call, const char* argument, upc_shared_ptr_t p, checked bytes) {
  fail(call, argument, "(" + describe(p) + ")",
       "the " + std::to_string(bytes.plain()) +
           " bytes there are not all in the shared heap: allocate more, or pass a smaller size");
}

void fail_symmetric(const runtime& rt, const char* call, const char* argument, upc_shared_ptr_t p,
                    checked bytes) {
  if (!rt.in_heap(p.addr, bytes) || rt.in_symmetric_heap(p.addr, 1)) fail_range(call, argument, p, bytes);
  fail_pointer(call, argument, p,
               "lies in memory from upc_alloc, which one thread has, and every thread must have its part at "
               "this place: pass memory from upc_all_alloc or upc_global_alloc, or a shared array");
}

void fail_alignment(const char* call, const char* argument, upc_shared_ptr_t p, std::size_t alignment) {
  fail(call, argument, "(" + describe(p) + ")",
       "must be aligned to " + std::to_string(alignment) + " bytes: pass an array of the right type");
}

void fail_product(const char* call, const char* argument, std::size_t a, std::size_t b) {
  fail(call, argument, std::to_string(a) + " * " + std::to_string(b),
       "does not fit into " + std::to_string(8 * sizeof(std::size_t)) + " bits: pass a smaller size");
}

} // namespace weft::api
