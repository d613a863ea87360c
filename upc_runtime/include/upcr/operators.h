// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <stdint.h>
#include <string.h>

/* The types and operators of text by Berkeley's translator that C has no name for: letters for the type (I4
 * and I8 signed, U4 and U8 without a sign, F4, F8 and FQ for float, double and long double), and the
 * operator. */
typedef int8_t _INT8;
typedef int16_t _INT16;
typedef int32_t _INT32;
typedef int64_t _INT64;
typedef uint8_t _UINT8;
typedef uint16_t _UINT16;
typedef uint32_t _UINT32;
typedef uint64_t _UINT64;
typedef float _IEEE32;
typedef double _IEEE64;
typedef long double _IEEEX80;
typedef long double _QUAD;
typedef uint8_t _BOOLEAN;
typedef char _STRING[];
typedef void __UNKNOWN_TYPE;

#define UPCRI_OPERATOR static inline __attribute__((unused))
#define UPCRI_ORDERED(letters, type)                                                                         \
  UPCRI_OPERATOR type _##letters##MAX(type a, type b) {                                                      \
    return a > b ? a : b;                                                                                    \
  }                                                                                                          \
  UPCRI_OPERATOR type _##letters##MIN(type a, type b) {                                                      \
    return a < b ? a : b;                                                                                    \
  }
#define UPCRI_SIGNED(letters, type)                                                                          \
  UPCRI_OPERATOR type _##letters##ABS(type a) {                                                              \
    return a > 0 ? a : -a;                                                                                   \
  }
/* Division towards the smaller and towards the greater, and what each leaves. Shifts are by the lowest bits
 * of the second operand, and by the letter to the right with the sign (A) or with zeros (L). */
#define UPCRI_INTEGER(letters, type, with_sign, without, signs)                                              \
  UPCRI_ORDERED(letters, type)                                                                               \
  UPCRI_OPERATOR type _##letters##DIVFLOOR(type a, type b) {                                                 \
    return (type)(a / b - (a % b != 0 && signs && (with_sign)(a ^ b) < 0));                                  \
  }                                                                                                          \
  UPCRI_OPERATOR type _##letters##DIVCEIL(type a, type b) {                                                  \
    return (type)(a / b + (a % b != 0 && !(signs && (with_sign)(a ^ b) < 0)));                               \
  }                                                                                                          \
  UPCRI_OPERATOR type _##letters##MODFLOOR(type a, type b) {                                                 \
    return (type)(a - b * _##letters##DIVFLOOR(a, b));                                                       \
  }                                                                                                          \
  UPCRI_OPERATOR type _##letters##MODCEIL(type a, type b) {                                                  \
    return (type)(a - b * _##letters##DIVCEIL(a, b));                                                        \
  }                                                                                                          \
  UPCRI_OPERATOR type _##letters##SHL(type a, int64_t n) {                                                   \
    return (type)((without)a << (n & (8 * (int)sizeof(type) - 1)));                                          \
  }                                                                                                          \
  UPCRI_OPERATOR type _##letters##ASHR(type a, int64_t n) {                                                  \
    return (type)((with_sign)a >> (n & (8 * (int)sizeof(type) - 1)));                                        \
  }                                                                                                          \
  UPCRI_OPERATOR type _##letters##LSHR(type a, int64_t n) {                                                  \
    return (type)((without)a >> (n & (8 * (int)sizeof(type) - 1)));                                          \
  }                                                                                                          \
  UPCRI_TO_INTEGER(letters, type, F4, float)                                                                 \
  UPCRI_TO_INTEGER(letters, type, F8, double)                                                                \
  UPCRI_TO_INTEGER(letters, type, FQ, long double)
/* To the nearest, and from the middle away from zero; towards zero; up; down. */
#define UPCRI_TO_INTEGER(letters, type, from, real)                                                          \
  UPCRI_OPERATOR type _##letters##from##TRUNC(real a) {                                                      \
    return (type)a;                                                                                          \
  }                                                                                                          \
  UPCRI_OPERATOR type _##letters##from##RND(real a) {                                                        \
    return (type)(a >= 0 ? a + (real)0.5 : a - (real)0.5);                                                   \
  }                                                                                                          \
  UPCRI_OPERATOR type _##letters##from##CEIL(real a) {                                                       \
    return (type)((type)a + ((real)(type)a < a));                                                            \
  }                                                                                                          \
  UPCRI_OPERATOR type _##letters##from##FLOOR(real a) {                                                      \
    return (type)((type)a - ((real)(type)a > a));                                                            \
  }
#define UPCRI_REAL(letters, type, root)                                                                      \
  UPCRI_ORDERED(letters, type)                                                                               \
  UPCRI_SIGNED(letters, type)                                                                                \
  UPCRI_OPERATOR type _##letters##SQRT(type a) {                                                             \
    return root(a);                                                                                          \
  }                                                                                                          \
  UPCRI_OPERATOR type _##letters##RECIP(type a) {                                                            \
    return 1 / a;                                                                                            \
  }                                                                                                          \
  UPCRI_OPERATOR type _##letters##RSQRT(type a) {                                                            \
    return 1 / root(a);                                                                                      \
  }
UPCRI_INTEGER(I4, int32_t, int32_t, uint32_t, 1)
UPCRI_INTEGER(I8, int64_t, int64_t, uint64_t, 1)
UPCRI_INTEGER(U4, uint32_t, int32_t, uint32_t, 0)
UPCRI_INTEGER(U8, uint64_t, int64_t, uint64_t, 0)
UPCRI_SIGNED(I4, int32_t)
UPCRI_SIGNED(I8, int64_t)
UPCRI_REAL(F4, float, __builtin_sqrtf)
UPCRI_REAL(F8, double, __builtin_sqrt)
UPCRI_REAL(FQ, long double, __builtin_sqrtl)
/* The remainder with the sign of the divisor: whose element a negative number is, in upc_forall. */
#define _I4MOD _I4MODFLOOR
#define _I8MOD _I8MODFLOOR

/* The lowest `length` bits of a value, as one of a type, with a sign and without. */
#define INT_CVTL_N(value, type, length)                                                                      \
  ((type)((type)((uint64_t)(value) << (8 * sizeof(type) - (length))) >> (8 * sizeof(type) - (length))))
#define UINT_CVTL_N(value, type, length) ((type)((value) & (((type)1 << (length)) - 1)))
