# SPDX-License-Identifier: BSD-3-Clause
# Programs that run as jobs of several ranks. All are linked into one executable, weft_jobs (tests/jobs).
#
#   weft_add_suite_program(name source...)   a WEFT_SUITE: runs in sessions, behind other suites; a second call for
#                                            the same name adds sources
#   weft_add_program(name source...)         a WEFT_PROGRAM: it needs a process of its own
#   weft_compile_together(source...)         of these, no two have a name of their own that is the same: one call of the
#                                            compiler takes them all, which reads their headers once
#
#   weft_add_suite(name PROGRAM program [ARGS ...] [LONG_ARGS ...] [WHERE condition]
#                  [SESSIONS group...] [TIMEOUT seconds] [LONG])
#
# adds a run of a program to the sessions: with ARGS to those of the standard suite, which cover every pair of values
# of {ranks, hosts, lane, driving, path, spins} that the condition allows; with LONG_ARGS, if given, to those of the
# long suite, which are all; with LONG to the long suite only. WHERE is an expression of Python over these names, such
# as "ranks >= 2 and driving != 'caller'". In the arguments, {seed} is another number in each session, {cases:N} is N
# or, where a session would take long, a third of it, and {of:N} is N or three times as much. With SESSIONS
# the suite belongs to these groups, and to no other session:
#
#   weft_add_session_group(name AT settings... [SETTINGS WEFT_X=y ...] [LAUNCHER weft|mpirun|slurm] [LABELS ...])
#
# where a setting is ranks:hosts:lane:driving:path:spins, of which the end may be left out. A build with a sanitizer
# has the groups that are labelled with its name (tsan, asan), the others have the rest.
#
#   weft_finish_jobs()                       makes the executable, the table and the sessions; once, at the end
find_program(WEFT_MPIRUN NAMES mpirun.openmpi DOC "Open MPI's launcher, for the tests under mpirun")
set(WEFT_JOBS_DIR ${PROJECT_SOURCE_DIR}/tests/jobs)

# The launchers as tests call them: they count the jobs, for the budget of the suite. mpirun gets what it needs for root
# and for more ranks than cores.
set(WEFT_RUN ${PROJECT_BINARY_DIR}/counted/weft)
function(weft_write_counted name program)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/counted/${name} CONTENT "#!/bin/sh
# Starts ${name}, and counts the jobs that tests start.
if [ -n \"$SUITE_LAUNCHES\" ] && [ \"$1\" != --help ] && { [ ${name} != weft ] || [ \"$1\" = run ]; }; then
  echo ${name} >>\"$SUITE_LAUNCHES\"
fi
exec \"${program}\" ${ARGN} \"$@\"
" FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endfunction()
set(WEFT_LAUNCHER "" CACHE FILEPATH "The tool weft that launches the tests, of another build; empty: this build's own")
if(WEFT_LAUNCHER)
  weft_write_counted(weft ${WEFT_LAUNCHER})
else()
  weft_write_counted(weft $<TARGET_FILE:weft_tool>)
endif()
if(WEFT_MPIRUN)
  weft_write_counted(mpirun ${WEFT_MPIRUN} "--allow-run-as-root --oversubscribe --bind-to none")
endif()

# A link for each program and suite, as if it were an executable of its own: programs/late is weft_jobs late.
set(WEFT_PROGRAMS ${PROJECT_BINARY_DIR}/programs)

# What the present build is for: a sanitizer's name as the labels have it, else nothing.
set(WEFT_SANITIZER_LABEL)
if(WEFT_SANITIZE STREQUAL "address")
  set(WEFT_SANITIZER_LABEL asan)
elseif(WEFT_SANITIZE STREQUAL "thread")
  set(WEFT_SANITIZER_LABEL tsan)
endif()

# Builds TARGET for the tests labelled tsan or asan, whichever of the labels are given.
function(weft_build_for_sanitizers target)
  foreach(label tsan asan)
    if(label IN_LIST ARGN)
      add_dependencies(${label}_tests ${target})
    endif()
  endforeach()
endfunction()

function(weft_record_program kind name)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ REGEX "^[^/]")
  get_property(known GLOBAL PROPERTY WEFT_JOB_${kind})
  if(NOT name IN_LIST known)
    set_property(GLOBAL APPEND PROPERTY WEFT_JOB_${kind} ${name})
  endif()
  set_property(GLOBAL APPEND PROPERTY WEFT_JOB_SOURCES_${name} ${ARGN})
endfunction()

function(weft_add_suite_program name)
  weft_record_program(SUITES ${name} ${ARGN})
endfunction()

function(weft_add_program name)
  weft_record_program(PROGRAMS ${name} ${ARGN})
endfunction()

function(weft_compile_together)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ REGEX "^[^/]")
  get_property(known GLOBAL PROPERTY WEFT_JOB_BATCHES)
  list(LENGTH known number)
  set_property(GLOBAL APPEND PROPERTY WEFT_JOB_BATCHES ${number})
  set_property(GLOBAL PROPERTY WEFT_JOB_BATCH_${number} ${ARGN})
endfunction()

function(weft_add_session_group name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LAUNCHER" "AT;SETTINGS;LABELS")
  if(NOT arg_AT OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "weft_add_session_group ${name}: needs AT; not known: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(build ${WEFT_SANITIZER_LABEL})
  set(sanitizers ${arg_LABELS})
  list(FILTER sanitizers INCLUDE REGEX "^(tsan|asan)$")
  if((build AND NOT build IN_LIST sanitizers) OR (sanitizers AND NOT build))
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY WEFT_JOB_GROUPS ${name})
  string(JOIN " " at ${arg_AT})
  string(JOIN " " settings ${arg_SETTINGS})
  string(JOIN " " labels ${arg_LABELS})
  set_property(GLOBAL APPEND_STRING PROPERTY WEFT_JOB_LINES
    "group\tname=${name}\tat=${at}\tsettings=${settings}\tlauncher=${arg_LAUNCHER}\tlabels=${labels}\n")
endfunction()

function(weft_add_suite name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "LONG" "PROGRAM;WHERE;TIMEOUT" "ARGS;LONG_ARGS;SESSIONS")
  if(NOT arg_PROGRAM OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "weft_add_suite ${name}: needs PROGRAM; not known: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  # Only what runs in this build is compiled.
  if(WEFT_SANITIZE OR arg_SESSIONS)
    get_property(groups GLOBAL PROPERTY WEFT_JOB_GROUPS)
    set(here FALSE)
    foreach(session IN LISTS arg_SESSIONS)
      if(session IN_LIST groups)
        set(here TRUE)
      endif()
    endforeach()
    if(NOT here)
      return()
    endif()
  endif()
  set_property(GLOBAL APPEND PROPERTY WEFT_JOB_USED ${arg_PROGRAM})
  string(JOIN " " args ${arg_ARGS})
  string(JOIN " " long_args ${arg_LONG_ARGS})
  string(JOIN " " sessions ${arg_SESSIONS})
  set(long 0)
  if(arg_LONG)
    set(long 1)
  endif()
  set_property(GLOBAL APPEND_STRING PROPERTY WEFT_JOB_LINES "suite\tname=${name}\tprogram=${arg_PROGRAM}\targs=${args}\tlong_args=${long_args}\twhere=${arg_WHERE}\tsession=${sessions}\tlong=${long}\ttimeout=${arg_TIMEOUT}\n")
endfunction()

# The command that starts NP ranks of PROGRAM on so many virtual hosts; its arguments follow.
function(weft_launch_command result launcher ranks hosts program)
  if(launcher STREQUAL "weft")
    set(command ${WEFT_RUN} run -n ${ranks})
    if(hosts GREATER 1)
      list(APPEND command --nodes ${hosts})
    endif()
  elseif(launcher STREQUAL "mpirun")
    set(command ${PROJECT_BINARY_DIR}/counted/mpirun -n ${ranks})
  else()
    message(FATAL_ERROR "launcher '${launcher}' is not known: use weft or mpirun")
  endif()
  set(${result} ${command} ${WEFT_PROGRAMS}/${program} PARENT_SCOPE)
endfunction()

# A test that starts jobs or processes of its own. It reserves both cores; one that mostly SLEEPS runs beside all others
# (tests/schedule.py). One that lasts begins before others (LASTS seconds). The expressions are of what it prints. A build with a sanitizer has none of these.
function(weft_add_process_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ALONE;SLEEPS" "TIMEOUT;CORES;LASTS;PASSES_WITH;FAILS_WITH" "COMMAND;LABELS;SETTINGS")
  if(NOT arg_COMMAND OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "weft_add_process_test ${name}: needs COMMAND; not known: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(WEFT_SANITIZE)
    return()
  endif()
  foreach(default "TIMEOUT 120" "CORES 2" "LASTS 0")
    separate_arguments(default)
    list(POP_FRONT default word)
    if(NOT arg_${word})
      set(arg_${word} ${default})
    endif()
  endforeach()
  if(arg_SLEEPS)
    set(arg_CORES 1)
    list(APPEND arg_LABELS sleeps)
  endif()
  add_test(NAME ${name} COMMAND ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} PROCESSORS ${arg_CORES} COST ${arg_LASTS} SKIP_RETURN_CODE 77
    LABELS "${arg_LABELS}" ENVIRONMENT "${arg_SETTINGS}")
  if(arg_ALONE)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
  endif()
  # CMake would take a semicolon as the end of an expression, of which one would be enough.
  string(REPLACE ";" "." arg_PASSES_WITH "${arg_PASSES_WITH}")
  if(arg_PASSES_WITH)
    set_tests_properties(${name} PROPERTIES PASS_REGULAR_EXPRESSION "${arg_PASSES_WITH}")
  endif()
  if(arg_FAILS_WITH)
    set_tests_properties(${name} PROPERTIES FAIL_REGULAR_EXPRESSION "${arg_FAILS_WITH}")
  endif()
endfunction()

# Called by the file that settings.py writes.
function(weft_add_session name cores lasts labels)
  set(shown jobs.${name})
  if(WEFT_SANITIZER_LABEL)
    set(shown ${WEFT_SANITIZER_LABEL}:jobs.${name})
  endif()
  add_test(NAME jobs.${name} COMMAND Python3::Interpreter -B ${WEFT_JOBS_DIR}/run_session.py
    ${PROJECT_BINARY_DIR}/sessions/${name} $<TARGET_FILE:weft_jobs> --name ${shown}
    --weft ${WEFT_RUN} --mpirun ${PROJECT_BINARY_DIR}/counted/mpirun)
  set_tests_properties(jobs.${name} PROPERTIES TIMEOUT 3600 PROCESSORS ${cores} COST ${lasts} LABELS "multirank;${labels}"
    SKIP_RETURN_CODE 77)
endfunction()

function(weft_finish_jobs)
  get_property(used GLOBAL PROPERTY WEFT_JOB_USED)
  get_property(programs GLOBAL PROPERTY WEFT_JOB_PROGRAMS)
  get_property(suites GLOBAL PROPERTY WEFT_JOB_SUITES)
  if(WEFT_SANITIZE)
    set(programs)
  endif()
  foreach(name IN LISTS used)
    if(NOT name IN_LIST suites)
      message(FATAL_ERROR "a suite has PROGRAM ${name}, which no weft_add_suite_program adds")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES used)
  if(NOT used)
    return()
  endif()
  set(sources)
  foreach(name IN LISTS used programs)
    get_property(files GLOBAL PROPERTY WEFT_JOB_SOURCES_${name})
    list(APPEND sources ${files})
  endforeach()
  list(REMOVE_DUPLICATES sources)

  set(table "// Written by cmake/multirank.cmake.\n#include \"tests/jobs/session.hpp\"\n\nextern \"C\" {\n")
  file(MAKE_DIRECTORY ${WEFT_PROGRAMS})
  foreach(kind suite program)
    set(${kind}_rows)
    set(names ${used})
    if(kind STREQUAL "program")
      set(names ${programs})
    endif()
    foreach(name IN LISTS names)
      string(APPEND table "int weft_${kind}_${name}(int, char**);\n")
      string(APPEND ${kind}_rows "  {\"${name}\", weft_${kind}_${name}},\n")
    endforeach()
  endforeach()
  string(APPEND table "}\n\nnamespace weft::jobs {\nconst std::vector<named_entry> suites{\n${suite_rows}};\n"
    "const std::vector<named_entry> programs{\n${program_rows}};\n}\n")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/jobs_table.cpp CONTENT "${table}" @ONLY)

  foreach(name IN LISTS used programs)
    file(CREATE_LINK ${CMAKE_CURRENT_BINARY_DIR}/weft_jobs ${WEFT_PROGRAMS}/${name} SYMBOLIC)
  endforeach()

  add_executable(weft_jobs ${sources} ${WEFT_JOBS_DIR}/main.cpp ${WEFT_JOBS_DIR}/session.cpp
    ${PROJECT_BINARY_DIR}/jobs_table.cpp)
  target_include_directories(weft_jobs PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(weft_jobs PRIVATE test_calls weft::weft weft_flags weft_options fmt::fmt GTest::gmock GTest::gtest
    Threads::Threads)
  if(TARGET weft_upc)
    target_link_libraries(weft_jobs PRIVATE weft_upc)
  endif()
  target_compile_options(weft_jobs PRIVATE $<$<COMPILE_LANGUAGE:C>:-pedantic -Werror>)
  # Else each by itself, for programs share names.
  set_target_properties(weft_jobs PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_property(batches GLOBAL PROPERTY WEFT_JOB_BATCHES)
  foreach(batch IN LISTS batches)
    get_property(files GLOBAL PROPERTY WEFT_JOB_BATCH_${batch})
    set_source_files_properties(${files} PROPERTIES UNITY_GROUP ${batch})
  endforeach()
  weft_build_tests_quickly(weft_jobs)
  target_precompile_headers(weft_jobs PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:<gtest/gtest.h$<ANGLE-R>>"
    "$<$<COMPILE_LANGUAGE:CXX>:<algorithm$<ANGLE-R>>" "$<$<COMPILE_LANGUAGE:CXX>:<weft/weft.hpp$<ANGLE-R>>")
  weft_build_for_sanitizers(weft_jobs tsan asan)
  if(NOT WEFT_LAUNCHER)
    weft_build_for_sanitizers(weft_tool tsan asan)
  endif()

  get_property(lines GLOBAL PROPERTY WEFT_JOB_LINES)
  file(WRITE ${PROJECT_BINARY_DIR}/suites "${lines}")
  file(REMOVE_RECURSE ${PROJECT_BINARY_DIR}/sessions)
  execute_process(COMMAND ${Python3_EXECUTABLE} -B ${WEFT_JOBS_DIR}/settings.py ${PROJECT_BINARY_DIR}/suites
    ${PROJECT_BINARY_DIR}/sessions OUTPUT_FILE ${PROJECT_BINARY_DIR}/sessions.cmake COMMAND_ERROR_IS_FATAL ANY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${WEFT_JOBS_DIR}/settings.py)
  include(${PROJECT_BINARY_DIR}/sessions.cmake)
endfunction()
