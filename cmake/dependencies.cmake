# SPDX-License-Identifier: BSD-3-Clause
# What the library stands on, and nothing more; tests, tools and benchmarks find their own. The versions are the oldest
# that it is tested with.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(spdlog 1.10 REQUIRED)
find_package(fmt 9 REQUIRED)
pkg_check_modules(UCX REQUIRED IMPORTED_TARGET ucx>=1.13)
pkg_check_modules(PMIX REQUIRED IMPORTED_TARGET pmix>=4.2)

# Header only, so that no program which uses the library needs the spdlog and fmt that it was built with: engine/log.cpp
# compiles them.
add_library(weft_logging INTERFACE)
target_include_directories(weft_logging SYSTEM INTERFACE
  $<TARGET_PROPERTY:spdlog::spdlog_header_only,INTERFACE_INCLUDE_DIRECTORIES>
  $<TARGET_PROPERTY:fmt::fmt-header-only,INTERFACE_INCLUDE_DIRECTORIES>)
