// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <stdio.h>
#include <string.h>
#include <upc.h>

/* What the tests of the C interface need: checks that go on, and an error handler that keeps what it is told.
 */
static int failures, handled;
static char last_message[512], last_call[64], last_argument[64];

static void check(int condition, const char* what, int line) {
  if (condition) return;
  fprintf(stderr, "line %d: %s\n", line, what);
  ++failures;
}
#define CHECK(condition) check((condition) != 0, #condition, __LINE__)

static void keep(const char* message, const weft_error_info_t* info) {
  ++handled;
  snprintf(last_message, sizeof last_message, "%s", message);
  snprintf(last_call, sizeof last_call, "%s", info->call);
  snprintf(last_argument, sizeof last_argument, "%s", info->argument);
}

/* Whether there has been one error since the last question, and of this call and argument. */
static int reported(const char* call, const char* argument) {
  const int once = handled == 1;
  handled = 0;
  return once && strcmp(last_call, call) == 0 && strcmp(last_argument, argument) == 0 &&
         strstr(last_message, call) == last_message;
}
