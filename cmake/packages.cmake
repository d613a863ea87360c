# SPDX-License-Identifier: BSD-3-Clause
# The Debian packages that `./run packages` and cpack make of what is installed: a library for programs that run, what
# those need who compile, the tool, and what carries programs of MPI.
set(CPACK_PACKAGE_VENDOR "The authors of Weft")
set(CPACK_PACKAGE_CONTACT "The authors of Weft <weft@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "collectives that go on while their ranks compute")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_COMPONENTS_ALL library development tools mpi)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/api)

set(weft_library_package libweft${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(weft_same_library "${weft_library_package} (= ${PROJECT_VERSION})")
foreach(package "LIBRARY|${weft_library_package}|libs|the shared library"
    "DEVELOPMENT|libweft-dev|libdevel|headers, CMake package and pkg-config module"
    "TOOLS|weft-tools|net|the tool weft: run, doctor, info, plan, mpi"
    "MPI|weft-mpi|libs|carries the non-blocking collectives of unchanged programs of MPI")
  string(REPLACE "|" ";" package "${package}")
  list(GET package 0 component)
  list(GET package 1 CPACK_DEBIAN_${component}_PACKAGE_NAME)
  list(GET package 2 CPACK_DEBIAN_${component}_PACKAGE_SECTION)
  list(GET package 3 what)
  set(CPACK_COMPONENT_${component}_DESCRIPTION "Collectives of UPC and of Cray for C and C++ programs whose processes share memory\
 across cores and machines; non-blocking ones go on while their ranks compute. This package: ${what}.")
endforeach()
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${weft_same_library}, libucx-dev, libpmix-dev")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS weft-tools)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "binutils, openmpi-bin, slurm-client, graphviz")
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "${weft_same_library}, weft-tools (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_MPI_PACKAGE_SUGGESTS "openmpi-bin, mpich")
include(CPack)
