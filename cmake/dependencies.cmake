# SPDX-License-Identifier: BSD-3-Clause
# What the library stands on, and nothing more; tests, tools and benchmarks find their own. The versions are the oldest
# that it is tested with.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(UCX REQUIRED IMPORTED_TARGET ucx>=1.13)
pkg_check_modules(PMIX REQUIRED IMPORTED_TARGET pmix>=4.2)
