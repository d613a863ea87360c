// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/* The programs of the tests that run as jobs of several ranks. All of them are linked into one executable,
   weft_jobs.

   A suite is called between weft_init and weft_finalize, by all ranks, and behind other suites of the same
   session. So it frees what it allocates, restores the error handler, and counts its failures from zero. It
   returns 0 when it passes.

       WEFT_SUITE(locks_fair) {
         const int turns = argc > 1 ? atoi(argv[1]) : 100;
         ...
         return failures == 0 ? 0 : 1;
       }

   A program that needs a process of its own (it dies, or calls weft_init itself) is a WEFT_PROGRAM, with the
   duties of a main function. CMake makes the table of both from the lines weft_add_suite_program and
   weft_add_program. */
#ifdef __cplusplus
#define WEFT_SUITE(name)                                                                                     \
  extern "C" int weft_suite_##name(int argc, char** argv);                                                   \
  extern "C" int weft_suite_##name([[maybe_unused]] int argc, [[maybe_unused]] char** argv)
#define WEFT_PROGRAM(name)                                                                                   \
  extern "C" int weft_program_##name(int argc, char** argv);                                                 \
  extern "C" int weft_program_##name([[maybe_unused]] int argc, [[maybe_unused]] char** argv)
#else
#define WEFT_SUITE(name)                                                                                     \
  int weft_suite_##name(int argc, char** argv);                                                              \
  int weft_suite_##name(__attribute__((unused)) int argc, __attribute__((unused)) char** argv)
#define WEFT_PROGRAM(name)                                                                                   \
  int weft_program_##name(int argc, char** argv);                                                            \
  int weft_program_##name(__attribute__((unused)) int argc, __attribute__((unused)) char** argv)
#endif
