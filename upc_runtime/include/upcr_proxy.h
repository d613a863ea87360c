// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "upcr.h"

/* The names in capitals that the Berkeley translator writes: each is the function of the same name in upcr/.
 * In the arguments p and q are pointers-to-shared, n is a number of bytes, h a handle, and v the value. */

/* Memory and locks. */
#define UPCR_ALLOC(n) upcr_alloc((n))
#define UPCR_GLOBAL_ALLOC(blocks, n) upcr_global_alloc((blocks), (n))
#define UPCR_ALL_ALLOC(blocks, n) upcr_all_alloc((blocks), (n))
#define UPCR_FREE(p) upcr_free((p))
#define UPCR_ALL_FREE(p) upcr_all_free((p))
#define UPCR_GLOBAL_LOCK_ALLOC() upcr_global_lock_alloc()
#define UPCR_ALL_LOCK_ALLOC() upcr_all_lock_alloc()
#define UPCR_LOCK(p) upcr_lock((p))
#define UPCR_LOCK_ATTEMPT(p) upcr_lock_attempt((p))
#define UPCR_UNLOCK(p) upcr_unlock((p))
#define UPCR_LOCK_FREE(p) upcr_lock_free((p))
#define UPCR_ALL_LOCK_FREE(p) upcr_all_lock_free((p))

/* Relaxed accesses. Of a float or a double, by its private end, they go without another register; and inside
 * of a walk by what it has looked up. */
#define UPCRI_GET(to, p, offset, n)                                                                          \
  _Generic((to), float* : upcri_get_float, double* : upcri_get_double, default : upcri_get)(                 \
      (to), (p), (offset), (n), upcri_here)
#define UPCRI_PUT(p, offset, from, n)                                                                        \
  _Generic((from), float* : upcri_put_float, double* : upcri_put_double, default : upcri_put)(               \
      (p), (offset), (from), (n), upcri_here)
#define UPCR_GET_SHARED(to, p, offset, n) UPCRI_GET(to, p, offset, n)
#define UPCR_PUT_SHARED(p, offset, from, n) UPCRI_PUT(p, offset, from, n)
#define UPCR_GET_NB_SHARED(to, p, offset, n) upcr_get_nb_shared((to), (p), (offset), (n))
#define UPCR_PUT_NB_SHARED(p, offset, from, n) upcr_put_nb_shared((p), (offset), (from), (n))
#define UPCR_GET_NBI_SHARED(to, p, offset, n) upcr_get_nbi_shared((to), (p), (offset), (n))
#define UPCR_PUT_NBI_SHARED(p, offset, from, n) upcr_put_nbi_shared((p), (offset), (from), (n))
#define UPCR_GET_NB_SHARED_VAL(p, offset, n) upcr_get_nb_shared_val((p), (offset), (n))
#define UPCR_GET_SHARED_VAL(p, offset, n) upcri_get_val((p), (offset), (n), upcri_here)
#define UPCR_PUT_SHARED_VAL(p, offset, v, n)                                                                 \
  upcri_put_val((p), (offset), (upcr_register_value_t)(v), (n), upcri_here)
#define UPCR_PUT_NB_SHARED_VAL(p, offset, v, n)                                                              \
  upcr_put_nb_shared_val((p), (offset), (upcr_register_value_t)(v), (n))
#define UPCR_GET_SHARED_FLOATVAL(p, offset) upcri_get_floatval((p), (offset), upcri_here)
#define UPCR_PUT_SHARED_FLOATVAL(p, offset, v) upcri_put_floatval((p), (offset), (v), upcri_here)
#define UPCR_GET_SHARED_DOUBLEVAL(p, offset) upcri_get_doubleval((p), (offset), upcri_here)
#define UPCR_PUT_SHARED_DOUBLEVAL(p, offset, v) upcri_put_doubleval((p), (offset), (v), upcri_here)
#define UPCR_GET_PSHARED(to, p, offset, n) UPCRI_GET(to, p, offset, n)
#define UPCR_PUT_PSHARED(p, offset, from, n) UPCRI_PUT(p, offset, from, n)
#define UPCR_GET_NB_PSHARED(to, p, offset, n) upcr_get_nb_pshared((to), (p), (offset), (n))
#define UPCR_PUT_NB_PSHARED(p, offset, from, n) upcr_put_nb_pshared((p), (offset), (from), (n))
#define UPCR_GET_NBI_PSHARED(to, p, offset, n) upcr_get_nbi_pshared((to), (p), (offset), (n))
#define UPCR_PUT_NBI_PSHARED(p, offset, from, n) upcr_put_nbi_pshared((p), (offset), (from), (n))
#define UPCR_GET_NB_PSHARED_VAL(p, offset, n) upcr_get_nb_pshared_val((p), (offset), (n))
#define UPCR_GET_PSHARED_VAL(p, offset, n) upcri_get_val((p), (offset), (n), upcri_here)
#define UPCR_PUT_PSHARED_VAL(p, offset, v, n)                                                                \
  upcri_put_val((p), (offset), (upcr_register_value_t)(v), (n), upcri_here)
#define UPCR_PUT_NB_PSHARED_VAL(p, offset, v, n)                                                             \
  upcr_put_nb_pshared_val((p), (offset), (upcr_register_value_t)(v), (n))
#define UPCR_GET_PSHARED_FLOATVAL(p, offset) upcri_get_floatval((p), (offset), upcri_here)
#define UPCR_PUT_PSHARED_FLOATVAL(p, offset, v) upcri_put_floatval((p), (offset), (v), upcri_here)
#define UPCR_GET_PSHARED_DOUBLEVAL(p, offset) upcri_get_doubleval((p), (offset), upcri_here)
#define UPCR_PUT_PSHARED_DOUBLEVAL(p, offset, v) upcri_put_doubleval((p), (offset), (v), upcri_here)

/* The same of what walks have found (upcr/forall.h). */
#define UPCRI_LOAD(to, from, n)                                                                              \
  _Generic((to), float* : upcri_load_float, double* : upcri_load_double, default : upcri_load)((to), (from), (n))
#define UPCRI_STORE(to, from, n)                                                                             \
  _Generic((from), float* : upcri_store_float, double* : upcri_store_double, default : upcri_store)(         \
      (to), (from), (n))
#define UPCRI_AT_GET_SHARED(to, place, offset, n)                                                            \
  UPCRI_AT(place, offset, n, UPCRI_LOAD(to, upcri_found_at.heap + upcri_behind_it, n),                       \
           UPCRI_GET(to, upcri_found_at.pointer, offset, n))
#define UPCRI_AT_PUT_SHARED(place, offset, from, n)                                                          \
  UPCRI_AT(place, offset, n, UPCRI_STORE(upcri_found_at.heap + upcri_behind_it, from, n),                    \
           UPCRI_PUT(upcri_found_at.pointer, offset, from, n))
#define UPCRI_AT_GET_SHARED_VAL(place, offset, n)                                                            \
  UPCRI_AT(place, offset, n, upcri_load_val(upcri_found_at.heap + upcri_behind_it, n),                       \
           UPCR_GET_SHARED_VAL(upcri_found_at.pointer, offset, n))
#define UPCRI_AT_PUT_SHARED_VAL(place, offset, v, n)                                                         \
  ({                                                                                                         \
    const upcr_register_value_t upcri_value = (upcr_register_value_t)(v);                                    \
    UPCRI_AT(place, offset, n, upcri_store_val(upcri_found_at.heap + upcri_behind_it, upcri_value, n),       \
             UPCR_PUT_SHARED_VAL(upcri_found_at.pointer, offset, upcri_value, n));                           \
  })
#define UPCRI_AT_GET_SHARED_FLOATVAL(place, offset)                                                          \
  UPCRI_AT(place, offset, 4, *(const volatile upcri_float*)(upcri_found_at.heap + upcri_behind_it),          \
           UPCR_GET_SHARED_FLOATVAL(upcri_found_at.pointer, offset))
#define UPCRI_AT_PUT_SHARED_FLOATVAL(place, offset, v)                                                       \
  ({                                                                                                         \
    const float upcri_value = (v);                                                                           \
    UPCRI_AT(place, offset, sizeof upcri_value,                                                              \
             (void)(*(volatile upcri_float*)(upcri_found_at.heap + upcri_behind_it) = upcri_value),          \
             UPCR_PUT_SHARED_FLOATVAL(upcri_found_at.pointer, offset, upcri_value));                         \
  })
#define UPCRI_AT_GET_SHARED_DOUBLEVAL(place, offset)                                                         \
  UPCRI_AT(place, offset, 8, *(const volatile upcri_double*)(upcri_found_at.heap + upcri_behind_it),         \
           UPCR_GET_SHARED_DOUBLEVAL(upcri_found_at.pointer, offset))
#define UPCRI_AT_PUT_SHARED_DOUBLEVAL(place, offset, v)                                                      \
  ({                                                                                                         \
    const double upcri_value = (v);                                                                          \
    UPCRI_AT(place, offset, sizeof upcri_value,                                                              \
             (void)(*(volatile upcri_double*)(upcri_found_at.heap + upcri_behind_it) = upcri_value),         \
             UPCR_PUT_SHARED_DOUBLEVAL(upcri_found_at.pointer, offset, upcri_value));                        \
  })

/* Strict accesses. */
#define UPCR_GET_SHARED_STRICT(to, p, offset, n) upcr_get_shared_strict((to), (p), (offset), (n))
#define UPCR_PUT_SHARED_STRICT(p, offset, from, n) upcr_put_shared_strict((p), (offset), (from), (n))
#define UPCR_GET_NB_SHARED_STRICT(to, p, offset, n) upcr_get_nb_shared_strict((to), (p), (offset), (n))
#define UPCR_PUT_NB_SHARED_STRICT(p, offset, from, n) upcr_put_nb_shared_strict((p), (offset), (from), (n))
#define UPCR_GET_SHARED_VAL_STRICT(p, offset, n) upcr_get_shared_val_strict((p), (offset), (n))
#define UPCR_PUT_SHARED_VAL_STRICT(p, offset, v, n)                                                          \
  upcr_put_shared_val_strict((p), (offset), (upcr_register_value_t)(v), (n))
#define UPCR_PUT_NB_SHARED_VAL_STRICT(p, offset, v, n)                                                       \
  upcr_put_nb_shared_val_strict((p), (offset), (upcr_register_value_t)(v), (n))
#define UPCR_GET_SHARED_FLOATVAL_STRICT(p, offset) upcr_get_shared_floatval_strict((p), (offset))
#define UPCR_PUT_SHARED_FLOATVAL_STRICT(p, offset, v) upcr_put_shared_floatval_strict((p), (offset), (v))
#define UPCR_GET_SHARED_DOUBLEVAL_STRICT(p, offset) upcr_get_shared_doubleval_strict((p), (offset))
#define UPCR_PUT_SHARED_DOUBLEVAL_STRICT(p, offset, v) upcr_put_shared_doubleval_strict((p), (offset), (v))
#define UPCR_GET_PSHARED_STRICT(to, p, offset, n) upcr_get_pshared_strict((to), (p), (offset), (n))
#define UPCR_PUT_PSHARED_STRICT(p, offset, from, n) upcr_put_pshared_strict((p), (offset), (from), (n))
#define UPCR_GET_NB_PSHARED_STRICT(to, p, offset, n) upcr_get_nb_pshared_strict((to), (p), (offset), (n))
#define UPCR_PUT_NB_PSHARED_STRICT(p, offset, from, n) upcr_put_nb_pshared_strict((p), (offset), (from), (n))
#define UPCR_GET_PSHARED_VAL_STRICT(p, offset, n) upcr_get_pshared_val_strict((p), (offset), (n))
#define UPCR_PUT_PSHARED_VAL_STRICT(p, offset, v, n)                                                         \
  upcr_put_pshared_val_strict((p), (offset), (upcr_register_value_t)(v), (n))
#define UPCR_PUT_NB_PSHARED_VAL_STRICT(p, offset, v, n)                                                      \
  upcr_put_nb_pshared_val_strict((p), (offset), (upcr_register_value_t)(v), (n))
#define UPCR_GET_PSHARED_FLOATVAL_STRICT(p, offset) upcr_get_pshared_floatval_strict((p), (offset))
#define UPCR_PUT_PSHARED_FLOATVAL_STRICT(p, offset, v) upcr_put_pshared_floatval_strict((p), (offset), (v))
#define UPCR_GET_PSHARED_DOUBLEVAL_STRICT(p, offset) upcr_get_pshared_doubleval_strict((p), (offset))
#define UPCR_PUT_PSHARED_DOUBLEVAL_STRICT(p, offset, v) upcr_put_pshared_doubleval_strict((p), (offset), (v))

/* Completion. A translator may keep a handle in a variable of another type of that size. */
#define UPCR_WAIT_SYNCNB(h) upcr_wait_syncnb(*(upcr_handle_t*)&(h))
#define UPCR_TRY_SYNCNB(h) upcr_try_syncnb(*(upcr_handle_t*)&(h))
#define UPCR_WAIT_SYNCNB_STRICT(h) upcr_wait_syncnb_strict(*(upcr_handle_t*)&(h))
#define UPCR_TRY_SYNCNB_STRICT(h) upcr_try_syncnb_strict(*(upcr_handle_t*)&(h))
#define UPCR_WAIT_SYNCNB_VALGET(h) upcr_wait_syncnb_valget(*(upcr_valget_handle_t*)&(h))
#define UPCR_WAIT_SYNCNBI_GETS upcr_wait_syncnbi_gets
#define UPCR_WAIT_SYNCNBI_PUTS upcr_wait_syncnbi_puts
#define UPCR_WAIT_SYNCNBI_ALL upcr_wait_syncnbi_all
#define UPCR_TRY_SYNCNBI_GETS upcr_try_syncnbi_gets
#define UPCR_TRY_SYNCNBI_PUTS upcr_try_syncnbi_puts
#define UPCR_TRY_SYNCNBI_ALL upcr_try_syncnbi_all
#define UPCR_BEGIN_NBI_ACCESSREGION upcr_begin_nbi_accessregion
#define UPCR_END_NBI_ACCESSREGION upcr_end_nbi_accessregion

/* Copies. */
#define UPCR_MEMGET(to, p, n) upcr_memget((to), (p), (n))
#define UPCR_MEMPUT(p, from, n) upcr_memput((p), (const void*)(from), (n))
#define UPCR_MEMCPY(p, q, n) upcr_memcpy((p), (q), (n))
#define UPCR_MEMSET(p, c, n) upcr_memset((p), (c), (n))
#define UPCR_NB_MEMGET(to, p, n) upcr_nb_memget((to), (p), (n))
#define UPCR_NB_MEMPUT(p, from, n) upcr_nb_memput((p), (const void*)(from), (n))
#define UPCR_NB_MEMCPY(p, q, n) upcr_nb_memcpy((p), (q), (n))
#define UPCR_NB_MEMSET(p, c, n) upcr_nb_memset((p), (c), (n))
#define UPCR_NBI_MEMGET(to, p, n) upcr_nbi_memget((to), (p), (n))
#define UPCR_NBI_MEMPUT(p, from, n) upcr_nbi_memput((p), (const void*)(from), (n))
#define UPCR_NBI_MEMCPY(p, q, n) upcr_nbi_memcpy((p), (q), (n))
#define UPCR_NBI_MEMSET(p, c, n) upcr_nbi_memset((p), (c), (n))

/* Pointers. */
#define UPCR_ISVALID_SHARED(p) upcr_isvalid_shared((p))
#define UPCR_ISVALID_PSHARED(p) upcr_isvalid_pshared((p))
#define UPCR_ISNULL_SHARED(p) upcr_isnull_shared((p))
#define UPCR_ISNULL_PSHARED(p) upcr_isnull_pshared((p))
#define UPCR_THREADOF_SHARED(p) upcr_threadof_shared((p))
#define UPCR_THREADOF_PSHARED(p) upcr_threadof_pshared((p))
#define UPCR_PHASEOF_SHARED(p) upcr_phaseof_shared((p))
#define UPCR_PHASEOF_PSHARED(p) upcr_phaseof_pshared((p))
#define UPCR_ADDRFIELD_SHARED(p) upcr_addrfield_shared((p))
#define UPCR_ADDRFIELD_PSHARED(p) upcr_addrfield_pshared((p))
#define UPCR_SHARED_TO_LOCAL(p) upcr_shared_to_local((p))
#define UPCR_SETNULL_SHARED(p) upcr_setnull_shared((upcr_shared_ptr_t*)(p))
#define UPCR_HASMYAFFINITY_SHARED(p) upcr_hasMyAffinity_shared((p))
#define UPCR_PSHARED_TO_LOCAL(p) upcr_pshared_to_local((p))
#define UPCR_SETNULL_PSHARED(p) upcr_setnull_pshared((upcr_pshared_ptr_t*)(p))
#define UPCR_HASMYAFFINITY_PSHARED(p) upcr_hasMyAffinity_pshared((p))
#define UPCR_SHARED_TO_PSHARED(p) upcr_shared_to_pshared((p))
#define UPCR_PSHARED_TO_SHARED(p) upcr_pshared_to_shared((p))
#define UPCR_SHARED_RESETPHASE(p) upcr_shared_resetphase((p))
#define UPCR_ISEQUAL_SHARED_SHARED(p, q) upcr_isequal_shared_shared((p), (q))
#define UPCR_ISEQUAL_SHARED_PSHARED(p, q) upcr_isequal_shared_pshared((p), (q))
#define UPCR_ISEQUAL_PSHARED_SHARED(p, q) upcr_isequal_pshared_shared((p), (q))
#define UPCR_ISEQUAL_PSHARED_PSHARED(p, q) upcr_isequal_pshared_pshared((p), (q))
#define UPCR_ADD_SHARED(p, size, inc, block) upcr_add_shared((p), (size), (inc), (block))
#define UPCR_ADD_PSHAREDI(p, size, inc) upcr_add_psharedI((p), (size), (inc))
#define UPCR_ADD_PSHARED1(p, size, inc) upcr_add_pshared1((p), (size), (inc))
#define UPCR_INC_SHARED(p, size, inc, block) upcr_inc_shared((p), (size), (inc), (block))
#define UPCR_INC_PSHAREDI(p, size, inc) upcr_inc_psharedI((p), (size), (inc))
#define UPCR_INC_PSHARED1(p, size, inc) upcr_inc_pshared1((p), (size), (inc))
#define UPCR_SUB_SHARED(p, q, size, block) upcr_sub_shared((p), (q), (size), (block))
#define UPCR_SUB_PSHAREDI(p, q, size) upcr_sub_psharedI((p), (q), (size))
#define UPCR_SUB_PSHARED1(p, q, size) upcr_sub_pshared1((p), (q), (size))

/* Sizes, and what casts the arguments and results of the above for a translator: they have their types. */
#define UPCR_SHARED_SIZE sizeof(upcr_shared_ptr_t)
#define UPCR_PSHARED_SIZE sizeof(upcr_pshared_ptr_t)
#define UPCR_RET_shared_ptr_t(call) (call)
#define UPCR_ARG_shared_ptr_t(arg) (arg)
#define UPCR_RET_pshared_ptr_t(call) (call)
#define UPCR_ARG_pshared_ptr_t(arg) (arg)
#define UPCR_RET_handle_t(call) (call)
#define UPCR_ARG_handle_t(arg) (*(upcr_handle_t*)&(arg))
#define UPCR_RET_val_handle_t(call) (call)
#define UPCR_ARG_val_handle_t(arg) (*(upcr_valget_handle_t*)&(arg))
#define UPCR_RET_reg_value_t(call) ((upcr_register_value_t)(call))
#define UPCR_ARG_reg_value_t(arg) ((upcr_register_value_t)(arg))
#define upcr_add_shared_ptr upcr_add_shared
