# SPDX-License-Identifier: BSD-3-Clause
# weft_mpi_flags(mpi prefix): asks an MPI's own compiler wrapper for its flags; the compiler itself stays the project's,
# as the wrapper's is the same g++. Both wrappers print the command that they would run for -show. Sets PREFIX_found,
# PREFIX_includes (folders) and PREFIX_link (all else) for the caller.
function(weft_mpi_flags mpi prefix)
  find_program(WEFT_MPICXX_${mpi} mpicxx.${mpi} DOC "C++ compiler of ${mpi}")
  set(${prefix}_found OFF PARENT_SCOPE)
  if(NOT WEFT_MPICXX_${mpi})
    return()
  endif()
  execute_process(COMMAND ${WEFT_MPICXX_${mpi}} -show OUTPUT_VARIABLE command OUTPUT_STRIP_TRAILING_WHITESPACE
                  COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${command}")
  list(POP_FRONT flags)
  set(includes ${flags})
  list(FILTER includes INCLUDE REGEX "^-I")
  list(TRANSFORM includes REPLACE "^-I" "")
  list(FILTER flags EXCLUDE REGEX "^-I")
  set(${prefix}_found ON PARENT_SCOPE)
  set(${prefix}_includes ${includes} PARENT_SCOPE)
  set(${prefix}_link ${flags} PARENT_SCOPE)
endfunction()
