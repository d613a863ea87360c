// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/* The type of an element, for calls that are told it by a number (UPC 1.3, 7.3.2). UPC_CHAR is signed char;
 * the types of fixed size are those of stdint.h; UPC_PTS is a pointer-to-shared. The last four are not in the
 * standard: with them each of the 17 types of the reductions has one. */
typedef int upc_type_t;
#define UPC_CHAR 1
#define UPC_UCHAR 2
#define UPC_SHORT 3
#define UPC_USHORT 4
#define UPC_INT 5
#define UPC_UINT 6
#define UPC_LONG 7
#define UPC_ULONG 8
#define UPC_LLONG 9
#define UPC_ULLONG 10
#define UPC_INT8 11
#define UPC_UINT8 12
#define UPC_INT16 13
#define UPC_UINT16 14
#define UPC_INT32 15
#define UPC_UINT32 16
#define UPC_INT64 17
#define UPC_UINT64 18
#define UPC_FLOAT 19
#define UPC_DOUBLE 20
#define UPC_LDOUBLE 21
#define UPC_PTS 22
#define WEFT_TYPE_BOOL 23     /* _Bool, bool */
#define WEFT_TYPE_CFLOAT 24   /* float _Complex */
#define WEFT_TYPE_CDOUBLE 25  /* double _Complex */
#define WEFT_TYPE_CLDOUBLE 26 /* long double _Complex */
