# Copyright: the authors of Weft; see LICENSE.
#
# SPDX-License-Identifier: BSD-3-Clause

from spack.package import *


class Weft(CMakePackage):
    """Collectives for programs whose processes share memory across cores and machines, which go on while
    their ranks compute: UPC's and Cray's, and the non-blocking ones of unchanged programs of MPI."""

    # A repository or a tarball of `./run release`: spack install weft@main, or set url in packages.yaml.
    git = "file:///path/to/weft"

    license("BSD-3-Clause")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("shared", default=True, description="Build a shared library, else a static one")
    variant("mpi", default=True, when="+shared", description="Carry programs of MPI: libweft-mpi")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cli11@2.1:", type="build")
    depends_on("ucx@1.13:")
    depends_on("pmix@4.2:")
    depends_on("mpi", when="+mpi")

    conflicts("%gcc@:11", msg="Weft is C++20: gcc 12 and later")

    def cmake_args(self):
        return [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("WEFT_BUILD_MPI", "mpi"),
        ]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        Executable(join_path(self.prefix.bin, "weft"))("doctor")
