// SPDX-License-Identifier: BSD-3-Clause
#include <upc.h>

/* In C a barrier without parentheses must not compile, nor be nothing. */
void f(void) {
  STATEMENT;
}
