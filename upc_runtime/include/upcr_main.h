// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "upcr/program.h"

/* The main function of a program that was translated (the user's is user_main), or compiled by GUPC or
 * clang-upc (upc_main, with UPCR_COMPILED defined). A file with this include alone is linked to the others;
 * weftcc makes it. */
#ifdef UPCR_COMPILED
#define UPCR_USER_MAIN upc_main
#else
#define UPCR_USER_MAIN user_main
#endif
#ifndef UPCR_THREADS /* what compiled objects are for; units of translated ones have it themselves */
#define UPCR_THREADS 0
#endif
extern int UPCR_USER_MAIN(int, char**);

/* The linker makes these names for sections of these names, if there are any. */
#define UPCRI_WEAK __attribute__((weak, visibility("hidden")))
extern const upcr_unit_t* const __start_weft_upc_units[] UPCRI_WEAK;
extern const upcr_unit_t* const __stop_weft_upc_units[] UPCRI_WEAK;
extern const char __start_upc_shared[] UPCRI_WEAK;
extern const char __stop_upc_shared[] UPCRI_WEAK;
extern void (*const __start_upc_init_array[])(void) UPCRI_WEAK;
extern void (*const __stop_upc_init_array[])(void) UPCRI_WEAK;

int main(int argc, char** argv) {
  const upcr_program_t program = {
      __start_weft_upc_units,
      (size_t)(__stop_weft_upc_units - __start_weft_upc_units),
      {(uintptr_t)__start_upc_shared, (size_t)(__stop_upc_shared - __start_upc_shared), __start_upc_shared,
       __start_upc_init_array, (size_t)(__stop_upc_init_array - __start_upc_init_array)},
      UPCR_USER_MAIN,
      UPCR_THREADS};
  return upcr_run(&program, argc, argv);
}
